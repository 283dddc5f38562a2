package onnx_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// TestRejectOperators gives nodes that the operators of convolutions, pools, recurrences and quantised files refuse; the error names the
// node and what is wrong.
func TestRejectOperators(t *testing.T) {
	s, m := onnx.ErrUnsupported, onnx.ErrMalformed
	const i8, u8, i32 = onnxpb.TensorProto_INT8, onnxpb.TensorProto_UINT8, onnxpb.TensorProto_INT32
	// image is x[1, 4, 8, 8] -> one operator -> output.
	image := func(op string, inputs []string, attrs ...*onnxpb.AttributeProto) func() *onnxtest.File {
		return func() *onnxtest.File {
			f := onnxtest.New(17, "x", 1, 4, 8, 8)
			f.Random(1, "w", 1, 6, 4, 3, 3)
			f.Random(1, "back", 1, 4, 5, 3, 3)
			f.Random(2, "v", 1, 4)
			f.Random(3, "r", 1, 1, 16, 4)
			f.Codes("i8", i8, []int32{3})
			f.Codes("u8", u8, []int32{3})
			f.Codes("i32", i32, []int32{3})
			f.Codes("list", i8, []int32{3, 4, 5}, 3)
			f.Floats("s", []float32{0.5})
			f.Floats("zero", []float32{0})
			f.Floats("s3", []float32{0.5, 0.25, 0.125}, 3)
			f.Floats("scales", []float32{1, 1, 1e9, 2}, 4)
			f.Ints("pads", 0, 0, 0, 0, 0, 0, 1<<40, 0)
			f.Ints("axes", 2, 2)
			f.Proto.Graph.Initializer = keep(f.Proto.Graph.Initializer, inputs)
			return f.Output(f.Node(op, inputs, attrs...))
		}
	}
	kernel := onnxtest.List("kernel_shape", 3, 3)
	for _, c := range []struct {
		name string
		kind error
		want string
		file func() *onnxtest.File
	}{
		{"unknown attribute", s, `unknown attribute "other"`, image("Conv", []string{"x", "w"}, onnxtest.Int("other", 1))},
		{"group", m, `"group" is 3`, image("Conv", []string{"x", "w"}, onnxtest.Int("group", 3))},
		{"group too large", m, `"group" is 9223372036854775807`, image("Conv", []string{"x", "w"}, onnxtest.Int("group", math.MaxInt64))},
		{"kernel against weights", m, `"kernel_shape" is [2 2]`, image("Conv", []string{"x", "w"}, onnxtest.List("kernel_shape", 2, 2))},
		{"stride 0", m, `"strides", element 1 is 0`, image("Conv", []string{"x", "w"}, onnxtest.List("strides", 1, 0))},
		{"negative padding", m, `"pads", element 0 is -1`, image("Conv", []string{"x", "w"}, onnxtest.List("pads", -1, 0, 0, 0))},
		{"padding of the wrong length", m, `"pads" has 3 elements`, image("Conv", []string{"x", "w"}, onnxtest.List("pads", 0, 0, 0))},
		{"auto_pad with pads", m, "exclude each other", image("Conv", []string{"x", "w"}, onnxtest.Text("auto_pad", "SAME_UPPER"), onnxtest.List("pads", 1, 1, 1, 1))},
		{"auto_pad", s, `"SAME"`, image("Conv", []string{"x", "w"}, onnxtest.Text("auto_pad", "SAME"))},
		{"window too large", s, "does not fit", image("Conv", []string{"x", "w"}, onnxtest.List("dilations", 100, 1))},
		{"dilation overflow", s, "with dilation", image("Conv", []string{"x", "w"}, onnxtest.List("dilations", 1<<28, 1<<28))},
		{"padding overflow", s, "at most 2^24", image("Conv", []string{"x", "w"}, onnxtest.List("pads", 1<<28, 0, 0, 0))},
		{"weights of a vector", s, "equal ranks", image("Conv", []string{"x", "v"})},
		{"pool of everything", s, "at most 2^24", image("MaxPool", []string{"x"}, onnxtest.List("kernel_shape", 1<<14, 3), onnxtest.List("pads", 1<<14, 0, 1<<14, 0))},
		{"pool in the padding", s, "lies in the padding", image("MaxPool", []string{"x"}, onnxtest.List("kernel_shape", 2, 2), onnxtest.List("pads", 2, 0, 0, 0))},
		{"average in the padding", s, "lies in the padding", image("AveragePool", []string{"x"}, onnxtest.List("kernel_shape", 2, 2), onnxtest.List("pads", 2, 0, 0, 0))},
		{"pool without kernel", m, `"kernel_shape" is missing`, image("AveragePool", []string{"x"})},
		{"ceil_mode", s, `"ceil_mode" is 2`, image("MaxPool", []string{"x"}, kernel, onnxtest.Int("ceil_mode", 2))},
		{"output padding", m, `"output_padding", element 0 is 5`, image("ConvTranspose", []string{"x", "back"}, onnxtest.List("output_padding", 5, 0))},
		{"training", s, "training_mode", image("BatchNormalization", []string{"x", "v", "v", "v", "v"}, onnxtest.Int("training_mode", 1))},
		{"statistics", m, "each of 4 channels", image("BatchNormalization", []string{"x", "v", "v", "s3", "v"})},
		{"groups of channels", m, "does not exist in operator set 17", image("GroupNormalization", []string{"x", "v", "v"}, onnxtest.Int("num_groups", 3))},
		{"slopes", m, "slopes of shape [3]", image("PRelu", []string{"x", "s3"})},
		{"recurrence of an image", m, "expected steps, batch and features", image("LSTM", []string{"x", "r", "r"})},
		{"scale beyond reason", s, "scale 1e+09", image("Resize", []string{"x", "", "scales"})},
		{"resize without size", m, "either scales or sizes", image("Resize", []string{"x"})},
		{"padding beyond reason", s, "padding 1099511627776", image("Pad", []string{"x", "pads"})},
		{"axes twice", m, "axis 2 is given twice", image("ReduceSum", []string{"x", "axes"})},
		{"axis", m, "axis 4 of a tensor of rank 4", image("ReduceMean", []string{"x"}, onnxtest.List("axes", 4))},
		{"block size", m, `"blocksize" is 0`, image("DepthToSpace", []string{"x"})},
		{"blocks", m, "4 channels for blocks of 3 x 3", image("DepthToSpace", []string{"x"}, onnxtest.Int("blocksize", 3))},
		{"scale of zero", s, "is 0, expected a positive number", image("QuantizeLinear", []string{"x", "zero", "u8"})},
		{"zero point of 32 bits", s, "INT32", image("QuantizeLinear", []string{"x", "s", "i32"})},
		{"zero points and scales", m, "1 scale and 3 zero points", image("QuantizeLinear", []string{"x", "s", "list"})},
		{"scales of another axis", m, "3 scales and 3 zero points for axis 1", image("QuantizeLinear", []string{"x", "s3", "list"})},
		{"real zero point", s, "not a constant of an integer type", image("QuantizeLinear", []string{"x", "s", "zero"})},
		{"codes that are real", s, "real elements", image("QLinearConv", []string{"x", "s", "u8", "i8", "s", "i8", "s", "u8"})},
		{"dequantised reals", m, "expected integers", image("DequantizeLinear", []string{"x", "s", "u8"})},
	} {
		_, err := onnx.Parse(c.file().Bytes(), onnx.Options{})
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, expected an error of kind %q that says %q", c.name, err, c.kind, c.want)
		}
	}
}

