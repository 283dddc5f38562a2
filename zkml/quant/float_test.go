package quant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// net builds float graphs of primitive operations for tests.
type net struct {
	m   *onnx.Model
	rng *rand.Rand
}

func newNet(seed uint64) *net {
	return &net{&onnx.Model{Name: "net", SHA256: [32]byte{byte(seed)}}, rand.New(rand.NewPCG(seed, 77))}
}

func (n *net) value(v onnx.Value) int {
	if v.Name == "" {
		v.Name = fmt.Sprintf("v%d", len(n.m.Values))
	}
	n.m.Values = append(n.m.Values, v)
	return len(n.m.Values) - 1
}

func (n *net) input(shape ...int) int {
	id := n.value(onnx.Value{Name: fmt.Sprintf("x%d", len(n.m.Inputs)), Shape: shape})
	n.m.Inputs = append(n.m.Inputs, id)
	return id
}

func (n *net) intInput(lo, hi int64, shape ...int) int {
	id := n.input(shape...)
	v := &n.m.Values[id]
	v.Int, v.Lo, v.Hi = true, lo, hi
	return id
}

// random is a constant with normally distributed elements.
func (n *net) random(deviation float64, shape ...int) int {
	t := &onnx.Tensor{Shape: shape, Real: make([]float32, graph.Elements(shape))}
	for i := range t.Real {
		t.Real[i] = float32(n.rng.NormFloat64() * deviation)
	}
	return n.value(onnx.Value{Name: fmt.Sprintf("w%d", len(n.m.Values)), Shape: shape, Const: t})
}

func (n *net) constant(shape []int, f func(i int) float64) int {
	t := &onnx.Tensor{Shape: shape, Real: make([]float32, graph.Elements(shape))}
	for i := range t.Real {
		t.Real[i] = float32(f(i))
	}
	return n.value(onnx.Value{Name: fmt.Sprintf("c%d", len(n.m.Values)), Shape: shape, Const: t})
}

func (n *net) ints(shape []int, lo, hi int64) int {
	t := &onnx.Tensor{Shape: shape, Ints: make([]int64, graph.Elements(shape))}
	for i := range t.Ints {
		t.Ints[i] = lo + n.rng.Int64N(hi-lo+1)
	}
	return n.value(onnx.Value{Name: fmt.Sprintf("i%d", len(n.m.Values)), Shape: shape, Const: t, Int: true, Lo: lo, Hi: hi})
}

func (n *net) scalar(c float64) int { return n.constant(nil, func(int) float64 { return c }) }

func (n *net) op(op onnx.Op, attr onnx.Attr, shape []int, in ...int) int {
	out := n.value(onnx.Value{Shape: shape})
	n.m.Nodes = append(n.m.Nodes, onnx.Node{Name: fmt.Sprintf("n%d", len(n.m.Nodes)), Origin: op.String(), Op: op, Inputs: in, Output: out, Attr: attr})
	return out
}

// intOp is an operation on integers, with the bounds of its result.
func (n *net) intOp(op onnx.Op, attr onnx.Attr, lo, hi int64, shape []int, in ...int) int {
	out := n.op(op, attr, shape, in...)
	v := &n.m.Values[out]
	v.Int, v.Lo, v.Hi = true, lo, hi
	return out
}

func (n *net) shape(v int) []int { return n.m.Values[v].Shape }

func (n *net) fn(f onnx.Func, x int, p ...float64) int {
	a := onnx.Attr{Func: f}
	if len(p) > 0 {
		a.A = p[0]
	}
	if len(p) > 1 {
		a.B = p[1]
	}
	return n.op(onnx.OpUnary, a, n.shape(x), x)
}

// pair is an element-wise operation; shapes repeat.
func (n *net) pair(op onnx.Op, x, y int) int {
	_, _, shape := elementwise(n.shape(x), n.shape(y))
	return n.op(op, onnx.Attr{}, shape, x, y)
}

// einsum takes labels as letters.
func (n *net) einsum(formula string, in ...int) int {
	al, bl, ol, err := graph.ParseEinsum(formula)
	if err != nil {
		panic(err)
	}
	labels := [][]uint8{al, bl, ol}
	if len(in) == 1 {
		labels = [][]uint8{al, ol}
	}
	extent := map[uint8]int{}
	for i, v := range in {
		for a, l := range labels[i] {
			extent[l] = n.shape(v)[a]
		}
	}
	var shape []int
	for _, l := range ol {
		shape = append(shape, extent[l])
	}
	return n.op(onnx.OpEinsum, onnx.Attr{Labels: labels}, shape, in...)
}

