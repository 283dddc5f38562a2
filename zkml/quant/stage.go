package quant

import (
	"fmt"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// Stage holds what calibration decides about one tensor that gets integers. With s = Shift, the sum has scale QScale * 2^-s, the shifted sum
// QScale, and a table of TableBits bits maps that to codes in [Lo, Hi] of scale Scale.
type Stage struct {
	Name      string // the value in the ONNX file
	Shift     uint8
	TableBits uint8
	// Cut limits the sum to [-2^Cut, 2^Cut) before it is shifted, where no table could hold all that its bounds allow; 0 does not limit.
	Cut    uint8
	QScale float64
	Scale  float64
	Lo, Hi int64
	// Channels says that the channels of products have scales of their own, as far as their weights are to have the width asked for.
	Channels bool
	// Exact marks a tensor that is the sum itself, without shift or table: Shift, TableBits, Cut, Lo and Hi are 0 and QScale is Scale.
	Exact bool
}

// accScale is the real value of one unit of the sum. The division by a power of two is exact.
func (s *Stage) accScale() float64 { return math.Ldexp(s.QScale, -int(s.Shift)) }

// mapping is what the stage's table computes behind a chain of functions.
func (s *Stage) mapping(chain []unary, even bool) mapping {
	return mapping{chain: chain, in: s.QScale, out: s.Scale, lo: s.Lo, hi: s.Hi, even: even}
}

// observed is what calibration saw of a value.
type observed struct {
	reach  float64 // greatest absolute value, or what the method of calibration makes of it
	signed bool    // whether negative values occur
}

// demand is what a stage must deliver.
type demand struct {
	bits      int      // width of the codes, sign included
	out, base observed // the value, and its sum before the chain
	final     bool     // an output of the program: not clamped
	exact     bool     // an output that stays a plain sum
	scale     float64  // if not zero: the scale that codes must have
	lo, hi    int64    // with scale: the codes' range
	finest    float64  // if not zero: the sum is a product below productLimit that can have any scale from this one on
	even      bool     // halves go to the even code
	strict    bool     // no sum that is wider than the codes asked for stays as it is
	unit      float64  // if not zero: the scale must be this times a power of two that is whole
}

// curveBits is the resolution, sign included, of a table's operand over the values seen when the table holds a curved function.
const curveBits = 12

// outputLimit bounds the codes of an output whose table would reach further.
const outputLimit = 1<<15 - 1

// choose decides a stage's format.
func (l *lowering) choose(name string, f *form, d demand) (Stage, error) {
	top := int64(1)<<(d.bits-1) - 1
	if !(d.out.reach > 0) { // what is always zero on the samples can have any scale
		d.out.reach = 1
	}
	if !(d.base.reach > 0) {
		d.base.reach = 1
	}
	st := Stage{Name: name, Scale: d.out.reach / float64(top), Lo: -top, Hi: top}
	if !d.out.signed && !d.final {
		st.Lo = 0
	}
	h := &chooser{l: l, f: f, d: d, st: &st}
	ok := false
	switch {
	case d.scale != 0:
		st.Scale, st.Lo, st.Hi = d.scale, d.lo, d.hi
		ok = h.fixed()
	case d.finest != 0:
		return h.product()
	case d.unit != 0:
		for st.Scale = d.unit; float64(top)*st.Scale < d.out.reach; st.Scale *= 2 {
		}
		ok = h.fixed()
	case h.chooseExact():
		ok = true
	case !clamps(f.chain):
		if ok = h.curved(); d.final {
			st.Lo, st.Hi = -outputLimit, outputLimit // not clamped
		}
	case d.final:
		// The output is not clamped: what fits the table reaches it.
		ok = h.fine(st.Scale)
		st.Scale, st.Lo, st.Hi = st.QScale, -outputLimit, outputLimit
	default:
		ok = h.coarse()
	}
	if !ok {
		return st, h.refusal(name)
	}
	h.refine()
	return st, nil
}

// refusal says why no scale will do.
func (h *chooser) refusal(name string) error {
	var least, most *term
	for i := range h.f.terms {
		t := &h.f.terms[i]
		if !t.isAddend() {
			continue
		}
		if least == nil || math.Abs(t.factor(1)) < math.Abs(least.factor(1)) {
			least = t
		}
		if most == nil || math.Abs(t.factor(1)) > math.Abs(most.factor(1)) {
			most = t
		}
	}
	if least != most {
		if ratio := math.Abs(most.factor(1) / least.factor(1)); ratio > 1<<10 {
			return fmt.Errorf("no scale keeps the sum of %s within bounds: its terms are too unequal, multiples of %s beside some of %s that are %.3g times as large",
				onnx.Quote(name), onnx.Quote(h.l.b.Tensor(least.x.id).Name), onnx.Quote(h.l.b.Tensor(most.x.id).Name), ratio)
		}
	}
	return fmt.Errorf("no scale keeps the sum of %s within bounds: its contraction is too long or its terms too unequal", onnx.Quote(name))
}

// chooser looks for the scale of a stage's sum, and its shift.
type chooser struct {
	l  *lowering
	f  *form
	d  demand
	st *Stage
}

// span bounds the sum for a scale.
func (h *chooser) span(acc float64) span { return h.l.span(h.f, acc, h.st.Channels) }

// addends returns the scales of the summands that are tensors: their multipliers must be integers. products tells whether any summand can
// follow the sum's scale freely.
func (h *chooser) addends() (scales []float64, products bool) {
	for i := range h.f.terms {
		t := &h.f.terms[i]
		switch {
		case t.isAddend():
			scales = append(scales, math.Abs(t.factor(1)))
		case t.isProduct():
			products = true
		}
	}
	return scales, products
}

// Tensors are summed with integer multipliers. exactMultiplier is the error at which one counts as exact, goodMultiplier that which is
// acceptable.
const exactMultiplier, goodMultiplier = 1e-9, 1.0 / 128

// multiplierError is the greatest relative rounding error of the multipliers for a sum of scale acc.
func multiplierError(scales []float64, acc float64) float64 {
	worst := 0.0
	for _, s := range scales {
		m := s / acc
		worst = max(worst, math.Abs(math.Round(m)-m)/m)
	}
	return worst
}

// units returns scales of the sum from the finest on: without products those for which multipliers are integers, or nearly; with products
// from that on at which the largest weight uses its width.
func (h *chooser) units() []float64 {
	scales, products := h.addends()
	finest := 0.0
	for i := range h.f.terms {
		if t := &h.f.terms[i]; t.isProduct() && !t.rare {
			bits := h.l.o.WeightBits
			if t.along && h.byChannel() {
				bits = max(bits, alongBits)
			}
			finest = max(finest, math.Abs(t.factor(1))*h.l.greatest(t.w)/float64(top(bits)))
		}
	}
	var units []float64
	if len(scales) > 0 {
		least, most := scales[0], scales[0]
		for _, s := range scales {
			least, most = min(least, s), max(most, s)
		}
		if !products {
			for k := range 8 { // multipliers of the smallest: 8, 7, ... 1
				units = append(units, least/float64(8-k))
			}
			for j := 10; j >= 4; j-- {
				units = append(units, most/float64(int(1)<<j))
			}
			return units
		}
		if finest == 0 { // weights that are all zero
			finest = most / (1 << 10)
		}
	}
	if finest == 0 {
		finest = 1.0 / (1 << 10) // nothing depends on the input; constants get a plain scale
	}
	for range 60 {
		units = append(units, finest)
		finest *= 2
	}
	return units
}

// tolerable reports whether multipliers are good enough for a sum of scale acc: exactly, or well beside products.
func (h *chooser) tolerable(acc float64) bool {
	scales, _ := h.addends()
	return multiplierError(scales, acc) <= goodMultiplier
}

// chooseExact keeps the sum as it is where that costs nothing: only tensors with whole multipliers, and a result of the width asked for; or an
// output that is to stay a sum.
func (h *chooser) chooseExact() bool {
	if !h.f.isLinear() {
		return false
	}
	scales, products := h.addends()
	if products || len(scales) < len(h.f.terms) {
		if !h.d.exact {
			return false
		}
		for _, acc := range h.units() {
			if h.span(acc).limited() && h.tolerable(acc) {
				h.setExact(acc)
				return true
			}
		}
		return false
	}
	acc := scales[0]
	for _, s := range scales {
		acc = min(acc, s)
	}
	limit := float64(int64(1) << h.d.bits)
	if h.d.strict {
		limit /= 2
	}
	if h.d.exact {
		limit = graph.BoundLimit
	}
	if s := h.span(acc); multiplierError(scales, acc) > exactMultiplier || s.lo <= -limit || s.hi >= limit {
		return false
	}
	h.setExact(acc)
	return true
}

func (h *chooser) setExact(acc float64) {
	*h.st = Stage{Name: h.st.Name, Scale: acc, QScale: acc, Exact: true}
}

// place tries a scale of the sum with a shift: the bounds hold, the multipliers are good, and a table fits, which may be one of the largest
// size, or as a last resort the sum is cut at a reach beyond everything seen.
func (h *chooser) place(acc float64, shift int, effort effort, reach float64) bool {
	s := h.span(acc)
	if !s.limited() || !h.tolerable(acc) {
		return false
	}
	budget := h.l.o.TableBits
	if effort > small {
		budget = graph.MaxTableBits
	}
	if !clamps(h.f.chain) || h.st.QScale != h.st.Scale && h.d.scale != 0 { // a table for this stage alone
		budget = min(budget, h.ownBits())
	}
	bits := graph.LookupBits(int64(s.lo), int64(s.hi), uint8(shift))
	h.st.Cut = 0
	if effort == cut && bits > budget {
		n := 1
		for math.Ldexp(acc, n) < reach {
			n++
		}
		// The cut divides by 2^(n-1) at most, so that limits keep a bit.
		if c := cutShift(s, h.l.o.TableBits); c < n {
			h.st.Cut = uint8(n)
			limit := int64(1)<<n + int64(1)<<c
			bits = graph.LookupBits(-limit, limit, uint8(shift))
		}
	}
	if m := h.st.mapping(h.f.chain, false); math.Ldexp(acc, shift) == m.out && clamps(m.chain) {
		for m.lo < -1<<(bits-1) || m.hi >= 1<<(bits-1) { // so that the table's values are the codes, whatever its size
			bits++
		}
	}
	if bits > budget || bits+shift > graph.MaxWindow {
		return false
	}
	h.st.Shift, h.st.QScale, h.st.TableBits = uint8(shift), math.Ldexp(acc, shift), uint8(bits)
	return true
}

// ownBits is the size of a table that no other stage shares: up to four rows for each element that is looked up, beyond which two lookups are
// cheaper.
func (h *chooser) ownBits() int {
	bits := curveBits + 2
	for n := 4 * graph.Elements(h.f.shape); 1<<bits < n && bits < graph.MaxTableBits; bits++ {
	}
	return bits
}

// placeFinest tries to place a table's operand of scale q: with the largest shift, and so the finest weights, that weights of their width and
// the bounds of the sum allow, or one less. Coarser weights would only hide that a table is too large.
func (h *chooser) placeFinest(q float64, shift int, finest float64, effort effort, reach float64) bool {
	for tries := 0; shift >= 0 && tries < 2; shift-- {
		acc := math.Ldexp(q, -shift)
		if acc < finest/2 || acc < finest && h.byChannel() || !h.span(acc).limited() {
			continue
		}
		if h.place(acc, shift, effort, reach) {
			return true
		}
		tries++
	}
	return false
}

// cutShift is the shift at which a cut takes the quotient.
func cutShift(s span, bits int) int { return shiftOf(int64(s.lo), int64(s.hi), bits) }

// effort says how much a lookup may cost.
type effort int

const (
	small effort = iota // a table of the size asked for
	large               // a table of the largest size
	cut                 // two lookups
)

// coarse finds scale and shift when the table's operand has the scale of its result, which clamps need: the shift is as large as the
// weights' width allows. The scale grows a little before the effort does, and as long as needed once all effort is made.
func (h *chooser) coarse() bool {
	scales, products := h.addends()
	if products && h.d.bits >= scoreBits { // wide codes can afford a scale that other layers have too
		h.st.Scale = onGrid(h.st.Scale)
	}
	wanted := h.st.Scale
	for _, try := range []struct {
		effort effort
		most   float64
	}{{small, 1.3}, {large, 1.3}, {cut, 1.3}, {cut, math.Inf(1)}} {
		if !products && len(scales) > 0 {
			if h.coarseOfUnits(wanted, try.effort, try.most) {
				return true
			}
			continue
		}
		h.st.Scale = wanted
		for n := 0; n < 200 && h.st.Scale <= wanted*try.most; n++ {
			finest := h.units()[0]
			shift := 0
			for shift < graph.MaxShift && math.Ldexp(h.st.Scale, -shift-1) >= finest {
				shift++
			}
			if h.placeFinest(h.st.Scale, shift, finest, try.effort, h.reach()) {
				return true
			}
			h.st.Scale = float64(h.st.Scale * 1.125)
		}
	}
	return h.aligned(func(acc float64) (int, bool) {
		for shift := range graph.MaxShift + 1 {
			if h.st.Scale = math.Ldexp(acc, shift); h.st.Scale >= wanted*63/64 {
				return shift, h.st.Scale < 4*wanted
			}
		}
		return 0, false
	}, h.reach)
}

// aligned finds a scale for a sum of products and tensors where none that follows from the result's keeps the multipliers of the tensors good
// and the bounds small: the smallest tensor's multiplier is a small number. shift says what a sum's scale is shifted by, if it can be.
func (h *chooser) aligned(shift func(acc float64) (int, bool), reach func() float64) bool {
	scales, products := h.addends()
	if !products || len(scales) == 0 {
		return false
	}
	finest := h.units()[0]
	h.st.Channels = h.byChannel() // whose weights have the width asked for, however fine the sum's unit is
	for _, e := range []effort{small, large, cut} {
		for most := 8; most >= 1; most-- {
			acc := slices.Min(scales) / float64(most)
			if acc < finest/32 && !h.st.Channels { // weights may be five bits wider than asked for
				continue
			}
			if s, ok := shift(acc); ok && h.place(acc, s, e, reach()) {
				return true
			}
		}
	}
	return false
}

// reach is the real value beyond which a sum may be cut: the codes' own limits, or twice what was seen.
func (h *chooser) reach() float64 {
	return max(h.st.Scale*float64(h.st.Hi+1), -h.st.Scale*float64(h.st.Lo-1))
}

// coarseOfUnits is coarse for sums whose scale is one of few: the scale of the result is a power of two times one of them, the least that
// is not noticeably below the one wanted.
func (h *chooser) coarseOfUnits(wanted float64, effort effort, most float64) bool {
	best := Stage{}
	for _, acc := range h.units() {
		shift := 0
		for shift <= graph.MaxShift && math.Ldexp(acc, shift) < wanted*63/64 {
			shift++
		}
		for ; shift <= graph.MaxShift; shift++ {
			h.st.Scale = math.Ldexp(acc, shift)
			if h.st.Scale > wanted*max(most, 2) && most < 2 || best.Scale != 0 && h.st.Scale >= best.Scale {
				break
			}
			if h.place(acc, shift, effort, h.reach()) {
				best = *h.st
				break
			}
		}
	}
	if best.Scale == 0 {
		return false
	}
	*h.st = best
	return true
}

// curved finds the table's operand for a curved function. Functions with a bounded range and all scales in general come from a grid, so
// that layers share tables.
func (h *chooser) curved() bool {
	if lo, hi, ok := h.f.chain[len(h.f.chain)-1].reach(); ok {
		h.st.Scale = max(hi, -lo) / float64(h.st.Hi)
		if lo == 0 {
			h.st.Lo = 0
		}
	} else {
		h.st.Scale = onGrid(h.st.Scale)
	}
	return h.fine(math.Exp2(math.Floor(math.Log2(h.d.base.reach / (1 << (curveBits - 1))))))
}

// onGrid rounds a scale up to 4, 5, 6 or 7 times a power of two.
func onGrid(scale float64) float64 {
	m, e := math.Frexp(scale) // scale = m 2^e, m in [1/2, 1)
	return math.Ldexp(math.Ceil(m*8), e-3)
}

// fine finds the table's operand when it may have any scale: about target, coarser by up to 2^3 before the effort grows.
func (h *chooser) fine(target float64) bool {
	_, products := h.addends()
	for _, try := range []struct {
		effort  effort
		coarser int
	}{{small, 2}, {large, 3}, {cut, 3}, {cut, 60}} {
		for more := 0; more <= try.coarser; more++ {
			q := math.Ldexp(target, more)
			if products {
				finest := h.units()[0]
				if h.placeFinest(q, graph.MaxShift, finest, try.effort, 2*h.d.base.reach) {
					return true
				}
				continue
			}
			for _, acc := range h.units() {
				shift := 0
				for shift < graph.MaxShift && math.Ldexp(acc, shift+1) <= q {
					shift++
				}
				if math.Ldexp(acc, shift) <= 2*q && h.place(acc, shift, try.effort, 2*h.d.base.reach) {
					return true
				}
			}
		}
	}
	return h.aligned(func(acc float64) (int, bool) {
		for shift := graph.MaxShift; shift >= 0; shift-- {
			if q := math.Ldexp(acc, shift); q <= 4*target {
				return shift, true
			}
		}
		return 0, false
	}, func() float64 { return 2 * h.d.base.reach })
}

// fixed finds the table's operand when the result's scale is given: the same scale behind clamps if the sum can follow it, otherwise a finer
// one.
func (h *chooser) fixed() bool {
	_, products := h.addends()
	if clamps(h.f.chain) && products {
		finest := h.units()[0]
		for _, e := range []effort{small, large, cut} {
			if h.placeFinest(h.st.Scale, graph.MaxShift, finest, e, h.reach()) {
				return true
			}
		}
	}
	if clamps(h.f.chain) {
		if h.d.even { // as exact as can be
			return h.fine(h.st.Scale / 64)
		}
		return h.fine(h.st.Scale / 2)
	}
	return h.curvedTo(h.st.Scale)
}

// product chooses for a product whose scale is free, whatever bounds below productLimit it has.
func (h *chooser) product() (Stage, error) {
	st := h.st
	if st.Scale = onGrid(st.Scale/2) * 2; h.d.final {
		st.Lo, st.Hi = -outputLimit, outputLimit
	}
	for shift := graph.MaxShift; ; shift-- {
		if shift < 0 {
			st.Scale = float64(st.Scale * 1.125) // the finest scale is coarser than the one wanted
			shift = graph.MaxShift
		}
		bits := graph.LookupBits(-productLimit, productLimit, uint8(shift))
		if math.Ldexp(st.Scale, -shift) >= h.d.finest && bits <= graph.MaxTableBits {
			st.Shift, st.QScale, st.TableBits = uint8(shift), st.Scale, uint8(bits)
			return *st, nil
		}
		if bits > graph.MaxTableBits {
			shift = 0
		}
	}
}

func (h *chooser) curvedTo(scale float64) bool {
	ok := h.fine(math.Exp2(math.Floor(math.Log2(h.d.base.reach / (1 << (curveBits - 1))))))
	h.st.Scale = scale
	return ok
}

// byChannel reports whether channels may have scales of their own.
func (h *chooser) byChannel() bool { return h.l.o.WeightScales == ChannelScales }
