// Package poseidon2 is the Poseidon2 permutation (Grassi, Khovratovich,
// Schofnegger, ePrint 2023/323) over the Mersenne-31 field in widths 16 and
// 24, with the round numbers, matrices and constants that Plonky3 uses.
//
// A permutation is an external linear layer, 4 full rounds, some partial
// rounds, and 4 full rounds. Its parameters are data (Params); the round
// constants are derived from them by the Grain LFSR and stand in no table.
package poseidon2

import "fmt"

// Params names one permutation: a prime field below 2^31, a width, an S-box
// x -> x^Degree, and the numbers of rounds.
type Params struct {
	P             uint32
	Width         int
	Degree        int
	Full, Partial int // Full is even: one half before the partial rounds, one after
	// Shifts gives the internal matrix J + diag(-2, 2^s_1, 2^s_2, ...), J being
	// all ones.
	Shifts []int
}

// M31 is the parameter set over Mersenne-31 of the given width, 16 or 24.
func M31(width int) (Params, error) {
	p := Params{P: 1<<31 - 1, Width: width, Degree: 5, Full: 8}
	switch width {
	case 16:
		p.Partial = 14
		p.Shifts = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 14, 15, 16}
	case 24:
		p.Partial = 22
		for s := range 23 {
			p.Shifts = append(p.Shifts, s)
		}
	default:
		return Params{}, fmt.Errorf("poseidon2: no Mersenne-31 permutation of width %d", width)
	}
	return p, nil
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
