//go:build !purego

package bearvec

import "github.com/klauspost/cpuid/v2"

// Instruction sets that slice operations are written for.
const (
	useNone = iota
	useAVX2
	useAVX512
)

// vectors is the one in use; tests try the others.
var vectors = detect()

// Variants are the names of the implementations, for tests.
var Variants = []string{"generic", "AVX2", "AVX-512"}

func supported(set int) bool {
	switch set {
	case useAVX512:
		return cpuid.CPU.Supports(cpuid.AVX512F)
	case useAVX2:
		return cpuid.CPU.Supports(cpuid.AVX2)
	}
	return true
}

func detect() int {
	for _, set := range []int{useAVX512, useAVX2} {
		if supported(set) {
			return set
		}
	}
	return useNone
}

// Use switches to one of the implementations, for tests and comparisons, and says
// which one was in use before; it is false if the machine lacks the instructions.
func Use(variant int) (before int, ok bool) {
	if !supported(variant) {
		return vectors, false
	}
	before, vectors = vectors, variant
	return before, true
}

// sumLanes is the number of 64-bit lanes of a vector, 0 without vectors.
func sumLanes() int {
	switch vectors {
	case useAVX512:
		return 8
	case useAVX2:
		return 4
	}
	return 0
}
