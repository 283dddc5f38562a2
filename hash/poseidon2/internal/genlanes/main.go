// Command genlanes writes the permutations of widths 16 and 24 on many states at
// once. Those over BabyBear and KoalaBear are in bear.go. Those over Mersenne-31
// (lanes_avx2_amd64.s, lanes_avx512_amd64.s and lanes_neon_arm64.s) take eight states
// (on arm64 four, twice). One 32-byte row of memory holds one word of all eight.
//
// single.go has one state of width 16, for transcripts.
//
// With AVX2 all words are canonical, and the steps are those of m31.cuh; wide.go
// and neon.go have the others.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/zkwarp/zkwarp/hash/poseidon2"
	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// Registers: Y0 to Y3 are the words at hand, Y4 to Y7 running sums, Y8 to Y14
// scratch, and Y15 is P in all lanes.
const (
	sums    = 4
	scratch = 8
	prime   = 15
)

type gen struct {
	strings.Builder
	p poseidon2.Params
}

func (g *gen) op(format string, args ...any) { fmt.Fprintf(g, "\t"+format+"\n", args...) }

// t is the i-th scratch register.
func t(i int) int {
	if i < 0 || i > 6 {
		panic("no such scratch register")
	}
	return scratch + i
}

func (g *gen) load(word, r int)  { g.op("VMOVDQU %d(DI), Y%d", 32*word, r) }
func (g *gen) store(r, word int) { g.op("VMOVDQU Y%d, %d(DI)", r, 32*word) }

// once takes register r, below 2P, to its residue: the difference to P wraps to
// a large number when it is not due.
func (g *gen) once(r, tmp int) {
	g.op("VPSUBD  Y%d, Y%d, Y%d", prime, r, tmp)
	g.op("VPMINUD Y%d, Y%d, Y%d", tmp, r, r)
}

func (g *gen) add(d, a, b, tmp int) {
	g.op("VPADDD  Y%d, Y%d, Y%d", a, b, d)
	g.once(d, tmp)
}

// double prepares b as the second factor of mul: twice its words, and the odd
// lanes of that brought to the even places.
func (g *gen) double(b, b2, b2odd int) {
	g.op("VPADDD  Y%d, Y%d, Y%d", b, b, b2)
	g.op("VPSRLQ  $32, Y%d, Y%d", b2, b2odd)
}

// mul is d = a*b for the doubled b. Of each 64-bit product the high word is the
// quotient by 2^31, the low word twice the remainder.
func (g *gen) mul(d, a, b2, b2odd, w0, w1, w2 int) {
	g.op("VPSRLQ   $32, Y%d, Y%d", a, w1)
	g.op("VPMULUDQ Y%d, Y%d, Y%d", b2, a, w2)
	g.op("VPMULUDQ Y%d, Y%d, Y%d", b2odd, w1, w1)
	g.op("VPSLLQ   $32, Y%d, Y%d", w1, w0)
	g.op("VPBLENDD $0xaa, Y%d, Y%d, Y%d", w0, w2, w0) // low words
	g.op("VPSRLQ   $32, Y%d, Y%d", w2, w2)
	g.op("VPBLENDD $0xaa, Y%d, Y%d, Y%d", w1, w2, w2) // high words
	g.op("VPSRLD   $1, Y%d, Y%d", w0, w0)
	g.op("VPADDD   Y%d, Y%d, Y%d", w0, w2, d)
	g.once(d, w0)
}

// sbox adds the round constant at index `at` to x and raises it to the fifth
// power.
func (g *gen) sbox(x, at int) {
	g.op("VPBROADCASTD %d(SI), Y%d", 4*at, t(0))
	g.add(x, x, t(0), t(1))
	g.double(x, t(0), t(1))
	g.mul(x, x, t(0), t(1), t(2), t(3), t(4)) // x^2
	g.double(x, t(5), t(6))
	g.mul(x, x, t(5), t(6), t(2), t(3), t(4)) // x^4
	g.mul(x, x, t(0), t(1), t(2), t(3), t(4)) // x^5
}

// m4 multiplies Y0 to Y3 by circ(2, 3, 1, 1).
func (g *gen) m4() {
	const a, b, c, d = 0, 1, 2, 3
	ab, cd, all, allb, alld, twice, tmp := t(0), t(1), t(2), t(3), t(4), t(5), t(6)
	g.add(ab, a, b, tmp)
	g.add(cd, c, d, tmp)
	g.add(all, ab, cd, tmp)
	g.add(allb, all, b, tmp)
	g.add(alld, all, d, tmp)
	g.add(twice, a, a, tmp)
	g.add(d, alld, twice, tmp)
	g.add(twice, c, c, tmp)
	g.add(b, allb, twice, tmp)
	g.add(a, allb, ab, tmp)
	g.add(c, alld, cd, tmp)
}

