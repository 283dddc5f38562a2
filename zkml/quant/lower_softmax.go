package quant

import (
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// masking is what a softmax takes into itself of the nodes before it: the scores without their masks.
type masking struct {
	scores   int
	constant *onnx.Tensor // 1 where a score counts; nil if there is none
	computed []computedMask
}

// computedMask is a value that is 1 where a score counts, or where it does not.
type computedMask struct {
	v        int
	inverted bool
}

// hidden is the number below which an addend of scores, or what replaces them, counts as minus infinity.
const hidden = -1000

// findMasks looks at what every softmax reads: selections and sums that hide scores are left to the softmax.
func (l *lowering) findMasks() {
	for i := range l.m.Nodes {
		n := &l.m.Nodes[i]
		if n.Op != onnx.OpSoftmax || l.values[n.Output].skip {
			continue
		}
		k := masking{scores: n.Inputs[0]}
		for l.values[k.scores].uses == 1 && l.unmask(&k, true) {
			l.values[k.scores].bits = max(l.values[k.scores].bits, scoreBits)
		}
		l.masks[n.Output] = k
	}
}

// unmask strips one mask from the scores, and with take leaves the nodes that apply it to the softmax.
func (l *lowering) unmask(k *masking, take bool) bool {
	v := k.scores
	n := l.values[v].node
	if n == nil {
		return false
	}
	switch n.Op {
	case onnx.OpSelect:
		c, mv := l.constant(n.Inputs[2]), n.Inputs[1]
		if _, hi := l.extremes(c); hi > hidden || l.constant(n.Inputs[0]) != nil {
			return false
		}
		if m := l.constant(mv); m != nil {
			k.constrain(m)
		} else {
			k.computed = append(k.computed, computedMask{mv, false})
		}
		k.scores = n.Inputs[0]
	case onnx.OpAdd:
		x, y := n.Inputs[0], n.Inputs[1]
		if !l.hides(y) {
			x, y = y, x
		}
		if !l.hides(y) || l.constant(x) != nil {
			return false
		}
		if w := l.constant(y); w != nil {
			m := &onnx.Tensor{Shape: w.Shape, Real: make([]float32, w.Len())}
			for i := range m.Real {
				if w.At(i) > hidden {
					m.Real[i] = 1
				}
			}
			k.constrain(m)
		} else {
			k.computed = append(k.computed, computedMask{l.hiding(y), true})
			l.values[y].skip = take
		}
		k.scores = x
	default:
		return false
	}
	l.values[v].skip = take
	return true
}

// hides reports whether a value is zero where scores count and below hidden where they do not.
func (l *lowering) hides(v int) bool {
	if w := l.constant(v); w != nil {
		some := false
		for i := range w.Len() {
			some = some || w.At(i) <= hidden
			if w.At(i) > hidden && w.At(i) != 0 {
				return false
			}
		}
		return some
	}
	return l.hiding(v) >= 0
}

// hiding returns the mask m of a computed value m * c with c at most hidden, that nothing else reads; or -1.
func (l *lowering) hiding(v int) int {
	n := l.values[v].node
	if n == nil || n.Op != onnx.OpMul || l.values[v].uses != 1 {
		return -1
	}
	x, y := n.Inputs[0], n.Inputs[1]
	if l.constant(x) != nil {
		x, y = y, x
	}
	if w := l.constant(y); w == nil || w.Len() != 1 || w.At(0) > hidden || l.constant(x) != nil || !l.m.Values[x].IsMask() {
		return -1
	}
	return x
}

func (k *masking) constrain(m *onnx.Tensor) {
	if k.constant != nil {
		m = multiplied(k.constant, m)
	}
	k.constant = m
}

// visitSoftmax is a softmax inside the network, or before several outputs.
func (l *lowering) visitSoftmax(n *onnx.Node) error {
	k := l.masks[n.Output]
	z, err := l.ints(k.scores)
	if err != nil {
		return err
	}
	switch m := l.magnitude(z.id); {
	case m >= wideCodes && len(k.computed) == 0 && k.constant == nil:
		z = l.belowGreatest(l.name(n.Output), z, n.Attr.Axes)
	case m >= 1<<scoreBits:
		if z, err = l.narrowed(k.scores, scoreBits); err != nil {
			return err
		}
	}
	name, shape := l.name(n.Output), l.shapeOf(n.Output)
	floor, _ := l.bounds(z.id)
	if len(k.computed) > 0 || k.constant != nil {
		floor = l.floorOf(z)
	}
	z.id = l.expand(name+".scores", z.id, shape)
	for i, c := range k.computed {
		m, err := l.exact(c.v)
		if err != nil {
			return err
		}
		z = l.hide(suffixed(name, ".hidden", i), z, floor, m, c.inverted)
	}
	var m *mask
	if k.constant != nil {
		if m, err = constantMask(k.constant, len(shape)); err != nil {
			return err
		}
	}
	p := l.softmax(name+".softmax", z, floor, n.Attr.Axes, m)
	if err := l.Err(); err != nil {
		return err
	}
	// Probabilities get the width that their sums with values allow; their scale is fixed.
	length := 1
	for _, a := range n.Attr.Axes {
		length *= shape[a]
	}
	bits := scoreBits + 1
	for float64(length)*math.Ldexp(1, bits-1+l.o.ActivationBits-1) > graph.BoundLimit/2 && bits > 8 {
		bits--
	}
	f := addend(p, shape, n.Output)
	if l.values[n.Output].final {
		l.values[n.Output].form = f
		_, err := l.ints(n.Output)
		return err
	}
	c, err := l.stage(name, n.Output, f, demand{bits: bits, scale: math.Ldexp(1, 1-bits), lo: 0, hi: 1 << (bits - 1)})
	if err != nil {
		return err
	}
	return l.give(n.Output, c)
}

// constantMask refuses nothing: a row of which no score counts is uniform.
func constantMask(t *onnx.Tensor, rank int) (*mask, error) {
	if len(t.Shape) > rank {
		return nil, fmt.Errorf("mask of shape %v for scores of rank %d", t.Shape, rank)
	}
	m := &mask{shape: t.Shape, keep: make([]bool, t.Len())}
	for i := range m.keep {
		m.keep[i] = t.At(i) != 0
	}
	return m, nil
}

// hide replaces scores where a computed mask of zeros and ones says so by floor, which is so low that its exponential is zero.
func (l *lowering) hide(name string, z codes, floor int64, m graph.TensorID, inverted bool) codes {
	if l.Err() != nil {
		return z
	}
	if inverted {
		m = l.b.Linear(name+".counts", []graph.Term{{Coef: -1, T: m}}, 1, 1)
	}
	kept := l.pairwise(name+".kept", z, codes{m, 1})
	return codes{l.b.Linear(name, []graph.Term{{Coef: 1, T: kept.id}, {Coef: -floor, T: m}}, floor, z.scale), z.scale}
}
