package prover

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/mle"
)

func (cm31) blockSums(f []m31.CM31, fold int, point []m31.QM31) []m31.QM31 {
	even, odd := blockHalves(m31.PairWords(f), fold, point)
	for u := range even {
		even[u] = even[u].Add(odd[u].MulI())
	}
	return even
}

// blockHalves are, for each of the 2^fold blocks of a table, the sums of its
// even and of its odd words, weighted with eq(point, .).
//
// A block is taken as a matrix: eq of the first coordinates combines its rows
// into one, word by word, and eq of the last ones adds that up.
func blockHalves(words []m31.Element, fold int, point []m31.QM31) (even, odd []m31.QM31) {
	high, low := mle.EqTable(point[:len(point)/2]), mle.EqTable(point[len(point)/2:])
	width, blocks := 2*len(low), 1<<fold
	// Blocks are cut into parts where there are few.
	parts := 1
	for parts*blocks < 32 && 2*parts <= len(high) {
		parts *= 2
	}
	rows := len(high) / parts
	out := make([][2]m31.QM31, blocks*parts)
	parallel.For(len(out), max(1, grain/(rows*width)), func(lo, hi int) {
		acc := make([]m31.QM31, width)
		for k := lo; k < hi; k++ {
			clear(acc)
			w := high[k%parts*rows:][:rows]
			for h, e := range w {
				m31.MulAddBase(acc, words[(k*rows+h)*width:(k*rows+h+1)*width], e)
			}
			var even, odd m31.ProductSum
			for l, e := range low {
				even.Add(e, acc[2*l])
				odd.Add(e, acc[2*l+1])
			}
			out[k] = [2]m31.QM31{even.Value(), odd.Value()}
		}
	})
	even, odd = make([]m31.QM31, blocks), make([]m31.QM31, blocks)
	for k, v := range out {
		even[k/parts], odd[k/parts] = even[k/parts].Add(v[0]), odd[k/parts].Add(v[1])
	}
	return even, odd
}

// foldBlocks works on ranges of columns whose sums stay in the cache.
func (cm31) foldBlocks(f []m31.CM31, weights []m31.QM31) []m31.QM31 {
	const columns = 128
	n := len(f) / len(weights)
	out := make([]m31.QM31, n)
	parallel.For(n, max(1, grain/len(weights)), func(lo, hi int) {
		var acc [2 * columns]m31.QM31
		for ; lo < hi; lo += columns {
			end := min(lo+columns, hi)
			t := acc[:2*(end-lo)]
			clear(t)
			for u, e := range weights {
				m31.MulAddBase(t, m31.PairWords(f[u*n+lo:u*n+end]), e)
			}
			for i := range out[lo:end] {
				out[lo+i] = t[2*i].Add(t[2*i+1].MulI())
			}
		}
	})
	return out
}
