//go:build !purego

package gf2

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

// Instruction sets that slice operations are written for.
const (
	useNone = iota
	useCLMUL
	useAVX2
	useAVX512
)

// vectors is the one in use; tests try the others.
var vectors = detect()

// supported says whether this machine has the instructions. With 512 bits come those
// for linear maps; Ice Lake and Zen 4 were the first with all of them.
func supported(set int) bool {
	switch set {
	case useAVX512:
		return cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512VBMI, cpuid.VPCLMULQDQ, cpuid.GFNI)
	case useAVX2:
		return cpuid.CPU.Supports(cpuid.AVX2, cpuid.VPCLMULQDQ)
	case useCLMUL:
		return cpuid.CPU.Supports(cpuid.AVX, cpuid.CLMUL)
	}
	return true
}

func detect() int {
	for _, set := range []int{useAVX512, useAVX2, useCLMUL} {
		if supported(set) {
			return set
		}
	}
	return useNone
}

// hasCarryless says whether there are instructions for carry-less products.
func hasCarryless() bool { return vectors != useNone }

// carryless is a product by them, if there are.
func carryless(p, q Polyval) (r Polyval, ok bool) {
	if !hasCarryless() {
		return r, false
	}
	mulCLMUL(&r, &p, &q, 1)
	return r, true
}

// planes are 64 elements: 64 bytes each of their bytes 0, 1, ..
type planes [16][64]byte

// applyBlocks is ApplySum for whole groups of 64 elements; it says how many it did. The
// first map's blocks may be at hand.
func applyBlocks[D, S Words](dst []D, srcs [][]S, ms []*Matrix, first *blocks) int {
	n := len(dst) &^ 63
	if vectors != useAVX512 || n == 0 || len(srcs) == 0 {
		return 0
	}
	bs := make([]*blocks, len(srcs))
	for u, src := range srcs {
		_ = src[:len(dst)] // panics if it is too short, before anything is written
		if bs[u] = first; u > 0 || first == nil {
			bs[u] = newBlocks(ms[u])
		}
	}
	var in, out planes
	for i := 0; i < n; i += 64 {
		clear(out[:])
		for u, src := range srcs {
			toPlanesAVX512(&in, (*Element)(unsafe.Pointer(&src[i])), 1)
			mapPlanesAVX512(&out, bs[u], &in, 16)
		}
		fromPlanesAVX512((*Element)(unsafe.Pointer(&dst[i])), &out, 1)
	}
	return n
}
