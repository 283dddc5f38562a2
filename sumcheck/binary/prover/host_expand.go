package prover

import (
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
)

// bdt2 is a round of BDT-2 (the paper's section III.B and Algorithm 1). With K =
// 2^(i+1) prefixes k of the bound variables and the next one, each table is
// sum_k w_y(k) A_j(k, x), so S(y) is a combination of the K^d sums
//
//	B(k_1, .., k_d) = sum over x of A_1(k_1, x) * A_2(k_2, x) .. A_d(k_d, x)
//
// in which all factors but the first are bits: no sum takes a product.
func (h *host) bdt2(kind sumKind) error {
	prefixes := 1 << (h.round() + 1)
	terms := prefixes
	for range h.d - 1 {
		terms *= prefixes
	}
	var sums []gf2.Element
	var err error
	if kind == byTables {
		for j := range terms {
			s, err := h.expanded(prefixes, j, j+1)
			if err != nil {
				return err
			}
			sums = append(sums, s[0])
		}
	} else if sums, err = h.expanded(prefixes, 0, terms); err != nil {
		return err
	}
	var values []gf2.Element
	for _, y := range h.points() {
		w := eqValues(append(h.point[:len(h.point):len(h.point)], y), gf2.One())
		values = append(values, contract(sums, w))
	}
	h.send(values)
	return nil
}

// contract is the sum of all sums times the products of their indices' weights:
// one index at a time, the last first.
func contract(sums, weights []gf2.Element) gf2.Element {
	for len(sums) > 1 {
		next := make([]gf2.Element, len(sums)/len(weights))
		for i := range next {
			next[i] = dot(sums[i*len(weights):(i+1)*len(weights)], weights)
		}
		sums = next
	}
	return sums[0]
}

// expanded is the sums B of the terms [first, last). A term's number is k_d ..
// k_2 k_1, the last prefix on top, so that terms with the same bits are
// neighbours.
func (h *host) expanded(prefixes, first, last int) ([]gf2.Element, error) {
	if h.in.Kind == binary.EqBits {
		eq := newEqTable(h.in.Z, gf2.One())
		sums, err := expandedOver(h, prefixes, first, last, func(scratch []gf2.Polyval, from int) []gf2.Polyval {
			eq.block(scratch, from)
			return scratch
		})
		return elements(sums), err
	}
	values := h.in.Ext[0].Host()
	return expandedOver(h, prefixes, first, last, func(scratch []gf2.Element, from int) []gf2.Element {
		return values[from : from+len(scratch)]
	})
}

// expandedOver is expanded, given a function for the entries of p_1 from an index on:
// where they are, or written to scratch. Sums take no products, so any basis will do.
func expandedOver[T gf2.Words](h *host, prefixes, first, last int, read func(scratch []T, from int) []T) ([]T, error) {
	size := 1 << (h.left() - 1)
	cols := h.columns()
	return sums(h, size, last-first, func(lo, hi int, sum []T) {
		var mask [hostChunk / 32]uint32
		var scratch [hostChunk]T
		for ; lo < hi; lo += hostChunk {
			n := min(hostChunk, hi-lo)
			words := mask[:(n+31)/32]
			for j := first; j < last; j++ {
				if j == first || j%prefixes == 0 {
					for w := range words {
						m := ^uint32(0)
						rest := j / prefixes
						for _, c := range cols {
							m &= c.word(rest%prefixes*size+lo+32*w, size)
							rest /= prefixes
						}
						words[w] = m
					}
				}
				a := read(scratch[:n], j%prefixes*size+lo)
				addMasked(&sum[j-first], a, words)
			}
		}
	})
}
