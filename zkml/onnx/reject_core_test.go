package onnx_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// TestRejectsShapes gives operators on shapes, masks and constants what they cannot take. x is [2, 3, 4], t [2, 3] are token numbers or
// whatever they are used as.
func TestRejectsShapes(t *testing.T) {
	s, m := onnx.ErrUnsupported, onnx.ErrMalformed
	type input func(f *onnxtest.File) string
	name := func(n string) input { return func(*onnxtest.File) string { return n } }
	x, tokens, absent := name("x"), name("t"), name("")
	ints := func(v ...int64) input {
		return func(f *onnxtest.File) string {
			return f.Ints("i"+string(rune('a'+len(f.Proto.Graph.Initializer))), v...)
		}
	}
	floats := func(shape ...int64) input {
		return func(f *onnxtest.File) string {
			return f.Random(1, "f"+string(rune('a'+len(f.Proto.Graph.Initializer))), 1, shape...)
		}
	}
	graph := func(name string, g *onnxpb.GraphProto) *onnxpb.AttributeProto {
		b, err := proto.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		return &onnxpb.AttributeProto{Name: name, Type: onnxpb.AttributeProto_GRAPH, G: b}
	}
	branch := &onnxpb.GraphProto{
		Node:   []*onnxpb.NodeProto{{OpType: "Loop", Input: []string{"x"}, Output: []string{"b"}}},
		Output: []*onnxpb.ValueInfoProto{{Name: "b"}},
	}
	axis := func(v int64) *onnxpb.AttributeProto { return onnxtest.Int("axis", v) }
	for _, c := range []struct {
		op     string
		kind   error
		want   string
		inputs []input
		attrs  []*onnxpb.AttributeProto
	}{
		{"Transpose", m, `"perm" is [0 1]`, []input{x}, []*onnxpb.AttributeProto{onnxtest.List("perm", 0, 1)}},
		{"Transpose", m, `"perm" is [0 1 1]`, []input{x}, []*onnxpb.AttributeProto{onnxtest.List("perm", 0, 1, 1)}},
		{"Squeeze", m, "length is not 1", []input{x, ints(1)}, nil},
		{"Squeeze", m, "axes is 3", []input{x, ints(3)}, nil},
		{"Squeeze", s, "computed", []input{x, tokens}, nil},
		{"Unsqueeze", m, "names axis 0 twice", []input{x, ints(0, 0)}, nil},
		{"Unsqueeze", m, "axes are missing", []input{x}, nil},
		{"Expand", m, "does not broadcast", []input{x, ints(2, 5, 4)}, nil},
		{"Expand", s, "2^28", []input{x, ints(1<<27, 2, 3, 4)}, nil},
		{"Tile", m, "repeats [1 2]", []input{x, ints(1, 2)}, nil},
		{"Tile", m, "not possible", []input{x, ints(1, 1, 1<<60)}, nil},
		{"Split", m, "lengths [1 1]", []input{x, ints(1, 1)}, []*onnxpb.AttributeProto{axis(1)}},
		{"Slice", m, "do not fit each other", []input{x, ints(0, 0), ints(1)}, nil},
		{"Slice", m, "step 0", []input{x, ints(0), ints(1), ints(0), ints(0)}, nil},
		{"Slice", m, "two ranges", []input{x, ints(0, 0), ints(1, 1), ints(0, -3)}, nil},
		{"Slice", s, "without elements", []input{x, ints(1), ints(1), ints(0)}, nil},
		{"Concat", m, "do not join", []input{x, floats(2, 2, 4)}, []*onnxpb.AttributeProto{axis(2)}},
		{"Concat", m, `"axis" is missing`, []input{x, x}, nil},
		{"Gather", m, "index 3", []input{x, ints(3)}, []*onnxpb.AttributeProto{axis(1)}},
		{"Gather", s, "both computed", []input{x, tokens}, nil},
		{"Gather", m, "no integers", []input{x, floats(2)}, nil},
		{"GatherND", m, "index 2", []input{x, ints(2)}, nil},
		{"GatherElements", m, "shape [1]", []input{x, ints(2)}, nil},
		{"Where", s, "not known to be 0 or 1", []input{x, x, x}, nil},
		{"Where", m, "do not broadcast", []input{tokens, x, floats(2, 3, 5)}, nil},
		{"And", s, "not known to be 0 or 1", []input{x, tokens}, nil},
		{"Equal", m, "different types", []input{x, tokens}, nil},
		{"Pow", s, "the exponent", []input{x, x}, nil},
		{"Pow", s, "elements that differ", []input{x, floats(4)}, nil},
		{"Mod", s, "remainder of computed", []input{tokens, ints(2)}, nil},
		{"Div", s, "division of computed integers", []input{tokens, ints(2)}, nil},
		{"NonZero", s, "depends on the data", []input{x}, nil},
		{"Unique", s, "depends on the data", []input{x}, nil},
		{"Loop", s, "not known before the data", []input{absent, absent, x}, nil},
		{"Scan", s, "not known before the data", []input{x}, nil},
		{"RandomNormalLike", s, "random", []input{x}, nil},
		{"Range", s, "not a constant number", []input{tokens, ints(3), ints(1)}, nil},
		{"Range", m, "by 0", []input{ints(1), ints(3), ints(0)}, nil},
		{"ConstantOfShape", s, "computed", []input{tokens}, nil},
		{"OneHot", s, "computed", []input{tokens, ints(3), floats(2)}, nil},
		{"Softmax", m, `"axis" is 3`, []input{x}, []*onnxpb.AttributeProto{axis(3)}},
		{"LayerNormalization", m, "do not broadcast", []input{x, floats(3)}, nil},
		{"LayerNormalization", s, `"epsilon" is -1`, []input{x, floats(4)}, []*onnxpb.AttributeProto{onnxtest.Float("epsilon", -1)}},
		{"LayerNormalization", s, "stash_type", []input{x, floats(4)}, []*onnxpb.AttributeProto{onnxtest.Int("stash_type", 10)}},
		{"Gelu", s, "operator set 20", []input{x}, nil},
		{"Einsum", m, "has 2 operands", []input{x}, []*onnxpb.AttributeProto{onnxtest.Text("equation", "ab,bc")}},
		{"Einsum", m, "does not fit input 0", []input{x}, []*onnxpb.AttributeProto{onnxtest.Text("equation", "ab->a")}},
		{"Einsum", m, "wrong right side", []input{x}, []*onnxpb.AttributeProto{onnxtest.Text("equation", "abc->a+")}},
		{"Einsum", m, "in no operand", []input{x}, []*onnxpb.AttributeProto{onnxtest.Text("equation", "abc->d")}},
		{"If", s, "depends on an input", []input{tokens}, []*onnxpb.AttributeProto{graph("then_branch", branch), graph("else_branch", branch)}},
		{"If", m, `"then_branch" is missing`, []input{ints(1)}, []*onnxpb.AttributeProto{graph("else_branch", branch)}},
		{"If", s, "(Loop)", []input{ints(1)}, []*onnxpb.AttributeProto{graph("then_branch", branch), graph("else_branch", branch)}},
		{"If", m, "no graph", []input{ints(1)}, []*onnxpb.AttributeProto{{Name: "then_branch", Type: onnxpb.AttributeProto_GRAPH, G: []byte{0xff}}}},
	} {
		f := onnxtest.New(17, "x", 2, 3, 4)
		f.Proto.Graph.Input = append(f.Proto.Graph.Input, onnxtest.Info("t", onnxpb.TensorProto_INT64, 2, 3, 1))
		var names []string
		for _, in := range c.inputs {
			names = append(names, in(f))
		}
		y := f.Node(c.op, names, c.attrs...)
		node := f.Proto.Graph.Node[0]
		if c.op == "Split" {
			node.Output = append(node.Output, "second")
		}
		_, err := onnx.Parse(f.Output(y).Bytes(), onnx.Options{})
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.op) {
			t.Errorf("%s: got %v, expected %q of kind %q", c.op, err, c.want, c.kind)
		}
	}
}

