//go:build !purego

package poseidon2

var variants = []string{"generic", "NEON"}
