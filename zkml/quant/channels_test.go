package quant

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// TestMultiplier: the least whole number with which weights have their width.
func TestMultiplier(t *testing.T) {
	for _, bits := range []int{2, 3, 8, 12} {
		most := float64(top(bits))
		for _, product := range []float64{0, 1e-9, 0.5, 1, most, most + 0.49, most + 0.5, most + 1, 2*most + 0.99, 2*most + 1, 2*most + 1.01, 10 * most, 777.7, 123456.7} {
			for _, factor := range []float64{1, 0.37, 1e6, 1e-6} {
				peak := product / factor
				m := multiplier(peak, factor, bits)
				rounded := func(m int64) float64 { return math.Round(peak * (factor / float64(m))) }
				if m < 1 || rounded(m) > most || m > 1 && rounded(m-1) <= most {
					t.Errorf("%g in %d bits: %d", product, bits, m)
				}
			}
		}
	}
	if m := multiplier(1e30, 1, 8); m != 0 {
		t.Errorf("a weight of 1e30 has multiplier %d", m)
	}
	if m := multiplier(1, 1, 8); m != 1 {
		t.Errorf("a weight of 1 has multiplier %d", m)
	}
}

// spread is a constant whose channels, along an axis, are of sizes from 1 down to 1/64.
func (n *net) spread(axis int, shape ...int) int {
	step := graph.Elements(shape[axis+1:])
	return n.constant(shape, func(i int) float64 {
		c := i / step % shape[axis]
		return n.rng.NormFloat64() * math.Exp2(-float64(c*5%7)) / math.Sqrt(float64(graph.Elements(shape)/shape[axis]))
	})
}

