package prover

import "github.com/zkwarp/zkwarp/field/gf2"

// basis of GF(2^128).
type basis int

const (
	towerBasis basis = iota
	workBasis        // that of the fused rounds, see toWork
)

// combine writes the sums of weights times parts of values, as many as there are
// weights and each of dst's length, in the basis asked for.
func (h *host) combine(dst, values, weights []gf2.Element, to basis) error {
	if hasVectors() && len(dst) >= matrixBlock {
		return h.combineMatrices(dst, values, weights, to)
	}
	return h.chunks(len(dst), func(lo, hi int) {
		var term [hostChunk]gf2.Element
		for ; lo < hi; lo += hostChunk {
			n := min(hostChunk, hi-lo)
			for l, r := range weights {
				from := l*len(dst) + lo
				if l == 0 {
					scaleSlice(dst[lo:lo+n], values[from:from+n], r)
					continue
				}
				scaleSlice(term[:n], values[from:from+n], r)
				addSlice(dst[lo:lo+n], term[:n])
			}
			if to == workBasis {
				toWork(dst[lo:lo+n], dst[lo:lo+n])
			}
		}
	})
}

// matrixBlock is the number of elements that a matrix is applied to at a time.
const matrixBlock = 64

// matrixWords is the size of a matrix in words of eight rows and eight columns.
const matrixWords = 256

// combineMatrices is combine by matrices over GF(2), one a weight: multiplication by
// it, and the change of basis after that.
func (h *host) combineMatrices(dst, values, weights []gf2.Element, to basis) error {
	matrices := make([]uint64, 0, matrixWords*len(weights))
	for _, w := range weights {
		var columns [128]gf2.Element
		for i := range columns {
			columns[i] = w.Mul(gf2.Basis(i))
		}
		if to == workBasis {
			toWork(columns[:], columns[:])
		}
		matrices = appendMatrix(matrices, &columns)
	}
	return h.chunks(len(dst), func(lo, hi int) {
		scratch := make([]byte, matrixBlock*gf2.Size*len(weights))
		for ; lo < hi; lo += matrixBlock {
			applyMatrices(dst[lo:], values[lo:], len(dst), matrices, scratch)
		}
	})
}

// appendMatrix appends the words of a matrix, given by its columns: the word of
// output byte i and input byte j is at 16j + i. Of a word, byte 7-r is row r, whose
// bit c is that of column c, as VGF2P8AFFINEQB has them.
func appendMatrix(to []uint64, columns *[128]gf2.Element) []uint64 {
	for j := range 16 {
		for i := range 16 {
			var word uint64
			for c := range 8 {
				v := columns[8*j+c]
				b := v.Lo >> (8 * i)
				if i >= 8 {
					b = v.Hi >> (8 * (i - 8))
				}
				for r := range 8 {
					word |= b >> r & 1 << (8*(7-r) + c)
				}
			}
			to = append(to, word)
		}
	}
	return to
}
