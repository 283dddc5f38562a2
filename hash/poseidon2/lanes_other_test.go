//go:build !(amd64 || arm64) || purego

package poseidon2

import "testing"

func TestLanes(t *testing.T) { testLanes(t) }

func BenchmarkLanes(b *testing.B) { benchmarkLanes(b) }
