//go:build !amd64 || purego

package bearvec

// Variants are the names of the implementations, for tests.
var Variants = []string{"generic"}

// Use is for machines with vectors.
func Use(variant int) (before int, ok bool) { return 0, variant == 0 }

// sumLanes is the number of 64-bit lanes of a vector, 0 without vectors.
func sumLanes() int { return 0 }
