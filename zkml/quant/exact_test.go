package quant

import (
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// checkExact wants the program's integers to equal the executor's, on random inputs and at the extremes of the inputs' bounds.
func (n *net) checkExact(t *testing.T) *graph.Program {
	t.Helper()
	c, report, err := Calibrate(n.m, n.samples(2), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report.MaxError != 0 || report.Agreement != 1 {
		t.Errorf("error %g, agreement %g", report.MaxError, report.Agreement)
	}
	p, w, err := Build(n.m, c)
	if err != nil {
		t.Fatal(err)
	}
	samples := n.samples(20)
	for end := range 3 {
		var x []float64
		for _, id := range n.m.Inputs {
			v := &n.m.Values[id]
			for i := range graph.Elements(v.Shape) {
				e := v.Lo
				if end == 1 || end == 2 && i%2 == 0 {
					e = v.Hi
				}
				x = append(x, float64(e))
			}
		}
		samples = append(samples, x)
	}
	for k, x := range samples {
		inputs, err := split(n.m, x)
		if err != nil {
			t.Fatal(err)
		}
		want, err := n.m.Run(inputs)
		if err != nil {
			t.Fatal(err)
		}
		q, err := QuantizeInput(p, x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := graph.RunPadded(p, w, q)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range n.m.Outputs {
			for e, y := range graph.Unpad(p.Tensor(p.Outputs[i]).Shape, got[p.Outputs[i]]) {
				if int64(y) != want[v].Ints[e] {
					t.Fatalf("sample %d, output %d, element %d is %d, expected %d", k, i, e, y, want[v].Ints[e])
				}
			}
		}
	}
	return p
}

// requantise is Quantise of integers to 8 bits, by one multiplier or one for each index along an axis.
func (n *net) requantise(x, axis int, scale ...float32) int {
	zero := make([]int64, len(scale))
	for i := range zero {
		zero[i] = int64(3 - i%2)
	}
	return n.intOp(onnx.OpQuantise, onnx.Attr{Axis: axis, Scale: scale, Zero: zero, Lo: -128, Hi: 127}, -128, 127, n.shape(x), x)
}

// TestExact runs quantised layers whose integers must come out as in the executor, and counts how they are requantised.
func TestExact(t *testing.T) {
	labels := func(a, b, c []uint8) onnx.Attr { return onnx.Attr{Labels: [][]uint8{a, b, c}} }
	for name, c := range map[string]struct {
		build func(n *net) int
		kind  graph.OpKind // that an operation must have
	}{
		"matmul": {func(n *net) int {
			x := n.intOp(onnx.OpSub, onnx.Attr{}, -255, 255, []int{3, 40}, n.intInput(0, 255, 3, 40), n.ints(nil, 120, 120))
			y := n.intOp(onnx.OpEinsum, labels([]uint8{0, 1}, []uint8{1, 2}, []uint8{0, 2}), -1305600, 1305600, []int{3, 5}, x, n.ints([]int{40, 5}, -128, 127))
			return n.requantise(n.intOp(onnx.OpAdd, onnx.Attr{}, -1400000, 1400000, []int{3, 5}, y, n.ints([]int{5}, -9000, 9000)), 0, 0.0003)
		}, graph.KindThreshold},
		"by channel": {func(n *net) int {
			y := n.intOp(onnx.OpEinsum, labels([]uint8{0, 1}, []uint8{1, 2}, []uint8{0, 2}), -1305600, 1305600, []int{3, 5}, n.intInput(-128, 127, 3, 40), n.ints([]int{40, 5}, -128, 127))
			return n.requantise(y, 1, 0.0003, 0.5, 1e-6, 0.000244140625, 0.00111)
		}, graph.KindThreshold},
		"short sum": {func(n *net) int {
			y := n.intOp(onnx.OpReduceSum, onnx.Attr{Axes: []int{1}}, 0, 1275, []int{3}, n.intInput(0, 255, 3, 5))
			return n.requantise(y, 0, 0.2)
		}, graph.KindLookup},
		"ties": {func(n *net) int {
			return n.requantise(n.intInput(-300, 300, 7), 0, 0.5)
		}, graph.KindLookup},
		"max pool": {func(n *net) int {
			x := n.intInput(-128, 127, 2, 9)
			w := n.intOp(onnx.OpRearrange, onnx.Attr{Fill: -128, Maps: []onnx.AxisMap{{Axis: 0, Shape: []int{2}}, {Axis: 1, Shape: []int{3, 4}, Index: []int32{-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -1}}}}, -128, 127, []int{2, 3, 4}, x)
			return n.intOp(onnx.OpReduceMax, onnx.Attr{Axes: []int{2}}, -128, 127, []int{2, 3}, w)
		}, graph.KindPair},
		"maximum of two": {func(n *net) int {
			return n.intOp(onnx.OpMax, onnx.Attr{}, 0, 255, []int{3, 5}, n.intInput(0, 255, 3, 5), n.intInput(0, 200, 5))
		}, graph.KindPair},
		"wide maximum": {func(n *net) int {
			return n.intOp(onnx.OpMax, onnx.Attr{}, -32768, 32767, []int{3, 5}, n.intInput(-32768, 32767, 3, 5), n.intInput(-32768, 32767, 3, 1))
		}, graph.KindLookup},
		"wide minimum": {func(n *net) int {
			return n.intOp(onnx.OpMin, onnx.Attr{}, 0, 65535, []int{3, 5}, n.intInput(0, 65535, 3, 5), n.intInput(0, 65535, 5))
		}, graph.KindLookup},
		"minimum with constant": {func(n *net) int {
			return n.intOp(onnx.OpMin, onnx.Attr{}, -128, 17, []int{3, 5}, n.intInput(-128, 127, 3, 5), n.ints(nil, 17, 17))
		}, graph.KindLookup},
		"product and concatenation": {func(n *net) int {
			x := n.intInput(-8, 7, 3, 5)
			y := n.intOp(onnx.OpMul, onnx.Attr{}, -56, 64, []int{3, 5}, x, n.intInput(-8, 7, 3, 1))
			z := n.intOp(onnx.OpMul, onnx.Attr{}, -72, 63, []int{3, 5}, x, n.ints([]int{5}, -9, 9))
			return n.intOp(onnx.OpConcat, onnx.Attr{Axis: 1}, -128, 127, []int{3, 12}, y, n.ints([]int{3, 2}, -100, 100), z)
		}, graph.KindLookup},
		"selection": {func(n *net) int {
			x := n.intInput(-8, 7, 3, 5)
			y := n.intOp(onnx.OpSelect, onnx.Attr{}, -20, 7, []int{3, 5}, x, n.intInput(0, 1, 5), n.ints(nil, -20, -20))
			return n.intOp(onnx.OpSelect, onnx.Attr{}, -20, 30, []int{3, 5}, y, n.mask(3, 1), n.ints([]int{5}, 25, 30))
		}, graph.KindEinsum},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNet(21)
			n.output(c.build(n))
			p := n.checkExact(t)
			found := false
			for _, op := range p.Ops {
				found = found || op.Kind() == c.kind
			}
			if !found {
				t.Errorf("no %s among the operations", c.kind)
			}
		})
	}
}

// TestThresholdLimits refuses thresholds of too many channels and multipliers that are not positive.
func TestThresholdLimits(t *testing.T) {
	for _, scales := range [][]float32{make([]float32, 1025), {0.5, -0.1}, {0.5, 0}} {
		for i := range scales {
			if scales[i] == 0 && len(scales) > 2 {
				scales[i] = 0.001 * float32(i+1)
			}
		}
		n := newNet(22)
		x := n.intInput(-128, 127, 2, 900, len(scales))
		n.output(n.requantise(n.intOp(onnx.OpReduceSum, onnx.Attr{Axes: []int{1}}, -115200, 114300, []int{2, len(scales)}, x), 1, scales...))
		if _, _, err := Calibrate(n.m, n.samples(1), Options{}); err == nil {
			t.Errorf("%d channels with the first multiplier %g: accepted", len(scales), scales[0])
		}
	}
}

// TestQuantiseReal gives codes of the file's scale to real numbers and takes them back.
func TestQuantiseReal(t *testing.T) {
	n := newNet(23)
	x := n.dense(n.input(3, 20), 6)
	q := n.intOp(onnx.OpQuantise, onnx.Attr{Scale: []float32{0.03}, Zero: []int64{5}, Lo: -128, Hi: 127}, -128, 127, n.shape(x), x)
	y := n.op(onnx.OpDequantise, onnx.Attr{Scale: []float32{0.03}, Zero: []int64{5}}, n.shape(x), q)
	n.output(n.dense(y, 4))
	n.check(t, Options{}, 30)
}

// TestNarrowArithmetic checks that programs of arithmetic on integers of 8 and 16 bits wrap around as the executor does.
func TestNarrowArithmetic(t *testing.T) {
	for _, kind := range []onnxpb.TensorProto_DataType{onnxpb.TensorProto_INT8, onnxpb.TensorProto_INT16, onnxpb.TensorProto_UINT16} {
		f := onnxtest.New(14, "x", 3, 4)
		g := f.Proto.Graph
		g.Input = []*onnxpb.ValueInfoProto{onnxtest.Info("x", kind, 3, 4), onnxtest.Info("y", kind, 4)}
		f.Output(f.Node("Mul", []string{f.Node("Sub", []string{"x", "y"}), "x"}))
		g.Output = []*onnxpb.ValueInfoProto{onnxtest.Info(g.Output[0].Name, kind, 3, 4)}
		m, err := onnx.Parse(f.Bytes(), onnx.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := newNet(11)
		n.m = m
		t.Run(kind.String(), func(t *testing.T) { n.checkExact(t) })
	}
}

// TestNarrowChoice multiplies what Where chooses of two computed tensors of 8 bits, as the executor does.
func TestNarrowChoice(t *testing.T) {
	for _, kind := range []onnxpb.TensorProto_DataType{onnxpb.TensorProto_INT8, onnxpb.TensorProto_UINT8} {
		f := onnxtest.New(14, "x", 3, 4)
		g := f.Proto.Graph
		g.Input = []*onnxpb.ValueInfoProto{onnxtest.Info("x", kind, 3, 4), onnxtest.Info("y", kind, 3, 4)}
		chosen := f.Node("Where", []string{f.Node("Greater", []string{"x", "y"}), "x", "y"})
		f.Output(f.Node("Mul", []string{chosen, f.Node("Sub", []string{chosen, "y"})}))
		g.Output = []*onnxpb.ValueInfoProto{onnxtest.Info(g.Output[0].Name, kind, 3, 4)}
		m, err := onnx.Parse(f.Bytes(), onnx.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := newNet(11)
		n.m = m
		t.Run(kind.String(), func(t *testing.T) { n.checkExact(t) })
	}
}
