//go:build !purego

package poseidon2

import (
	"github.com/klauspost/cpuid/v2"

	"github.com/zkwarp/zkwarp/field/m31"
)

var hasLanes = cpuid.CPU.Supports(cpuid.AVX2)

//go:noescape
func permuteLanes16(s *[16][8]m31.Element, rc *uint32)

//go:noescape
func permuteLanes24(s *[24][8]m31.Element, rc *uint32)
