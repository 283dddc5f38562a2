package prover

import "github.com/zkwarp/zkwarp/field/gf2"

// addVec sets dst[i] = a[i] + b[i].
func addVec[T gf2.Words](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := addBlocks(dst, a, b); i < len(dst); i++ {
		dst[i] = T(gf2.Element(a[i]).Add(gf2.Element(b[i])))
	}
}

// addTo sets dst[i] += a[i].
func addTo[T gf2.Words](dst, a []T) { addVec(dst, dst, a) }

// addUp is the sum of a.
func addUp[T gf2.Words](a []T) T {
	var s gf2.Element
	for _, v := range a {
		s = s.Add(gf2.Element(v))
	}
	return T(s)
}

// addMasked adds the elements of a whose bit is set in the words to sum.
func addMasked[T gf2.Words](sum *T, a []T, words []uint32) {
	s, done := maskedBlocks(a, words)
	s = s.Add(gf2.Element(*sum))
	for i := done; i < len(words); i++ {
		w := words[i]
		block := a[32*i : min(32*i+32, len(a))]
		for b, e := range block {
			m, v := -uint64(w>>b&1), gf2.Element(e)
			s.Lo ^= v.Lo & m
			s.Hi ^= v.Hi & m
		}
	}
	*sum = T(s)
}

// dot is the sum of a[i] * b[i], for short lists.
func dot(a, b []gf2.Element) (s gf2.Element) {
	for i, v := range a {
		s = s.Add(v.Mul(b[i]))
	}
	return s
}