// TestRejectsTokens gives an embedding tokens without rows, and two of different lengths the smaller bound.
func TestRejectsTokens(t *testing.T) {
	f := onnxtest.New(17, "x", 1)
	f.Proto.Graph.Input[0] = onnxtest.Info("x", onnxpb.TensorProto_INT64, 3)
	a := f.Node("Gather", []string{f.Random(1, "long", 1, 9, 4), "x"})
	b := f.Node("Gather", []string{f.Random(2, "short", 1, 5, 4), "x"})
	m, err := onnx.Parse(f.Output(f.Node("Add", []string{a, b})).Bytes(), onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := m.Values[m.Inputs[0]]; v.Lo != 0 || v.Hi != 4 {
		t.Errorf("tokens between %d and %d, the smaller table has 5 rows", v.Lo, v.Hi)
	}
	for _, id := range []int64{-1, 5} {
		if _, err := m.Run([]*onnx.Tensor{{Shape: []int{3}, Ints: []int64{0, id, 1}}}); err == nil || !strings.Contains(err.Error(), "element 1 is") {
			t.Errorf("token %d: %v", id, err)
		}
	}
	if _, err := m.Run([]*onnx.Tensor{{Shape: []int{3}, Real: make([]float32, 3)}}); err == nil || !strings.Contains(err.Error(), "mixed up") {
		t.Errorf("real tokens: %v", err)
	}
	if _, err := m.Run(nil); err == nil || !strings.Contains(err.Error(), "0 inputs given") {
		t.Errorf("no inputs: %v", err)
	}
}
