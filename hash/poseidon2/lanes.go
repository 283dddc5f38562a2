package poseidon2

import "github.com/zkwarp/zkwarp/field/m31"

// The tag leaves out the assembly, which need not exist to be generated.
//go:generate go run -tags=purego ./internal/genlanes

// Lanes is the number of states that PermuteLanes16 and PermuteLanes24 take.
const Lanes = 8

// LanesLift is a multiple of P above what a partial round takes from the first
// word. It is here for the generator of the assembly.
const LanesLift = 4 * m31.P

// PermuteLanes16 applies Permute16 to eight states at once: s[k][j] is word k
// of state j. With vector instructions it takes about the time of one or two
// single permutations.
func PermuteLanes16(s *[16][Lanes]m31.Element) {
	if permuteLanes16(s) {
		return
	}
	for j := range Lanes {
		var one [16]m31.Element
		for k := range s {
			one[k] = s[k][j]
		}
		Permute16(&one)
		for k := range s {
			s[k][j] = one[k]
		}
	}
}

// PermuteLanes24 applies Permute24 to eight states at once: s[k][j] is word k
// of state j.
func PermuteLanes24(s *[24][Lanes]m31.Element) {
	if permuteLanes24(s) {
		return
	}
	for j := range Lanes {
		var one [24]m31.Element
		for k := range s {
			one[k] = s[k][j]
		}
		Permute24(&one)
		for k := range s {
			s[k][j] = one[k]
		}
	}
}
