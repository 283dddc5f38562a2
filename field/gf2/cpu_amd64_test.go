//go:build !purego

package gf2

import "testing"

var variants = []string{"generic", "PCLMULQDQ", "AVX2", "AVX-512"}

// eachVariant runs f with every implementation of the slice operations that this
// machine can run.
func eachVariant(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	best := vectors
	t.Cleanup(func() { vectors = best })
	for v, name := range variants {
		t.Run(name, func(t *testing.T) {
			if !supported(v) {
				t.Skip("not on this machine")
			}
			vectors = v
			f(t)
		})
	}
}

func eachVariantOf(b *testing.B, f func(b *testing.B)) {
	best := vectors
	b.Cleanup(func() { vectors = best })
	for v, name := range variants {
		if supported(v) {
			vectors = v
			b.Run(name, f)
		}
	}
}
