package prover

import (
	"github.com/zkwarp/zkwarp/field/m31"
)

// column is a stretch of a table's values, or of sums of their products, in the
// prime field or in the extension; the other is nil.
type column struct {
	base []m31.Element
	ext  []m31.QM31
}

// columns is a worker's memory: it hands out columns of n entries, all of which
// become free again at once.
type columns struct {
	n     int
	words []m31.Element
	used  int

	values []column // of the tables
	lines  []line
	expr   *exprValues
}

func (c *columns) newBase() column {
	if c.used+c.n > len(c.words) {
		c.words, c.used = make([]m31.Element, max(16*c.n, 2*len(c.words))), 0
	}
	c.used += c.n
	return column{base: c.words[c.used-c.n : c.used : c.used]}
}

func (c *columns) newExt() column {
	n := 4 * c.n
	if c.used+n > len(c.words) {
		c.words, c.used = make([]m31.Element, max(4*n, 2*len(c.words))), 0
	}
	c.used += n
	return column{ext: m31.Quads(c.words[c.used-n : c.used])}
}

// like makes a column over the field of another.
func (c *columns) like(x column) column {
	if x.ext == nil {
		return c.newBase()
	}
	return c.newExt()
}

// stretch is the table's entries from x on.
func (c *columns) stretch(t *hostTable, x int) column {
	switch {
	case t.stride == 1 && t.base != nil:
		return column{base: t.base[x : x+c.n]}
	case t.stride == 1:
		return column{ext: t.ext[x : x+c.n]}
	case t.base != nil:
		to := c.newBase()
		for i := range to.base {
			to.base[i] = t.base[(x+i)*t.stride]
		}
		return to
	}
	to := c.newExt()
	for i := range to.ext {
		to.ext[i] = t.ext[(x+i)*t.stride]
	}
	return to
}

// line is a table's values along the variable of the round: at the point at
// hand, at the one before it, and their difference.
type line struct{ now, step column }

// lineOf starts at 0 or at 1.
func (c *columns) lineOf(t *hostTable, x, half, first int) (at column, l line) {
	a, b := c.stretch(t, x), c.stretch(t, x+half)
	step := c.like(a)
	if a.ext == nil {
		m31.SubVec(step.base, b.base, a.base)
	} else {
		m31.SubVecQM31(step.ext, b.ext, a.ext)
	}
	if first == 1 {
		return b, line{b, step}
	}
	return a, line{b, step}
}

// next is the value at the next point.
func (c *columns) next(l *line) column {
	to := c.like(l.now)
	l.now = c.sum(to, l.now, l.step)
	return to
}

// sum writes x + y, both over one field, to dst.
func (c *columns) sum(dst, x, y column) column {
	if x.ext == nil {
		m31.AddVec(dst.base, x.base, y.base)
	} else {
		m31.AddVecQM31(dst.ext, x.ext, y.ext)
	}
	return dst
}

func (c *columns) copy(x column) column {
	to := c.like(x)
	copy(to.base, x.base)
	copy(to.ext, x.ext)
	return to
}

// add is x + y over any fields, in x's memory if that can hold it.
func (c *columns) add(x, y column) column {
	if x.ext == nil && y.ext != nil {
		x, y = c.copy(y), x
	}
	switch {
	case x.ext == nil:
		m31.AddVec(x.base, x.base, y.base)
	case y.ext == nil:
		m31.MulAddBase(x.ext, y.base, m31.OneQM31())
	default:
		m31.AddVecQM31(x.ext, x.ext, y.ext)
	}
	return x
}

// mul is x * y.
func (c *columns) mul(x, y column) column {
	if x.ext == nil && y.ext == nil {
		to := c.newBase()
		m31.MulVec(to.base, x.base, y.base)
		return to
	}
	to := c.newExt()
	switch {
	case x.ext == nil:
		m31.MulVecBase(to.ext, x.base, y.ext)
	case y.ext == nil:
		m31.MulVecBase(to.ext, y.base, x.ext)
	default:
		m31.MulVecQM31(to.ext, x.ext, y.ext)
	}
	return to
}

// scale is s * x.
func (c *columns) scale(x column, s m31.QM31) column {
	to := c.newExt()
	if x.ext == nil {
		m31.ScaleBase(to.ext, x.base, s)
	} else {
		m31.ScaleVecQM31(to.ext, x.ext, s)
	}
	return to
}

// total is the sum of x's entries, times those of weights if there are any.
func (x column) total(weights []m31.QM31) m31.QM31 {
	switch {
	case weights != nil && x.ext == nil:
		return m31.DotBase(x.base, weights)
	case weights != nil:
		return m31.DotQM31(x.ext, weights)
	case x.ext == nil:
		return m31.Lift(m31.Sum(x.base))
	}
	return m31.SumQM31(x.ext)
}

// general sums any terms, a stretch of the tables at a time.
func general(h *hostInstance, c *columns, lo, hi, half, first int) (out sums) {
	if c.lines == nil {
		c.values, c.lines = make([]column, len(h.tables)), make([]line, len(h.tables))
	}
	values, lines := c.values, c.lines
	for x := lo; x < hi; x += span {
		c.n, c.used = min(span, hi-x), 0
		var weights []m31.QM31
		if h.eq {
			weights = h.rest[x : x+c.n]
		}
		for k := range h.tables {
			values[k], lines[k] = c.lineOf(&h.tables[k], x, half, first)
		}
		for e := range h.degree {
			if e > 0 {
				for k := range lines {
					values[k] = c.next(&lines[k])
				}
			}
			out[e] = out[e].Add(h.summand(c, values).total(weights))
		}
	}
	return out
}

// summand is the sum of the instance's terms.
func (h *hostInstance) summand(c *columns, values []column) (sum column) {
	if h.isFractions() {
		return fractions(c, values, h.terms[2].coeff)
	}
	for i := range h.terms {
		t := &h.terms[i]
		p := values[t.factors[0]]
		for _, k := range t.factors[1:] {
			p = c.mul(p, values[k])
		}
		if !t.plain {
			p = c.scale(p, t.coeff)
		}
		switch {
		case i > 0:
			sum = c.add(sum, p)
		case len(h.terms) > 1 && t.plain && len(t.factors) == 1: // p is the table's own memory
			sum = c.copy(p)
		default:
			sum = p
		}
	}
	return sum
}

// isFractions recognises a layer of a tree of fractions: p0 q1 + p1 q0 + lambda
// q0 q1 times eq, where the factors are p0, p1, q0, q1.
func (h *hostInstance) isFractions() bool {
	if !h.eq || len(h.terms) != 3 || len(h.tables) != 4 || !h.terms[0].plain || !h.terms[1].plain {
		return false
	}
	for i, want := range [][2]int{{0, 3}, {1, 2}, {2, 3}} {
		if f := h.terms[i].factors; len(f) != 2 || f[0] != want[0] || f[1] != want[1] {
			return false
		}
	}
	t := h.tables
	return (t[0].base == nil) == (t[1].base == nil) && t[2].base == nil && t[3].base == nil
}

// fractions is p0 q1 + q0 (p1 + lambda q1).
func fractions(c *columns, v []column, lambda m31.QM31) column {
	inner := c.scale(v[3], lambda)
	inner = c.add(inner, v[1])
	m31.MulVecQM31(inner.ext, inner.ext, v[2].ext)
	return c.add(inner, c.mul(v[0], v[3]))
}
