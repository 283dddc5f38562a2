package plan

import (
	"sync/atomic"

	"github.com/zkwarp/zkwarp/field/m31"
	cores "github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Evaluations of what the verifier knows in the clear: inputs, outputs and the
// columns of tables. All are lists of integers, which are never copied into
// field elements as a whole, and all are weighed row by row: eq of a point's
// last coordinates weighs the entries of a row, eq of the others the rows.

// rowVars is the number of coordinates for the entries of a row, at most.
const rowVars = 11

// parallel calls f for 0 to n - 1 on all processors; what a call costs may vary.
func parallel(n int, f func(i int)) {
	var next atomic.Int64
	cores.For(n, 1, func(lo, hi int) {
		for range hi - lo { // whoever is free takes the next
			f(int(next.Add(1)) - 1)
		}
	})
}

// sums adds f up over [0, n), which it cuts into ranges of size entries.
func sums(n, size int, f func(lo, hi int) m31.QM31) (sum m31.QM31) {
	parts := make([]m31.QM31, (n+size-1)/size)
	parallel(len(parts), func(i int) { parts[i] = f(i*size, min(n, (i+1)*size)) })
	for _, p := range parts {
		sum = sum.Add(p)
	}
	return sum
}

// weigh is the sum of v[i] eq[i].
func weigh(v []int32, eq []m31.QM31) (sum m31.QM31) {
	var block [1024]m31.Element
	for len(v) > 0 {
		n := min(len(v), len(block))
		m31.IntsVec(block[:n], v)
		sum = sum.Add(m31.DotBase(block[:n], eq[:n]))
		v, eq = v[n:], eq[n:]
	}
	return sum
}

// Extension is the extension at point of a tensor that has the values v as its
// real elements, in row-major order, and is zero in padding. Cost: a product of
// a base by an extension element for each of them, on all processors.
func Extension(shape []int, v []int32, point []m31.QM31) m31.QM31 {
	outer, n := rowsOf(shape)
	vars := graph.Log2(n)
	low := min(vars, rowVars)
	row := mle.EqTable(point[len(point)-low:])
	rows := splitEqTable(point[:len(point)-low])
	pieces := (n + 1<<low - 1) >> low // of a row of the tensor
	return sums(graph.Elements(outer)*pieces, max(1, 1<<13>>low), func(lo, hi int) (sum m31.QM31) {
		for i := lo; i < hi; i++ {
			r, p := i/pieces, i%pieces
			own := v[r*n+p<<low : r*n+min(n, (p+1)<<low)]
			at := graph.PaddedIndex(outer, r)<<(vars-low) | p
			sum = sum.Add(weigh(own, row).Mul(rows.at(at)))
		}
		return sum
	})
}

// rowsOf is the axes before a tensor's rows, and the length of a row: of the
// last axis and of those before it that it merges with, being a power of two.
func rowsOf(shape []int) (outer []int, n int) {
	n = 1
	for len(shape) > 0 && n == graph.Pow2(n) {
		n *= shape[len(shape)-1]
		shape = shape[:len(shape)-1]
	}
	return shape, n
}

// rowTables are eq of the last coordinates of one point, which tables of all
// sizes share.
type rowTables [rowVars + 1][]m31.QM31

// need makes the table for columns of the given number of variables.
func (t *rowTables) need(vars int, point []m31.QM31) {
	if low := min(vars, rowVars); t[low] == nil {
		t[low] = mle.EqTable(point[len(point)-low:])
	}
}

// column is the extension at point of a column that has a Table, read row by row.
func (t *rowTables) column(c *Column, point []m31.QM31) (sum m31.QM31) {
	if c.Table.Clamp {
		return clamp(c.Table, point)
	}
	low := min(len(point), rowVars)
	row := make([]int32, 1<<low)
	for i, e := range mle.EqTable(point[:len(point)-low]) {
		c.Read(row, i<<low)
		sum = sum.Add(weigh(row, t[low]).Mul(e))
	}
	return sum
}

// clamp is the extension of a clamp table at point: with q = j - 2^(n-1) the sum of YLo
// over the rows below a = YLo + 2^(n-1), of q over those from a to b = YHi + 2^(n-1), and of
// YHi over the others, each weighed with eq.
func clamp(t *graph.Table, point []m31.QM31) m31.QM31 {
	n := len(point)
	first := -(int64(1) << (n - 1))
	end := func(y int64) int { return int(min(max(y-first, 0), 1<<n)) }
	weightA, indexA := below(end(t.YLo), point)
	weightB, indexB := below(end(t.YHi), point)
	inner := indexB.Sub(indexA).Add(weightB.Sub(weightA).MulBase(m31.FromInt(first)))
	return weightA.MulBase(m31.FromInt(t.YLo)).Add(inner).Add(one.Sub(weightB).MulBase(m31.FromInt(t.YHi)))
}

// below is the sum of eq(point, j) over all j < end, and that of j eq(point, j). end is at
// most 2^len(point).
func below(end int, point []m31.QM31) (weight, sum m31.QM31) {
	n := len(point)
	if end == 1<<n {
		return one, index(0, n, point)
	}
	prefix := one // eq of the bits of end that have been gone through
	for k, r := range point {
		rest := n - 1 - k
		if end>>rest&1 == 0 {
			prefix = prefix.Mul(one.Sub(r))
			continue
		}
		// Those that have a 0 here where end has a 1, and are free from here on.
		w := prefix.Mul(one.Sub(r))
		start := end >> (rest + 1) << (rest + 1)
		weight = weight.Add(w)
		sum = sum.Add(w.Mul(index(0, rest, point).Add(m31.Lift(m31.New(uint64(start))))))
		prefix = prefix.Mul(r)
	}
	return weight, sum
}
