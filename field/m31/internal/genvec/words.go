package main

import "github.com/zkwarp/zkwarp/internal/vecasm"

// wordFunctions are those on the prime field.
func (a *asm) wordFunctions() {
	step := a.Bytes
	const unroll = 2
	binary := func(name string, f func(p []string, i int) vecasm.Reg) {
		a.function(name, unroll*a.Words(), []string{"dst *Element", "a *Element", "b *Element"}, func(p []string) {
			a.Repeat(p, []int{unroll * step, unroll * step, unroll * step}, func() {
				for i := range unroll {
					a.Store(f(p, i), p[0], i)
				}
			})
		})
	}
	binary("add", func(p []string, i int) vecasm.Reg { return a.add(a.Load(p[1], i), a.Load(p[2], i)) })
	binary("sub", func(p []string, i int) vecasm.Reg { return a.sub(a.Load(p[1], i), a.Load(p[2], i)) })
	binary("mul", func(p []string, i int) vecasm.Reg { return a.mul(p[1], p[2], i) })
	a.function("ints", unroll*a.Words(), []string{"dst *Element", "a *int32"}, func(p []string) {
		a.Repeat(p, []int{unroll * step, unroll * step}, func() {
			for i := range unroll {
				a.Store(a.residue(a.Load(p[1], i)), p[0], i)
			}
		})
	})
	scaled := func(name string, f func(p []string, i int, twice vecasm.Reg) vecasm.Reg) {
		a.function(name, unroll*a.Words(), []string{"dst *Element", "a *Element", "s *Element"}, func(p []string) {
			s := a.To("VPBROADCASTD", "("+p[2]+")")
			a.Op("VPADDD", s, s, s)
			a.Repeat(p, []int{unroll * step, unroll * step}, func() {
				for i := range unroll {
					a.Store(f(p, i, s), p[0], i)
				}
			})
		})
	}
	scaled("scale", func(p []string, i int, twice vecasm.Reg) vecasm.Reg { return a.scale(p[1], i, twice) })
	scaled("mulAdd", func(p []string, i int, twice vecasm.Reg) vecasm.Reg {
		return a.add(a.scale(p[1], i, twice), a.Load(p[0], i))
	})

	a.function("sum", unroll*a.Words(), []string{"out *lazySums", "a *Element"}, func(p []string) {
		s := a.newSum()
		a.Repeat(p, []int{0, unroll * step}, func() {
			for i := range unroll {
				a.addTo(s, a.Load(p[1], i))
			}
		})
		a.storeSums(p[0], s)
	})
	a.function("dot", unroll*a.Words(), []string{"out *lazySums", "a *Element", "b *Element"}, func(p []string) {
		s := a.newSum()
		a.Repeat(p, []int{0, unroll * step, unroll * step}, func() {
			var v vecasm.Reg
			for i := range unroll {
				v = a.plus(v, a.To("VPMULUDQ", a.Load(p[1], i), a.Load(p[2], i)))
				v = a.plus(v, a.To("VPMULUDQ", a.Odd(a.Mem(p[1], i)), a.Odd(a.Mem(p[2], i))))
			}
			a.addTo(s, v)
		})
		a.storeSums(p[0], s)
	})
	a.function("dotTwo", unroll*a.Words(), []string{"out *lazySums", "a0 *Element", "a1 *Element", "b0 *Element", "b1 *Element"}, func(p []string) {
		s := a.newSum()
		a.Repeat(p, []int{0, unroll * step, unroll * step, unroll * step, unroll * step}, func() {
			var v vecasm.Reg
			for i := range unroll {
				x := a.atTwo(a.Load(p[1], i), a.Load(p[2], i))
				y := a.atTwo(a.Load(p[3], i), a.Load(p[4], i))
				v = a.plus(a.plus(v, a.To("VPMULUDQ", x, y)), a.To("VPMULUDQ", a.Odd(x), a.Odd(y)))
			}
			a.addTo(s, v)
		})
		a.storeSums(p[0], s)
	})
}
