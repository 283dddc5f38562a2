package quant

import (
	"fmt"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// Stage holds what calibration decides about one requantised tensor. With s = Shift, the accumulator has scale QScale * 2^-s, the
// shifted accumulator QScale, and the table maps that to codes in [Lo, Hi] of scale Scale.
type Stage struct {
	Name   string // the value in the ONNX file
	Shift  uint8
	QScale float64
	Scale  float64
	Lo, Hi int64
	// Exact marks an output that is the accumulator itself, without shift or table: Shift, Lo and Hi are 0 and QScale is Scale.
	Exact bool
}

// accScale is the real value of one unit of the accumulator. The division by a power of two is exact.
func (s *Stage) accScale() float64 { return math.Ldexp(s.QScale, -int(s.Shift)) }

// format is the integer format of a value that has integers.
type format struct {
	scale  float64
	lo, hi int64
}

// magnitude returns the greatest absolute value of a tensor.
func magnitude(t *onnx.Tensor) float64 {
	m := 0.0
	for _, v := range t.Real {
		m = max(m, math.Abs(float64(v)))
	}
	return m
}

// round returns the integer nearest to v, halves away from zero, or an error when it reaches 2^29. It uses no operation whose result
// may differ between machines.
func round(v float64) (int64, error) {
	r := math.Round(v)
	if !(math.Abs(r) < graph.BoundLimit) {
		return 0, fmt.Errorf("%g does not fit 29 bits", v)
	}
	return int64(r), nil
}

// quantise returns round(c * v) for every element.
func quantise(t *onnx.Tensor, c float64) ([]int32, error) {
	out := make([]int32, t.Len())
	for i, v := range t.Real {
		r, err := round(float64(float64(v) * c))
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		out[i] = int32(r)
	}
	return out, nil
}

// Factors from real to integer weights. Each is a fixed expression, so that building repeats what calibration did.
func (p *product) factor(x format, acc float64) float64 { return float64(p.alpha*x.scale) / acc }
func (a *addend) factor(x format, acc float64) float64  { return float64(a.c*x.scale) / acc }
func (k *constant) factor(acc float64) float64          { return k.c / acc }

// contraction is the number of summands of a product.
func (p *product) contraction() int {
	if p.trans {
		return p.w.Shape[1]
	}
	return p.w.Shape[0]
}

// span is an interval in floating point: exact far beyond 2^29, where it is compared.
type span struct{ lo, hi float64 }

func (a span) plus(b span) span { return span{a.lo + b.lo, a.hi + b.hi} }

func (a span) times(b span) span {
	p, q, r, s := a.lo*b.lo, a.lo*b.hi, a.hi*b.lo, a.hi*b.hi
	return span{min(p, q, r, s), max(p, q, r, s)}
}

// paramSpan is the declared range of a parameter whose values are the extremes times c, rounded.
func paramSpan(t *onnx.Tensor, c float64) span {
	lo, hi := math.Round(float64(float64(slices.Min(t.Real))*c)), math.Round(float64(float64(slices.Max(t.Real))*c))
	reach := max(math.Abs(lo), math.Abs(hi))
	if !(reach < graph.BoundLimit) {
		return span{math.Inf(-1), math.Inf(1)}
	}
	l, h := graph.ParamBounds(graph.ParamBits([]int32{int32(lo), int32(hi)}))
	return span{float64(l), float64(h)}
}

// accSpan bounds the accumulator of a stage for a given scale, as the program's interval arithmetic will.
func (s *stage) accSpan(formats map[int]format, acc float64) span {
	var total span
	for i := range s.products {
		p := &s.products[i]
		x := formats[p.x]
		k := float64(p.contraction())
		total = total.plus(span{float64(x.lo), float64(x.hi)}.times(paramSpan(p.w, p.factor(x, acc))).times(span{k, k}))
	}
	for i := range s.addends {
		a := &s.addends[i]
		x := formats[a.x]
		c := math.Round(a.factor(x, acc))
		total = total.plus(span{float64(x.lo), float64(x.hi)}.times(span{c, c}))
	}
	for i := range s.consts {
		total = total.plus(paramSpan(s.consts[i].t, s.consts[i].factor(acc)))
	}
	return total
}

// tableBits returns the bits that a table needs after a shift of the accumulator, or a number above every limit when the accumulator
// itself is too wide.
func tableBits(acc span, shift int) int {
	if !inBounds(acc) {
		return 99
	}
	return graph.LookupBits(int64(acc.lo), int64(acc.hi), uint8(shift))
}

// finest returns the accumulator scale at which the largest weight of the stage uses the given number of bits; without products, at
// which the largest multiplier is about 2^10.
func (s *stage) finest(formats map[int]format, weightBits int) float64 {
	acc := 0.0
	for i := range s.products {
		p := &s.products[i]
		acc = max(acc, math.Abs(p.factor(formats[p.x], 1))*magnitude(p.w)/float64(int64(1)<<(weightBits-1)-1))
	}
	if acc > 0 {
		return acc
	}
	for i := range s.addends {
		acc = max(acc, math.Abs(s.addends[i].factor(formats[s.addends[i].x], 1))/(1<<10))
	}
	if acc > 0 {
		return acc
	}
	return 1.0 / (1 << 10) // nothing depends on the input; constants get a plain scale
}

// observed is what calibration saw of a value.
type observed struct {
	reach  float64 // greatest absolute value, or the percentile asked for
	signed bool    // whether negative values occur
}

// functionBits is the resolution, sign included, of a table's input over the values seen when the table holds a curved function.
const functionBits = 12

// choose decides a stage's format from what calibration saw of its result and of its linear form.
func (s *stage) choose(o *Options, formats map[int]format, name string, out, base observed) (Stage, error) {
	top := int64(1)<<(o.ActivationBits-1) - 1
	if s.final {
		top = int64(1)<<(o.OutputBits-1) - 1
	}
	// What is always zero on the samples can have any scale.
	if !(out.reach > 0) {
		out.reach = 1
	}
	if !(base.reach > 0) {
		base.reach = 1
	}
	st := Stage{Name: name, Scale: out.reach / float64(top), Lo: -top, Hi: top}
	if !out.signed && !s.final {
		st.Lo = 0
	}
	finest := s.finest(formats, o.WeightBits)
	ok := false
	switch {
	case s.final && s.isLinear() && o.ExactOutput:
		st.Lo, st.Hi, st.Exact = 0, 0, true
		ok = s.chooseExact(&st, formats, finest)
	case !clamps(s.chain):
		ok = s.chooseFine(&st, formats, finest, base.reach/(1<<(functionBits-1)), o.TableBits)
	case s.final:
		// The last layer is not clamped: what fits the table reaches the output.
		ok = s.chooseFine(&st, formats, finest, st.Scale, o.TableBits)
		st.Scale, st.Lo, st.Hi = st.QScale, -outputLimit, outputLimit
	default:
		ok = s.chooseCoarse(&st, formats, finest, o.TableBits)
	}
	if !ok {
		return st, fmt.Errorf("no scale keeps the accumulator of %s within bounds; its contraction is too long or its terms too unequal", onnx.Quote(name))
	}
	return st, s.checkAddends(formats, &st)
}

// outputLimit bounds the codes of an output whose table would reach further.
const outputLimit = 1<<15 - 1

// checkAddends refuses multipliers that round to zero, which would drop a summand.
func (s *stage) checkAddends(formats map[int]format, st *Stage) error {
	for i := range s.addends {
		a := &s.addends[i]
		if c := math.Round(a.factor(formats[a.x], st.accScale())); c == 0 {
			return fmt.Errorf("%s: a summand is so small beside the others that its multiplier rounds to zero", onnx.Quote(st.Name))
		}
	}
	return nil
}

// chooseCoarse finds the shift when the table's input has the scale of its output: as large as the weights' width allows. Where the
// table would exceed its budget, the scale grows.
func (s *stage) chooseCoarse(st *Stage, formats map[int]format, finest float64, budget int) bool {
	for range 200 {
		// The largest shift with Scale * 2^-shift >= finest.
		shift := 0
		for shift < graph.MaxShift && math.Ldexp(st.Scale, -shift-1) >= finest {
			shift++
		}
		for ; shift >= 0; shift-- {
			if fits(s.accSpan(formats, math.Ldexp(st.Scale, -shift)), shift, budget) {
				st.Shift, st.QScale = uint8(shift), st.Scale
				return true
			}
		}
		st.Scale = float64(st.Scale * 1.25)
	}
	return false
}

// chooseFine finds the shift when the table's input may have any scale: the largest that keeps that scale at target or below, or a
// larger one if the table needs it to fit its budget.
func (s *stage) chooseFine(st *Stage, formats map[int]format, finest, target float64, budget int) bool {
	for acc, tries := finest, 0; tries < 60; acc, tries = acc*2, tries+1 {
		bounds := s.accSpan(formats, acc)
		shift := 0
		for shift < graph.MaxShift && math.Ldexp(acc, shift+1) <= target {
			shift++
		}
		for ; shift <= graph.MaxShift; shift++ {
			if fits(bounds, shift, budget) {
				st.Shift, st.QScale = uint8(shift), math.Ldexp(acc, shift)
				return true
			}
		}
	}
	return false
}

// chooseExact finds the finest accumulator that stays within bounds.
func (s *stage) chooseExact(st *Stage, formats map[int]format, finest float64) bool {
	for acc, tries := finest, 0; tries < 60; acc, tries = acc*2, tries+1 {
		if inBounds(s.accSpan(formats, acc)) {
			st.Scale, st.QScale = acc, acc
			return true
		}
	}
	return false
}

// inBounds reports whether an accumulator stays below BoundLimit.
func inBounds(acc span) bool { return acc.lo > -graph.BoundLimit && acc.hi < graph.BoundLimit }

// fits reports whether a table within the budget makes a lookup of that shift total.
func fits(acc span, shift, budget int) bool {
	bits := tableBits(acc, shift)
	return bits <= budget && bits+shift <= graph.MaxWindow
}
