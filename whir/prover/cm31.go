package prover

import (
	"errors"
	"sync"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/ntt"
	"github.com/zkwarp/zkwarp/whir"
)

// cm31 is the backend over CM31 and QM31 on the host.
type cm31 struct{}

var _ backend[m31.Element, m31.CM31, m31.QM31] = cm31{}

func (cm31) scheme() *whir.SchemeCM31 { return whir.CM31() }

// grain is how many table entries are worth another core.
const grain = 1 << 12

func (cm31) encodeSymbols(tables [][]m31.CM31, fold, logLeaves int) ([]m31.Element, error) {
	columns := make([]m31.CM31, len(tables)<<(fold+logLeaves))
	block := len(tables[0]) >> fold
	return rowsOf(columns, logLeaves, log2(block), 1, func(c int) {
		b := c & (1<<fold - 1)
		copy(columns[c<<logLeaves:], tables[c>>fold][b*block:(b+1)*block])
	})
}

// encodeChallenges transforms the two CM31 coordinates of a QM31 element by
// themselves: the transform is linear over CM31.
func (cm31) encodeChallenges(table []m31.QM31, fold, logLeaves int) ([]m31.Element, error) {
	columns := make([]m31.CM31, 2<<(fold+logLeaves))
	block := len(table) >> fold
	return rowsOf(columns, logLeaves, log2(block), 2, func(c int) {
		a, b := columns[2*c<<logLeaves:], columns[(2*c+1)<<logLeaves:]
		for i, v := range table[c*block : (c+1)*block] {
			a[i], b[i] = v.A, v.B
		}
	})
}

func log2(n int) int {
	l := 0
	for n>>l > 1 {
		l++
	}
	return l
}

// longColumn is log2 of the length from which on a core does not have a column
// to itself.
const longColumn = 14

// rowsOf evaluates columns, of which the first 2^live coefficients are set by
// fill, `group` columns a call, and transposes them into rows. Both the bit
// reversal that the transform leaves behind and the transposition cost one pass
// over the data together.
func rowsOf(columns []m31.CM31, logLeaves, live, group int, fill func(c int)) ([]m31.Element, error) {
	size := group << logLeaves
	calls := len(columns) / size
	if logLeaves < longColumn {
		errs := make([]error, calls)
		parallel.For(calls, max(1, grain/size), func(lo, hi int) {
			for c := lo; c < hi; c++ {
				fill(c)
				for at := c * size; at < (c+1)*size && errs[c] == nil; at += size / group {
					errs[c] = ntt.CM31{}.ForwardReversed(columns[at:at+size/group], logLeaves, live)
				}
			}
		})
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
	} else {
		parallel.For(calls, max(1, grain>>live/group), func(lo, hi int) {
			for c := lo; c < hi; c++ {
				fill(c)
			}
		})
		if err := (ntt.CM31{}).ForwardReversed(columns, logLeaves, live); err != nil {
			return nil, err
		}
	}
	n := 1 << logLeaves
	width := len(columns) / n
	rows := make([]m31.CM31, len(columns))
	const tile = 16
	parallel.For((n+tile-1)/tile, max(1, grain/(tile*width)), func(lo, hi int) {
		for r0 := lo * tile; r0 < min(hi*tile, n); r0 += tile {
			r1 := min(r0+tile, n)
			var to [tile][]m31.CM31
			for r := r0; r < r1; r++ {
				at := ntt.Reverse(r, logLeaves) * width
				to[r-r0] = rows[at : at+width]
			}
			for c := range width {
				for j, v := range columns[c*n+r0 : c*n+r1] {
					to[j][c] = v
				}
			}
		}
	})
	return m31.PairWords(rows), nil
}

func (cm31) combine(tables [][]m31.CM31, coeffs []m31.QM31) []m31.QM31 {
	out := make([]m31.QM31, len(tables[0]))
	parallel.For(len(out), grain, func(lo, hi int) {
		for a, table := range tables {
			for i := lo; i < hi; i++ {
				out[i] = out[i].Add(coeffs[a].MulCM31(table[i]))
			}
		}
	})
	return out
}

// rowTree keeps the rows beside the digests.
type rowTree struct {
	*merkle.Tree
	rows []m31.Element
}

func (cm31) build(rows []m31.Element, width, arity int) (tree[m31.Element], error) {
	t, err := merkle.Build(rows, merkle.Shape{Rows: len(rows) / width, RowWords: width, Arity: arity}, merkle.RowMajor())
	return rowTree{t, rows}, err
}

func (t rowTree) root() [8]m31.Element { return t.Root() }

func (t rowTree) open(indices []int) ([]m31.Element, [][8]m31.Element, error) {
	o, err := t.Open(t.rows, merkle.RowMajor(), indices)
	if err != nil {
		return nil, nil, err
	}
	siblings := make([][8]m31.Element, len(o.Siblings))
	for i, s := range o.Siblings {
		siblings[i] = s
	}
	return o.Rows, siblings, nil
}

