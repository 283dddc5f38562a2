package quant_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

func parse(t testing.TB, f *onnxtest.File) *onnx.Model {
	t.Helper()
	m, err := onnx.Parse(f.Bytes(), onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func samplesFor(m *onnx.Model, seed uint64, n int) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 5))
	samples := make([][]float64, n)
	size := graph.Elements(m.Values[m.Inputs[0]].Shape)
	for i := range samples {
		samples[i] = make([]float64, size)
		for j := range samples[i] {
			samples[i][j] = rng.NormFloat64()
		}
	}
	return samples
}

// net is a network of the given widths with activations in turn and a residual wherever two widths agree.
func net(seed uint64, batch int64, widths ...int64) *onnxtest.File {
	f := onnxtest.New(17, "x", batch, widths[0])
	activations := []string{"Relu", "Tanh", "Sigmoid"}
	x := "x"
	for i := 1; i < len(widths); i++ {
		k, n := widths[i-1], widths[i]
		name := fmt.Sprint(i)
		w := f.Random(seed+uint64(i), "w"+name, 1/math.Sqrt(float64(k)), n, k)
		b := f.Random(seed+uint64(100+i), "b"+name, 0.2, n)
		y := f.Node("Gemm", []string{x, w, b}, onnxtest.Int("transB", 1))
		if k == n {
			y = f.Node("Add", []string{y, x})
		}
		if i < len(widths)-1 {
			y = f.Node(activations[i%3], []string{y})
		}
		x = y
	}
	return f.Output(x)
}

// TestOddWidths calibrates random networks of odd widths and checks that the integers follow the float model closely.
func TestOddWidths(t *testing.T) {
	sizes := []int64{1, 3, 5, 7, 33, 100}
	for i, a := range sizes {
		for _, j := range []int{i, (i + 1) % 6, (i + 3) % 6} {
			b := sizes[j]
			m := parse(t, net(uint64(10*i+j), 1+2*int64(j%2), a, b, b, 5))
			samples := samplesFor(m, uint64(i), 10)
			_, report, err := quant.Calibrate(m, samples, quant.Options{})
			if err != nil {
				t.Fatalf("%d-%d: %v", a, b, err)
			}
			for _, l := range report.Layers {
				if l.SNR < 22 || l.Saturated > 0 {
					t.Errorf("%d-%d: layer %s has %.1f dB, %.3f saturated", a, b, l.Name, l.SNR, l.Saturated)
				}
			}
			if report.Agreement < 0.85 {
				t.Errorf("%d-%d: answers agree on %.2f of rows", a, b, report.Agreement)
			}
		}
	}
}

// everything is a model with every operator and every way they combine.
func everything() *onnxtest.File {
	f := onnxtest.New(17, "x", 0, 2, 3, 4)
	flat := f.Node("Flatten", []string{"x"})
	h := f.Node("Gemm", []string{flat, f.Random(1, "w1", 0.2, 24, 15), f.Random(2, "b1", 0.3, 15)}, onnxtest.Float("alpha", 0.7), onnxtest.Float("beta", 1.5))
	a := f.Node("Clip", []string{h, f.Floats("lo", []float32{-0.9}), f.Floats("hi", []float32{1.1})})
	drop := f.Node("Dropout", []string{a})
	grid := f.Node("Reshape", []string{drop, f.Ints("s1", -1, 3, 5)})
	m := f.Node("MatMul", []string{grid, f.Random(3, "w2", 0.4, 5, 5)})
	bias := f.Node("Sub", []string{f.Random(4, "b2", 0.3, 3, 1), m}) // constant minus computed, repeated along the last axis
	res := f.Node("Add", []string{bias, grid})                       // residual of a reshaped tensor
	s := f.Node("Sigmoid", []string{res})
	scaled := f.Node("Mul", []string{s, f.Floats("two", []float32{-2}, 1)}) // after a curve: part of the table
	halved := f.Node("Div", []string{scaled, f.Floats("half", []float32{4}, 1)})
	back := f.Node("Reshape", []string{halved, f.Ints("s2", 0, 15)})
	wide := f.Node("Mul", []string{back, f.Floats("three", []float32{3}, 1)}) // on its own: a plain multiplication
	tan := f.Node("Tanh", []string{wide})
	both := f.Node("Sub", []string{tan, drop}) // difference of two requantised tensors, one of them used before
	id := f.Node("Identity", []string{both})
	cast := f.Node("Cast", []string{id}, onnxtest.Int("to", 1))
	r := f.Node("Relu", []string{cast})
	out := f.Node("MatMul", []string{r, f.Random(5, "w3", 0.5, 15, 6)})
	twice := f.Node("Add", []string{out, out})
	return f.Output(f.Node("Softmax", []string{twice}, onnxtest.Int("axis", 1)))
}