func (n *net) reshape(x int, shape ...int) int {
	return n.op(onnx.OpReshape, onnx.Attr{}, shape, x)
}

func (n *net) transpose(x int, perm ...int) int {
	var maps []onnx.AxisMap
	shape := make([]int, len(perm))
	for a, d := range n.shape(x) {
		maps = append(maps, onnx.AxisMap{Axis: a, Shape: []int{d}})
	}
	for i, a := range perm {
		shape[i] = n.shape(x)[a]
	}
	return n.op(onnx.OpRearrange, onnx.Attr{Maps: maps, Perm: perm}, shape, x)
}

// mapped sends one axis through an index list.
func (n *net) mapped(x, axis int, fill float64, shape []int, index ...int32) int {
	var maps []onnx.AxisMap
	var out []int
	for a, d := range n.shape(x) {
		m := onnx.AxisMap{Axis: a, Shape: []int{d}}
		if a == axis {
			m = onnx.AxisMap{Axis: a, Shape: shape, Index: index}
		}
		maps = append(maps, m)
		out = append(out, m.Shape...)
	}
	return n.op(onnx.OpRearrange, onnx.Attr{Maps: maps, Fill: fill}, out, x)
}

func (n *net) concat(axis int, in ...int) int {
	shape := append([]int(nil), n.shape(in[0])...)
	shape[axis] = 0
	for _, v := range in {
		shape[axis] += n.shape(v)[axis]
	}
	return n.op(onnx.OpConcat, onnx.Attr{Axis: axis}, shape, in...)
}

func (n *net) reduce(op onnx.Op, x int, axes ...int) int {
	var shape []int
	for a, d := range n.shape(x) {
		if !contains(axes, a) {
			shape = append(shape, d)
		}
	}
	return n.op(op, onnx.Attr{Axes: axes}, shape, x)
}

func (n *net) softmax(x int, axes ...int) int {
	return n.op(onnx.OpSoftmax, onnx.Attr{Axes: axes}, n.shape(x), x)
}

func (n *net) norm(x int, centre bool, axes ...int) int {
	return n.op(onnx.OpNorm, onnx.Attr{Axes: axes, Epsilon: 1e-5, Centre: centre}, n.shape(x), x)
}

// output adds an output of the model.
func (n *net) output(ids ...int) *onnx.Model {
	n.m.Outputs = append(n.m.Outputs, ids...)
	return n.m
}

// samples are normally distributed, or uniform integers within bounds.
func (n *net) samples(count int) [][]float64 {
	out := make([][]float64, count)
	for i := range out {
		for _, id := range n.m.Inputs {
			v := &n.m.Values[id]
			for range graph.Elements(v.Shape) {
				if v.Int {
					out[i] = append(out[i], float64(v.Lo+n.rng.Int64N(v.Hi-v.Lo+1)))
				} else {
					out[i] = append(out[i], n.rng.NormFloat64())
				}
			}
		}
	}
	return out
}

// check calibrates, builds from the encoded calibration, runs the program at the extremes of its inputs in the padded layout too, and wants
// every output to have so many decibels of signal over noise on samples that calibration did not see.
func (n *net) check(t *testing.T, o Options, decibels float64) (*Calibration, *Report, *graph.Program) {
	t.Helper()
	c, report, err := Calibrate(n.m, n.samples(8), o)
	if err != nil {
		t.Fatal(err)
	}
	file, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBuild(n.m, again)
	if err != nil {
		t.Fatal(err)
	}
	p, w := b.program, b.weights
	noise, power := make([]float64, len(p.Outputs)), make([]float64, len(p.Outputs))
	for _, x := range n.samples(4) {
		// Samples that calibration did not see may leave its range a little.
		at := 0
		for _, id := range p.Inputs {
			in := p.Tensor(id)
			for range in.Len() {
				x[at] = min(max(x[at], float64(in.Lo)*in.Scale), float64(in.Hi)*in.Scale)
				at++
			}
		}
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
		got, err := graph.Run(p, w, q)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range b.outputs {
			for k, y := range got[p.Outputs[i]] {
				e := float64(y)*p.Tensor(p.Outputs[i]).Scale - want[v].At(k)
				noise[i] += e * e
				power[i] += want[v].At(k) * want[v].At(k)
			}
		}
	}
	for i := range noise {
		if d := 10 * math.Log10(power[i]/max(noise[i], 1e-30)); d < decibels {
			t.Errorf("output %d has %.1f dB, expected %.1f", i, d, decibels)
			for _, l := range report.Layers {
				t.Logf("  %-22s %-10s %6.1f dB  scale %.3g shift %d table %d cut %d weights %d saturated %.4f", l.Name, l.Op, l.SNR, l.Scale, l.Shift, l.TableBits, l.Cut, l.WeightBits, l.Saturated)
			}
		}
	}
	for _, end := range []int{0, 1, 2} {
		x := make([]int32, 0, p.InputLen())
		for _, id := range p.Inputs {
			in := p.Tensor(id)
			for i := range in.Len() {
				v := in.Lo
				if end == 1 || end == 2 && i%2 == 0 {
					v = in.Hi
				}
				x = append(x, int32(v))
			}
		}
		if _, err := graph.RunPadded(p, w, x); err != nil {
			t.Fatalf("extreme inputs: %v", err)
		}
	}
	return c, report, p
}

