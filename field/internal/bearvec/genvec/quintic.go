package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// place is where a word of a vector comes from.
type place struct{ vector, word int }

// gather moves the words of `from` vectors to as many others by tables.
type gather struct {
	name  string
	from  int
	place func(out, word int) place
}

// apart takes elements that lie one after the other to their coefficients, in a
// vector each; together is the opposite.
func (a *asm) apart(degree int) gather {
	return gather{fmt.Sprint("apart", degree), degree, func(out, word int) place {
		at := degree*word + out
		return place{at / a.Words(), at % a.Words()}
	}}
}

func (a *asm) together(degree int) gather {
	return gather{fmt.Sprint("together", degree), degree, func(out, word int) place {
		at := out*a.Words() + word
		return place{at % degree, at / degree}
	}}
}

// tables writes one of positions for each pair of vectors in which words move. With
// AVX-512 a table picks from the vector so far and the next one.
func (a *asm) tables(g gather) {
	for out := range g.from {
		for from := range g.from {
			var index []uint32
			for w := range a.Words() {
				switch p := g.place(out, w); {
				case a.Wide() && p.vector == 0 && from == 1:
					index = append(index, uint32(p.word))
				case a.Wide() && p.vector == from:
					index = append(index, uint32(a.Words()+p.word))
				case a.Wide():
					index = append(index, uint32(w))
				default:
					index = append(index, uint32(p.word))
				}
			}
			if !a.Wide() || from > 0 {
				a.Data(g.table(out, from)+a.Name, index)
			}
		}
	}
}

func (g gather) table(out, from int) string { return fmt.Sprintf("%s%d%d", g.name, out, from) }

// gathered is the vector `out` of those in memory.
func (a *asm) gathered(g gather, out int, mem func(from int) string) vecasm.Reg {
	var r vecasm.Reg
	if a.Wide() {
		r = a.To("VMOVDQU32", mem(0))
		for from := 1; from < g.from; from++ {
			a.Op("VPERMT2D", mem(from), a.Table(g.table(out, from)), r)
		}
		return r
	}
	for from := range g.from {
		mask := 0
		for w := range a.Words() {
			if g.place(out, w).vector == from {
				mask |= 1 << w
			}
		}
		if mask == 0 {
			continue
		}
		v := a.To("VPERMD", mem(from), a.Table(g.table(out, from)))
		if r == 0 {
			r = v
		} else {
			r = a.To("VPBLENDD", fmt.Sprintf("$%#x", mask), v, r)
		}
	}
	return r
}

// rows addresses five arrays that lie stride bytes apart; AX becomes 3 stride.
func (a *asm) rows(first, stride string) (rows [5]string) {
	a.Op("LEAQ", fmt.Sprintf("(%s)(%s*2)", stride, stride), "AX")
	for k, at := range []string{"", "(" + stride + "*1)", "(" + stride + "*2)", "(AX*1)", "(" + stride + "*4)"} {
		rows[k] = "(" + first + ")" + at
	}
	return rows
}

// fiveProducts is the reduced sum of the products of the vectors x(i) in memory and
// of even and odd words y(i).
func (a *asm) fiveProducts(x func(i int) string, y func(i int) (even, odd vecasm.Reg)) vecasm.Reg {
	top := a.To("VPSLLQ", "$32", a.prime) // P in the high words of 64-bit lanes
	fold := func(s vecasm.Reg) vecasm.Reg { return a.To("VPMINUD", a.To("VPSUBD", top, s), s) }
	var e, o vecasm.Reg
	for i := range 5 {
		if i == 4 {
			e, o = fold(e), fold(o)
		}
		even, odd := y(i)
		e = a.plus(e, a.long(x(i), even))
		o = a.plus(o, a.long(a.Odd(x(i)), odd))
	}
	return a.reduceFour(e, o)
}

// moves are the functions that move coefficients of elements.
func (a *asm) moves(degree int) {
	step, words := a.Bytes, a.Words()
	together, apart := a.together(degree), a.apart(degree)
	a.function(apart.name, words, []string{"dst *uint32", "stride int", "src *uint32"}, func(p []string) {
		rows := a.rows(p[0], p[1])
		a.Repeat([]string{p[0], p[2]}, []int{step, degree * step}, func() {
			for k := range degree {
				v := a.gathered(apart, k, func(from int) string { return a.Mem(p[2], from) })
				a.Op("VMOVDQU"+a.Suffix("32"), v, rows[k])
			}
		})
	})
	a.function(together.name, words, []string{"dst *uint32", "src *uint32", "stride int"}, func(p []string) {
		rows := a.rows(p[1], p[2])
		a.Repeat(p, []int{degree * step, step}, func() {
			for k := range degree {
				a.Store(a.gathered(together, k, func(from int) string { return rows[from] }), p[0], k)
			}
		})
	})
}

// quintic are the functions on elements of degree five.
func (a *asm) quintic() {
	step, words := a.Bytes, a.Words()
	// The sum of five arrays of words times a constant each.
	a.function("constants5", words, []string{"dst *uint32", "x *uint32", "stride int", "c *[5]uint32"}, func(p []string) {
		rows := a.rows(p[1], p[2])
		var c [5]vecasm.Reg
		for i := range c {
			c[i] = a.word(p[3], i)
		}
		a.Repeat(p, []int{step, step}, func() {
			a.Store(a.fiveProducts(func(i int) string { return rows[i] },
				func(i int) (even, odd vecasm.Reg) { return c[i], c[i] }), p[0], 0)
		})
	})
	// The sum of five arrays of words times others, given as pointers.
	a.function("products5", words, []string{"dst *uint32", "x *uint32", "stride int", "y *[5]*uint32"}, func(p []string) {
		rows := a.rows(p[1], p[2])
		y := []string{"R8", "R9", "R10", "R11", "R12"} // the field's constants have been read
		for i, r := range y {
			a.Op("MOVQ", fmt.Sprintf("%d(%s)", 8*i, p[3]), r)
		}
		a.Repeat(append([]string{p[0], p[1]}, y...), []int{step, step, step, step, step, step, step}, func() {
			a.Store(a.fiveProducts(func(i int) string { return rows[i] },
				func(i int) (even, odd vecasm.Reg) { return a.Load(y[i], 0), a.Odd(a.Mem(y[i], 0)) }), p[0], 0)
		})
	})
}
