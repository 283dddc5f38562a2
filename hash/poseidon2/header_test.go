package poseidon2

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
)

// unmix undoes the external layer of either width.
func TestUnmix(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	words := func(n int) []uint32 {
		v := make([]uint32, n)
		for i := range v {
			v[i] = uint32(1 + r.Uint64N(m31.P-1))
		}
		return v
	}
	back := func(s []uint64) []uint32 {
		v := make([]uint32, len(s))
		for i := range v {
			v[i] = uint32(m31.New(s[i]))
		}
		return v
	}
	for range 20 {
		v := words(16)
		var s [16]uint64
		for i, w := range unmix(v) {
			s[i] = uint64(w)
		}
		external16(&s)
		if got := back(s[:]); !slices.Equal(got, v) {
			t.Fatalf("width 16: %v comes back as %v", v, got)
		}
		v = words(24)
		var l [24]uint64
		for i, w := range unmix(v) {
			l[i] = uint64(w)
		}
		external24(&l)
		if got := back(l[:]); !slices.Equal(got, v) {
			t.Fatalf("width 24: %v comes back as %v", v, got)
		}
	}
}
