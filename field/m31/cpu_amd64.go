//go:build !purego

package m31

import "github.com/klauspost/cpuid/v2"

// Instruction sets that slice operations are written for.
const (
	useNone = iota
	useAVX2
	useAVX512
)

// vectors is the one in use; tests try the others.
var vectors = detect()

// supported says whether this machine has the instructions. The 512-bit code
// shifts pairs of words, which came with Ice Lake and Zen 4.
func supported(set int) bool {
	switch set {
	case useAVX512:
		return cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512VBMI2)
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

// sumLanes is the number of 64-bit lanes of a lazy sum.
func sumLanes() int {
	if vectors == useAVX512 {
		return 8
	}
	return 4
}

//go:noescape
func transpose8AVX2(dst *Element, src *Element, stride int)

// transpose8 transposes and says true, or does nothing.
func transpose8(dst, src *Element, stride int) bool {
	if vectors == useNone {
		return false
	}
	transpose8AVX2(dst, src, 4*stride)
	return true
}
