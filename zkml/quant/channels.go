package quant

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// Channels of a product are the positions along axes that its weights and its result share: columns of a matrix, filters of a convolution.
// Either all weights of a product have one scale, or channel c has m_c times the scale that its sum asks for, with the least whole number m_c
// for which the channel's weights have the width asked for:
//
//	W_c = round(w_c s_x / (m_c s_acc))      sum = m_c (x W_c)
//
// The second product brings all channels to the sum's scale before anything is added or shifted. All m_c follow from the weights and s_acc, so
// a calibration need not list them.

// WeightScales says how many scales a product's weights may have.
type WeightScales string

const (
	TensorScales  WeightScales = "tensor"  // one
	ChannelScales WeightScales = "channel" // one for each channel, where that gains
)

// alongBits is the least width of constants along axes, which are few, where weights have scales by channels.
const alongBits = 12

// refinements is how often the sum's unit may be halved for the sake of channels.
const refinements = 10

// leastGain is how much less noise there must be for channels to have scales of their own, as a ratio of powers: half a decibel.
const leastGain = 1.122

// hasChannels reports whether a term is a product whose weights are to have the width asked for.
func (t *term) hasChannels() bool { return t.isProduct() && !t.rare && !t.along }

// channels returns the lengths and labels of the axes that weights and product share, and for each axis of the weights how far apart
// neighbours along it are among the channels, 0 along others.
func (t *term) channels() (shape []int, labels []uint8, steps []int) {
	steps = make([]int, len(t.labels[1]))
	n := 1
	for a, lb := range slices.Backward(t.labels[1]) {
		if slices.Contains(t.labels[2], lb) {
			shape, labels = append(shape, t.w.Shape[a]), append(labels, lb)
			steps[a] = n
			n *= t.w.Shape[a]
		}
	}
	slices.Reverse(shape)
	slices.Reverse(labels)
	return shape, labels, steps
}

// channelKey names weights and the axes that are channels.
type channelKey struct {
	w     *onnx.Tensor
	steps string
}

// peaks returns the greatest absolute weight of each channel, and remembers it: a form's scale is looked for in many tries.
func (l *lowering) peaks(t *term) []float64 {
	shape, _, steps := t.channels()
	key := channelKey{t.w, fmt.Sprint(steps)}
	if p, ok := l.channelPeaks[key]; ok {
		return p
	}
	peaks := make([]float64, graph.Elements(shape))
	var mu sync.Mutex
	parallel.For(t.w.Len(), 1<<16, func(lo, hi int) {
		own := make([]float64, len(peaks))
		visitChannels(t.w.Shape, steps, lo, hi, func(i, c int) { own[c] = max(own[c], math.Abs(t.w.At(i))) })
		mu.Lock()
		defer mu.Unlock()
		for c, p := range own {
			peaks[c] = max(peaks[c], p)
		}
	})
	l.channelPeaks[key] = peaks
	return peaks
}

// visitChannels calls f with the positions from lo to hi of a tensor, in order, and the channel of each.
func visitChannels(shape, steps []int, lo, hi int, f func(i, c int)) {
	at := make([]int, len(shape))
	c, rest := 0, lo
	for a := len(shape) - 1; a >= 0; a-- {
		at[a] = rest % shape[a]
		rest /= shape[a]
		c += at[a] * steps[a]
	}
	for i := lo; i < hi; i++ {
		f(i, c)
		for a := len(shape) - 1; a >= 0; a-- {
			c += steps[a]
			if at[a]++; at[a] < shape[a] {
				break
			}
			c -= at[a] * steps[a]
			at[a] = 0
		}
	}
}

// top is the greatest integer of a width.
func top(bits int) int64 { return 1<<(bits-1) - 1 }

// multiplier is the least whole number m for which weights up to peak, times factor / m, have the given width, or 0 if it would not fit 29 bits.
func multiplier(peak, factor float64, bits int) int64 {
	fits := func(m int64) bool { return math.Round(float64(peak*(factor/float64(m)))) <= float64(top(bits)) }
	estimate := math.Ceil(float64(peak*factor) / (float64(top(bits)) + 0.5))
	if !(estimate < graph.BoundLimit) {
		return 0
	}
	m := max(int64(estimate), 1)
	for !fits(m) {
		m++
	}
	for m > 1 && fits(m-1) {
		m--
	}
	return m
}

// channelSpan bounds a product whose channels have scales of their own, for a factor of its weights.
func (l *lowering) channelSpan(t *term, factor float64) span {
	most := multiplier(l.greatest(t.w), math.Abs(factor), l.o.WeightBits)
	switch {
	case most == 0:
		return span{math.Inf(-1), math.Inf(1)}
	case most == 1:
		return l.productSpan(t, factor)
	}
	k := float64(t.count())
	lo, hi := graph.ParamBounds(l.o.WeightBits)
	s := l.codeSpan(t.x).times(span{float64(lo), float64(hi)}).times(span{k, k})
	lo, hi = graph.ParamBounds(graph.ParamBits([]int32{-int32(most)}))
	return s.times(span{float64(lo), float64(hi)})
}

