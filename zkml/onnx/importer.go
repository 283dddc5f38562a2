package onnx

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// importer translates a graph.
type importer struct {
	m     *Model
	graph *onnxpb.GraphProto
	dims  map[string]int
	ids   map[string]int    // tensor name -> index into m.Values
	masks map[string]string // names that exist but may not be read, and the node that made them
	// given is the number of elements of initializers and Constant nodes, folded that of values computed from constants.
	given, folded int
	// dynamic names the tensors of real numbers that stand for integers behind a DynamicQuantizeLinear, and says which kind.
	dynamic  map[string]string
	depth    int    // of branches within branches
	within   string // the node whose branch this is, for errors
	external *externals
	fix      map[string]float64       // inputs that are constant
	ranges   map[string][2]int64      // of integer inputs
	wanted   []*onnxpb.ValueInfoProto // outputs
}

func (im *importer) run() error {
	if len(im.graph.Node) == 0 {
		return malformed("the graph has no nodes")
	}
	if len(im.graph.Output) == 0 {
		return malformed("the graph has no output")
	}
	if err := im.initializers(); err != nil {
		return err
	}
	if err := im.inputsOf(); err != nil {
		return err
	}
	if err := im.nodes(); err != nil {
		return err
	}
	if err := im.outputs(); err != nil {
		return err
	}
	if err := im.checkDeclared(); err != nil {
		return err
	}
	for _, pass := range passes {
		if err := pass(im.m); err != nil {
			return err
		}
	}
	return nil
}

// nodes translates the nodes of the graph in an order in which producers come first.
func (im *importer) nodes() error {
	order, err := im.order()
	if err != nil {
		return err
	}
	for _, i := range order {
		if err := im.node(i); err != nil {
			return err
		}
	}
	return nil
}

// translate is run for the graph of a branch.
func (im *importer) translate() error {
	if err := im.initializers(); err != nil {
		return err
	}
	return im.nodes()
}

// define adds a value under a name that must be new.
func (im *importer) define(name string, v Value) (int, error) {
	if name == "" {
		return 0, malformed("a tensor has no name")
	}
	if _, twice := im.ids[name]; twice {
		return 0, malformed("tensor %s is defined twice", Quote(name))
	}
	v.Name = name
	im.m.Values = append(im.m.Values, v)
	im.ids[name] = len(im.m.Values) - 1
	return im.ids[name], nil
}

// decode reads a constant of the file.
func (im *importer) decode(t *onnxpb.TensorProto, what string) (*Tensor, error) {
	return decodeTensor(t, what, im.external)
}

func (im *importer) initializers() error {
	for _, t := range im.graph.Initializer {
		tensor, err := im.decode(t, "initializer "+Quote(t.Name))
		if err != nil {
			return err
		}
		im.given += tensor.Len()
		v := constantValue(tensor)
		v.Type = t.DataType
		if _, err := im.define(t.Name, v); err != nil {
			return err
		}
	}
	return nil
}

