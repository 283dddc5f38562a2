//go:build !purego

package poseidon2

import "testing"

func TestLanes(t *testing.T) {
	best := vectors
	t.Cleanup(func() { vectors = best })
	for v, name := range []string{"generic", "AVX2", "AVX-512"} {
		t.Run(name, func(t *testing.T) {
			if !supported(v) {
				t.Skip("not on this machine")
			}
			vectors = v
			testLanes(t)
		})
	}
}

func BenchmarkLanes(b *testing.B) {
	best := vectors
	b.Cleanup(func() { vectors = best })
	for v, name := range []string{"generic", "AVX2", "AVX-512"} {
		if supported(v) {
			vectors = v
			b.Run(name, benchmarkLanes)
		}
	}
}
