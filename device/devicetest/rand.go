package devicetest

import "math/rand/v2"

// Gen makes reproducible random test data without zeros: zeros hide bugs
// (0 times anything, untouched memory, a branch on x != 0).
type Gen struct{ r *rand.Rand }

// Rand returns a generator whose output depends on seed only.
func Rand(seed uint64) *Gen {
	return &Gen{rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15))}
}

// U32 is uniform on [1, 2^32).
func (g *Gen) U32() uint32 { return 1 + g.r.Uint32N(1<<32-1) }

// U64 is uniform on [1, 2^64).
func (g *Gen) U64() uint64 { return 1 + g.r.Uint64N(1<<64-1) }

// Below is uniform on [1, n), for n at least 2.
func (g *Gen) Below(n uint32) uint32 { return 1 + g.r.Uint32N(n-1) }

// Intn is uniform on [0, n); sizes and indices may be zero.
func (g *Gen) Intn(n int) int { return g.r.IntN(n) }

// Words is n values of U32.
func (g *Gen) Words(n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = g.U32()
	}
	return out
}

// Fill sets every element of s, a slice of any 32-bit words, to Below(m).
func Fill[T ~uint32](g *Gen, s []T, m uint32) {
	for i := range s {
		s[i] = T(g.Below(m))
	}
}
