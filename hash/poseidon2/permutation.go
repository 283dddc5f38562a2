package poseidon2

import (
	"unsafe"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
)

// Permutation is the two permutations over one field, words being as the field keeps
// them in memory.
type Permutation[W any] struct {
	Name      string // of the field
	Permute16 func(*[16]W)
	Permute24 func(*[24]W)

	// Lanes is the number of states that Many16 and Many24 permute side by side:
	// word k of state j is s[k*Lanes+j].
	Lanes          int
	Many16, Many24 func(s []W)

	// Header has poseidon2_permute16(u32 *) and poseidon2_permute24(u32 *), one
	// thread a state.
	Header *kernel.Source
}

// M31Permutation is the permutations over Mersenne-31.
func M31Permutation() *Permutation[m31.Element] {
	return &Permutation[m31.Element]{
		Name:      "m31",
		Permute16: Permute16,
		Permute24: Permute24,
		Lanes:     Lanes,
		Many16: func(s []m31.Element) {
			PermuteLanes16((*[16][Lanes]m31.Element)(unsafe.Pointer((*[16 * Lanes]m31.Element)(s))))
		},
		Many24: func(s []m31.Element) {
			PermuteLanes24((*[24][Lanes]m31.Element)(unsafe.Pointer((*[24 * Lanes]m31.Element)(s))))
		},
		Header: Header,
	}
}
