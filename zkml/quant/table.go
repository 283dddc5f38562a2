package quant

import (
	"fmt"
	"math"
	"strings"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// mapping is what a table of one operand computes: q stands for q * in, the chain is applied, and the result becomes a code of scale out
// in [lo, hi].
type mapping struct {
	chain   []unary
	in, out float64
	lo, hi  int64
	even    bool // halves go to the even code, as when a file quantises, instead of upwards
}

// key identifies a mapping, apart from the size of the table's domain.
func (m *mapping) key() string {
	if lo, hi, plain := m.plain(); plain {
		return fmt.Sprintf("clamp %d %d", lo, hi)
	}
	return fmt.Sprintf("%v %x %x %d %d %t", m.chain, m.in, m.out, m.lo, m.hi, m.even)
}

// name describes the table.
func (m *mapping) name() string {
	if _, _, plain := m.plain(); plain {
		return "clamp"
	}
	if len(m.chain) == 0 {
		return "rescale"
	}
	names := make([]string, len(m.chain))
	for i, u := range m.chain {
		names[i] = u.String()
	}
	s := strings.Join(names, ", ")
	return s[:min(len(s), graph.MaxName)]
}

// plain reports whether a table only clamps codes, because input and output share a scale, which then cancels. It returns the limits.
func (m *mapping) plain() (lo, hi int64, ok bool) {
	if m.in != m.out || !clamps(m.chain) {
		return 0, 0, false
	}
	lo, hi = m.lo, m.hi
	for _, u := range m.chain {
		if u.fn.Params() > 0 { // limits of a clip are no codes
			return 0, 0, false
		}
		lo = max(lo, 0)
	}
	return lo, hi, true
}

// code returns the code of q, decided in exact arithmetic: rounded to nearest, halves upwards.
func (m *mapping) code(q int64) int64 {
	v := newFloat().SetInt64(q)
	v.Mul(v, number(m.in))
	for _, u := range m.chain {
		if v = u.apply(v); v.IsInf() {
			v = boundless(v.Sign())
		}
	}
	if m.even && !v.IsInf() {
		return nearest(roundEven(newFloat().Quo(v, number(m.out))), 1, m.lo, m.hi)
	}
	return nearest(v, m.out, m.lo, m.hi)
}

// Float64 decides a code when the result is further from a boundary than any error its arithmetic can have; margin and noise say how far
// that is: a share of a code, and a share of the greatest number on the way. They are orders of magnitude above the real errors.
const margin, noise = 1.0 / (1 << 18), 1.0 / (1 << 40)

// quick returns the code of q from float64 arithmetic, if that is certain. The answer then equals code's on every machine, whatever the
// last digits of its mathematical functions are.
func (m *mapping) quick(q int64) (int64, bool) {
	v := float64(q) * m.in
	largest := math.Abs(v)
	for _, u := range m.chain {
		v = u.fast(v)
		largest = max(largest, math.Abs(v))
	}
	if math.IsNaN(v) || math.IsInf(largest, 0) {
		return 0, false
	}
	v = v/m.out + 0.5
	unsure := margin + noise*largest/m.out
	f := math.Floor(v)
	switch {
	case v < float64(m.lo)-unsure:
		return m.lo, true
	case v > float64(m.hi)+1+unsure:
		return m.hi, true
	case v-f < unsure || f+1-v < unsure:
		return 0, false
	}
	return min(max(int64(f), m.lo), m.hi), true
}

// values returns the table for all q of so many bits.
func (m *mapping) values(bits int) []int32 {
	y := make([]int32, 1<<bits)
	half := int64(1) << (bits - 1)
	if lo, hi, plain := m.plain(); plain {
		for i := range y {
			y[i] = int32(min(max(int64(i)-half, lo), hi))
		}
		return y
	}
	for i := range y {
		q := int64(i) - half
		c, ok := m.quick(q)
		if !ok {
			c = m.code(q)
		}
		y[i] = int32(c)
	}
	return y
}

// isClamp reports whether a key is that of a table that only clamps.
func isClamp(key string) bool { return strings.HasPrefix(key, "clamp ") }
