package main

// wordFunctions are those on the prime field.
func (a *asm) wordFunctions() {
	step := a.isa.bytes
	const unroll = 2
	binary := func(name string, f func(p []string, i int) reg) {
		a.function(name, []string{"dst *Element", "a *Element", "b *Element"}, unroll*a.isa.words(), func(p []string) {
			a.loop(p, []int{unroll * step, unroll * step, unroll * step}, func() {
				for i := range unroll {
					a.store(f(p, i), p[0], i)
				}
			})
		})
	}
	binary("add", func(p []string, i int) reg { return a.add(a.load(p[1], i), a.load(p[2], i)) })
	binary("sub", func(p []string, i int) reg { return a.sub(a.load(p[1], i), a.load(p[2], i)) })
	binary("mul", func(p []string, i int) reg { return a.mul(p[1], p[2], i) })
	scaled := func(name string, f func(p []string, i int, twice reg) reg) {
		a.function(name, []string{"dst *Element", "a *Element", "s *Element"}, unroll*a.isa.words(), func(p []string) {
			s := a.to("VPBROADCASTD", "("+p[2]+")")
			a.op("VPADDD", s, s, s)
			a.loop(p, []int{unroll * step, unroll * step}, func() {
				for i := range unroll {
					a.store(f(p, i, s), p[0], i)
				}
			})
		})
	}
	scaled("scale", func(p []string, i int, twice reg) reg { return a.scale(p[1], i, twice) })
	scaled("mulAdd", func(p []string, i int, twice reg) reg {
		return a.add(a.scale(p[1], i, twice), a.load(p[0], i))
	})

	a.function("sum", []string{"out *lazySums", "a *Element"}, unroll*a.isa.words(), func(p []string) {
		s := a.newSum()
		a.loop(p, []int{0, unroll * step}, func() {
			for i := range unroll {
				a.addTo(s, a.load(p[1], i))
			}
		})
		a.storeSums(p[0], s)
	})
	a.function("dot", []string{"out *lazySums", "a *Element", "b *Element"}, unroll*a.isa.words(), func(p []string) {
		s := a.newSum()
		a.loop(p, []int{0, unroll * step, unroll * step}, func() {
			var v reg
			for i := range unroll {
				v = a.plus(v, a.to("VPMULUDQ", a.load(p[1], i), a.load(p[2], i)))
				v = a.plus(v, a.to("VPMULUDQ", a.odd(a.mem(p[1], i)), a.odd(a.mem(p[2], i))))
			}
			a.addTo(s, v)
		})
		a.storeSums(p[0], s)
	})
	a.function("dotTwo", []string{"out *lazySums", "a0 *Element", "a1 *Element", "b0 *Element", "b1 *Element"}, unroll*a.isa.words(), func(p []string) {
		s := a.newSum()
		a.loop(p, []int{0, unroll * step, unroll * step, unroll * step, unroll * step}, func() {
			var v reg
			for i := range unroll {
				x := a.atTwo(a.load(p[1], i), a.load(p[2], i))
				y := a.atTwo(a.load(p[3], i), a.load(p[4], i))
				v = a.plus(a.plus(v, a.to("VPMULUDQ", x, y)), a.to("VPMULUDQ", a.odd(x), a.odd(y)))
			}
			a.addTo(s, v)
		})
		a.storeSums(p[0], s)
	})
}
