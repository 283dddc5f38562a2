//go:build !amd64 || purego

package poseidon2

import "testing"

func TestLanes(t *testing.T) { testLanes(t) }
