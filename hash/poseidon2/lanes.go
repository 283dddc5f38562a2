package poseidon2

import "github.com/zkwarp/zkwarp/field/m31"

// The tag leaves out the assembly, which need not exist to be generated.
//go:generate go run -tags=purego ./internal/genlanes

// Lanes is the number of states that PermuteLanes16 and PermuteLanes24 take.
const Lanes = 8

// PermuteLanes16 applies Permute16 to eight states at once: s[k][j] is word k
// of state j. With AVX2 it takes about the time of one or two single
// permutations.
func PermuteLanes16(s *[16][Lanes]m31.Element) {
	if hasLanes {
		permuteLanes16(s, &lanes16[0])
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
	if hasLanes {
		permuteLanes24(s, &lanes24[0])
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

// Round constants in the order of their use.
var (
	lanes16 = flatten(16)
	lanes24 = flatten(24)
)

func flatten(width int) []uint32 {
	p, err := M31(width)
	if err != nil {
		panic(err) // both widths in use are known
	}
	c := p.Constants()
	var out []uint32
	for _, r := range c.First {
		out = append(out, r...)
	}
	out = append(out, c.Partial...)
	for _, r := range c.Last {
		out = append(out, r...)
	}
	return out
}
