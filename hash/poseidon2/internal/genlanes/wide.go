package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// wide writes the permutations with 512-bit vectors. A register holds one word
// of all eight states in 64-bit lanes, and the whole state stays in registers.
// The 52-bit multiply-add folds (x -> x mod 2^31 + x >> 31) and shifts; words
// are folded only when their bounds, which are kept here, ask for it.
type wide struct {
	*vecasm.Asm
	p            poseidon2.Params
	s            []vecasm.Reg // the state
	bound        []uint64     // no word is above its bound
	prime, fold1 vecasm.Reg   // P; 2^21
	two          vecasm.Reg   // 2
}

const (
	p31 = m31.P

	// largest is the bound of operands of the 52-bit multiplication.
	largest = 1<<52 - 1

	// excess over P up to which the S-box takes words: its square stays below
	// 2^31.
	excess = 1 << 15

	// sboxBound is that of the S-box's results: the fourth power is at most
	// 2P, and the fifth at most P plus the product's bits from 31 up.
	sboxBound = p31 + (2*p31*(p31+excess))>>31

	// lift keeps the first word of partial rounds positive. It is part of the
	// next constant that is added to it.
	lift = poseidon2.LanesLift
)

func init() {
	if sboxBound > lift || lift%p31 != 0 {
		panic("the first word may become negative")
	}
}

// fold gives the same residue below 2^31 + bound>>31.
func (g *wide) fold(v vecasm.Reg, bound uint64) (vecasm.Reg, uint64) {
	r := g.To("VPANDQ", g.prime, v)
	if bound <= largest {
		g.Op("VPMADD52HUQ", g.fold1, v, r) // v * 2^21 / 2^52
	} else {
		g.Op("VPADDQ", g.To("VPSRLQ", "$31", v), r, r)
	}
	return r, p31 + bound>>31
}

// sbox writes (v+c)^5 to d, for the constant c in memory.
func (g *wide) sbox(v vecasm.Reg, bound uint64, c string, d vecasm.Reg) {
	x, b := g.fold(g.To("VPADDQ.BCST", c, v), bound+p31)
	if b > p31+excess {
		panic("the S-box's operand is too large")
	}
	// The square less P, between -P and P: if x = 2^31 + e with a small e, its
	// bits from 31 up are 2^31 + 2e and the others e*e.
	e := g.To("VPMULUDQ", x, x)
	n := g.To("VPANDNQ", g.prime, e) // P less the low bits
	y := g.To("VPSRLQ", "$31", e)
	g.Op("VPSUBQ", n, y, y)
	// The fourth power, at most 2P.
	e = g.To("VPMULDQ", y, y)
	y = g.To("VPSRLQ", "$31", e)
	g.Op("VPANDQ", g.prime, e, e)
	g.Op("VPADDQ", e, y, y)
	// The fifth.
	e = g.To("VPMULUDQ", y, x)
	y = g.To("VPSRLQ", "$31", e)
	g.Op("VPANDQ", g.prime, e, e)
	g.Op("VPADDQ", e, y, d)
}

// m4 multiplies four words by circ(2, 3, 1, 1).
func (g *wide) m4(s []vecasm.Reg) {
	a, b, c, d := s[0], s[1], s[2], s[3]
	ab, cd := g.To("VPADDQ", a, b), g.To("VPADDQ", c, d)
	all := g.To("VPADDQ", ab, cd)
	g.Op("VPADDQ", all, b, b)
	g.Op("VPADDQ", all, d, d)
	g.Op("VPADDQ", d, cd, cd)
	g.Op("VPMADD52LUQ", g.two, a, d)
	g.Op("VPADDQ", b, ab, a)
	g.Op("VPMADD52LUQ", g.two, c, b)
	g.Op("VMOVDQA64", cd, c)
}

// external is the external layer: words up to bound before it are up to 35
// times that after it.
func (g *wide) external(bound uint64) {
	for w := 0; w < g.p.Width; w += 4 {
		g.m4(g.s[w : w+4])
	}
	for j := range 4 {
		column := g.To("VPADDQ", g.s[j], g.s[4+j])
		for w := 8 + j; w < g.p.Width; w += 4 {
			g.Op("VPADDQ", g.s[w], column, column)
		}
		for w := j; w < g.p.Width; w += 4 {
			g.Op("VPADDQ", column, g.s[w], g.s[w])
		}
	}
	factor := uint64(7 * (g.p.Width/4 + 1)) // the sum of a row of the matrix
	for w := range g.bound {
		g.bound[w] = factor * bound
	}
}

func (g *wide) full(label string, pointer string) {
	g.Op("MOVQ", fmt.Sprintf("$%d", g.p.Full/2), "CX")
	for w := range g.bound {
		g.bound[w] = uint64(7*(g.p.Width/4+1)) * sboxBound // at least what it is the first time
	}
	g.Loop(label, "CX", func() {
		for w, r := range g.s {
			g.sbox(r, g.bound[w], fmt.Sprintf("%d(%s)", 8*w, pointer), r)
		}
		g.external(sboxBound)
		g.Advance([]string{pointer}, 8*g.p.Width)
	})
}