// TestEverything checks structure and accuracy of the model with all operators, and pins its program: tables with exponentials must
// come out the same on every machine.
func TestEverything(t *testing.T) {
	m := parse(t, everything())
	samples := samplesFor(m, 1, 40)
	c, report, err := quant.Calibrate(m, samples, quant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range report.Layers {
		t.Logf("%-14s %-8s %6.1f dB  shift %2d  table %2d  weights %2d", l.Name, l.Op, l.SNR, l.Shift, l.TableBits, l.WeightBits)
		if l.SNR < 22 {
			t.Errorf("layer %s has %.1f dB", l.Name, l.SNR)
		}
	}
	p, w, err := quant.Build(m, c)
	if err != nil {
		t.Fatal(err)
	}
	if p.Post.Kind != graph.PostSoftmax || p.Post.Axis != 1 || p.Post.Span != 1 {
		t.Errorf("last step %+v", p.Post)
	}
	if in := p.Tensor(p.Inputs[0]); len(in.Shape) != 2 {
		t.Errorf("the flattening of the input was not taken into the input's shape: %v", in.Shape)
	}
	x, err := quant.QuantizeInput(p, samples[0])
	if err != nil {
		t.Fatal(err)
	}
	y, err := graph.Output(p, w, x)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := p.Answer(y)
	if err != nil {
		t.Fatal(err)
	}
	float, err := m.RunOne(samples[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range float[m.Outputs[0]] {
		if math.Abs(v-answer.Values[i]) > 0.05 {
			t.Errorf("probability %d is %.3f, the float model says %.3f", i, answer.Values[i], v)
		}
	}
}

// TestBuildIsPinned builds from a calibration written here and compares digests, so that a machine, compiler or library that computes
// other weights or tables is noticed.
func TestBuildIsPinned(t *testing.T) {
	m := parse(t, everything())
	c, _, err := quant.Calibrate(m, samplesFor(m, 1, 40), quant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Inputs[0].Scale = 3.0 / 127 // replace what depends on observed values
	c.Inputs[0].QScale = c.Inputs[0].Scale
	for i := range c.Stages {
		s := &c.Stages[i]
		equal := s.QScale == s.Scale
		s.QScale = math.Ldexp(float64(3+i), -6) * 0.1
		if s.Scale = s.QScale; !equal {
			s.Scale = 1.0 / 127
		}
		s.Shift, s.TableBits = 5, 18
	}
	p, w, err := quant.Build(m, c)
	if err != nil {
		t.Fatal(err)
	}
	program, _ := p.Encode()
	weights, _ := w.Encode(p)
	const want = "effc254bcf169946e25a1d15fc94efee64cefb78ceb058d74f9516236f605341"
	if got := fmt.Sprintf("%x", sha256.Sum256(append(program, weights...))); got != want {
		t.Fatalf("program and weights have digest %s, expected %s", got, want)
	}
}

// TestExactOutput leaves the last layer as it is, behind a reshape, and refuses the mark anywhere else.
func TestExactOutput(t *testing.T) {
	f := net(5, 0, 6, 9, 4)
	last := f.Proto.Graph.Output[0].Name
	f.Proto.Graph.Output = nil
	f.Output(f.Node("Reshape", []string{last, f.Ints("s", 2, 2)}))
	m := parse(t, f)
	samples := samplesFor(m, 1, 20)
	rounded, before, err := quant.Calibrate(m, samples, quant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, report, err := quant.Calibrate(m, samples, quant.Options{ExactOutput: true})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := report.Layers[1], before.Layers[1]; a.TableBits != 0 || a.SNR < b.SNR-1 {
		t.Errorf("exact %+v, rounded %+v", a, b)
	}
	p, _, err := quant.Build(m, c)
	if err != nil {
		t.Fatal(err)
	}
	lookups := 0
	for _, op := range p.Ops {
		if op.Kind() == graph.KindLookup {
			lookups++
		}
	}
	if lookups != 1 || p.Tensor(p.Outputs[0]).Kind != graph.Virtual {
		t.Errorf("%d lookups, output of kind %s", lookups, p.Tensor(p.Outputs[0]).Kind)
	}
	file, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := quant.Decode(file); err != nil || !again.Stages[1].Exact {
		t.Errorf("the mark is lost (%v)", err)
	}
	s := &rounded.Stages[0]
	s.Exact, s.Shift, s.TableBits, s.Lo, s.Hi, s.QScale = true, 0, 0, 0, 0, s.Scale
	if _, _, err := quant.Build(m, rounded); err == nil || !strings.Contains(err.Error(), "exact behind a function") {
		t.Errorf("an exact inner layer: %v", err)
	}
}

func TestPercentile(t *testing.T) {
	m := parse(t, net(3, 1, 20, 30, 12, 9, 4)) // the third layer has a ReLU, which has no range of its own
	samples := samplesFor(m, 2, 60)
	full, _, err := quant.Calibrate(m, samples, quant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cut, report, err := quant.Calibrate(m, samples, quant.Options{Percentile: 99})
	if err != nil {
		t.Fatal(err)
	}
	if cut.Inputs[0].Scale != full.Inputs[0].Scale {
		t.Error("the percentile cut the input's range")
	}
	if cut.Stages[2].Scale >= full.Stages[2].Scale {
		t.Error("the percentile did not narrow the inner range")
	}
	if s := report.Layers[2].Saturated; s == 0 || s > 0.015 {
		t.Errorf("%.4f of values saturate at the 99th percentile", s)
	}
}

// TestWideContraction keeps accumulators in bounds by narrowing weights, and refuses what cannot be kept.
func TestWideContraction(t *testing.T) {
	f := onnxtest.New(17, "x", 1, 9000)
	m := parse(t, f.Output(f.Node("Relu", []string{f.Node("MatMul", []string{"x", f.Random(1, "w", 0.01, 9000, 2)})})))
	_, report, err := quant.Calibrate(m, samplesFor(m, 1, 3), quant.Options{WeightBits: 12, TableBits: 18})
	if err != nil {
		t.Fatal(err)
	}
	if l := report.Layers[0]; l.WeightBits >= 12 || l.Accumulator >= graph.BoundLimit {
		t.Errorf("%d weight bits, accumulator bound %d", l.WeightBits, l.Accumulator)
	}
	f = onnxtest.New(17, "x", 1, 3)
	tiny := f.Node("Add", []string{f.Node("Mul", []string{"x", f.Floats("c", []float32{1e-12}, 1)}), "x"})
	m = parse(t, f.Output(tiny))
	if _, _, err := quant.Calibrate(m, samplesFor(m, 1, 3), quant.Options{}); err == nil || !strings.Contains(err.Error(), "too unequal") {
		t.Errorf("a vanishing summand: %v", err)
	}
}
