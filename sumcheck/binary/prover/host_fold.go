package prover

import "github.com/zkwarp/zkwarp/field/gf2"

// combine writes the sums of weights times parts of values, as many as there are
// weights and each of dst's length. Multiplications and the change of basis are
// matrices over GF(2), so a sum takes no products.
func (h *host) combine(dst []gf2.Polyval, values, weights []gf2.Element) error {
	change := gf2.PolyvalMatrix()
	maps := make([]*gf2.Matrix, len(weights))
	for u, w := range weights {
		maps[u] = change.Times(gf2.Multiplication(w))
	}
	return h.chunks(len(dst), func(lo, hi int) {
		parts := make([][]gf2.Element, len(weights))
		for u := range parts {
			parts[u] = values[u*len(dst)+lo : u*len(dst)+hi]
		}
		gf2.ApplySum(dst[lo:hi], parts, maps)
	})
}
