package quant

import (
	"math"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// affine is x * gain + offset along the last axis.
func (n *net) affine(x int) int {
	d := n.shape(x)[len(n.shape(x))-1]
	gain := n.constant([]int{d}, func(int) float64 { return 1 + 0.2*n.rng.NormFloat64() })
	return n.pair(onnx.OpAdd, n.pair(onnx.OpMul, x, gain), n.random(0.1, d))
}

// dense is a product with random weights and an offset along the last axis of a matrix.
func (n *net) dense(x, width int) int {
	d := n.shape(x)[1]
	return n.pair(onnx.OpAdd, n.einsum("ti,ij->tj", x, n.random(1/math.Sqrt(float64(d)), d, width)), n.random(0.05, width))
}

// attend is self-attention over the rows of a matrix; mask hides scores.
func (n *net) attend(x, heads int, mask func(scores int) int) int {
	t, d := n.shape(x)[0], n.shape(x)[1]
	split := func(v int) int { return n.transpose(n.reshape(v, t, heads, d/heads), 1, 0, 2) }
	q, k, v := split(n.dense(x, d)), split(n.dense(x, d)), split(n.dense(x, d))
	s := n.pair(onnx.OpMul, n.einsum("hid,hjd->hij", q, k), n.scalar(1/math.Sqrt(float64(d/heads))))
	p := n.softmax(mask(s), 2)
	y := n.reshape(n.transpose(n.einsum("hij,hjd->hid", p, v), 1, 0, 2), t, d)
	return n.dense(y, d)
}

// causal hides the scores of later positions by selection.
func (n *net) causal(s int) int {
	t := n.shape(s)[1]
	keep := n.ints([]int{t, t}, 0, 1)
	for i := range t * t {
		n.m.Values[keep].Const.Ints[i] = 0
		if i%t <= i/t {
			n.m.Values[keep].Const.Ints[i] = 1
		}
	}
	return n.op(onnx.OpSelect, onnx.Attr{}, n.shape(s), s, keep, n.scalar(math.Inf(-1)))
}

// gpt is a causal language model with norms before the branches.
func gpt(n *net, tokens, width, heads, layers, vocabulary int) *onnx.Model {
	x := n.op(onnx.OpEmbed, onnx.Attr{}, []int{tokens, width}, n.intInput(0, int64(vocabulary-1), tokens), n.random(0.5, vocabulary, width))
	x = n.pair(onnx.OpAdd, x, n.random(0.2, tokens, width))
	for range layers {
		x = n.pair(onnx.OpAdd, x, n.attend(n.affine(n.norm(x, true, 1)), heads, n.causal))
		h := n.fn(onnx.FuncGeluTanh, n.dense(n.affine(n.norm(x, true, 1)), 4*width))
		x = n.pair(onnx.OpAdd, x, n.dense(h, width))
	}
	return n.output(n.dense(n.affine(n.norm(x, true, 1)), vocabulary))
}

func TestGPT(t *testing.T) {
	for name, o := range map[string]Options{"default": {}, "wide residuals": {ResidualBits: 16}, "entropy": {Entropy: true}} {
		t.Run(name, func(t *testing.T) {
			n := newNet(11)
			gpt(n, 12, 32, 4, 2, 50)
			_, report, p := n.check(t, o, 22)
			if report.Agreement < 0.85 {
				t.Errorf("answers agree on %.2f of rows", report.Agreement)
			}
			// Gains and offsets of norms are in the weights: no lookup of their own.
			lookups := 0
			for _, op := range p.Ops {
				if _, ok := graph.TableOf(op); ok {
					lookups++
				}
			}
			t.Logf("%d operations, %d lookups, %d tables, %d columns", len(p.Ops), lookups, len(p.Tables), len(p.Columns()))
		})
	}
}

// TestBERT is an encoder with norms after the branches, a mask that is an input, and two outputs.
func TestBERT(t *testing.T) {
	n := newNet(12)
	const tokens, width = 10, 24
	ids := n.intInput(0, 39, tokens)
	attention := n.intInput(0, 1, 1, tokens)
	x := n.op(onnx.OpEmbed, onnx.Attr{}, []int{tokens, width}, ids, n.random(0.5, 40, width))
	x = n.affine(n.norm(n.pair(onnx.OpAdd, x, n.random(0.2, tokens, width)), true, 1))
	hidden := n.op(onnx.OpDequantise, onnx.Attr{Scale: []float32{1}, Zero: []int64{0}}, []int{1, tokens}, attention)
	n.m.Values[hidden].Whole, n.m.Values[hidden].Hi = true, 1
	off := n.pair(onnx.OpSub, n.whole(1), hidden)
	n.m.Values[off].Whole, n.m.Values[off].Hi = true, 1
	mask := func(s int) int { return n.pair(onnx.OpAdd, s, n.pair(onnx.OpMul, off, n.scalar(-10000))) }
	for range 2 {
		x = n.affine(n.norm(n.pair(onnx.OpAdd, x, n.attend(x, 3, mask)), true, 1))
		h := n.fn(onnx.FuncGelu, n.dense(x, 2*width))
		x = n.affine(n.norm(n.pair(onnx.OpAdd, x, n.dense(h, width)), true, 1))
	}
	pooled := n.fn(onnx.FuncTanh, n.dense(n.mapped(x, 0, 0, []int{1}, 0), width))
	n.output(x, pooled)
	_, _, p := n.check(t, Options{}, 20)
	if len(p.Inputs) != 2 || len(p.Outputs) != 2 {
		t.Errorf("%d inputs, %d outputs", len(p.Inputs), len(p.Outputs))
	}
}

// whole is a constant that is a whole number.
func (n *net) whole(v int64) int {
	id := n.scalar(float64(v))
	w := &n.m.Values[id]
	w.Whole, w.Lo, w.Hi = true, v, v
	return id
}

// TestLlama is a decoder layer with RMS norms, rotary positions, shared keys and values, and a gated MLP.
func TestLlama(t *testing.T) {
	n := newNet(13)
	const tokens, width, heads, shared, head = 8, 32, 4, 2, 8
	x := n.input(tokens, width)
	rotate := func(v int) int { // [h, t, d]
		h := n.shape(v)[0]
		angle := func(i int) float64 {
			return float64(i/head%tokens) * math.Pow(100, -float64(i%(head/2))/(head/2))
		}
		cos := n.constant([]int{tokens, head}, func(i int) float64 { return math.Cos(angle(i)) })
		sin := n.constant([]int{tokens, head}, func(i int) float64 { return math.Sin(angle(i)) })
		low, high := n.mapped(v, 2, 0, []int{4}, 0, 1, 2, 3), n.mapped(v, 2, 0, []int{4}, 4, 5, 6, 7)
		turned := n.concat(2, n.fn(onnx.FuncNeg, high), low)
		_ = h
		return n.pair(onnx.OpAdd, n.pair(onnx.OpMul, v, cos), n.pair(onnx.OpMul, turned, sin))
	}
	y := n.pair(onnx.OpMul, n.norm(x, false, 1), n.constant([]int{width}, func(int) float64 { return 1 + 0.2*n.rng.NormFloat64() }))
	project := func(h int) int { return n.transpose(n.reshape(n.dense(y, h*head), tokens, h, head), 1, 0, 2) }
	repeat := func(v int) int { return n.mapped(v, 0, 0, []int{heads}, 0, 0, 1, 1) }
	q, k, v := rotate(project(heads)), repeat(rotate(project(shared))), repeat(project(shared))
	s := n.pair(onnx.OpMul, n.einsum("hid,hjd->hij", q, k), n.scalar(1/math.Sqrt(head)))
	p := n.softmax(n.causal(s), 2)
	a := n.reshape(n.transpose(n.einsum("hij,hjd->hid", p, v), 1, 0, 2), tokens, heads*head)
	x = n.pair(onnx.OpAdd, x, n.dense(a, width))
	y = n.norm(x, false, 1)
	gate := n.fn(onnx.FuncSilu, n.dense(y, 48), 1)
	x = n.pair(onnx.OpAdd, x, n.dense(n.pair(onnx.OpMul, gate, n.dense(y, 48)), width))
	n.output(x)
	n.check(t, Options{}, 22)
}

// TestLSTM unrolls a recurrent network over ten steps.
func TestLSTM(t *testing.T) {
	n := newNet(14)
	const steps, in, width = 10, 6, 16
	x := n.input(steps, in)
	w, r, b := n.random(0.4, in, 4*width), n.random(0.25, width, 4*width), n.random(0.1, 4*width)
	h, c := -1, -1
	var states []int
	for s := range steps {
		g := n.pair(onnx.OpAdd, n.einsum("ti,ij->tj", n.mapped(x, 0, 0, []int{1}, int32(s)), w), b)
		if h >= 0 {
			g = n.pair(onnx.OpAdd, g, n.einsum("ti,ij->tj", h, r))
		}
		part := func(k int) int {
			index := make([]int32, width)
			for i := range index {
				index[i] = int32(k*width + i)
			}
			return n.mapped(g, 1, 0, []int{width}, index...)
		}
		next := n.pair(onnx.OpMul, n.fn(onnx.FuncSigmoid, part(0)), n.fn(onnx.FuncTanh, part(1)))
		if c >= 0 {
			next = n.pair(onnx.OpAdd, next, n.pair(onnx.OpMul, c, n.fn(onnx.FuncSigmoid, part(2))))
		}
		c = next
		h = n.pair(onnx.OpMul, n.fn(onnx.FuncSigmoid, part(3)), n.fn(onnx.FuncTanh, c))
		states = append(states, h)
	}
	n.output(n.dense(h, 4), n.concat(0, states...))
	_, _, p := n.check(t, Options{}, 24)
	if len(p.Tables) > 30 {
		t.Errorf("%d tables: the steps do not share them", len(p.Tables))
	}
}

// TestInnerSoftmax has no mask and leaves its probabilities to be an output beside another one.
func TestInnerSoftmax(t *testing.T) {
	n := newNet(15)
	x := n.dense(n.input(3, 8), 10)
	n.output(n.softmax(x, 1), n.fn(onnx.FuncTanh, x))
	_, _, p := n.check(t, Options{OutputBits: 12}, 30)
	if p.Post.Kind != graph.PostNone {
		t.Errorf("last step %v", p.Post.Kind)
	}
}