// TestChannels: weights of 8 bits by channels have one byte each and make less noise than weights of 8 bits of one scale, or no more where there is
// one channel, whatever the product is, and commit to no more columns. All take a second.
func TestChannels(t *testing.T) {
	for name, c := range map[string]struct {
		build func(n *net) int
		gain  float64 // decibels
	}{
		"matrix": {func(n *net) int {
			return n.pair(onnx.OpAdd, n.einsum("ti,ij->tj", n.input(4, 24), n.spread(1, 24, 20)), n.spread(0, 20))
		}, 3},
		"transposed":     {func(n *net) int { return n.einsum("ti,ji->tj", n.input(4, 24), n.spread(0, 20, 24)) }, 3},
		"batch":          {func(n *net) int { return n.einsum("hti,hij->htj", n.input(3, 4, 8), n.spread(0, 3, 8, 5)) }, 0.5},
		"shared operand": {func(n *net) int { return n.einsum("ti,hij->htj", n.input(4, 8), n.spread(2, 3, 8, 5)) }, 3},
		"convolution": {func(n *net) int {
			x := n.mapped(n.mapped(n.input(1, 3, 8), 2, 0, []int{6, 3}, 0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5, 6, 5, 6, 7), 0, 0, []int{1}, 0)
			return n.einsum("bcpk,ock->bop", x, n.spread(0, 7, 3, 3))
		}, 3},
		"depthwise": {func(n *net) int {
			x := n.mapped(n.input(1, 7, 8), 2, 0, []int{6, 3}, 0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5, 6, 5, 6, 7)
			return n.einsum("bgpk,gk->bgp", x, n.spread(0, 7, 3))
		}, 3},
		"groups": {func(n *net) int {
			x := n.mapped(n.input(1, 2, 3, 8), 3, 0, []int{6, 3}, 0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5, 6, 5, 6, 7)
			return n.einsum("bgcpk,gock->bgop", x, n.spread(1, 2, 7, 3, 3))
		}, 3},
		"one channel": {func(n *net) int { return n.einsum("ti,ij->tj", n.input(4, 24), n.random(0.2, 24, 1)) }, -3},
		"no channels": {func(n *net) int { return n.einsum("ti,i->t", n.input(4, 24), n.random(0.2, 24)) }, -3},
		"one column": {func(n *net) int {
			return n.einsum("ti,ij->tj", n.input(4, 24), n.constant([]int{24, 3}, func(i int) float64 { return float64(i%3/2) * n.rng.NormFloat64() }))
		}, -3},
		"all zero but offsets": {func(n *net) int {
			return n.pair(onnx.OpAdd, n.einsum("ti,ij->tj", n.input(4, 8), n.constant([]int{8, 3}, func(int) float64 { return 0 })), n.random(1, 3))
		}, -3},
		"negative": {func(n *net) int {
			w := n.spread(1, 24, 20)
			for i, v := range n.m.Values[w].Const.Real {
				n.m.Values[w].Const.Real[i] = -max(v, -v)
			}
			return n.einsum("ti,ij->tj", n.input(4, 24), w)
		}, 3},
		"rare": {func(n *net) int {
			w := n.spread(1, 48, 20)
			for j := range 20 {
				n.m.Values[w].Const.Real[20*7+j] *= 40
			}
			return n.einsum("ti,ij->tj", n.input(4, 48), w)
		}, 1},
		"behind a norm": {func(n *net) int {
			return n.einsum("ti,ij->tj", n.affine(n.norm(n.input(4, 24), true, 1)), n.spread(1, 24, 20))
		}, 3},
		"function": {func(n *net) int {
			return n.fn(onnx.FuncGelu, n.einsum("ti,ij->tj", n.input(4, 24), n.spread(1, 24, 20)))
		}, 1},
		"sum of two": {func(n *net) int {
			return n.pair(onnx.OpAdd, n.einsum("ti,ij->tj", n.input(4, 24), n.spread(1, 24, 20)), n.einsum("ti,ji->tj", n.input(4, 9), n.spread(0, 20, 9)))
		}, 3},
		"residual": {func(n *net) int {
			x := n.input(4, 20)
			return n.pair(onnx.OpAdd, x, n.einsum("ti,ij->tj", x, n.spread(1, 20, 20)))
		}, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(scales WeightScales, bits int) (float64, int, int) {
				n := newNet(51)
				n.output(c.build(n))
				_, report, p := n.check(t, Options{InputBits: 14, ActivationBits: 12, WeightBits: bits, OutputBits: 16, WeightScales: scales}, 20)
				return report.SNR, widest(p), len(p.Columns())
			}
			one, bits, columns := run(TensorScales, 8)
			if bits > 8 { // one scale may take a bit more than asked for
				one, _, columns = run(TensorScales, 7)
			}
			each, bits, own := run(ChannelScales, 8)
			t.Logf("%.1f dB, by channels %.1f", one, each)
			if own > columns {
				t.Errorf("%d columns, %d with one scale", own, columns)
			}
			if bits > 8 || each < one+c.gain {
				t.Errorf("weights of %d bits give %.1f dB by channels, %.1f with one scale, expected %g more", bits, each, one, c.gain)
			}
		})
	}
}

// widest is the width of the widest weights of products that sum, but for those of few rare channels.
func widest(p *graph.Program) int {
	bits := 0
	for _, op := range p.Ops {
		if e, ok := op.(graph.Einsum); ok && len(e.AL) > 0 && len(e.BL) > 0 && len(e.OL) < len(e.AL)+len(e.BL) {
			for i, id := range []graph.TensorID{e.A, e.B} {
				w := p.Tensor(id)
				labels := [][]uint8{e.AL, e.BL}[i]
				sums := slices.ContainsFunc(labels, func(l uint8) bool { return !slices.Contains(e.OL, l) })
				if w.Kind == graph.Param && sums && !strings.Contains(w.Name, ".rare") {
					bits = max(bits, graph.ParamBits([]int32{int32(w.Lo), int32(w.Hi)}))
				}
			}
		}
	}
	return bits
}

// TestChannelShift: a sum's unit is not made so fine that the shift leaves its range.
func TestChannelShift(t *testing.T) {
	for _, width := range []int{64, 256, 1024} {
		n := newNet(52)
		x := n.fn(onnx.FuncRelu, n.einsum("ti,ij->tj", n.input(2, width), n.spread(1, width, 8)))
		n.output(n.einsum("ti,ij->tj", x, n.random(0.3, 8, 3)))
		_, report, _ := n.check(t, Options{InputBits: 12, ActivationBits: 6, WeightBits: 6, WeightScales: ChannelScales}, 10)
		for _, l := range report.Layers {
			if l.Shift > graph.MaxShift {
				t.Errorf("%s has shift %d", l.Name, l.Shift)
			}
		}
	}
}
