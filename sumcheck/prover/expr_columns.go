package prover

import "github.com/zkwarp/zkwarp/field/m31"

// exprColumn is a block of a column's values: at the place in hand, where the
// variable is 1, and from one place to the next.
type exprColumn[T any] struct{ at, hi, step, own, gathered []T }

// exprValues are one worker's registers: columns over either field, and slots.
type exprValues struct {
	base     []exprColumn[m31.Element] // by column
	ext      []exprColumn[m31.QM31]
	baseSlot [][]m31.Element
	extSlot  [][]m31.QM31
}

func (x *hostExpr) newValues() *exprValues {
	v := &exprValues{base: make([]exprColumn[m31.Element], x.Columns), ext: make([]exprColumn[m31.QM31], x.Columns)}
	for k := range x.Columns {
		if x.isBase[k] {
			v.base[k].step, v.base[k].own = make([]m31.Element, exprBlock), make([]m31.Element, exprBlock)
		} else {
			v.ext[k].step, v.ext[k].own = make([]m31.QM31, exprBlock), make([]m31.QM31, exprBlock)
		}
	}
	for range x.ofBase {
		v.baseSlot = append(v.baseSlot, make([]m31.Element, exprBlock))
	}
	for range x.ofExt {
		v.extSlot = append(v.extSlot, make([]m31.QM31, exprBlock))
	}
	return v
}

// load sets the column to n entries from lo on of a table's first half, or of the
// second one. Entries that follow each other are used where they are.
func (c *exprColumn[T]) load(table []T, stride, lo, n, half int, second bool, sub func(dst, a, b []T)) {
	var first []T
	if stride == 1 {
		first, c.hi = table[lo:lo+n], table[half+lo:half+lo+n]
	} else {
		if c.gathered == nil {
			c.gathered = make([]T, exprBlock)
		}
		first, c.hi = c.own[:n], c.gathered[:n]
		for i := range first {
			first[i], c.hi[i] = table[(lo+i)*stride], table[(lo+i+half)*stride]
		}
	}
	sub(c.step[:n], c.hi, first)
	if c.at = first; second {
		c.at = c.hi
	}
}

// next takes the column to the next place; the first one after 0 or 1 is 2.
func (c *exprColumn[T]) next(n int, add func(dst, a, b []T)) {
	from := c.at
	if c.hi != nil {
		from, c.hi = c.hi, nil
	}
	c.at = c.own[:n]
	add(c.at, from, c.step)
}

func (v *exprValues) load(tables []hostTable, lo, n, half int, second bool) {
	for k := range tables {
		if t := &tables[k]; t.base != nil {
			v.base[k].load(t.base, t.stride, lo, n, half, second, m31.SubVec)
		} else {
			v.ext[k].load(t.ext, t.stride, lo, n, half, second, m31.SubVecQM31)
		}
	}
}

func (v *exprValues) next(n int) {
	for k := range v.base {
		if v.base[k].own != nil {
			v.base[k].next(n, m31.AddVec)
		} else {
			v.ext[k].next(n, m31.AddVecQM31)
		}
	}
}

// baseOf and extOf are a register's values.
func (x *hostExpr) baseOf(v *exprValues, r int) []m31.Element {
	if r < x.Columns {
		return v.base[r].at
	}
	return v.baseSlot[x.slot[r]]
}

func (x *hostExpr) extOf(v *exprValues, r int) []m31.QM31 {
	if r < x.Columns {
		return v.ext[r].at
	}
	return v.extSlot[x.slot[r]]
}
