package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/hash/poseidon2"
	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// neon writes the permutations with arm64's vectors: four states at a time, of
// which a register holds one word, canonical. All words stay in registers.
type neon struct {
	vecasm.Neon
	p     poseidon2.Params
	s     []vecasm.Reg
	prime vecasm.Reg
}

func (g *neon) once(x vecasm.Reg) vecasm.Reg { return g.Min4S(x, g.Sub4S(x, g.prime)) }

func (g *neon) add(x, y vecasm.Reg) vecasm.Reg { return g.once(g.Add4S(x, y)) }

// addInto is add into d.
func (g *neon) addInto(d, x, y vecasm.Reg) {
	s := g.Add4S(x, y)
	g.MinInto4S(d, s, g.Sub4S(s, g.prime))
}

// mul takes the quotient by 2^31 times P from the product: what stays is the
// quotient plus the remainder.
func (g *neon) mul(x, y vecasm.Reg) vecasm.Reg {
	r := g.Reg()
	g.mulInto(r, x, y)
	return r
}

func (g *neon) mulInto(d, x, y vecasm.Reg) {
	q, r := g.MulHigh4S(x, y), g.MulLow4S(x, y)
	g.MulSub4S(r, q, g.prime)
	g.MinInto4S(d, r, g.Sub4S(r, g.prime))
}

// sbox adds the next constant and writes the fifth power to d.
func (g *neon) sbox(d, x vecasm.Reg) {
	c := g.LoadWord("R1")
	g.Op("ADD", "$4", "R1")
	x = g.add(x, c)
	y := g.mul(x, x)
	g.mulInto(d, g.mul(y, y), x)
}

// m4 multiplies four words by circ(2, 3, 1, 1).
func (g *neon) m4(s []vecasm.Reg) {
	a, b, c, d := s[0], s[1], s[2], s[3]
	ab, cd := g.add(a, b), g.add(c, d)
	all := g.add(ab, cd)
	g.addInto(b, b, all)
	g.addInto(d, d, all)
	g.addInto(ab, ab, b)
	g.addInto(cd, cd, d)
	g.addInto(a, a, a)
	g.addInto(d, d, a)
	g.addInto(c, c, c)
	g.addInto(b, b, c)
	g.Move(a, ab)
	g.Move(c, cd)
}

// external is the external layer, before which each word goes through the S-box
// if asked.
func (g *neon) external(sbox bool) {
	for w := 0; w < g.p.Width; w += 4 {
		if sbox {
			for _, r := range g.s[w : w+4] {
				g.sbox(r, r)
			}
		}
		g.m4(g.s[w : w+4])
	}
	for i := range 4 {
		column := g.add(g.s[i], g.s[4+i])
		for w := 8 + i; w < g.p.Width; w += 4 {
			g.addInto(column, column, g.s[w])
		}
		for w := i; w < g.p.Width; w += 4 {
			g.addInto(g.s[w], g.s[w], column)
		}
	}
}

// partial is a partial round.
func (g *neon) partial() {
	rest := g.add(g.s[1], g.s[2])
	for w := 3; w < g.p.Width; w++ {
		g.addInto(rest, rest, g.s[w])
	}
	x := g.Reg()
	g.sbox(x, g.s[0])
	d := g.Sub4S(rest, x)
	g.MinInto4S(g.s[0], d, g.Add4S(d, g.prime))
	all := g.add(rest, x)
	for w := 1; w < g.p.Width; w++ {
		x := g.s[w]
		if k := g.p.Diagonal[w].Shift; k > 0 { // rotate the 31 bits
			r := g.ShiftRight4S(x, 31-k)
			g.Insert4S(r, x, k)
			x = g.And(r, g.prime)
		}
		g.addInto(g.s[w], x, all)
	}
}

func (g *neon) repeat(label string, n int, body func()) {
	g.Op("MOVD", fmt.Sprintf("$%d", n), "R2")
	g.Loop(label, "R2", body)
}

func (g *neon) permutation(width int) error {
	p, err := poseidon2.M31(width)
	if err != nil {
		return err
	}
	g.p = p
	g.Function(vecasm.Function{
		Name: fmt.Sprintf("permuteLanes%d", width),
		Args: []string{"s *m31.Element", "rc *uint32"},
	}, func(pointers []string) {
		state := pointers[0]
		g.prime = g.Ones(31)
		g.s = nil
		for w := range width {
			g.s = append(g.s, g.Load(state, 32*w))
		}
		g.external(false)
		g.repeat("first", p.Full/2, func() { g.external(true) })
		g.repeat("partial", p.Partial, g.partial)
		g.repeat("last", p.Full/2, func() { g.external(true) })
		for w, r := range g.s {
			g.Store(r, state, 32*w)
		}
	})
	return nil
}

// neonFile is the file of both widths.
func neonFile() (string, error) {
	g := &neon{Neon: vecasm.Neon{Asm: vecasm.New(vecasm.NEON, "genlanes")}}
	for _, width := range []int{16, 24} {
		if err := g.permutation(width); err != nil {
			return "", err
		}
	}
	return g.String(), nil
}
