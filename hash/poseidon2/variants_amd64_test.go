//go:build !purego

package poseidon2

var variants = []string{"generic", "AVX2", "AVX-512"}
