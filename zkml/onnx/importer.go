package onnx

import (
	"maps"
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
}

func (im *importer) run() error {
	if len(im.graph.Node) == 0 {
		return malformed("the graph has no nodes")
	}
	if err := im.initializers(); err != nil {
		return err
	}
	if err := im.input(); err != nil {
		return err
	}
	order, err := im.order()
	if err != nil {
		return err
	}
	if err := im.checkUsed(); err != nil {
		return err
	}
	for _, i := range order {
		if err := im.node(i); err != nil {
			return err
		}
	}
	if err := im.output(); err != nil {
		return err
	}
	if err := im.checkDeclared(); err != nil {
		return err
	}
	return im.checkLast()
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

func (im *importer) initializers() error {
	for _, t := range im.graph.Initializer {
		tensor, err := decodeTensor(t, "initializer "+Quote(t.Name))
		if err != nil {
			return err
		}
		im.given += tensor.Len()
		if _, err := im.define(t.Name, Value{Shape: tensor.Shape, Const: tensor, Int: isInt(t.DataType)}); err != nil {
			return err
		}
	}
	return nil
}

// input finds the one graph input that is no initializer and gives it a static shape.
func (im *importer) input() error {
	seen := map[string]bool{}
	for _, info := range im.graph.Input {
		if seen[info.Name] {
			return malformed("graph input %s is listed twice", Quote(info.Name))
		}
		seen[info.Name] = true
		if _, constant := im.ids[info.Name]; constant {
			continue // files before format version 4 list constants as inputs
		}
		if im.m.Input >= 0 {
			return unsupported("the graph has more than one input: %s and %s", Quote(im.m.Values[im.m.Input].Name), Quote(info.Name))
		}
		what := "graph input " + Quote(info.Name)
		tensor, err := tensorType(info, what)
		if err != nil {
			return err
		}
		if !isReal(tensor.ElemType) {
			return unsupported("%s has type %s, expected a float type", what, typeName(tensor.ElemType))
		}
		if tensor.Shape == nil {
			return unsupported("%s has no shape", what)
		}
		shape, err := im.bind(tensor.Shape.Dim, what)
		if err != nil {
			return err
		}
		if im.m.Input, err = im.define(info.Name, Value{Shape: shape}); err != nil {
			return err
		}
	}
	if im.m.Input < 0 {
		return unsupported("the graph has no input")
	}
	for _, name := range slices.Sorted(maps.Keys(im.dims)) {
		if _, used := im.m.Dims[name]; !used {
			return unsupported("no axis of the input is named %s (given as a dimension)", Quote(name))
		}
	}
	return nil
}

// bind turns declared axes into lengths.
func (im *importer) bind(axes []*onnxpb.TensorShapeProto_Dimension, what string) ([]int, error) {
	dims := make([]int64, len(axes))
	for i, axis := range axes {
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
				return nil, unsupported("%s: axis %d has the symbolic length %s; give it a value (--dim name=value)", what, i, Quote(v.DimParam))
			}
			im.m.Dims[v.DimParam] = 1
		default:
			if i > 0 {
				return nil, unsupported("%s: axis %d has no length", what, i)
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

// output resolves the one graph output.
func (im *importer) output() error {
	if len(im.graph.Output) != 1 {
		return unsupported("the graph has %d outputs, expected 1", len(im.graph.Output))
	}
	name := im.graph.Output[0].Name
	id, ok := im.ids[name]
	if !ok {
		return unsupported("graph output %s is a mask of %s; masks exist only in training", Quote(name), im.masks[name])
	}
	v := im.m.Values[id]
	if id == im.m.Input || v.Const != nil {
		return unsupported("graph output %s does not depend on the input through any operation", Quote(name))
	}
	im.m.Output = id
	return nil
}

// checkDeclared compares the shapes and types that the file declares with those that follow from its operators.
func (im *importer) checkDeclared() error {
	for _, info := range slices.Concat(im.graph.Input, im.graph.ValueInfo, im.graph.Output) {
		id, ok := im.ids[info.Name]
		if !ok {
			if _, mask := im.masks[info.Name]; mask {
				continue
			}
			return malformed("the declared tensor %s does not exist", Quote(info.Name))
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
		if t.ElemType != 0 && (v.Int && !isInt(t.ElemType) || !v.Int && !isReal(t.ElemType)) {
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
				want = d.DimValue
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

// checkLast allows Softmax and ArgMax only as the model's last step (an ArgMax may follow a Softmax along the same axis, which it then
// replaces, because Softmax keeps the order).
func (im *importer) checkLast() error {
	m := im.m
	for i := range m.Nodes {
		n := &m.Nodes[i]
		if n.Op != "Softmax" && n.Op != "ArgMax" || n.Output == m.Output {
			continue
		}
		last := &m.Nodes[len(m.Nodes)-1]
		if n.Op == "Softmax" && i == len(m.Nodes)-2 && last.Op == "ArgMax" && last.Output == m.Output && last.Inputs[0] == n.Output &&
			n.Attr.Span == 1 && n.Attr.Axis == last.Attr.Axis {
			continue
		}
		return unsupported("node %s (%s): only the last operator of a model may be %s", Quote(n.Name), n.Op, n.Op)
	}
	return nil
}