func TestElementwise(t *testing.T) {
	for name, build := range map[string]func(n *net) int{
		"vector": func(n *net) int { return n.pair(onnx.OpMul, n.input(3, 7), n.random(1, 7)) },
		"column": func(n *net) int { return n.pair(onnx.OpMul, n.input(3, 7), n.random(1, 3, 1)) },
		"outer":  func(n *net) int { return n.pair(onnx.OpMul, n.input(3, 1), n.random(1, 7)) },
		"grown by scalar": func(n *net) int {
			return n.pair(onnx.OpMul, n.input(3), n.constant([]int{1, 1}, func(int) float64 { return 2.5 }))
		},
		"computed product": func(n *net) int { return n.pair(onnx.OpMul, n.fn(onnx.FuncTanh, n.input(3, 7)), n.input(3, 7)) },
		"repeated product": func(n *net) int { return n.pair(onnx.OpMul, n.input(5, 1, 7), n.input(3, 1)) },
		"square":           func(n *net) int { x := n.input(3, 7); return n.pair(onnx.OpMul, x, x) },
		"sum repeated":     func(n *net) int { return n.pair(onnx.OpAdd, n.input(5, 1, 7), n.input(3, 1)) },
		"unequal scales":   func(n *net) int { return n.pair(onnx.OpSub, n.pair(onnx.OpMul, n.input(9), n.scalar(0.3)), n.input(9)) },
		"quotient": func(n *net) int {
			return n.pair(onnx.OpDiv, n.input(3, 7), n.pair(onnx.OpAdd, n.fn(onnx.FuncSigmoid, n.input(3, 7)), n.scalar(0.5)))
		},
		"quotient of constants": func(n *net) int {
			return n.pair(onnx.OpDiv, n.input(3, 7), n.constant([]int{7}, func(i int) float64 { return 1 + float64(i) }))
		},
		"one over": func(n *net) int {
			return n.pair(onnx.OpDiv, n.scalar(1), n.pair(onnx.OpAdd, n.fn(onnx.FuncSigmoid, n.input(3, 7)), n.scalar(0.5)))
		},
		"max":             func(n *net) int { return n.pair(onnx.OpMax, n.input(3, 7), n.input(3, 7)) },
		"min repeated":    func(n *net) int { return n.pair(onnx.OpMin, n.input(3, 7), n.random(1, 7)) },
		"max of constant": func(n *net) int { return n.pair(onnx.OpMax, n.input(3, 7), n.scalar(-0.25)) },
		"min of constant": func(n *net) int { return n.pair(onnx.OpMin, n.scalar(0.25), n.input(3, 7)) },
		"scale and shift": func(n *net) int {
			return n.fn(onnx.FuncRelu, n.pair(onnx.OpAdd, n.pair(onnx.OpMul, n.input(3, 7), n.random(1, 7)), n.random(1, 7)))
		},
		"swish by hand": func(n *net) int { x := n.input(40); return n.pair(onnx.OpMul, x, n.fn(onnx.FuncSigmoid, x)) },
		"scaled curve": func(n *net) int {
			return n.pair(onnx.OpMul, n.fn(onnx.FuncGelu, n.pair(onnx.OpMul, n.input(40), n.scalar(2))), n.scalar(-0.5))
		},
		"select": func(n *net) int {
			return n.op(onnx.OpSelect, onnx.Attr{}, []int{3, 5}, n.input(3, 5), n.mask(3, 5), n.scalar(-2))
		},
		"select constants": func(n *net) int {
			return n.op(onnx.OpSelect, onnx.Attr{}, []int{3, 5}, n.input(5), n.mask(3, 1), n.random(1, 3, 5))
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNet(1)
			n.output(build(n))
			n.check(t, Options{OutputBits: 12}, 30)
		})
	}
}

