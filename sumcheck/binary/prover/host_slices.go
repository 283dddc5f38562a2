package prover

import "github.com/zkwarp/zkwarp/field/gf2"

func addSlice(dst, a []gf2.Element) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = dst[i].Add(a[i])
	}
}

// addUp is the sum of a.
func addUp(a []gf2.Element) (s gf2.Element) {
	for _, v := range a {
		s = s.Add(v)
	}
	return s
}

// maskedSum is the sum of the elements of a whose bit is set in the words.
func maskedSum(a []gf2.Element, words []uint32) (s gf2.Element) {
	s, done := maskedBlocks(a, words)
	for i := done; i < len(words); i++ {
		w := words[i]
		block := a[32*i : min(32*i+32, len(a))]
		for b, v := range block {
			m := -uint64(w >> b & 1)
			s.Lo ^= v.Lo & m
			s.Hi ^= v.Hi & m
		}
	}
	return s
}

func mulSlice(dst, a, b []gf2.Element) {
	for i := range dst {
		dst[i] = a[i].Mul(b[i])
	}
}
func scaleSlice(dst, a []gf2.Element, c gf2.Element) {
	for i := range dst {
		dst[i] = a[i].Mul(c)
	}
}
func foldSlice(dst, lo, hi []gf2.Element, r gf2.Element) {
	for i := range dst {
		dst[i] = lo[i].Add(hi[i]).Mul(r).Add(lo[i])
	}
}
func dot(a, b []gf2.Element) (s gf2.Element) {
	for i := range a {
		s = s.Add(a[i].Mul(b[i]))
	}
	return s
}

// The fused rounds work in a basis of their own.
func toWork(dst, a []gf2.Element)                       { copy(dst, a) }
func fromWork(dst, a []gf2.Element)                     { copy(dst, a) }
func workOf(a gf2.Element) gf2.Element                  { return a }
func towerOf(a gf2.Element) gf2.Element                 { return a }
func mulWork(dst, a, b []gf2.Element)                   { mulSlice(dst, a, b) }
func scaleWork(dst, a []gf2.Element, c gf2.Element)     { scaleSlice(dst, a, c) }
func foldWork(dst, lo, hi []gf2.Element, r gf2.Element) { foldSlice(dst, lo, hi, r) }
func dotWork(a, b []gf2.Element) gf2.Element            { return dot(a, b) }
