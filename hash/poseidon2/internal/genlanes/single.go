package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/hash/poseidon2"
	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// single writes the permutation of width 16 of one state, with 512-bit vectors: words
// 0 to 7 and 8 to 15 in 64-bit lanes. What counts is how long a word takes, not how many
// instructions there are, so that words are folded by shifts. Bounds are kept as in
// wide.go.
type single struct {
	*vecasm.Asm
	p     poseidon2.Params
	s     [2]vecasm.Reg
	bound uint64 // of all words
	prime vecasm.Reg
	zero  vecasm.Reg
}

func (g *single) fold(v vecasm.Reg, bound uint64) (vecasm.Reg, uint64) {
	r := g.To("VPADDQ", g.To("VPANDQ", g.prime, v), g.To("VPSRLQ", "$31", v))
	return r, p31 + bound>>31
}

// sbox is (v+c)^5, for constants in memory that op adds; the steps are those of wide.sbox.
func (g *single) sbox(v vecasm.Reg, bound uint64, op, c string) vecasm.Reg {
	x, b := g.fold(g.To(op, c, v), bound+p31)
	if b > p31+excess {
		panic("the S-box's operand is too large")
	}
	e := g.To("VPMULUDQ", x, x)
	y := g.To("VPSUBQ", g.To("VPANDNQ", g.prime, e), g.To("VPSRLQ", "$31", e))
	e = g.To("VPMULDQ", y, y)
	y = g.To("VPADDQ", g.To("VPANDQ", g.prime, e), g.To("VPSRLQ", "$31", e))
	e = g.To("VPMULUDQ", y, x)
	return g.To("VPADDQ", g.To("VPANDQ", g.prime, e), g.To("VPSRLQ", "$31", e))
}

// external is the external layer. The words that m4 takes are neighbours.
func (g *single) external(bound uint64) {
	for i, x := range g.s {
		pairs := g.To("VPADDQ", x, g.To("VPERMQ", "$0x4e", x))
		all := g.To("VPADDQ", pairs, g.To("VPSHUFD", "$0x4e", pairs))
		next := g.To("VPERMQ", "$0x39", x)
		own := g.To("VPADDQ", x, g.To("VPADDQ", next, next))
		g.s[i] = g.To("VPADDQ", all, own)
	}
	both := g.To("VPADDQ", g.s[0], g.s[1])
	columns := g.To("VPADDQ", both, g.To("VSHUFI64X2", "$0x4e", both, both))
	for i, x := range g.s {
		g.s[i] = g.To("VPADDQ", columns, x)
	}
	g.bound = 35 * bound // the sum of a row of the matrix
}

func (g *single) full(rc string) {
	for range g.p.Full / 2 {
		for i, x := range g.s {
			g.s[i] = g.sbox(x, g.bound, "VPADDQ", fmt.Sprintf("%d(%s)", 64*i, rc))
		}
		g.external(sboxBound)
		g.Advance([]string{rc}, 8*g.p.Width)
	}
}

// partial are the partial rounds. Word 0 is in a register of its own, whose other lanes
// mean nothing, and its lane of the state is 0. K1 is all lanes but that one, K2 is it.
func (g *single) partial(rc string) {
	const shifts = "shifts<>+%d(SB)"
	first, bound := g.s[0], g.bound
	g.s[0] = g.To("VMOVDQA64.Z", g.s[0], "K1")
	for i := range g.p.Partial {
		x := g.sbox(first, bound, "VPADDQ.BCST", fmt.Sprintf("%d(%s)", 8*i, rc))
		// The sum of the others in all lanes.
		rest := g.To("VPADDQ", g.s[0], g.s[1])
		rest = g.To("VPADDQ", rest, g.To("VSHUFI64X2", "$0x4e", rest, rest))
		rest = g.To("VPADDQ", rest, g.To("VPERMQ", "$0x4e", rest))
		rest = g.To("VPADDQ", rest, g.To("VPSHUFD", "$0x4e", rest))
		rest, restBound := g.fold(rest, 15*g.bound)
		first, bound = g.To("VPSUBQ", x, rest), restBound+lift
		all := g.To("VPADDQ", rest, g.To("VPERMQ", x, g.zero))
		if g.bound > 1<<40 {
			panic("a word is too large to be shifted")
		}
		for k := range g.s {
			shifted := g.To("VPSLLVQ", fmt.Sprintf(shifts, 64*k), g.s[k])
			if k == 0 {
				g.s[k] = g.To("VPADDQ.Z", all, shifted, "K1")
			} else {
				g.s[k] = g.To("VPADDQ", all, shifted)
			}
		}
		most := g.bound<<16 + restBound + sboxBound
		for k := range g.s {
			g.s[k], g.bound = g.fold(g.s[k], most)
		}
	}
	g.Op("VMOVDQA64", first, "K2", g.s[0])
	g.bound = max(g.bound, bound)
	g.Advance([]string{rc}, 8*g.p.Partial)
}

// singleFile is the file of the permutation.
func singleFile() (string, error) {
	g := &single{Asm: vecasm.New(vecasm.AVX512, "genlanes")}
	var err error
	if g.p, err = poseidon2.M31(16); err != nil {
		return "", err
	}
	var shifts []uint32
	for w := range g.p.Width {
		k := g.p.Diagonal[w].Shift
		if w == 0 {
			k = 0
		}
		if k > 16 {
			panic("a shift is too far")
		}
		shifts = append(shifts, uint32(k), 0)
	}
	g.Data("shifts", shifts)
	g.Function(vecasm.Function{Name: "permute16", Args: []string{"s *[16]m31.Element", "rc *uint64"}}, func(pointers []string) {
		state, rc := pointers[0], pointers[1]
		g.Op("MOVL", "$0xfe", "AX")
		g.Op("KMOVW", "AX", "K1")
		g.Op("MOVL", "$1", "AX")
		g.Op("KMOVW", "AX", "K2")
		g.prime = g.Reg()
		g.Op("VPTERNLOGQ", "$0xff", g.prime, g.prime, g.prime)
		g.Op("VPSRLQ", "$33", g.prime, g.prime)
		g.zero = g.Reg()
		g.Op("VPXORQ", g.zero, g.zero, g.zero)
		for i := range g.s {
			g.s[i] = g.To("VPMOVZXDQ", fmt.Sprintf("%d(%s)", 32*i, state))
		}
		g.external(p31)
		g.full(rc)
		g.partial(rc)
		g.full(rc)
		for i, r := range g.s {
			r, b := g.fold(r, g.bound)
			if b >= 2*p31 {
				panic("a word cannot be reduced at once")
			}
			g.Op("VPMINUD", g.To("VPSUBD", g.prime, r), r, r)
			g.Op("VPMOVQD", r, fmt.Sprintf("%d(%s)", 32*i, state))
		}
	})
	return g.String(), nil
}