// sum2 adds up, on all cores, two values that body returns for parts of [0, n).
func sum2(n int, body func(lo, hi int) (a, b m31.QM31)) (a, b m31.QM31) {
	var mu sync.Mutex
	parallel.For(n, grain, func(lo, hi int) {
		x, y := body(lo, hi)
		mu.Lock()
		defer mu.Unlock()
		a, b = a.Add(x), b.Add(y)
	})
	return a, b
}

func (cm31) roundSymbols(f []m31.CM31, w []m31.QM31) (atZero, lead m31.QM31) {
	h := len(f) / 2
	return sum2(h, func(lo, hi int) (a, b m31.QM31) {
		for i := lo; i < hi; i++ {
			a = a.Add(w[i].MulCM31(f[i]))
			b = b.Add(w[h+i].Sub(w[i]).MulCM31(f[h+i].Sub(f[i])))
		}
		return a, b
	})
}

func (cm31) roundChallenges(f, w []m31.QM31) (atZero, lead m31.QM31) {
	h := len(f) / 2
	return sum2(h, func(lo, hi int) (m31.QM31, m31.QM31) {
		var a, b m31.ProductSum
		for i := lo; i < hi; i++ {
			a.Add(w[i], f[i])
			b.Add(w[h+i].Sub(w[i]), f[h+i].Sub(f[i]))
		}
		return a.Value(), b.Value()
	})
}

func (cm31) foldSymbols(f []m31.CM31, r m31.QM31) []m31.QM31 {
	h := len(f) / 2
	out := make([]m31.QM31, h)
	parallel.For(h, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = r.MulCM31(f[h+i].Sub(f[i])).Add(m31.LiftPair(f[i]))
		}
	})
	return out
}

func (cm31) foldChallenges(f []m31.QM31, r m31.QM31) []m31.QM31 {
	h := len(f) / 2
	parallel.For(h, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f[i] = f[i].Add(r.Mul(f[h+i].Sub(f[i])))
		}
	})
	return f[:h]
}

// eqTables are the halves of eq(point, b): eq is high[b>>l]*low[b mod 2^l],
// where 2^l is low's length.
func eqTables(point []m31.QM31) (high, low []m31.QM31) {
	half := len(point) / 2
	return mle.EqTable(point[:half]), mle.EqTable(point[half:])
}

func (cm31) evaluateSymbols(f []m31.CM31, point []m31.QM31) m31.QM31 {
	return evaluate(point, func(at int, low []m31.QM31) (v m31.QM31) {
		for i, e := range low {
			v = v.Add(e.MulCM31(f[at+i]))
		}
		return v
	})
}

func (cm31) evaluateChallenges(f, point []m31.QM31) m31.QM31 {
	return evaluate(point, func(at int, low []m31.QM31) m31.QM31 {
		return m31.DotQM31(f[at:at+len(low)], low)
	})
}

// evaluate adds up high[h] times the product of low with the table's part at
// h*len(low).
func evaluate(point []m31.QM31, part func(at int, low []m31.QM31) m31.QM31) (v m31.QM31) {
	high, low := eqTables(point)
	var mu sync.Mutex
	parallel.For(len(high), max(1, grain/len(low)), func(from, to int) {
		var s m31.QM31
		for h := from; h < to; h++ {
			s = s.Add(high[h].Mul(part(h*len(low), low)))
		}
		mu.Lock()
		defer mu.Unlock()
		v = v.Add(s)
	})
	return v
}

func (cm31) addEq(w, point []m31.QM31, coeff m31.QM31) {
	high, low := eqTables(point)
	n := len(low)
	parallel.For(len(high), max(1, grain/n), func(from, to int) {
		for h := from; h < to; h++ {
			m31.MulAddQM31(w[h*n:(h+1)*n], low, high[h].Mul(coeff))
		}
	})
}

// addPoints sees the sum as a transform of a vector that has coefficient
// coeffs[j] at indices[j], and does it as one where that is less work.
func (cm31) addPoints(w []m31.QM31, logLeaves int, indices []int, coeffs []m31.QM31) error {
	if 2*len(indices)*len(w) < logLeaves<<logLeaves {
		omega := ntt.CM31{}.Root(logLeaves)
		parallel.For(len(w), max(1, grain/16), func(lo, hi int) {
			for j, index := range indices {
				x := omega.Exp(uint64(index))
				c := coeffs[j].MulCM31(x.Exp(uint64(lo)))
				for b := lo; b < hi; b++ {
					w[b] = w[b].Add(c)
					c = c.MulCM31(x)
				}
			}
		})
		return nil
	}
	n := 1 << logLeaves
	columns := make([]m31.CM31, 2*n)
	for j, index := range indices {
		columns[index] = columns[index].Add(coeffs[j].A)
		columns[n+index] = columns[n+index].Add(coeffs[j].B)
	}
	if err := (ntt.CM31{}).ForwardReversed(columns, logLeaves, logLeaves); err != nil {
		return err
	}
	parallel.For(len(w), grain, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			r := ntt.Reverse(b, logLeaves)
			w[b] = w[b].Add(m31.QM31{A: columns[r], B: columns[n+r]})
		}
	})
	return nil
}