// inputsOf finds the graph inputs that are no initializers and gives them static shapes.
func (im *importer) inputsOf() error {
	seen := map[string]bool{}
	for _, info := range im.graph.Input {
		if seen[info.Name] {
			return malformed("graph input %s is listed twice", Quote(info.Name))
		}
		seen[info.Name] = true
		if _, constant := im.ids[info.Name]; constant {
			continue // files before format version 4 list constants as inputs
		}
		id, err := im.input(info)
		if err != nil {
			return err
		}
		if im.m.Values[id].Const == nil {
			im.m.Inputs = append(im.m.Inputs, id)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(im.fix)) {
		if !seen[name] {
			return unknown("input", name, "given as fixed", im.names(func(Value) bool { return true }))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(im.ranges)) {
		if id, ok := im.ids[name]; !ok || !im.m.Values[id].Int || im.m.Values[id].Const != nil {
			return unknown("integer input", name, "given with a range", im.names(func(v Value) bool { return v.Int && v.Const == nil }))
		}
	}
	if len(im.m.Inputs) == 0 {
		return unsupported("the graph has no input")
	}
	for _, name := range slices.Sorted(maps.Keys(im.dims)) {
		if _, used := im.m.Dims[name]; !used {
			return unknown("axis of an input", name, "given as a dimension", slices.Sorted(maps.Keys(im.m.Dims)))
		}
	}
	return nil
}

// names are those of the graph's inputs, without constants that old files list as such, whose values pass.
func (im *importer) names(pass func(Value) bool) (out []string) {
	for _, info := range im.graph.Input {
		id, ok := im.ids[info.Name]
		if !ok || !pass(im.m.Values[id]) {
			continue
		}
		if _, fixed := im.fix[info.Name]; fixed || slices.Contains(im.m.Inputs, id) {
			out = append(out, info.Name)
		}
	}
	return out
}

// input defines one input. Integers wider than 16 bits are numbers of rows of a table, bounded when the table is seen, or masks of 0 and
// 1; narrower ones have their type's range.
func (im *importer) input(info *onnxpb.ValueInfoProto) (int, error) {
	what := "graph input " + Quote(info.Name)
	tensor, err := tensorType(info, what)
	if err != nil {
		return 0, err
	}
	if !isReal(tensor.ElemType) && !isInt(tensor.ElemType) {
		return 0, unsupported("%s has type %s, expected a float, integer or boolean type", what, typeName(tensor.ElemType))
	}
	if tensor.Shape == nil {
		return 0, unsupported("%s has no shape", what)
	}
	shape, err := im.bind(tensor.Shape.Dim, info.Name, what)
	if err != nil {
		return 0, err
	}
	if elements(shape) == 0 {
		return 0, unsupported("%s is empty (shape %v)", what, shape)
	}
	if x, fixed := im.fix[info.Name]; fixed {
		return im.fixed(info.Name, x, shape, tensor.ElemType)
	}
	v := Value{Shape: shape, Type: tensor.ElemType}
	if b, ok := intRange(tensor.ElemType); ok {
		switch {
		case b.hi <= math.MaxUint16:
		case im.onlyIndexes(info.Name):
			b = bounds{0, boundLimit}
		default:
			b = bounds{0, 1}
		}
		if given, ok := im.ranges[info.Name]; ok {
			all, _ := intRange(tensor.ElemType)
			if b = (bounds{given[0], given[1]}); b.lo >= b.hi || b.lo < max(all.lo, -boundLimit) || b.hi > min(all.hi, boundLimit-1) {
				return 0, unsupported("%s of type %s has the range %d to %d (given)", what, typeName(tensor.ElemType), b.lo, b.hi)
			}
		}
		v.setWhole(true, b)
	}
	return im.define(info.Name, v)
}

// fixed makes an input a constant with the same number everywhere.
func (im *importer) fixed(name string, x float64, shape []int, kind int32) (int, error) {
	v := Value{Shape: shape, Int: isInt(kind)}
	b, _ := intRange(kind)
	if v.Int && (x != math.Trunc(x) || x < float64(b.lo) || x > float64(b.hi)) || !v.Int && !finite(float32(x)) {
		return 0, unsupported("graph input %s of type %s cannot be fixed to %g", Quote(name), typeName(kind), x)
	}
	all := make([]float64, elements(shape))
	for i := range all {
		all[i] = x
	}
	v = constantValue(v.Tensor(all))
	v.Type = kind
	return im.define(name, v)
}

// onlyIndexes reports whether an input of the graph reaches nothing but the indices of Gather nodes, directly or through operators that
// keep elements as they are.
func (im *importer) onlyIndexes(name string) bool {
	reached, indexes := map[string]bool{name: true}, false
	for list := []string{name}; len(list) > 0; list = list[1:] {
		for _, n := range im.graph.Node {
			for k, in := range n.Input {
				if in != list[0] {
					continue
				}
				switch n.OpType {
				case "Shape", "Size":
				case "Gather":
					if k != 1 {
						return false
					}
					indexes = true
				case "Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Expand", "Slice", "Transpose", "Split":
					for _, out := range n.Output {
						if k == 0 && out != "" && !reached[out] {
							reached[out] = true
							list = append(list, out)
						}
					}
				default:
					return false
				}
			}
		}
	}
	return indexes
}

// bind turns declared axes into lengths.
func (im *importer) bind(axes []*onnxpb.TensorShapeProto_Dimension, name, what string) ([]int, error) {
	dims := make([]int64, len(axes))
	for i, axis := range axes {
		value, fixed := axis.Value.(*onnxpb.TensorShapeProto_Dimension_DimValue)
		if fixed && value.DimValue == -1 { // some exporters write what they do not know like this
			fixed, axis = false, &onnxpb.TensorShapeProto_Dimension{}
		}
		place := fmt.Sprintf("%s:%d", name, i)
		if n, given := im.dims[place]; given && !fixed {
			if n < 1 {
				return nil, unsupported("%s: dimension %s = %d, expected at least 1", what, Quote(place), n)
			}
			dims[i], im.m.Dims[place] = int64(n), n
			continue
		}
		switch v := axis.Value.(type) {
		case *onnxpb.TensorShapeProto_Dimension_DimValue:
			dims[i] = v.DimValue
			continue
		case *onnxpb.TensorShapeProto_Dimension_DimParam:
			if n, given := im.dims[v.DimParam]; given {
				if n < 1 {
					return nil, unsupported("%s: dimension %s = %d, expected at least 1", what, Quote(v.DimParam), n)
				}
				dims[i], im.m.Dims[v.DimParam] = int64(n), n
				continue
			}
			if n, known := im.m.Dims[v.DimParam]; known {
				dims[i] = int64(n)
				continue
			}
			if i > 0 {
				return nil, unsupported("%s: axis %d has the symbolic length %s; give it a value (--dim name=value, or --dim %s=value)", what, i, Quote(v.DimParam), Quote(place))
			}
			im.m.Dims[v.DimParam] = 1
		default:
			if i > 0 {
				return nil, unsupported("%s: axis %d has no length; give it one (--dim %s=value)", what, i, Quote(place))
			}
		}
		dims[i] = 1
	}
	return checkShape(dims, what)
}

// tensorType returns a declared type that must be a tensor's.
func tensorType(info *onnxpb.ValueInfoProto, what string) (*onnxpb.TypeProto_Tensor, error) {
	t, ok := info.GetType().GetValue().(*onnxpb.TypeProto_TensorType)
	if !ok || t.TensorType == nil {
		return nil, unsupported("%s is not a tensor", what)
	}
	return t.TensorType, nil
}

// choose finds the outputs that are wanted: all of the graph's unless some are named.
func (im *importer) choose(names []string) error {
	if im.wanted = im.graph.Output; len(names) == 0 {
		return nil
	}
	im.wanted = nil
	for _, name := range names {
		i := slices.IndexFunc(im.graph.Output, func(o *onnxpb.ValueInfoProto) bool { return o.Name == name })
		if i < 0 {
			there := make([]string, len(im.graph.Output))
			for i, o := range im.graph.Output {
				there[i] = o.Name
			}
			return unknown("output", name, "asked for", there)
		}
		im.wanted = append(im.wanted, im.graph.Output[i])
	}
	return nil
}

// outputs resolves the wanted outputs.
func (im *importer) outputs() error {
	for _, info := range im.wanted {
		id, ok := im.ids[info.Name]
		switch {
		case !ok:
			return unsupported("graph output %s is a mask of %s; masks exist only in training", Quote(info.Name), im.masks[info.Name])
		case slices.Contains(im.m.Inputs, id) || im.m.Values[id].Const != nil:
			return unsupported("graph output %s does not depend on an input through any operation; leave it out by naming the others", Quote(info.Name))
		case slices.Contains(im.m.Outputs, id):
			return unsupported("graph output %s is the same tensor as another output", Quote(info.Name))
		}
		im.m.Outputs = append(im.m.Outputs, id)
	}
	return nil
}

// checkDeclared compares the shapes and types that the file declares with those that follow from its operators.
func (im *importer) checkDeclared() error {
	for _, info := range slices.Concat(im.graph.Input, im.graph.ValueInfo, im.graph.Output) {
		id, ok := im.ids[info.Name]
		if !ok {
			continue // a mask, or a tensor that a tool removed from the graph and left declared, as onnxruntime's quantiser does
		}
		if info.Type == nil {
			continue
		}
		what := "tensor " + Quote(info.Name)
		t, err := tensorType(info, what)
		if err != nil {
			return err
		}
		v := im.m.Values[id]
		if t.ElemType != 0 && im.dynamic[info.Name] == "" && (v.Int && !isInt(t.ElemType) || !v.Int && !isReal(t.ElemType)) {
			return malformed("%s is declared as %s, its operator gives another type", what, typeName(t.ElemType))
		}
		if t.Shape == nil {
			continue
		}
		if len(t.Shape.Dim) != len(v.Shape) {
			return malformed("%s is declared with rank %d, its operator gives shape %v", what, len(t.Shape.Dim), v.Shape)
		}
		for i, axis := range t.Shape.Dim {
			want := int64(v.Shape[i])
			switch d := axis.Value.(type) {
			case *onnxpb.TensorShapeProto_Dimension_DimValue:
				if d.DimValue != -1 {
					want = d.DimValue
				}
			case *onnxpb.TensorShapeProto_Dimension_DimParam:
				if n, bound := im.m.Dims[d.DimParam]; bound {
					want = int64(n)
				}
			}
			if want != int64(v.Shape[i]) {
				return malformed("%s is declared with length %d on axis %d, its operator gives shape %v", what, want, i, v.Shape)
			}
		}
	}
	return nil
}
