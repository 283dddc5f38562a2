package main

import (
	"fmt"
	"math/bits"

	"github.com/zkwarp/zkwarp/hash/poseidon2"
	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// bear writes the permutations over BabyBear and KoalaBear, the steps of bear.cuh: a
// vector holds one word of 16 states (AVX-512), or of 8 of them. Rows of memory
// have 16. With AVX-512 a state of 16 words stays in registers.
type bear struct {
	vecasm.X86
	p              poseidon2.Params
	state, rc      string
	s              []vecasm.Reg // the state, if it stays in registers
	prime, inverse vecasm.Reg
}

// rowBytes is from one word of the 16 states to the next.
const rowBytes = 64

// word reads word w of the state, set writes it.
func (g *bear) word(w int) vecasm.Reg {
	if g.s != nil {
		return g.s[w]
	}
	return g.Load(g.state, w*rowBytes/g.Bytes)
}

func (g *bear) set(w int, r vecasm.Reg) {
	if g.s != nil {
		if r != g.s[w] {
			g.Op("VMOVDQA32", r, g.s[w])
		}
		return
	}
	g.Store(r, g.state, w*rowBytes/g.Bytes)
}

// once takes a word below 2P to its residue.
func (g *bear) once(x vecasm.Reg) vecasm.Reg {
	return g.To("VPMINUD", g.To("VPSUBD", g.prime, x), x)
}

// lift takes a word of at most P in size to its residue.
func (g *bear) lift(x vecasm.Reg) vecasm.Reg {
	return g.To("VPMINUD", g.To("VPADDD", g.prime, x), x)
}

func (g *bear) add(x, y vecasm.Reg) vecasm.Reg { return g.once(g.To("VPADDD", x, y)) }
func (g *bear) sub(x, y vecasm.Reg) vecasm.Reg { return g.lift(g.To("VPSUBD", y, x)) }

// product is x y / 2^32 modulo P in the odd words, of the even words of x and y.
func (g *bear) product(x, y vecasm.Reg) vecasm.Reg {
	t := g.To("VPMULDQ", x, y)
	m := g.To("VPMULDQ", g.prime, g.To("VPMULDQ", g.inverse, t))
	return g.To("VPSUBQ", m, t)
}

// down brings odd words to the even places. A shift would wait for the port that
// multiplies.
func (g *bear) down(x vecasm.Reg) vecasm.Reg { return g.Odd(x) }

// power is the S-box of x's even words, in the odd ones.
func (g *bear) power(x vecasm.Reg) vecasm.Reg {
	x2 := g.down(g.product(x, x))
	x3 := g.product(x2, x)
	if g.p.Degree == 3 {
		return x3
	}
	x4 := g.down(g.product(x2, x2))
	return g.product(g.down(x3), x4)
}

// sbox adds the i-th constant from g.rc on, which is less P, and gives the S-box.
func (g *bear) sbox(x vecasm.Reg, i int) vecasm.Reg {
	c := fmt.Sprintf("%d(%s)", 4*i, g.rc)
	if g.Wide() {
		x = g.To("VPADDD.BCST", c, x)
	} else {
		x = g.To("VPADDD", g.To("VPBROADCASTD", c), x)
	}
	even := g.power(x)
	odd := g.power(g.down(x))
	if g.Wide() {
		g.Op("VMOVSHDUP", even, "K1", odd)
		return g.lift(odd)
	}
	return g.lift(g.To("VPBLENDD", "$0xaa", odd, g.down(even)))
}

// m4 multiplies four words by circ(2, 3, 1, 1).
func (g *bear) m4(x []vecasm.Reg) []vecasm.Reg {
	ab, cd := g.add(x[0], x[1]), g.add(x[2], x[3])
	all := g.add(ab, cd)
	allb, alld := g.add(all, x[1]), g.add(all, x[3])
	return []vecasm.Reg{g.add(allb, ab), g.add(allb, g.add(x[2], x[2])), g.add(alld, cd), g.add(alld, g.add(x[0], x[0]))}
}

// external is the external layer, before which words go through S-boxes if asked.
func (g *bear) external(sbox bool) {
	column := make([]vecasm.Reg, 4)
	for w := 0; w < g.p.Width; w += 4 {
		x := make([]vecasm.Reg, 4)
		for i := range x {
			x[i] = g.word(w + i)
			if sbox {
				x[i] = g.sbox(x[i], w+i)
			}
		}
		for i, y := range g.m4(x) {
			g.set(w+i, y)
			if w == 0 {
				column[i] = y
			} else {
				column[i] = g.add(column[i], y)
			}
		}
	}
	for w := range g.p.Width {
		g.set(w, g.add(g.word(w), column[w%4]))
	}
	if sbox {
		g.Advance([]string{g.rc}, 4*g.p.Width)
	}
}

// times is f x + s for a canonical s, or f x if there is no s. All words are
// canonical, but after a shift right by 8 or more, which leaves P 2^-8 more.
func (g *bear) times(f poseidon2.Factor, x, s vecasm.Reg) vecasm.Reg {
	twos := bits.TrailingZeros32(g.p.P - 1)
	switch {
	case f.Shift < -twos:
		x = g.times(poseidon2.Factor{Times: 1, Shift: -twos}, x, 0)
		return g.times(poseidon2.Factor{Times: f.Times, Shift: f.Shift + twos}, x, s)
	case f.Times < 0:
		x = g.To("VPSUBD", x, g.To("VPADDD", g.prime, g.prime))
		return g.times(poseidon2.Factor{Times: -f.Times, Shift: f.Shift}, x, s)
	case f.Shift < 0 && f.Times > 1:
		return g.times(poseidon2.Factor{Times: 1, Shift: f.Shift}, g.times(poseidon2.Factor{Times: f.Times}, x, 0), s)
	case f.Shift < 0:
		// x = 2^k q + r becomes q - r (P-1)/2^k, P-1 being 2^31 - 2^twos.
		k := -f.Shift
		high := g.To("VPSLLD", fmt.Sprintf("$%d", 32-k), x) // 2^(32-k) r
		more := g.To("VPSRLD", fmt.Sprintf("$%d", 32-twos), high)
		if s != 0 {
			more = g.To("VPADDD", s, more)
		}
		r := g.lift(g.To("VPSUBD", g.To("VPSRLD", "$1", high), more))
		r = g.To("VPADDD", g.To("VPSRLD", fmt.Sprintf("$%d", k), x), r)
		if k < 8 {
			r = g.once(r)
		}
		return r
	}
	n := uint(f.Times) << f.Shift
	y := x
	for b := bits.Len(n) - 2; b >= 0; b-- {
		y = g.add(y, y)
		if n>>b&1 == 1 {
			y = g.add(y, x)
		}
	}
	if s != 0 {
		y = g.add(y, s)
	}
	return y
}

// partial is a round of bear.cuh, with the i-th constant from g.rc on: at says which
// word of a pair is u, and pair makes the new words of one.
func (g *bear) partial(i, at int, pair func(u, d int, f poseidon2.Factor, all, twice vecasm.Reg)) {
	pairs, singles := g.p.Pairs()
	var parts [2]vecasm.Reg
	sum := func(n, w int) {
		if x := g.word(w); parts[n%2] == 0 {
			parts[n%2] = x
		} else {
			parts[n%2] = g.add(parts[n%2], x)
		}
	}
	for n, p := range pairs {
		sum(n, p[at])
	}
	for n, w := range singles {
		sum(n+len(pairs), w)
	}
	rest := g.once(g.add(parts[0], parts[1]))
	y := g.sbox(g.word(0), i)
	all := g.add(rest, y)
	g.set(0, g.sub(rest, y))
	twice := g.add(all, all)
	for _, p := range pairs {
		pair(p[at], p[1-at], g.p.Diagonal[p[0]], all, twice)
	}
	for _, w := range singles {
		g.set(w, g.times(g.p.Diagonal[w], g.word(w), all))
	}
}

func (g *bear) partials() {
	pairs, singles := g.p.Pairs()
	for _, p := range pairs { // u and d
		x, y := g.word(p[0]), g.word(p[1])
		u, d := g.add(x, y), g.sub(x, y)
		g.set(p[0], u)
		g.set(p[1], d)
	}
	square := func(f poseidon2.Factor, half int) poseidon2.Factor {
		return poseidon2.Factor{Times: f.Times * f.Times, Shift: 2*f.Shift - half}
	}
	g.partial(0, 0, func(_, d int, f poseidon2.Factor, _, twice vecasm.Reg) { g.set(d, g.times(f, g.word(d), twice)) })
	g.Advance([]string{g.rc}, 4)
	middle := func(_, d int, f poseidon2.Factor, _, twice vecasm.Reg) {
		g.set(d, g.times(square(f, 0), g.word(d), twice))
	}
	between := g.p.Partial - 2
	g.Op("MOVQ", fmt.Sprintf("$%d", between/2), "BX")
	g.Loop("partial", "BX", func() {
		g.partial(0, 1, middle)
		g.partial(1, 0, middle)
		g.Advance([]string{g.rc}, 8)
	})
	at := 1
	if between%2 == 1 {
		g.partial(0, 1, middle)
		g.Advance([]string{g.rc}, 4)
		at = 0
	}
	g.partial(0, at, func(now, before int, f poseidon2.Factor, all, _ vecasm.Reg) {
		u := g.once(g.times(square(f, 1), g.word(before), all))
		d := g.once(g.times(poseidon2.Factor{Times: f.Times, Shift: f.Shift - 1}, g.word(now), 0))
		x, y := g.add(u, d), g.sub(u, d)
		if at == 1 {
			now, before = before, now
		}
		g.set(now, x)
		g.set(before, y)
	})
	g.Advance([]string{g.rc}, 4)
	for _, w := range singles {
		g.set(w, g.once(g.word(w)))
	}
}

func (g *bear) permutation(name string, p poseidon2.Params) {
	g.p = p
	g.Function(vecasm.Function{Name: fmt.Sprintf("permute%s%d", name, p.Width), Args: []string{"s *uint32", "rc *uint32"}}, func(pointers []string) {
		g.state, g.rc = pointers[0], pointers[1]
		table := "field" + name + g.Name
		g.prime = g.To("VPBROADCASTD", table+"<>+0(SB)")
		g.inverse = g.To("VPBROADCASTD", table+"<>+4(SB)")
		if g.Wide() {
			g.Op("MOVL", "$0x5555", "AX")
			g.Op("KMOVW", "AX", "K1")
		}
		g.s = nil
		if g.Wide() && p.Width == 16 {
			s := make([]vecasm.Reg, p.Width)
			for w := range s {
				s[w] = g.word(w)
			}
			g.s = s
		}
		g.external(false)
		half := func(label string) {
			g.Op("MOVQ", fmt.Sprintf("$%d", p.Full/2), "BX")
			g.Loop(label, "BX", func() { g.external(true) })
		}
		half("first")
		g.partials()
		half("last")
		for w, r := range g.s {
			g.Store(r, g.state, w)
		}
	})
}

// bearFile is the file of both fields and widths.
func bearFile(set vecasm.Set) (string, error) {
	g := &bear{X86: vecasm.X86{Asm: vecasm.New(set, "genlanes")}}
	for _, field := range []struct {
		name   string
		params func(int) (poseidon2.Params, error)
	}{{"BabyBear", poseidon2.BabyBearParams}, {"KoalaBear", poseidon2.KoalaBearParams}} {
		for _, width := range []int{16, 24} {
			p, err := field.params(width)
			if err != nil {
				return "", err
			}
			if width == 16 {
				g.Data("field"+field.name+set.Name, []uint32{p.P, p.Inverse()})
			}
			g.permutation(field.name, p)
		}
	}
	return g.String(), nil
}