// mask is a constant of zeros and ones.
func (n *net) mask(shape ...int) int {
	v := n.ints(shape, 0, 1)
	return v
}

func TestFunctionsOfModels(t *testing.T) {
	for f, p := range map[onnx.Func][]float64{
		onnx.FuncRelu: nil, onnx.FuncLeakyRelu: {0.1}, onnx.FuncElu: {1}, onnx.FuncSelu: {1.67326, 1.0507}, onnx.FuncSigmoid: nil, onnx.FuncHardSigmoid: {0.2, 0.5},
		onnx.FuncTanh: nil, onnx.FuncHardSwish: nil, onnx.FuncGelu: nil, onnx.FuncGeluTanh: nil, onnx.FuncSilu: {1}, onnx.FuncErf: nil, onnx.FuncExp: nil,
		onnx.FuncAbs: nil, onnx.FuncNeg: nil, onnx.FuncSoftplus: nil, onnx.FuncSoftsign: nil, onnx.FuncMish: nil, onnx.FuncClip: {-0.5, 0.7}, onnx.FuncPow: {3},
		onnx.FuncSin: nil, onnx.FuncCos: nil,
	} {
		n := newNet(2)
		x := n.einsum("bi,ij->bj", n.input(4, 30), n.random(0.18, 30, 20))
		n.output(n.einsum("bj,jk->bk", n.fn(f, x, p...), n.random(0.2, 20, 6)))
		t.Run(f.String(), func(t *testing.T) { n.check(t, Options{}, 28) })
	}
	for _, f := range []onnx.Func{onnx.FuncLog, onnx.FuncSqrt, onnx.FuncReciprocal, onnx.FuncRsqrt} {
		n := newNet(3)
		x := n.pair(onnx.OpAdd, n.fn(onnx.FuncAbs, n.input(4, 30)), n.scalar(0.5))
		n.output(n.fn(f, x))
		t.Run(f.String(), func(t *testing.T) { n.check(t, Options{}, 28) })
	}
}

func TestShapes(t *testing.T) {
	for name, build := range map[string]func(n *net) int{
		"transpose": func(n *net) int { return n.transpose(n.input(3, 5, 2), 2, 0, 1) },
		"slice":     func(n *net) int { return n.mapped(n.input(3, 7), 1, 0, []int{3}, 5, 3, 1) },
		"pad":       func(n *net) int { return n.mapped(n.input(3, 5), 1, 0.75, []int{8}, -1, 0, 1, 2, 3, 4, -1, -1) },
		"concat": func(n *net) int {
			x := n.input(3, 4)
			return n.concat(1, n.fn(onnx.FuncTanh, x), x, n.random(1, 3, 2))
		},
		"rotate": func(n *net) int {
			x := n.input(3, 4)
			return n.concat(1, n.fn(onnx.FuncNeg, n.mapped(x, 1, 0, []int{2}, 2, 3)), n.mapped(x, 1, 0, []int{2}, 0, 1))
		},
		"reshape": func(n *net) int { return n.reshape(n.fn(onnx.FuncTanh, n.input(3, 5)), 5, 3) },
		"reshape of a sum": func(n *net) int {
			x := n.pair(onnx.OpAdd, n.pair(onnx.OpMul, n.input(1, 3, 4), n.random(1, 4)), n.random(1, 4))
			y := n.reshape(n.dense(n.reshape(x, 3, 4), 6), 1, 3, 6)
			return n.fn(onnx.FuncRelu, n.pair(onnx.OpAdd, y, n.reshape(n.pair(onnx.OpMul, n.input(3, 6), n.random(1, 3, 1)), 1, 3, 6)))
		},
		"sum": func(n *net) int { return n.reduce(onnx.OpReduceSum, n.input(3, 5, 2), 0, 2) },
		"max": func(n *net) int { return n.reduce(onnx.OpReduceMax, n.input(3, 5, 2), 0, 2) },
		"max pool": func(n *net) int {
			w := n.mapped(n.input(2, 7), 1, math.Inf(-1), []int{4, 3}, -1, 0, 1, 1, 2, 3, 3, 4, 5, 5, 6, -1)
			return n.reduce(onnx.OpReduceMax, w, 2)
		},
		"whole": func(n *net) int { return n.reduce(onnx.OpReduceSum, n.input(3, 5), 0, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			n := newNet(4)
			n.output(build(n))
			n.check(t, Options{}, 32)
		})
	}
}

