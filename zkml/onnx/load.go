package onnx

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// MaxFileSize bounds an ONNX file; the format itself ends at 2 GiB.
const MaxFileSize = 1<<31 - 1

// Options say how to read a model.
type Options struct {
	// Dims gives lengths to symbolic axes of the input by name. The first axis is 1 when it has no given length; every other
	// symbolic axis needs an entry, and every entry must be used.
	Dims map[string]int
}

// Load reads a model from a file.
func Load(path string, opts Options) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a model: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading a model: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("reading %s: %w", Quote(path), malformed("it is a folder"))
	}
	if info.Size() > MaxFileSize {
		return nil, fmt.Errorf("reading %s: %w", Quote(path), malformed("%d bytes, an ONNX file has less than 2 GiB", info.Size()))
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading a model: %w", err)
	}
	m, err := Parse(data, opts)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", Quote(path), err)
	}
	return m, nil
}

// Parse reads a model from the bytes of a file. Errors wrap ErrMalformed or ErrUnsupported.
func Parse(data []byte, opts Options) (*Model, error) {
	if len(data) == 0 {
		return nil, malformed("it is empty")
	}
	if len(data) > MaxFileSize {
		return nil, malformed("%d bytes, an ONNX file has less than 2 GiB", len(data))
	}
	file := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(data, file); err != nil {
		return nil, malformed("it is not a protocol buffer of the ONNX schema")
	}
	if err := checkKnown(file.ProtoReflect(), "model"); err != nil {
		return nil, err
	}
	opset, err := checkHeader(file)
	if err != nil {
		return nil, err
	}
	im := &importer{
		m: &Model{
			Name: file.Graph.Name, Producer: file.ProducerName, IR: file.IrVersion, Opset: opset,
			SHA256: sha256.Sum256(data), Dims: map[string]int{}, Input: -1, Output: -1,
		},
		graph: file.Graph, dims: opts.Dims, ids: map[string]int{}, masks: map[string]string{},
	}
	if err := im.run(); err != nil {
		return nil, err
	}
	return im.m, nil
}

// checkKnown refuses fields that onnx.proto does not list, anywhere in the file.
func checkKnown(m protoreflect.Message, where string) error {
	if len(m.GetUnknown()) > 0 {
		return malformed("the %s has a field that ONNX does not define or that this program does not know", where)
	}
	var err error
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Kind() != protoreflect.MessageKind {
			return true
		}
		if f.IsList() {
			for i := range v.List().Len() {
				if err = checkKnown(v.List().Get(i).Message(), string(f.Name())); err != nil {
					return false
				}
			}
			return true
		}
		err = checkKnown(v.Message(), string(f.Name()))
		return err == nil
	})
	return err
}

// checkHeader checks everything outside the graph and returns the operator set.
func checkHeader(file *onnxpb.ModelProto) (int, error) {
	switch {
	case file.Graph == nil || file.IrVersion == 0 || len(file.OpsetImport) == 0:
		return 0, malformed("it has no graph, format version or operator set; is it an ONNX file?")
	case file.IrVersion < 3 || file.IrVersion > 13:
		return 0, unsupported("format (IR) version %d, expected 3 to 13", file.IrVersion)
	case len(file.Functions) > 0:
		return 0, unsupported("the model defines %d functions of its own", len(file.Functions))
	case len(file.TrainingInfo) > 0:
		return 0, unsupported("the model carries training information; export it for inference")
	case len(file.Configuration) > 0:
		return 0, unsupported("the model is sharded over devices")
	case len(file.Graph.SparseInitializer) > 0:
		return 0, unsupported("the model has sparse constants")
	case len(file.Graph.QuantizationAnnotation) > 0:
		return 0, unsupported("the model has quantisation annotations; give the float model")
	}
	opset := -1
	for _, set := range file.OpsetImport {
		if !standardDomain(set.Domain) {
			continue // harmless until a node uses it, and then the node is refused
		}
		if opset >= 0 {
			return 0, malformed("the standard operator set is imported twice")
		}
		if set.Version < MinOpset || set.Version > MaxOpset {
			return 0, unsupported("operator set %d, expected %d to %d", set.Version, MinOpset, MaxOpset)
		}
		opset = int(set.Version)
	}
	if opset < 0 {
		return 0, malformed("the standard operator set is not imported")
	}
	return opset, nil
}

func standardDomain(domain string) bool { return domain == "" || domain == "ai.onnx" }

// importer translates a graph.
type importer struct {
	m     *Model
	graph *onnxpb.GraphProto
	dims  map[string]int
	ids   map[string]int    // tensor name -> index into m.Values
	masks map[string]string // names that exist but may not be read, and the node that made them
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

// IsUnsupported reports whether an error is about a model that is well formed but not translated.
func IsUnsupported(err error) bool { return errors.Is(err, ErrUnsupported) }
