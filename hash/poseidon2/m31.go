package poseidon2

import "github.com/zkwarp/zkwarp/field/m31"

// The M31 permutations work on 64-bit words that are reduced only as far as
// the next step needs. fold halves the excess of a word over 31 bits and keeps
// its residue:
//
//	linear layers take words below 2^34 and give words below 2^40,
//	fold takes them below 2^31 + 2^10, where the S-box starts,
//	the S-box gives words below 2^33.1.

func fold(x uint64) uint64 { return x&m31.P + x>>31 }

// sbox is x^5 for x below 2^31 + 2^10.
func sbox(x uint64) uint64 {
	x2 := fold(fold(x * x)) // x*x < 2^63, folded < 2^32.1, folded again <= 2^31 + 3
	x4 := fold(x2 * x2)     // < 2^32.1
	return fold(x4 * x)     // product < 2^63.2, folded < 2^33.1
}

// m4 multiplies by the 4x4 matrix circ(2, 3, 1, 1).
func m4(a, b, c, d uint64) (uint64, uint64, uint64, uint64) {
	ab, cd := a+b, c+d
	s := ab + cd
	sb, sd := s+b, s+d
	return sb + ab, sb + 2*c, sd + cd, sd + 2*a
}

var (
	rc16 = newRounds[[16]uint64](16)
	rc24 = newRounds[[24]uint64](24)
)

// rounds holds round constants, widened for the permutation.
type rounds[A [16]uint64 | [24]uint64] struct {
	first, last [4]A
	partial     []uint64
}

func newRounds[A [16]uint64 | [24]uint64](width int) *rounds[A] {
	p, err := M31(width)
	if err != nil {
		panic(err) // both widths in use are known
	}
	c := p.Constants()
	r := new(rounds[A])
	for i := range 4 {
		for j := range width {
			r.first[i][j] = uint64(c.First[i][j])
			r.last[i][j] = uint64(c.Last[i][j])
		}
	}
	for _, v := range c.Partial {
		r.partial = append(r.partial, uint64(v))
	}
	return r
}
