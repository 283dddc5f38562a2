//go:build !purego

package poseidon2

import (
	"github.com/klauspost/cpuid/v2"

	"github.com/zkwarp/zkwarp/field/m31"
)

// Instruction sets that lanes are written for.
const (
	useNone = iota
	useAVX2
	useAVX512
)

// vectors is the one in use; tests try the others.
var vectors = detect()

// supported says whether this machine has the instructions. The 512-bit code
// multiplies 52-bit words, which came with Ice Lake and Zen 4.
func supported(set int) bool {
	switch set {
	case useAVX512:
		return cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512IFMA)
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

//go:noescape
func permuteLanes16AVX2(s *[16][8]m31.Element, rc *uint32)

//go:noescape
func permuteLanes24AVX2(s *[24][8]m31.Element, rc *uint32)

//go:noescape
func permuteLanes16AVX512(s *[16][8]m31.Element, rc *uint64)

//go:noescape
func permuteLanes24AVX512(s *[24][8]m31.Element, rc *uint64)

//go:noescape
func permute16AVX512(s *[16]m31.Element, rc *uint64)

// permute16 permutes one state and says true, or does nothing.
func permute16(s *[16]m31.Element) bool {
	if vectors != useAVX512 {
		return false
	}
	permute16AVX512(s, &lifted16[0])
	return true
}

// permuteLanes16 permutes and says true, or does nothing.
func permuteLanes16(s *[16][Lanes]m31.Element) bool {
	switch vectors {
	case useAVX512:
		permuteLanes16AVX512(s, &lifted16[0])
	case useAVX2:
		permuteLanes16AVX2(s, &lanes16[0])
	default:
		return false
	}
	return true
}

func permuteLanes24(s *[24][Lanes]m31.Element) bool {
	switch vectors {
	case useAVX512:
		permuteLanes24AVX512(s, &lifted24[0])
	case useAVX2:
		permuteLanes24AVX2(s, &lanes24[0])
	default:
		return false
	}
	return true
}

// The same round constants for 64-bit lanes.
var lifted16, lifted24 = lifted(16), lifted(24)

// lifted are the constants of flatten in 64 bits. Those that are added to the
// first word after a partial round carry LanesLift.
func lifted(width int) []uint64 {
	var out []uint64
	for _, c := range flatten(width) {
		out = append(out, uint64(c))
	}
	p, err := M31(width)
	if err != nil {
		panic(err)
	}
	first := p.Full / 2 * width
	for i := 1; i <= p.Partial; i++ {
		out[first+i] += LanesLift
	}
	return out
}
