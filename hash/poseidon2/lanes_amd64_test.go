//go:build !purego

package poseidon2

import "testing"

func TestLanes(t *testing.T) {
	t.Run("generic", func(t *testing.T) {
		old := hasLanes
		hasLanes = false
		defer func() { hasLanes = old }()
		testLanes(t)
	})
	t.Run("vector", func(t *testing.T) {
		if !hasLanes {
			t.Skip("no AVX2")
		}
		testLanes(t)
	})
}
