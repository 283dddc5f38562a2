//go:build (amd64 || arm64) && !purego

package poseidon2

import "testing"

func TestLanes(t *testing.T) {
	best := vectors
	t.Cleanup(func() { vectors = best })
	for v, name := range variants {
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
	for v, name := range variants {
		if supported(v) {
			vectors = v
			b.Run(name, benchmarkLanes)
		}
	}
}
