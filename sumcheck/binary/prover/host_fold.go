package prover

import "github.com/zkwarp/zkwarp/field/gf2"

// combine writes the sums of weights times parts of values, as many as there are
// weights and each of dst's length. Multiplications and the change of basis are
// matrices over GF(2), so a sum takes no products.
func (h *host) combine(dst []gf2.Polyval, values, weights []gf2.Element) error {
	change := gf2.PolyvalMatrix()
	maps := make([]*gf2.Matrix, len(weights))
	var words []uint64
	for u, w := range weights {
		maps[u] = change.Times(gf2.Multiplication(w))
		if hasVectors() {
			words = appendMatrix(words, &maps[u].Columns)
		}
	}
	return h.chunks(len(dst), func(lo, hi int) {
		if hasVectors() && len(dst) >= matrixBlock {
			scratch := make([]byte, matrixBlock*gf2.Size*len(weights))
			for ; lo < hi; lo += matrixBlock {
				applyMatrices(dst[lo:], values[lo:], len(dst), words, scratch)
			}
			return
		}
		parts := make([][]gf2.Element, len(weights))
		for u := range parts {
			parts[u] = values[u*len(dst)+lo : u*len(dst)+hi]
		}
		gf2.ApplySum(dst[lo:hi], parts, maps)
	})
}

// matrixBlock is the number of elements that a matrix is applied to at a time.
const matrixBlock = 64

// matrixWords is the size of a matrix in words of eight rows and eight columns.
const matrixWords = 256

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
