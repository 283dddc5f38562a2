package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// spread is what takes a vector of words apart to the coefficients of elements: the
// i-th of degree vectors gets each of its elements' words in all of the element's
// places.
type spread struct {
	a      *asm
	degree int
	held   []vecasm.Reg // the tables, where registers allow
}

func (a *asm) spread(degree int) spread {
	s := spread{a: a, degree: degree}
	if a.Wide() {
		for i := range degree {
			s.held = append(s.held, a.Table(fmt.Sprintf("spread%d%d", degree, i)))
		}
	}
	return s
}

func (s spread) expand(x vecasm.Reg, i int) vecasm.Reg {
	if s.held != nil {
		return s.a.To("VPERMD", x, s.held[i])
	}
	return s.a.To("VPERMD", x, s.a.Table(fmt.Sprintf("spread%d%d", s.degree, i)))
}

// odd is the odd words of expanded ones in even places. Elements of four words have
// the same in both.
func (s spread) odd(v vecasm.Reg) vecasm.Reg {
	if s.degree == 4 {
		return v
	}
	return s.a.Odd(v)
}

// constant is an element of which each word, and the word times 1/P modulo 2^32, is
// repeated in memory after the words before it, 80 words each.
type constant struct {
	a       *asm
	pointer string
	degree  int
	held    [4]vecasm.Reg // of four words: the words and the odd ones, the quotients and the odd ones
}

const constantWords = 80

func (a *asm) constant(pointer string, degree int) constant {
	c := constant{a: a, pointer: pointer, degree: degree}
	if degree == 4 {
		for k := range 2 {
			c.held[2*k] = a.Broadcast128(pointer, 4*constantWords*k)
			c.held[2*k+1] = a.Odd(c.held[2*k])
		}
	}
	return c
}

// times is the product with the i-th vector of expanded words.
func (c constant) times(v vecasm.Reg, s spread, i int) vecasm.Reg {
	a := c.a
	if c.degree == 4 {
		t := a.taken(a.long(v, c.held[2]), a.long(v, c.held[3]))
		return a.sub(a.high(a.long(v, c.held[0]), a.long(v, c.held[1])), t)
	}
	at := func(k int) string { return fmt.Sprintf("%d(%s)", 4*constantWords*k+i*a.Bytes, c.pointer) }
	o := s.odd(v)
	t := a.taken(a.long(at(1), v), a.long(a.Odd(at(1)), o))
	return a.sub(a.high(a.long(at(0), v), a.long(a.Odd(at(0)), o)), t)
}

// firstOnly keeps the words of the i-th vector that are an element's first.
func (a *asm) firstOnly(v vecasm.Reg, degree, i int) vecasm.Reg {
	if degree == 4 {
		i = 0
	}
	return a.And(v, a.Table(fmt.Sprintf("first%d%d", degree, i)))
}

// baseFunctions are those on tables of words and tables of elements of an extension.
func (a *asm) baseFunctions(degree int) {
	step := a.Bytes
	name := func(s string) string { return fmt.Sprint(s, degree) }
	a.function(name("foldBase"), a.Words(), []string{"dst *uint32", "lo *uint32", "hi *uint32", "r *constant"}, func(p []string) {
		s, r := a.spread(degree), a.constant(p[3], degree)
		a.Repeat(p, []int{degree * step, step, step}, func() {
			lo := a.Load(p[1], 0)
			d := a.sub(a.Load(p[2], 0), lo)
			for i := range degree {
				v := r.times(s.expand(d, i), s, i)
				a.Store(a.add(a.firstOnly(s.expand(lo, i), degree, i), v), p[0], i)
			}
		})
	})
	a.function(name("mulAddBase"), a.Words(), []string{"dst *uint32", "x *uint32", "c *constant"}, func(p []string) {
		s, c := a.spread(degree), a.constant(p[2], degree)
		a.Repeat(p, []int{degree * step, step}, func() {
			x := a.Load(p[1], 0)
			for i := range degree {
				a.Store(a.add(c.times(s.expand(x, i), s, i), a.Load(p[0], i)), p[0], i)
			}
		})
	})
	// Sums of products of words x(0) and elements y(i). Those of four words are
	// summed up as they are, four at a time; others by place, after reduction.
	dot := func(p []string, steps []int, x func() vecasm.Reg, y func(i int) vecasm.Reg) {
		s := a.spread(degree)
		if degree == 4 {
			even, odd := a.newSum(), a.newSum()
			a.Repeat(p, steps, func() {
				x := x()
				var e, o vecasm.Reg
				for i := range degree {
					v, y := s.expand(x, i), y(i)
					e = a.plus(e, a.long(v, y))
					o = a.plus(o, a.long(v, a.Odd(y)))
				}
				a.addTo(even, e)
				a.addTo(odd, o)
			})
			a.storeSums(p[0], even, odd)
			return
		}
		var sums []vecasm.Reg
		for range degree {
			sums = append(sums, a.Zero())
		}
		a.Repeat(p, steps, func() {
			x := x()
			for i := range degree {
				v := a.mul(s.expand(x, i), y(i))
				a.Op("VPADDD", v, sums[i], sums[i])
				a.Op("VPMINUD", a.To("VPSUBD", a.prime, sums[i]), sums[i], sums[i])
			}
		})
		for i, v := range sums {
			a.Store(v, p[0], i)
		}
	}
	a.function(name("dotBase"), a.Words(), []string{"out *sums", "x *uint32", "y *uint32"}, func(p []string) {
		dot(p, []int{0, step, degree * step},
			func() vecasm.Reg { return a.Load(p[1], 0) },
			func(i int) vecasm.Reg { return a.Load(p[2], i) })
	})
	a.function(name("dotBaseStep"), a.Words(), []string{"out *sums", "x0 *uint32", "x1 *uint32", "y0 *uint32", "y1 *uint32"}, func(p []string) {
		dot(p, []int{0, step, step, degree * step, degree * step},
			func() vecasm.Reg { return a.sub(a.Load(p[2], 0), a.Load(p[1], 0)) },
			func(i int) vecasm.Reg { return a.sub(a.Load(p[4], i), a.Load(p[3], i)) })
	})
}