// external is the external layer, before which each word goes through the S-box
// if asked. The sums of the columns gather while words pass by.
func (g *gen) external(sbox bool) {
	for b := 0; b < g.p.Width; b += 4 {
		for i := range 4 {
			g.load(b+i, i)
			if sbox {
				g.sbox(i, b+i)
			}
		}
		g.m4()
		for i := range 4 {
			if b == 0 {
				g.op("VMOVDQA Y%d, Y%d", i, sums+i)
			} else {
				g.add(sums+i, sums+i, i, t(i))
			}
			g.store(i, b+i)
		}
	}
	for w := range g.p.Width {
		g.op("VPADDD  %d(DI), Y%d, Y%d", 32*w, sums+w%4, w%4)
		g.once(w%4, t(w%4))
		g.store(w%4, w)
	}
	if sbox {
		g.op("ADDQ $%d, SI", 4*g.p.Width)
	}
}

// sumRest starts the running sum of all words but the first, in two halves.
func (g *gen) sumRest() {
	g.load(1, sums)
	g.load(2, sums+1)
	for w := 3; w < g.p.Width; w++ {
		s := sums + (w+1)%2
		g.op("VPADDD  %d(DI), Y%d, Y%d", 32*w, s, s)
		g.once(s, t(w%2))
	}
	g.load(0, 0)
}

// partial is a partial round. Word 0 stays in Y0, and the sum of the others in
// Y4 and Y5, from round to round.
func (g *gen) partial() {
	const x, rest, all = 0, 1, 2
	g.add(rest, sums, sums+1, t(5))
	g.sbox(x, 0)
	g.op("ADDQ $4, SI")
	g.add(all, rest, x, t(5))
	g.op("VPSUBD  Y%d, Y%d, Y%d", x, rest, x)
	g.op("VPADDD  Y%d, Y%d, Y%d", prime, x, t(5))
	g.op("VPMINUD Y%d, Y%d, Y%d", t(5), x, x)
	for w := 1; w < g.p.Width; w++ {
		lo, hi, s := t(w%3*2), t(w%3*2+1), sums+(w+1)%2
		g.load(w, lo)
		if k := g.p.Diagonal[w].Shift; k > 0 { // rotate the 31 bits
			g.op("VPSRLD $%d, Y%d, Y%d", 31-k, lo, hi)
			g.op("VPSLLD $%d, Y%d, Y%d", k, lo, lo)
			g.op("VPAND  Y%d, Y%d, Y%d", prime, lo, lo)
			g.op("VPOR   Y%d, Y%d, Y%d", hi, lo, lo)
		}
		g.add(lo, lo, all, hi)
		g.store(lo, w)
		if w <= 2 {
			g.op("VMOVDQA Y%d, Y%d", lo, s)
		} else {
			g.add(s, s, lo, hi)
		}
	}
}

func (g *gen) loop(label string, n int, body func()) {
	g.op("MOVQ $%d, CX", n)
	fmt.Fprintf(g, "\n%s:\n", label)
	body()
	g.op("DECQ CX")
	g.op("JNZ  %s", label)
}

func (g *gen) permutation(width int) error {
	p, err := poseidon2.M31(width)
	if err != nil {
		return err
	}
	g.p = p
	fmt.Fprintf(g, "\n// func permuteLanes%dAVX2(s *[%d][8]m31.Element, rc *uint32)\n", width, width)
	fmt.Fprintf(g, "TEXT ·permuteLanes%dAVX2(SB), NOSPLIT, $0-16\n", width)
	g.op("MOVQ s+0(FP), DI")
	g.op("MOVQ rc+8(FP), SI")
	g.op("VPCMPEQD Y%d, Y%d, Y%d", prime, prime, prime)
	g.op("VPSRLD   $1, Y%d, Y%d", prime, prime)
	g.external(false)
	g.loop("first", p.Full/2, func() { g.external(true) })
	g.sumRest()
	g.loop("partial", p.Partial, g.partial)
	g.store(0, 0)
	g.loop("last", p.Full/2, func() { g.external(true) })
	g.op("VZEROUPPER")
	g.op("RET")
	return nil
}

func run() error {
	g := new(gen)
	g.WriteString("// Code generated by genlanes; DO NOT EDIT.\n\n//go:build !purego\n\n#include \"textflag.h\"\n")
	for _, width := range []int{16, 24} {
		if err := g.permutation(width); err != nil {
			return err
		}
	}
	if err := os.WriteFile("lanes_avx2_amd64.s", []byte(g.String()), 0o644); err != nil {
		return err
	}
	for set, name := range map[*vecasm.Set]string{&vecasm.AVX2: "bear_avx2_amd64.s", &vecasm.AVX512: "bear_avx512_amd64.s"} {
		text, err := bearFile(*set)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	text, err := wideFile()
	if err != nil {
		return err
	}
	if err := os.WriteFile("lanes_avx512_amd64.s", []byte(text), 0o644); err != nil {
		return err
	}
	if text, err = singleFile(); err != nil {
		return err
	}
	if err := os.WriteFile("single_avx512_amd64.s", []byte(text), 0o644); err != nil {
		return err
	}
	if text, err = neonFile(); err != nil {
		return err
	}
	return os.WriteFile("lanes_neon_arm64.s", []byte(text), 0o644)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "genlanes:", err)
		os.Exit(1)
	}
}
