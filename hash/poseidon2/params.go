// Package poseidon2 is the Poseidon2 permutation (Grassi, Khovratovich,
// Schofnegger, ePrint 2023/323) over Mersenne-31, BabyBear and KoalaBear in widths
// 16 and 24, with the round numbers, matrices and constants that Plonky3 uses.
//
// A permutation is an external linear layer, 4 full rounds, some partial
// rounds, and 4 full rounds. Its parameters are data (Params); the round
// constants are derived from them by the Grain LFSR and stand in no table.
package poseidon2

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
)

// Params names one permutation: a prime field below 2^31, a width, an S-box
// x -> x^Degree, and the numbers of rounds.
type Params struct {
	P             uint32
	Width         int
	Degree        int
	Full, Partial int // Full is even: one half before the partial rounds, one after
	// Diagonal gives the internal matrix J + diag(Diagonal), J being all ones. The
	// first entry is -2.
	Diagonal []Factor
}

// Factor is the number Times * 2^Shift of a prime field; Shift may be negative.
type Factor struct{ Times, Shift int }

// times, root and minus are 2^shift, 2^-shift and -2^-shift.
func times(shift int) Factor { return Factor{1, shift} }
func root(shift int) Factor  { return Factor{1, -shift} }
func minus(shift int) Factor { return Factor{-1, -shift} }

// Mod is the number's residue modulo an odd p.
func (f Factor) Mod(p uint32) uint32 {
	two, n := uint64(2), f.Shift
	if n < 0 {
		two, n = (uint64(p)+1)/2, -n
	}
	v := uint64(f.Times+int(p)) % uint64(p)
	for range n {
		v = v * two % uint64(p)
	}
	return uint32(v)
}

// Internal is the diagonal as numbers below P.
func (p Params) Internal() []uint32 {
	out := make([]uint32, len(p.Diagonal))
	for i, f := range p.Diagonal {
		out[i] = f.Mod(p.P)
	}
	return out
}

// Pairs is the words but the first, by their entries on the diagonal: pairs of words
// that stand at V and -V, and all others.
func (p Params) Pairs() (pairs [][2]int, singles []int) {
	paired := make([]bool, len(p.Diagonal))
	for i, f := range p.Diagonal {
		for j, g := range p.Diagonal {
			if i > 0 && f.Times > 0 && g == (Factor{-f.Times, f.Shift}) && j > 0 {
				pairs = append(pairs, [2]int{i, j})
				paired[i], paired[j] = true, true
			}
		}
	}
	for i := 1; i < len(paired); i++ {
		if !paired[i] {
			singles = append(singles, i)
		}
	}
	return pairs, singles
}

// Inverse is 1/P modulo 2^32.
func (p Params) Inverse() uint32 {
	v := uint32(1)
	for range 5 { // each step doubles the bits that are right
		v *= 2 - p.P*v
	}
	return v
}

// M31 is the parameter set over Mersenne-31 of the given width, 16 or 24.
func M31(width int) (Params, error) {
	p := Params{P: m31.P, Width: width, Degree: 5, Full: 8, Diagonal: []Factor{{-2, 0}}}
	var shifts []int
	switch width {
	case 16:
		p.Partial = 14
		shifts = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 14, 15, 16}
	case 24:
		p.Partial = 22
		for s := range 23 {
			shifts = append(shifts, s)
		}
	default:
		return Params{}, fmt.Errorf("poseidon2: no Mersenne-31 permutation of width %d", width)
	}
	for _, s := range shifts {
		p.Diagonal = append(p.Diagonal, times(s))
	}
	return p, nil
}

// bearDiagonal is what the diagonals over BabyBear and KoalaBear begin with.
var bearDiagonal = []Factor{{-2, 0}, {1, 0}, {2, 0}, root(1), {3, 0}, {4, 0}, minus(1), {-3, 0}, {-4, 0}, root(8)}

func bearParams(p uint32, width, degree, partial int, rest ...Factor) Params {
	return Params{P: p, Width: width, Degree: degree, Full: 8, Partial: partial,
		Diagonal: append(append([]Factor(nil), bearDiagonal...), rest...)}
}

// BabyBearParams is the parameter set over BabyBear of the given width, 16 or 24.
func BabyBearParams(width int) (Params, error) {
	switch width {
	case 16:
		return bearParams(babybear.P, 16, 7, 13, root(2), root(3), root(27), minus(8), minus(4), minus(27)), nil
	case 24:
		return bearParams(babybear.P, 24, 7, 21, root(2), root(3), root(4), root(7), root(9), root(27),
			minus(8), minus(2), minus(3), minus(4), minus(5), minus(6), minus(7), minus(27)), nil
	}
	return Params{}, fmt.Errorf("poseidon2: no BabyBear permutation of width %d", width)
}

// KoalaBearParams is the parameter set over KoalaBear of the given width, 16 or
// 24.
func KoalaBearParams(width int) (Params, error) {
	switch width {
	case 16:
		return bearParams(koalabear.P, 16, 3, 20, root(3), root(24), minus(8), minus(3), minus(4), minus(24)), nil
	case 24:
		return bearParams(koalabear.P, 24, 3, 23, root(2), root(3), root(4), root(5), root(6), root(24),
			minus(8), minus(3), minus(4), minus(5), minus(6), minus(7), minus(9), minus(24)), nil
	}
	return Params{}, fmt.Errorf("poseidon2: no KoalaBear permutation of width %d", width)
}

// Constants are the round constants of one permutation.
type Constants struct {
	First   [][]uint32 // Full/2 rounds of Width words
	Partial []uint32
	Last    [][]uint32 // Full/2 rounds of Width words
}

// Constants derives the round constants (Poseidon paper, appendix E): elements
// are 31 bits, most significant first, drawn again if P or more; the order is
// that of the rounds.
func (p Params) Constants() Constants {
	g := newGrain(p)
	element := func() uint32 {
		for {
			if v := g.word(31); v < p.P {
				return v
			}
		}
	}
	list := func(n int) []uint32 {
		out := make([]uint32, n)
		for i := range out {
			out[i] = element()
		}
		return out
	}
	rounds := func() [][]uint32 {
		out := make([][]uint32, p.Full/2)
		for i := range out {
			out[i] = list(p.Width)
		}
		return out
	}
	var c Constants
	c.First = rounds()
	c.Partial = list(p.Partial)
	c.Last = rounds()
	return c
}
