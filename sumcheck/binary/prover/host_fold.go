package prover

import "github.com/zkwarp/zkwarp/field/gf2"

// combine writes the sums of weights times parts of p_1, as many as there are
// weights and each of dst's length. Multiplications and the change of basis are
// matrices over GF(2), so a sum takes no products.
func (h *host) combine(dst []gf2.Polyval, weights []gf2.Element) error {
	change := gf2.PolyvalMatrix()
	maps := make([]*gf2.Matrix, len(weights))
	for u, w := range weights {
		maps[u] = change.Times(gf2.Multiplication(w))
	}
	return h.chunks(len(dst), func(lo, hi int) {
		parts := make([][]gf2.Element, len(weights))
		h.pieces(lo, hi, len(dst), len(parts), func(values []gf2.Element, stride, from, to int) {
			for u := range parts {
				parts[u] = values[u*stride : u*stride+to-from]
			}
			gf2.ApplySum(dst[from:to], parts, maps)
		})
	})
}

// pieces gives the values of p_1 at the indices [lo, hi) of each prefix, of which there
// are size: those of [from, to) at a time, a prefix stride behind the other. A table in
// memory is one piece; one that is read may end early, with an error that stopped has.
func (h *host) pieces(lo, hi, size, prefixes int, body func(values []gf2.Element, stride, from, to int)) {
	if h.tiles == nil {
		body(h.in.Ext[0].Host()[lo:], size, lo, hi)
		return
	}
	h.tiles.pieces(h, lo, hi, size, prefixes, body)
}