// convolution of one channel axis and one spatial axis of length 3, with padding.
func (n *net) convolution(x, channels int) int {
	s := n.shape(x)
	length := s[2]
	var index []int32
	for i := range length {
		for k := range 3 {
			j := int32(i + k - 1)
			if j >= int32(length) {
				j = -1
			}
			index = append(index, j)
		}
	}
	w := n.mapped(x, 2, 0, []int{length, 3}, index...)
	y := n.einsum("bcik,ock->boi", w, n.random(1/math.Sqrt(float64(3*s[1])), channels, s[1], 3))
	return n.pair(onnx.OpAdd, y, n.random(0.2, channels, 1))
}

func TestConvolutions(t *testing.T) {
	n := newNet(5)
	x := n.fn(onnx.FuncRelu, n.convolution(n.input(1, 3, 16), 8))
	w := n.mapped(x, 2, math.Inf(-1), []int{8, 2}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
	x = n.reduce(onnx.OpReduceMax, w, 3)
	y := n.fn(onnx.FuncRelu, n.convolution(x, 8))
	y = n.convolution(y, 8)
	x = n.fn(onnx.FuncRelu, n.pair(onnx.OpAdd, x, y)) // residual
	x = n.pair(onnx.OpMul, n.reduce(onnx.OpReduceSum, x, 2), n.scalar(1.0/8))
	n.output(n.softmax(n.einsum("bc,co->bo", x, n.random(0.3, 8, 10)), 1))
	_, report, p := n.check(t, Options{}, 26)
	if p.Post.Kind != graph.PostSoftmax || report.Agreement < 0.8 {
		t.Errorf("last step %v, agreement %.2f", p.Post.Kind, report.Agreement)
	}
}

// TestJumps checks that functions which jump do so where the model does: halves and whole numbers in an input's range are codes.
func TestJumps(t *testing.T) {
	for f, p := range map[onnx.Func][]float64{
		onnx.FuncRound: nil, onnx.FuncFloor: nil, onnx.FuncCeil: nil, onnx.FuncSign: nil, onnx.FuncThresholdedRelu: {1.5}, onnx.FuncPositive: nil, onnx.FuncZero: nil,
	} {
		t.Run(f.String(), func(t *testing.T) {
			n := newNet(4)
			x := n.reshape(n.pair(onnx.OpSub, n.input(3, 4), n.scalar(0.25)), 12)
			y := n.fn(f, x, p...)
			if v := &n.m.Values[y]; f == onnx.FuncPositive || f == onnx.FuncZero {
				v.Whole, v.Lo, v.Hi = true, 0, 1
			}
			n.output(y)
			sample := []float64{-2.25, -1.25, -0.75, -0.25, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 2.9, -2.9}
			c, _, err := Calibrate(n.m, [][]float64{sample}, Options{OutputBits: 16})
			if err != nil {
				t.Fatal(err)
			}
			program, w, err := Build(n.m, c)
			if err != nil {
				t.Fatal(err)
			}
			inputs, err := split(n.m, sample)
			if err != nil {
				t.Fatal(err)
			}
			want, err := n.m.Run(inputs)
			if err != nil {
				t.Fatal(err)
			}
			q, err := QuantizeInput(program, sample)
			if err != nil {
				t.Fatal(err)
			}
			got, err := graph.Run(program, w, q)
			if err != nil {
				t.Fatal(err)
			}
			out := program.Tensor(program.Outputs[0])
			for i, e := range got[program.Outputs[0]] {
				if y, v := float64(e)*out.Scale, want[n.m.Outputs[0]].At(i); math.Abs(y-v) > 0.03 {
					t.Errorf("at %g: %g, expected %g", sample[i], y, v)
				}
			}
		})
	}
}

// TestWideInputs has inputs of up to 24 bits before products, functions, maxima and a softmax.
func TestWideInputs(t *testing.T) {
	for _, bits := range []int{13, 17, 24} {
		n := newNet(12)
		x := n.input(4, 30)
		product := n.einsum("bi,ij->bj", x, n.random(0.2, 30, 6))
		top := n.reduce(onnx.OpReduceMax, x, 1)
		mixed := n.einsum("bi,ij->bj", n.softmax(x, 1), n.random(1, 30, 5))
		n.output(product, n.fn(onnx.FuncTanh, x), top, mixed)
		t.Run(fmt.Sprint(bits), func(t *testing.T) { n.check(t, Options{InputBits: bits}, 28) })
	}
}
