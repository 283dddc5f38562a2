// Command genwindow writes sums under masks, for package prover's passes over bits on
// the CPU: window_avx512_amd64.s.
//
// A vector holds four elements. Their four bits of a mask, each doubled, are a byte
// and so a mask register: an element that is not in the sum costs what one that is
// does, and no sum takes a product.
package main

import (
	"fmt"
	"os"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// doubled is the distance of two forms' masks: two bits for each of 512 indices.
const doubled = 128

type asm struct{ vecasm.X86 }

// product in one variable, as package prover's windowProduct: what it takes of p_1
// (0: the value at 0, 1: the value at 1, 2: their sum), the form of the bits, the row.
type product struct{ a, b, row int }

func products(d int) []product {
	p := []product{{0, 0, 0}, {1, d, 1}, {2, d - 1, d}}
	for m := 1; m <= d-2; m++ {
		p = append(p, product{0, m, m + 1}, product{2, m - 1, m + 1})
	}
	return p
}

// window writes the sums of the products in the last vars of a window's variables:
// (d+1)^vars rows, a vector each, in registers. The streams, one a prefix of those
// variables, are stride bytes apart; if there is an outer variable, sum says that its
// slope is asked for: streams are added to those from other on.
func (a *asm) window(d, vars int, sum bool) {
	name := fmt.Sprintf("window%dx%d", d, vars)
	args := []string{"rows *gf2.Element", "masks *byte", "p *gf2.Element", "stride int"}
	if sum {
		name += "Sum"
		args = append(args, "other *gf2.Element")
	}
	a.Function(vecasm.Function{Name: name, Args: args, Block: 4}, func(p []string) {
		rows, masks, base, stride, other := p[0], p[1], p[2], p[3], ""
		pointers := []string{base}
		if sum {
			other = p[4]
			pointers = append(pointers, other)
		}
		triple := "AX" // 3*stride
		if vars == 2 {
			a.Op("LEAQ", fmt.Sprintf("(%s)(%s*2)", stride, stride), triple)
		}
		at := func(pointer string, u int) string {
			switch u {
			case 0:
				return fmt.Sprintf("(%s)", pointer)
			case 3:
				return fmt.Sprintf("(%s)(%s*1)", pointer, triple)
			}
			return fmt.Sprintf("(%s)(%s*%d)", pointer, stride, u)
		}
		n := 1
		for range vars {
			n *= d + 1
		}
		acc := make([]vecasm.Reg, n)
		for i := range acc {
			acc[i] = a.Load(rows, i)
		}
		k := 0
		add := func(v vecasm.Reg, mask, row int) {
			k = k%7 + 1
			reg := fmt.Sprint("K", k)
			a.Op("KMOVB", fmt.Sprintf("%d(%s)", mask*doubled, masks), reg)
			a.Op("VPXORQ", v, acc[row], reg, acc[row])
		}
		load := func(u int) vecasm.Reg {
			v := a.To("VMOVDQU64", at(base, u))
			if sum {
				a.Op("VPXORQ", at(other, u), v, v)
			}
			return v
		}
		a.Loop("loop", a.N(), func() {
			each := func(v vecasm.Reg, a0, a1 int) {
				for _, p := range products(d) {
					if p.a != a0 {
						continue
					}
					if vars == 1 {
						add(v, p.b, p.row)
						continue
					}
					for _, q := range products(d) {
						if q.a == a1 {
							add(v, p.b*(d+1)+q.b, p.row*(d+1)+q.row)
						}
					}
				}
			}
			if vars == 1 {
				v0, v1 := load(0), load(1)
				each(v0, 0, 0)
				each(v1, 1, 0)
				a.Op("VPXORQ", v0, v1, v1)
				each(v1, 2, 0)
			} else {
				// Values of the first variable at 0, at 1, and their sum, over all forms
				// of the second one.
				v00, v01 := load(0), load(1)
				each(v00, 0, 0)
				each(v01, 0, 1)
				v10, v11 := load(2), load(3)
				each(v10, 1, 0)
				each(v11, 1, 1)
				a.Op("VPXORQ", v00, v10, v10) // slope of the first, at 0
				a.Op("VPXORQ", v01, v00, v00) // at 0, slope of the second
				each(v00, 0, 2)
				each(v10, 2, 0)
				a.Op("VPXORQ", v11, v01, v01) // slope of the first, at 1
				each(v01, 2, 1)
				a.Op("VPXORQ", v01, v10, v10)
				each(v10, 2, 2)
				a.Op("VPXORQ", v10, v00, v00) // at 1, slope of the second
				each(v00, 1, 2)
			}
			for _, q := range pointers {
				a.Op("ADDQ", "$64", q)
			}
			a.Op("INCQ", masks)
		})
		for i, r := range acc {
			a.Store(r, rows, i)
		}
	})
}

// spread doubles the bits of 64 bytes to 128.
func (a *asm) spread() {
	a.Function(vecasm.Function{Name: "spread", Args: []string{"dst *byte", "src *lanes"}, Block: 1}, func(p []string) {
		low, high := a.To("VPBROADCASTQ", "nibbles<>+0(SB)"), a.To("VPBROADCASTQ", "nibbles<>+8(SB)")
		first, second := a.To("VMOVDQU64", "order<>+0(SB)"), a.To("VMOVDQU64", "order<>+64(SB)")
		a.Loop("loop", a.N(), func() {
			v := a.Load(p[1], 0)
			l, h := a.To("VGF2P8AFFINEQB", "$0", low, v), a.To("VGF2P8AFFINEQB", "$0", high, v)
			even, odd := a.To("VPUNPCKLBW", h, l), a.To("VPUNPCKHBW", h, l)
			x := a.Copy(first)
			a.Op("VPERMI2Q", odd, even, x)
			a.Store(x, p[0], 0)
			x = a.Copy(second)
			a.Op("VPERMI2Q", odd, even, x)
			a.Store(x, p[0], 1)
			a.Advance(p, 128, 64)
		})
	})
}

// masked is the sum of 32 elements for each word of masks, in a vector.
func (a *asm) masked() {
	a.Function(vecasm.Function{Name: "masked", Args: []string{"sum *gf2.Element", "p *gf2.Element", "words *uint32"}, Block: 32}, func(p []string) {
		var acc [4]vecasm.Reg
		for i := range acc {
			acc[i] = a.Zero()
		}
		a.Op("MOVQ", "$0x5555555555555555", "AX")
		a.Loop("loop", a.N(), func() {
			a.Op("MOVL", fmt.Sprintf("(%s)", p[2]), "R8")
			a.Op("PDEPQ", "AX", "R8", "R8")
			a.Op("LEAQ", "(R8)(R8*2)", "R8")
			for i := range 8 {
				k := fmt.Sprint("K", i%7+1)
				a.Op("KMOVB", "R8", k)
				a.Op("SHRQ", "$8", "R8")
				a.Op("VPXORQ", a.Mem(p[1], i), acc[i%4], k, acc[i%4])
			}
			a.Advance(p, 0, 512, 4)
		})
		a.Op("VPXORQ", acc[1], acc[0], acc[0])
		a.Op("VPXORQ", acc[3], acc[2], acc[2])
		a.Op("VPXORQ", acc[2], acc[0], acc[0])
		a.Store(acc[0], p[0], 0)
	})
}

// batch writes 32 sums of weights for each iteration: those whose bit is set in the words
// of their columns, count of them and stride bytes apart.
func (a *asm) batch() {
	args := []string{"dst *gf2.Polyval", "words *uint32", "stride int", "weights *gf2.Polyval", "count int"}
	a.Function(vecasm.Function{Name: "batch", Args: args, Block: 32}, func(p []string) {
		dst, words, stride, weights, count := p[0], p[1], p[2], p[3], p[4]
		a.Op("MOVQ", "$0x5555555555555555", "AX")
		a.Loop("loop", a.N(), func() {
			var acc [8]vecasm.Reg
			for i := range acc {
				acc[i] = a.Zero()
			}
			a.Op("MOVQ", words, "R10")
			a.Op("MOVQ", weights, "R11")
			a.Op("MOVQ", count, "R12")
			a.Loop("weight", "R12", func() {
				w := a.Broadcast128("R11", 0)
				a.Op("MOVL", "(R10)", "R9")
				a.Op("PDEPQ", "AX", "R9", "R9")
				a.Op("LEAQ", "(R9)(R9*2)", "R9")
				for i := range acc {
					k := fmt.Sprint("K", i%7+1)
					a.Op("KMOVB", "R9", k)
					a.Op("SHRQ", "$8", "R9")
					a.Op("VPXORQ", w, acc[i], k, acc[i])
				}
				a.Op("ADDQ", stride, "R10")
				a.Op("ADDQ", "$16", "R11")
			})
			for i, r := range acc {
				a.Store(r, dst, i)
			}
			a.Op("ADDQ", "$512", dst)
			a.Op("ADDQ", "$4", words)
		})
	})
}

// add is a[i] + b[i].
func (a *asm) add() {
	a.Function(vecasm.Function{Name: "add", Args: []string{"dst *gf2.Element", "a *gf2.Element", "b *gf2.Element"}, Block: 8}, func(p []string) {
		a.Repeat(p, []int{128, 128, 128}, func() {
			for i := range 2 {
				v := a.Load(p[1], i)
				a.Op("VPXORQ", a.Mem(p[2], i), v, v)
				a.Store(v, p[0], i)
			}
		})
	})
}

func words(list ...uint64) (out []uint32) {
	for _, v := range list {
		out = append(out, uint32(v), uint32(v>>32))
	}
	return out
}

func run() error {
	a := &asm{X86: vecasm.X86{Asm: vecasm.New(vecasm.AVX512, "genwindow")}}
	// Row i of a matrix over GF(2) is byte 7-i: bit i of the result is a bit of the
	// low or the high nibble, each of them twice.
	var low, high uint64
	for i := range 8 {
		low |= 1 << (i / 2) << (8 * (7 - i))
		high |= 16 << (i / 2) << (8 * (7 - i))
	}
	a.Data("nibbles", words(low, high))
	// Unpacking works on 128 bits at a time: bytes 0..7 of each in one vector and
	// bytes 8..15 in another.
	a.Data("order", words(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15))
	a.spread()
	a.masked()
	a.batch()
	a.add()
	for d := 2; d <= 5; d++ {
		vars := 2
		if d == 5 { // 36 rows are more than there are registers
			vars = 1
		}
		a.window(d, vars, false)
		a.window(d, vars, true)
	}
	return os.WriteFile("window_avx512_amd64.s", []byte(a.String()), 0o644)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "genwindow:", err)
		os.Exit(1)
	}
}
