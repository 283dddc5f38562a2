package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// operator says how many inputs and outputs an operator takes and how it is translated.
type operator struct {
	minIn, maxIn, maxOut int
	translate            func(*translation) error
}

var operators = map[string]operator{
	"Gemm":     {2, 3, 1, (*translation).gemm},
	"MatMul":   {2, 2, 1, (*translation).matMul},
	"Add":      {2, 2, 1, (*translation).sum},
	"Sub":      {2, 2, 1, (*translation).sum},
	"Mul":      {2, 2, 1, (*translation).scale},
	"Div":      {2, 2, 1, (*translation).scale},
	"Relu":     {1, 1, 1, (*translation).unary},
	"Sigmoid":  {1, 1, 1, (*translation).unary},
	"Tanh":     {1, 1, 1, (*translation).unary},
	"Clip":     {1, 3, 1, (*translation).clip},
	"Flatten":  {1, 1, 1, (*translation).flatten},
	"Reshape":  {2, 2, 1, (*translation).reshape},
	"Identity": {1, 1, 1, (*translation).identity},
	"Cast":     {1, 1, 1, (*translation).cast},
	"Dropout":  {1, 3, 2, (*translation).dropout},
	"Constant": {0, 0, 1, (*translation).constant},
	"Softmax":  {1, 1, 1, (*translation).softmax},
	"ArgMax":   {1, 1, 1, (*translation).argMax},
}

// translation is the state while one node is read.
type translation struct {
	im     *importer
	proto  *onnxpb.NodeProto
	label  string // for errors
	inputs []int  // indices into Values; -1 for an absent optional input
	attrs  *attributes
}

// node translates the node at a position of the file.
func (im *importer) node(i int) error {
	n, label := im.graph.Node[i], im.nodeLabel(i)
	op, known := operators[n.OpType]
	switch {
	case !standardDomain(n.Domain):
		return unsupported("%s: operator domain %s", label, Quote(n.Domain))
	case !known:
		return unsupported("%s: unknown operator", label)
	case n.Overload != "":
		return unsupported("%s: operator overload %s", label, Quote(n.Overload))
	case len(n.DeviceConfigurations) > 0:
		return unsupported("%s: it has a device configuration", label)
	case len(n.Input) < op.minIn || len(n.Input) > op.maxIn:
		return malformed("%s: %d inputs, expected %d to %d", label, len(n.Input), op.minIn, op.maxIn)
	case len(n.Output) < 1 || len(n.Output) > op.maxOut || n.Output[0] == "":
		return malformed("%s: %d outputs, expected 1 to %d, the first one named", label, len(n.Output), op.maxOut)
	}
	t := &translation{im: im, proto: n, label: label}
	for k, name := range n.Input {
		id := -1
		if name != "" {
			var ok bool
			if id, ok = im.ids[name]; !ok {
				return unsupported("%s: input %s is the mask of %s; masks exist only in training", label, Quote(name), im.masks[name])
			}
		} else if k < op.minIn {
			return malformed("%s: input %d is missing", label, k)
		}
		t.inputs = append(t.inputs, id)
	}
	var err error
	if t.attrs, err = newAttributes(label, n.Attribute); err != nil {
		return err
	}
	if err := op.translate(t); err != nil {
		return err
	}
	if err := t.attrs.done(n.Attribute); err != nil {
		return err
	}
	return nil
}

func (t *translation) value(k int) *Value { return &t.im.m.Values[t.inputs[k]] }
func (t *translation) present(k int) bool { return k < len(t.inputs) && t.inputs[k] >= 0 }
func (t *translation) opset() int         { return t.im.m.Opset }
func (t *translation) unsupported(format string, args ...any) error {
	return unsupported("%s: %w", t.label, fmt.Errorf(format, args...))
}
func (t *translation) inputName(k int) string { return Quote(t.proto.Input[k]) }

// real checks that input k holds real numbers.
func (t *translation) real(k int) error {
	if t.value(k).Int {
		return t.unsupported("input %s has integer elements, expected a float type", t.inputName(k))
	}
	return nil
}

// emit adds the node with the given inputs; if they are all constant it is evaluated at once and leaves only its result.
func (t *translation) emit(inputs []int, shape []int, attr Attr, integer bool) error {
	name := t.proto.Name
	if name == "" {
		name = fmt.Sprintf("%s_%d", t.proto.OpType, len(t.im.m.Nodes))
	}
	n := Node{Name: name, Op: t.proto.OpType, Inputs: inputs, Attr: attr}
	v := Value{Shape: shape, Int: integer}
	for _, id := range inputs {
		if c := t.im.m.Values[id].Const; c != nil && slices.ContainsFunc(c.Real, func(v float64) bool { return math.IsInf(v, 0) }) {
			return t.unsupported("the constant %s has an infinite element", Quote(t.im.m.Values[id].Name))
		}
	}
	if in, ok := t.im.m.constants(inputs); ok {
		if integer {
			return t.unsupported("an index computed from constants")
		}
		if t.im.folded += elements(shape); t.im.folded > maxFolded+2*t.im.given {
			return t.unsupported("evaluating it on constants: %d elements so far, expected at most %d for %d in the file", t.im.folded, maxFolded+2*t.im.given, t.im.given)
		}
		real, err := evaluate(&n, in, shape)
		if err != nil {
			return t.unsupported("evaluating it on constants: %w", err)
		}
		v.Const = &Tensor{Shape: shape, Real: real}
		_, err = t.im.define(t.proto.Output[0], v)
		return err
	}
	id, err := t.im.define(t.proto.Output[0], v)
	if err != nil {
		return err
	}
	n.Output = id
	t.im.m.Nodes = append(t.im.m.Nodes, n)
	return nil
}

// maxFolded bounds the elements that are computed from constants, beyond twice as many as the file holds itself: otherwise a small file
// could fill the memory.
const maxFolded = 1 << 22

// constants returns the tensors of values that are all real constants.
func (m *Model) constants(ids []int) ([]*Tensor, bool) {
	var in []*Tensor
	for _, id := range ids {
		if m.Values[id].Const == nil || m.Values[id].Int {
			return nil, false
		}
		in = append(in, m.Values[id].Const)
	}
	return in, true
}

// alias makes the output another name of input 0.
func (t *translation) alias() error {
	t.im.ids[t.proto.Output[0]] = t.inputs[0]
	return nil
}

// finite refuses attributes that are NaN or infinite.
func (t *translation) finite(name string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return t.unsupported("attribute %q is %g", name, v)
	}
	return nil
}