// TestFactors checks that a BatchNormalization behind a convolution leaves only the convolution and a bias, and the same results.
func TestFactors(t *testing.T) {
	for _, group := range []int64{1, 2} {
		f := onnxtest.New(17, "x", 1, 4, 6, 6)
		c := f.Node("Conv", []string{"x", f.Random(1, "w", 1, 6, 4/group, 3, 3), f.Random(2, "b", 1, 6)}, onnxtest.Int("group", group))
		variance := []float32{0.5, 1, 2, 3, 0.25, 4}
		y := f.Node("BatchNormalization", []string{c, f.Random(3, "scale", 1, 6), f.Random(4, "shift", 1, 6), f.Random(5, "mean", 1, 6), f.Floats("var", variance, 6)})
		z := f.Node("Relu", []string{y})
		folded, err := onnx.Parse(f.Output(z).Bytes(), onnx.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range folded.Nodes {
			if n.Op == onnx.OpMul {
				t.Errorf("group %d: a factor is left", group)
			}
		}
		// With the convolution as a second output nothing can be folded.
		whole, err := onnx.Parse(f.Output(c).Bytes(), onnx.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(whole.Nodes, func(n onnx.Node) bool { return n.Op == onnx.OpMul }) {
			t.Errorf("group %d: a convolution with two readers was changed", group)
		}
		x := make([]float32, 4*6*6)
		for i := range x {
			x[i] = float32(i*37%101)/50 - 1
		}
		input := []*onnx.Tensor{{Shape: []int{1, 4, 6, 6}, Real: x}}
		a, err := folded.Run(input)
		if err != nil {
			t.Fatal(err)
		}
		b, err := whole.Run(input)
		if err != nil {
			t.Fatal(err)
		}
		got, want := a[folded.Outputs[0]], b[whole.Outputs[0]]
		for i := range want.Real {
			if math.Abs(got.At(i)-want.At(i)) > 1e-5*max(1, math.Abs(want.At(i))) {
				t.Fatalf("group %d, element %d: %g, expected %g", group, i, got.At(i), want.At(i))
			}
		}
	}
}

// TestEmbedCodes looks rows of codes up: a table of integers before a DequantizeLinear, and one behind it, whose codes come back where the
// result is quantised with the same scale.
func TestEmbedCodes(t *testing.T) {
	for _, before := range []bool{false, true} {
		f := onnxtest.New(17, "x", 3)
		f.Proto.Graph.Input[0] = onnxtest.Info("x", onnxpb.TensorProto_INT64, 3)
		table := f.Codes("table", onnxpb.TensorProto_INT8, []int32{1, -2, 3, -4, 5, -6, 7, -8}, 4, 2)
		scale, zero := f.Floats("s", []float32{0.5}), f.Codes("z", onnxpb.TensorProto_INT8, []int32{0})
		if before {
			table = f.Node("DequantizeLinear", []string{table, scale, zero})
		}
		y := f.Node("Gather", []string{table, "x"})
		if before {
			y = f.Node("QuantizeLinear", []string{y, scale, zero})
		}
		y = f.Node("DequantizeLinear", []string{y, scale, zero})
		m, err := onnx.Parse(f.Output(y).Bytes(), onnx.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := m.Nodes[0]; n.Op != onnx.OpEmbed || !m.Values[n.Output].Int || len(m.Nodes) != 2 {
			t.Errorf("before %v: the first of %d operations is %s", before, len(m.Nodes), n.Op)
		}
		v, err := m.Run([]*onnx.Tensor{{Shape: []int{3}, Ints: []int64{3, 0, 2}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := v[m.Outputs[0]].Float64s(); !slices.Equal(got, []float64{3.5, -4, 0.5, -1, 2.5, -3}) {
			t.Errorf("before %v: %v", before, got)
		}
	}
}

// TestSoftmaxPatterns checks that a softmax written out, with the greatest element taken out or not, is one operation, that a near miss is
// not, and that the logarithm of a sum of exponentials neither overflows nor loses a row of small ones.
func TestSoftmaxPatterns(t *testing.T) {
	rows := []float32{1, 2, 3, 100, 101, 99, -300, -300, -301}
	x := &onnx.Tensor{Shape: []int{3, 3}, Real: rows}
	softmax := func(below bool, keep int64) *onnxtest.File {
		f := onnxtest.New(13, "x", 3, 3)
		u := "x"
		if below {
			u = f.Node("Sub", []string{"x", f.Node("ReduceMax", []string{"x"}, onnxtest.List("axes", 1))})
		}
		e := f.Node("Exp", []string{u})
		return f.Output(f.Node("Div", []string{e, f.Node("ReduceSum", []string{e, f.Ints("axes", 1)}, onnxtest.Int("keepdims", keep))}))
	}
	logSumExp := onnxtest.New(13, "x", 3, 3)
	total := logSumExp.Node("ReduceSum", []string{logSumExp.Node("Exp", []string{"x"}), logSumExp.Ints("axes", 1)}, onnxtest.Int("keepdims", 0))
	logSumExp.Output(logSumExp.Node("Log", []string{total}))
	for _, c := range []struct {
		name string
		file *onnxtest.File
		is   bool // a softmax is found
		want func(row []float64) []float64
	}{
		{"exponentials", softmax(false, 1), true, softmaxOf},
		{"below the greatest", softmax(true, 1), true, softmaxOf},
		{"divided by other rows' sums", softmax(true, 0), false, nil},
		{"logarithm", logSumExp, false, func(row []float64) []float64 { return []float64{row[0] - math.Log(softmaxOf(row)[0])} }},
	} {
		m, err := onnx.Parse(c.file.Bytes(), onnx.Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if found := slices.ContainsFunc(m.Nodes, func(n onnx.Node) bool { return n.Op == onnx.OpSoftmax }); found != c.is {
			t.Errorf("%s: softmax found: %t, expected %t", c.name, found, c.is)
		}
		if c.want == nil {
			continue
		}
		got, err := m.Run([]*onnx.Tensor{x})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var want []float64
		for i := 0; i < len(rows); i += 3 {
			want = append(want, c.want([]float64{float64(rows[i]), float64(rows[i+1]), float64(rows[i+2])})...)
		}
		out := got[m.Outputs[0]]
		if out.Len() != len(want) {
			t.Fatalf("%s: %d elements, expected %d", c.name, out.Len(), len(want))
		}
		for i, w := range want {
			if math.Abs(out.At(i)-w) > 1e-6*max(1, math.Abs(w)) {
				t.Errorf("%s, element %d: %g, expected %g", c.name, i, out.At(i), w)
			}
		}
	}
}

func softmaxOf(row []float64) []float64 {
	most, sum := slices.Max(row), 0.0
	out := make([]float64, len(row))
	for i, v := range row {
		out[i] = math.Exp(v - most)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// TestOldAxis has axes that count from the back in operator sets whose text does not mention such. Runtimes take them, and so do the files of some exporters.
func TestOldAxis(t *testing.T) {
	x := &onnx.Tensor{Shape: []int{1, 2, 3}, Real: []float32{1, 5, 2, 4, -3, 0}}
	run := func(op string, axis int64) []float32 {
		f := onnxtest.New(9, "x", 1, 2, 3)
		m, err := onnx.Parse(f.Output(f.Node(op, []string{"x"}, onnxtest.Int("axis", axis))).Bytes(), onnx.Options{})
		if err != nil {
			t.Fatalf("%s, axis %d: %v", op, axis, err)
		}
		values, err := m.Run([]*onnx.Tensor{x})
		if err != nil {
			t.Fatalf("%s, axis %d: %v", op, axis, err)
		}
		out := values[m.Outputs[0]]
		if out.Ints != nil {
			for _, v := range out.Ints {
				out.Real = append(out.Real, float32(v))
			}
		}
		return out.Real
	}
	for _, op := range []string{"Softmax", "LogSoftmax", "ArgMax", "ArgMin"} {
		for axis := int64(1); axis < 3; axis++ {
			if got, want := run(op, axis-3), run(op, axis); !slices.Equal(got, want) {
				t.Errorf("%s: axis %d gives %v, axis %d %v", op, axis-3, got, axis, want)
			}
		}
	}
}

// narrowPair is a model of one operator on two integer inputs of a type.
func narrowPair(op string, kind onnxpb.TensorProto_DataType) []byte {
	f := onnxtest.New(14, "x", 12)
	g := f.Proto.Graph
	g.Input = []*onnxpb.ValueInfoProto{onnxtest.Info("x", kind, 12), onnxtest.Info("y", kind, 12)}
	moved := f.Node("Transpose", []string{"y"}) // knows the type of what it moves
	f.Output(f.Node(op, []string{"x", moved}))
	g.Output = []*onnxpb.ValueInfoProto{onnxtest.Info(g.Output[0].Name, kind, 12)}
	return f.Bytes()
}

// TestNarrowArithmetic checks that integers of 8 and 16 bits wrap around as onnxruntime's and numpy's do, and that those of a larger type
// or a range that fits do not take a table for it.
func TestNarrowArithmetic(t *testing.T) {
	for kind, w := range map[onnxpb.TensorProto_DataType]struct {
		lo, hi int64
		in     func(x int64) int64
	}{
		onnxpb.TensorProto_INT8:   {math.MinInt8, math.MaxInt8, func(x int64) int64 { return int64(int8(x)) }},
		onnxpb.TensorProto_UINT8:  {0, math.MaxUint8, func(x int64) int64 { return int64(uint8(x)) }},
		onnxpb.TensorProto_INT16:  {math.MinInt16, math.MaxInt16, func(x int64) int64 { return int64(int16(x)) }},
		onnxpb.TensorProto_UINT16: {0, math.MaxUint16, func(x int64) int64 { return int64(uint16(x)) }},
	} {
		x, y := make([]int64, 12), make([]int64, 12)
		for i := range x { // ends against ends, then others
			x[i], y[i] = w.lo+int64(i)*7919%(w.hi-w.lo+1), w.hi-int64(i)*31337%(w.hi-w.lo+1)
		}
		copy(x, []int64{w.lo, w.lo, w.hi, w.hi})
		copy(y, []int64{w.lo, w.hi, w.lo, w.hi})
		for op, f := range map[string]func(a, b int64) int64{
			"Add": func(a, b int64) int64 { return a + b }, "Sub": func(a, b int64) int64 { return a - b }, "Mul": func(a, b int64) int64 { return a * b },
		} {
			m, err := onnx.Parse(narrowPair(op, kind), onnx.Options{})
			if err != nil {
				t.Fatalf("%s %s: %v", op, kind, err)
			}
			got, err := m.Run([]*onnx.Tensor{{Shape: []int{12}, Ints: x}, {Shape: []int{12}, Ints: y}})
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got[m.Outputs[0]].Ints {
				if want := w.in(f(x[i], y[i])); v != want {
					t.Errorf("%s %s: %d and %d give %d, expected %d", op, kind, x[i], y[i], v, want)
				}
			}
			small, err := onnx.Parse(narrowPair(op, kind), onnx.Options{Ranges: map[string][2]int64{"x": {5, 9}, "y": {1, 5}}})
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(small.Nodes, func(n onnx.Node) bool { return n.Op == onnx.OpTable }) {
				t.Errorf("%s %s: a table for what fits", op, kind)
			}
		}
	}
}

// TestNarrowMoved doubles what operators have moved or chosen of integers of 8 bits: that wraps around, as in onnxruntime.
func TestNarrowMoved(t *testing.T) {
	x := []int64{-128, 127, 0, 1, 126, -127, 63, 64}
	for name, c := range map[string]struct {
		nodes func(f *onnxtest.File) string
		want  []int64
	}{
		"ReduceMax": {func(f *onnxtest.File) string {
			return f.Node("ReduceMax", []string{"x"}, onnxtest.List("axes", 2))
		}, []int64{-2}},
		"ReduceMin": {func(f *onnxtest.File) string {
			return f.Node("ReduceMin", []string{"x"}, onnxtest.List("axes", 2))
		}, []int64{0}},
		"MaxPool": {func(f *onnxtest.File) string {
			return f.Node("MaxPool", []string{"x"}, onnxtest.List("kernel_shape", 2), onnxtest.List("strides", 2))
		}, []int64{-2, 2, -4, -128}},
		"Where": {func(f *onnxtest.File) string {
			y := f.Node("Neg", []string{"x"})
			return f.Node("Where", []string{f.Node("Greater", []string{"x", y}), "x", y})
		}, []int64{0, -2, 0, 2, -4, -2, 126, -128}},
	} {
		f := onnxtest.New(14, "x", 1, 1, 8)
		g := f.Proto.Graph
		g.Input = []*onnxpb.ValueInfoProto{onnxtest.Info("x", onnxpb.TensorProto_INT8, 1, 1, 8)}
		y := c.nodes(f)
		f.Output(f.Node("Add", []string{y, y}))
		g.Output[0].Type = nil
		m, err := onnx.Parse(f.Bytes(), onnx.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := m.Run([]*onnx.Tensor{{Shape: []int{1, 1, 8}, Ints: x}})
		if err != nil {
			t.Fatal(err)
		}
		if ints := got[m.Outputs[0]].Ints; !slices.Equal(ints, c.want) {
			t.Errorf("%s: %v, expected %v", name, ints, c.want)
		}
	}
}

// Sums for which ONNX has no integers of 8 and 16 bits say so, rather than wrap or not. Where it has them, arithmetic wraps.
func TestNarrowSums(t *testing.T) {
	for op, node := range map[string]func(f *onnxtest.File) string{
		"Sum":             func(f *onnxtest.File) string { return f.Node("Sum", []string{"x", "x"}) },
		"ReduceSum":       func(f *onnxtest.File) string { return f.Node("ReduceSum", []string{"x"}) },
		"ReduceSumSquare": func(f *onnxtest.File) string { return f.Node("ReduceSumSquare", []string{"x"}) },
		"CumSum": func(f *onnxtest.File) string {
			return f.Node("CumSum", []string{"x", f.Codes("axis", onnxpb.TensorProto_INT32, []int32{1})})
		},
	} {
		for _, kind := range []onnxpb.TensorProto_DataType{onnxpb.TensorProto_INT8, onnxpb.TensorProto_UINT8, onnxpb.TensorProto_INT16, onnxpb.TensorProto_UINT16} {
			for _, cast := range []bool{false, true} {
				f := onnxtest.New(14, "x", 2, 4)
				g := f.Proto.Graph
				g.Input = []*onnxpb.ValueInfoProto{onnxtest.Info("x0", kind, 2, 4)}
				if cast {
					f.Node("Cast", []string{"x0"}, onnxtest.Int("to", int64(onnxpb.TensorProto_INT32)))
				} else {
					f.Node("Identity", []string{"x0"})
				}
				f.Last().Output[0] = "x"
				f.Output(node(f))
				g.Output[0].Type = nil
				_, err := onnx.Parse(f.Bytes(), onnx.Options{})
				switch want := "is of " + kind.String() + ", and ONNX has no " + op; {
				case cast && err != nil:
					t.Errorf("%s of %s as int32: %v", op, kind, err)
				case !cast && (!errors.Is(err, onnx.ErrUnsupported) || !strings.Contains(err.Error(), want)):
					t.Errorf("%s of %s: %v, want %q in it", op, kind, err, want)
				}
			}
		}
	}
}

// A Cast says how arithmetic behind it wraps.
func TestNarrowCast(t *testing.T) {
	for to, want := range map[onnxpb.TensorProto_DataType][]int64{
		onnxpb.TensorProto_INT8:  {-2, -56, 100, 4},
		onnxpb.TensorProto_INT16: {254, 200, -156, 4},
		onnxpb.TensorProto_INT32: {254, 200, -156, 4},
	} {
		f := onnxtest.New(14, "x", 4)
		g := f.Proto.Graph
		g.Input = []*onnxpb.ValueInfoProto{onnxtest.Info("x", onnxpb.TensorProto_INT8, 4)}
		y := f.Node("Cast", []string{"x"}, onnxtest.Int("to", int64(to)))
		f.Output(f.Node("Add", []string{y, y}))
		g.Output[0].Type = nil
		m, err := onnx.Parse(f.Bytes(), onnx.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Run([]*onnx.Tensor{{Shape: []int{4}, Ints: []int64{127, 100, -78, 2}}})
		if err != nil {
			t.Fatal(err)
		}
		if ints := got[m.Outputs[0]].Ints; !slices.Equal(ints, want) {
			t.Errorf("as %s: %v, expected %v", to, ints, want)
		}
	}
}
