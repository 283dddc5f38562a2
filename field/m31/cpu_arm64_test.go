//go:build !purego

package m31

var variants = []string{"generic", "NEON"}