// scaledWeights returns the weights of a product, each channel's divided by its multiplier. Multipliers that are all one number are returned as
// that, others as a list by channel, in which case they and the weights have their signs changed: as a parameter, -2^k takes a bit less than 2^k.
func (l *lowering) scaledWeights(t *term, factor float64) (weights []int32, all int64, each []int32, err error) {
	peaks := l.peaks(t)
	each = make([]int32, len(peaks))
	factors := make([]float64, len(peaks))
	equal := true
	for c, p := range peaks {
		m := multiplier(p, math.Abs(factor), l.o.WeightBits)
		if m == 0 {
			return nil, 0, nil, fmt.Errorf("channel %d has weights up to %g, too large for %d bits", c, p, l.o.WeightBits)
		}
		each[c], factors[c] = -int32(m), -factor/float64(m)
		equal = equal && each[c] == each[0]
	}
	if equal {
		all = -int64(each[0])
		weights, err = quantise(t.w, -factors[0])
		return weights, all, nil, err
	}
	_, _, steps := t.channels()
	weights = make([]int32, t.w.Len())
	parallel.For(len(weights), 1<<16, func(lo, hi int) {
		visitChannels(t.w.Shape, steps, lo, hi, func(i, c int) { weights[i] = int32(math.Round(float64(t.w.At(i) * factors[c]))) })
	})
	return weights, 1, each, nil
}

// noise is what the rounding of weights adds to one element of a form's sum, as twelve times its variance in real units, the mean over channels.
func (l *lowering) noise(f *form, acc float64, channels bool) float64 {
	sum := 0.0
	for i := range f.terms {
		t := &f.terms[i]
		if !t.hasChannels() {
			continue
		}
		factor := math.Abs(t.factor(acc))
		squares := 0.0
		peaks := l.peaks(t)
		for _, p := range peaks {
			if p > 0 {
				m := 1.0
				if channels {
					m = float64(multiplier(p, factor, l.o.WeightBits))
				}
				squares += m * m
			}
		}
		size := l.size(t)
		sum += size * size * float64(t.count()) * acc * acc * squares / float64(len(peaks))
	}
	return sum
}

// typicalSize is the root mean square of codes, as a share of the greatest, where it was not seen.
const typicalSize = 1.0 / 6

// size is the root mean square of a product's integer operand.
func (l *lowering) size(t *term) float64 {
	for v := range l.values {
		for _, c := range l.values[v].ints {
			if c.id == t.x.id && v < len(l.seen) && l.seen[v].size() > 0 {
				return l.seen[v].size() / c.scale
			}
		}
	}
	return float64(l.magnitude(t.x.id)) * typicalSize
}

// refine gives channels scales of their own where that makes less noise: the sum's unit is halved some times, and the scale of the table's operand stays
// or, where it is free, grows, since bounds of parameters are powers of two.
func (h *chooser) refine() {
	l, f, one := h.l, h.f, *h.st
	if !h.byChannel() || !slices.ContainsFunc(f.terms, func(t term) bool { return t.hasChannels() }) {
		return
	}
	effort, reach := large, 0.0
	if one.Cut > 0 {
		effort, reach = cut, math.Ldexp(one.accScale(), int(one.Cut))
	}
	total := func(st *Stage) float64 {
		rounding := 0.0
		if !st.Exact {
			rounding = max(st.QScale, st.Scale)
		}
		return l.noise(f, st.accScale(), st.Channels) + rounding*rounding
	}
	best, found := one, false
	for _, scale := range h.coarser() {
		for n := range refinements + 1 {
			*h.st = one
			h.st.Channels = true
			acc := math.Ldexp(scale, -int(one.Shift)-n)
			if scale != one.QScale && clamps(f.chain) {
				h.st.Scale = scale
			}
			if !h.span(acc).limited() || !one.Exact && int(one.Shift)+n > graph.MaxShift {
				break
			}
			if one.Exact {
				h.st.Scale, h.st.QScale = acc, acc
			} else if !h.place(acc, int(one.Shift)+n, effort, reach) || h.st.TableBits > one.TableBits || (h.st.Cut > 0) != (one.Cut > 0) {
				continue
			}
			if st := *h.st; !found || total(&st)*1.02 < total(&best) {
				best, found = st, true
			}
		}
	}
	*h.st = one
	if found && (l.wider(f, one.accScale()) || total(&one) >= leastGain*total(&best)) {
		*h.st = best
	}
}

// coarser returns the scale of the table's operand and coarser ones that could take its place: up to a third where the codes have the same and it
// is free, twice where a curved function follows.
func (h *chooser) coarser() []float64 {
	scale := h.st.QScale
	all := []float64{scale}
	switch {
	case h.st.Exact:
		return all
	case !clamps(h.f.chain):
		return append(all, 2*scale)
	case h.st.Scale != scale || h.d.scale != 0 || h.d.unit != 0:
		return all
	}
	for next := scale; ; {
		if next == onGrid(next) { // which other layers may have, too
			next = onGrid(float64(next * 1.01))
		} else {
			next = float64(next * 1.125)
		}
		if next > 1.34*scale {
			return all
		}
		all = append(all, next)
	}
}

// wider reports whether a product's weights are wider than asked for in a sum of scale acc.
func (l *lowering) wider(f *form, acc float64) bool {
	return slices.ContainsFunc(f.terms, func(t term) bool {
		return t.hasChannels() && multiplier(l.greatest(t.w), math.Abs(t.factor(acc)), l.o.WeightBits) != 1
	})
}