// sumRest is the sum of all words but the first, folded. It gathers in three
// registers, or two where those are few.
func (g *wide) sumRest() (vecasm.Reg, uint64) {
	chains := 3
	if g.p.Width > 16 {
		chains = 2
	}
	bound := uint64(0)
	part := make([]vecasm.Reg, chains)
	for w := 1; w < g.p.Width; w++ {
		bound += g.bound[w]
		switch i := w % chains; {
		case w <= chains:
			part[i] = g.s[w]
		case w <= 2*chains:
			part[i] = g.To("VPADDQ", g.s[w], part[i])
		default:
			g.Op("VPADDQ", g.s[w], part[i], part[i])
		}
	}
	for len(part) > 1 {
		g.Op("VPADDQ", part[len(part)-1], part[0], part[0])
		part = part[:len(part)-1]
	}
	return g.fold(part[0], bound)
}

// partial is a partial round. The first word is without its lift before and
// after it.
func (g *wide) partial(c string) {
	rest, bound := g.sumRest()
	x := g.Reg()
	g.sbox(g.s[0], g.bound[0], c, x)
	g.s[0], g.bound[0] = g.To("VPSUBQ", x, rest), bound+lift
	all := g.To("VPADDQ", x, rest)
	bound += sboxBound
	for w := 1; w < g.p.Width; w++ {
		k := g.p.Diagonal[w].Shift
		if k == 0 {
			g.s[w], g.bound[w] = g.To("VPADDQ", all, g.s[w]), g.bound[w]+bound
			continue
		}
		if g.bound[w] > largest>>k {
			g.s[w], g.bound[w] = g.fold(g.s[w], g.bound[w])
		}
		if g.bound[w] > largest>>k { // too far for the multiplication
			if g.bound[w] > (1<<60)>>k {
				panic("a folded word is too large")
			}
			g.s[w] = g.To("VPADDQ", all, g.To("VPSLLQ", fmt.Sprintf("$%d", k), g.s[w]))
			g.bound[w] = g.bound[w]<<k + bound
			continue
		}
		r := g.To("VMOVDQA64", all)
		g.Op("VPMADD52LUQ.BCST", fmt.Sprintf("powers<>+%d(SB)", 8*k), g.s[w], r)
		g.s[w], g.bound[w] = r, g.bound[w]<<k+bound
	}
}

func (g *wide) permutation(width int) error {
	p, err := poseidon2.M31(width)
	if err != nil {
		return err
	}
	g.p, g.bound = p, make([]uint64, width)
	g.Function(vecasm.Function{
		Name: fmt.Sprintf("permuteLanes%d", width),
		Args: []string{fmt.Sprintf("s *[%d][8]m31.Element", width), "rc *uint64"},
	}, func(pointers []string) {
		state, rc := pointers[0], pointers[1]
		g.prime = g.Reg()
		g.Op("VPTERNLOGQ", "$0xff", g.prime, g.prime, g.prime)
		g.Op("VPSRLQ", "$33", g.prime, g.prime)
		g.fold1 = g.To("VPBROADCASTQ", fmt.Sprintf("powers<>+%d(SB)", 8*21))
		g.two = g.To("VPBROADCASTQ", fmt.Sprintf("powers<>+%d(SB)", 8*1))
		g.s = nil
		for w := range width {
			g.s = append(g.s, g.To("VPMOVZXDQ", fmt.Sprintf("%d(%s)", 32*w, state)))
		}
		g.external(p31)
		g.full("first", rc)
		for i := range p.Partial {
			g.partial(fmt.Sprintf("%d(%s)", 8*i, rc))
		}
		g.Advance([]string{rc}, 8*p.Partial)
		for w := range g.s {
			if g.bound[w]>>31 > excess-1 {
				g.s[w], g.bound[w] = g.fold(g.s[w], g.bound[w])
			}
		}
		g.full("last", rc)
		for w, r := range g.s {
			r, b := g.fold(r, g.bound[w])
			if b >= 2*p31 {
				panic("a word cannot be reduced at once")
			}
			g.Op("VPMINUD", g.To("VPSUBD", g.prime, r), r, r)
			g.Op("VPMOVQD", r, fmt.Sprintf("%d(%s)", 32*w, state))
		}
	})
	return nil
}

// wideFile is the file of both widths.
func wideFile() (string, error) {
	g := &wide{Asm: vecasm.New(vecasm.AVX512, "genlanes")}
	var powers []uint32
	for k := range 22 {
		powers = append(powers, 1<<k, 0)
	}
	g.Data("powers", powers)
	for _, width := range []int{16, 24} {
		if err := g.permutation(width); err != nil {
			return "", err
		}
	}
	return g.String(), nil
}
