//go:build !purego

package m31

var variants = []string{"generic", "AVX2", "AVX-512"}
