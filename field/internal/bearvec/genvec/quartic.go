package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// An element of degree four fills a 128-bit lane. Words 0 and 2 of products come out
// of one 64-bit vector, words 1 and 3 out of another.

// swapped exchanges the 64-bit halves of each lane.
func (a *asm) swapped(x any) vecasm.Reg { return a.To("VPSHUFD", "$0x4e", x) }

// matrix is multiplication by a constant, in the order in which linear uses it.
func (a *asm) matrix(pointer string) (m [8]vecasm.Reg) {
	for i := range m {
		m[i] = a.Broadcast128(pointer, 16*i)
	}
	return m
}

// linear is m x.
func (a *asm) linear(m [8]vecasm.Reg, x vecasm.Reg) vecasm.Reg {
	var e, o vecasm.Reg
	add := func(k int, v vecasm.Reg) {
		e, o = a.plus(e, a.long(m[k], v)), a.plus(o, a.long(m[4+k], v))
	}
	add(0, x)            // words 0 and 2
	add(1, a.swapped(x)) // 2 and 0
	x = a.Odd(x)
	add(2, x)            // 1 and 3
	add(3, a.swapped(x)) // 3 and 1
	return a.reduceFour(e, o)
}

// addProducts adds the products of x and y to the sums that are asked for: in the 64-bit halves of an element, by the coefficient of the
// product that they belong to,
//
//	a0b0, a2b2: 0, 4    a0b1+a1b0, a2b3+a3b2: 1, 5    a1b1, a3b3: 2, 6
//	a0b2, a2b0: 2       a0b3+a1b2, a2b1+a3b0: 3       a1b3, a3b1: 4
//
// in this order.
func (a *asm) addProducts(s map[int]lazySum, x, y vecasm.Reg) {
	xo, yo := a.Odd(x), a.Odd(y)
	if t, ok := s[0]; ok {
		a.addTo(t, a.long(x, y))
	}
	if t, ok := s[1]; ok {
		a.addTo(t, a.plus(a.long(x, yo), a.long(xo, y)))
	}
	if t, ok := s[2]; ok {
		a.addTo(t, a.long(xo, yo))
	}
	y = a.swapped(y)
	if t, ok := s[3]; ok {
		a.addTo(t, a.long(x, y))
	}
	yo = a.swapped(yo)
	if t, ok := s[4]; ok {
		a.addTo(t, a.plus(a.long(x, yo), a.long(xo, y)))
	}
	if t, ok := s[5]; ok {
		a.addTo(t, a.long(xo, yo))
	}
}

// dot sums the products of elements x() and y(), all at once or, where there are
// fewer registers, in two loops.
func (a *asm) dot(p []string, steps []int, x, y func() vecasm.Reg) {
	groups := [][]int{{0, 1, 2, 3, 4, 5}}
	if !a.Wide() {
		groups = [][]int{{0, 2, 3, 5}, {1, 4}}
	}
	saved := []string{"R10", "R11", "R12", "R13"}
	for k, r := range p[1:] {
		a.Op("MOVQ", r, saved[k])
	}
	a.Op("MOVQ", a.N(), "AX")
	for g, group := range groups {
		if g > 0 {
			for k, r := range p[1:] {
				a.Op("MOVQ", saved[k], r)
			}
			a.Op("MOVQ", "AX", a.N())
		}
		sums := map[int]lazySum{}
		for _, k := range group {
			sums[k] = a.newSum()
		}
		a.Loop(fmt.Sprint("loop", g), a.N(), func() {
			a.addProducts(sums, x(), y())
			a.Advance(p, steps...)
		})
		for _, k := range group {
			a.Store(sums[k].all, p[0], 2*k)
			a.Store(sums[k].high, p[0], 2*k+1)
		}
	}
}

// quartic are the functions on elements of degree four.
func (a *asm) quartic() {
	step, block := a.Bytes, a.Words()/4
	a.function("fold4", block, []string{"dst *uint32", "lo *uint32", "hi *uint32", "m *matrix"}, func(p []string) {
		m := a.matrix(p[3])
		a.Repeat(p, []int{step, step, step}, func() {
			v := a.linear(m, a.sub(a.Load(p[2], 0), a.Load(p[1], 0)))
			a.Store(a.add(v, a.Load(p[1], 0)), p[0], 0)
		})
	})
	a.function("mulAdd4", block, []string{"dst *uint32", "x *uint32", "m *matrix"}, func(p []string) {
		m := a.matrix(p[2])
		a.Repeat(p, []int{step, step}, func() {
			a.Store(a.add(a.linear(m, a.Load(p[1], 0)), a.Load(p[0], 0)), p[0], 0)
		})
	})
	a.function("scale4", block, []string{"dst *uint32", "x *uint32", "m *matrix"}, func(p []string) {
		m := a.matrix(p[2])
		a.Repeat(p, []int{step, step}, func() {
			a.Store(a.linear(m, a.Load(p[1], 0)), p[0], 0)
		})
	})
	a.function("dot4", block, []string{"out *sums", "x *uint32", "y *uint32"}, func(p []string) {
		a.dot(p, []int{0, step, step},
			func() vecasm.Reg { return a.Load(p[1], 0) },
			func() vecasm.Reg { return a.Load(p[2], 0) })
	})
	a.function("dotStep4", block, []string{"out *sums", "x0 *uint32", "x1 *uint32", "y0 *uint32", "y1 *uint32"}, func(p []string) {
		a.dot(p, []int{0, step, step, step, step},
			func() vecasm.Reg { return a.sub(a.Load(p[2], 0), a.Load(p[1], 0)) },
			func() vecasm.Reg { return a.sub(a.Load(p[4], 0), a.Load(p[3], 0)) })
	})
	// The sum of four arrays of words, stride bytes apart, times a constant each.
	// For each of them m has its words, and the odd ones in even places.
	a.function("mulAddFour4", a.Words(), []string{"dst *uint32", "x *uint32", "stride int", "m *matrix"}, func(p []string) {
		s := a.spread(4)
		a.Op("LEAQ", fmt.Sprintf("(%s)(%s*2)", p[2], p[2]), "R11")
		rows := []string{"(" + p[1] + ")", "(" + p[1] + ")(" + p[2] + "*1)", "(" + p[1] + ")(" + p[2] + "*2)", "(" + p[1] + ")(R11*1)"}
		a.Repeat(p, []int{4 * step, step}, func() {
			for i := range 4 {
				var e, o vecasm.Reg
				for k, row := range rows {
					v := s.expand(a.To("VMOVDQU"+a.Suffix("32"), row), i)
					e = a.plus(e, a.long(a.Broadcast128(p[3], 32*k), v))
					o = a.plus(o, a.long(a.Broadcast128(p[3], 32*k+16), v))
				}
				a.Store(a.add(a.reduceFour(e, o), a.Load(p[0], i)), p[0], i)
			}
		})
	})
}
