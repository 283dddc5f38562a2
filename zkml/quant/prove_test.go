package quant

import (
	"context"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/prover"
)

// prove calibrates a model, proves it on an input and at the extremes of the inputs' bounds, and verifies; another output is rejected.
func (n *net) prove(t *testing.T, o Options) {
	t.Helper()
	c, _, err := Calibrate(n.m, n.samples(4), o)
	if err != nil {
		t.Fatal(err)
	}
	p, w, err := Build(n.m, c)
	if err != nil {
		t.Fatal(err)
	}
	d, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	quick := prover.SetupOptions{Commitment: whir.Options{UniqueOnly: true, FoldWork: whir.NoWork, QueryWork: whir.NoWork}}
	vk, pk, err := prover.Setup(q, p, w, &quick)
	if err != nil {
		t.Fatal(err)
	}
	var extreme []int32
	for _, id := range p.Inputs {
		in := p.Tensor(id)
		for i := range in.Len() {
			v := in.Lo
			if i%2 == 0 {
				v = in.Hi
			}
			extreme = append(extreme, int32(v))
		}
	}
	typical, err := QuantizeInput(p, n.samples(1)[0])
	if err != nil {
		typical = make([]int32, len(extreme))
	}
	for k, x := range [][]int32{typical, extreme} {
		r, err := prover.Prove(q, pk, x, nil)
		if err != nil {
			t.Fatal(err)
		}
		values, err := graph.Run(p, w, x)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Y, p.OutputOf(values)) {
			t.Fatalf("input %d: the proof is of another output", k)
		}
		if err := zkml.Verify(vk, x, r.Y, r.Proof, nil); err != nil {
			t.Fatalf("input %d: %v", k, err)
		}
		y := slices.Clone(r.Y)
		if y[0]++; zkml.Verify(vk, x, y, r.Proof, nil) == nil {
			t.Fatalf("input %d: another output is accepted", k)
		}
	}
}

// TestProve proves programs with every composition.
func TestProve(t *testing.T) {
	if testing.Short() {
		t.Skip("proofs take seconds")
	}
	for name, build := range map[string]func(n *net){
		"transformer": func(n *net) { gpt(n, 5, 8, 2, 1, 11) },
		"convolution": func(n *net) {
			x := n.fn(onnx.FuncRelu, n.convolution(n.input(1, 2, 6), 3))
			x = n.reduce(onnx.OpReduceMax, n.mapped(x, 2, -1e38, []int{3, 2}, 0, 1, 2, 3, 4, 5), 3)
			n.output(n.reduce(onnx.OpReduceSum, x, 2))
		},
		"wide residual": func(n *net) {
			x := n.input(3, 6)
			x = n.pair(onnx.OpAdd, x, n.dense(n.affine(n.norm(x, false, 1)), 6))
			n.output(n.norm(x, true, 1), n.intOp(onnx.OpArgMax, onnx.Attr{Axis: 1}, 0, 5, []int{3}, x))
		},
		"codes": func(n *net) {
			x := n.intOp(onnx.OpSub, onnx.Attr{}, -255, 255, []int{3, 5}, n.intInput(0, 255, 3, 5), n.ints(nil, 120, 120))
			y := n.intOp(onnx.OpEinsum, onnx.Attr{Labels: [][]uint8{{0, 1}, {1, 2}, {0, 2}}}, -163200, 163200, []int{3, 3}, x, n.ints([]int{5, 3}, -128, 127))
			n.output(n.requantise(y, 1, 0.001, 0.002, 0.0005))
		},
		"channels": func(n *net) { // of a matrix, with an offset, and of batches
			x := n.fn(onnx.FuncRelu, n.pair(onnx.OpAdd, n.einsum("ti,ij->tj", n.input(3, 9), n.spread(1, 9, 10)), n.random(0.1, 10)))
			n.output(n.einsum("thi,hij->thj", n.reshape(x, 3, 2, 5), n.spread(2, 2, 5, 3)))
		},
		"softmax of codes": func(n *net) {
			shape := []int{2, codedRow}
			x := n.op(onnx.OpDequantise, onnx.Attr{Scale: []float32{0.05}, Zero: []int64{7}}, shape, n.intInput(-128, 127, shape...))
			n.output(n.intOp(onnx.OpQuantise, onnx.Attr{Scale: []float32{1.0 / 256}, Zero: []int64{-128}, Lo: -128, Hi: 127}, -128, 127, shape, n.softmax(x, 1)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNet(31)
			build(n)
			o := Options{TableBits: 12}
			if name == "channels" {
				o.WeightBits = 8
			}
			n.prove(t, o)
		})
	}
}
