package main

import "github.com/zkwarp/zkwarp/internal/vecasm"

// extFunctions are those on QM31.
func (a *neon) extFunctions() {
	// perWord is a function from words, four at a time, to elements.
	perWord := func(name string, args []string, steps []int, f func(p []string, s vecasm.Reg) func(i int) vecasm.Reg) {
		a.function(name, 4, args, func(p []string) {
			s := a.load(p[len(p)-1], 0)
			a.loop(p, steps, func() {
				element := f(p, s)
				for i := range 4 {
					a.store(element(i), p[0], i)
				}
			})
		})
	}
	perWord("foldBase", []string{"dst *QM31", "lo *Element", "hi *Element", "r *QM31"}, []int{64, 16, 16}, func(p []string, s vecasm.Reg) func(int) vecasm.Reg {
		lo := a.load(p[1], 0)
		d := a.sub(a.load(p[2], 0), lo)
		zero := a.Zero()
		return func(i int) vecasm.Reg {
			first := a.Copy(zero)
			a.move(first, 0, lo, i)
			return a.add(a.mul(s, a.Repeat(d, i)), first)
		}
	})
	perWord("scaleBase", []string{"dst *QM31", "a *Element", "s *QM31"}, []int{64, 16}, func(p []string, s vecasm.Reg) func(int) vecasm.Reg {
		x := a.load(p[1], 0)
		return func(i int) vecasm.Reg { return a.mul(s, a.Repeat(x, i)) }
	})
	perWord("mulAddBase", []string{"dst *QM31", "a *Element", "s *QM31"}, []int{64, 16}, func(p []string, s vecasm.Reg) func(int) vecasm.Reg {
		x := a.load(p[1], 0)
		return func(i int) vecasm.Reg { return a.add(a.mul(s, a.Repeat(x, i)), a.load(p[0], i)) }
	})
	a.function("mulBase", 4, []string{"dst *QM31", "a *Element", "b *QM31"}, func(p []string) {
		a.loop(p, []int{64, 16, 64}, func() {
			x := a.load(p[1], 0)
			for i := range 4 {
				a.store(a.mul(a.load(p[2], i), a.Repeat(x, i)), p[0], i)
			}
		})
	})
	a.function("foldQM31", 1, []string{"dst *QM31", "lo *QM31", "hi *QM31", "m *matrix"}, func(p []string) {
		m := a.matrix(p[3])
		a.loop(p, []int{16, 16, 16}, func() {
			lo := a.load(p[1], 0)
			a.store(a.add(lo, a.times(m, a.sub(a.load(p[2], 0), lo))), p[0], 0)
		})
	})
	a.function("mulAddQM31", 1, []string{"dst *QM31", "a *QM31", "m *matrix"}, func(p []string) {
		m := a.matrix(p[2])
		a.loop(p, []int{16, 16}, func() {
			a.store(a.add(a.load(p[0], 0), a.times(m, a.load(p[1], 0))), p[0], 0)
		})
	})
	a.function("scaleQM31", 1, []string{"dst *QM31", "a *QM31", "m *matrix"}, func(p []string) {
		m := a.matrix(p[2])
		a.loop(p, []int{16, 16}, func() {
			a.store(a.times(m, a.load(p[1], 0)), p[0], 0)
		})
	})
	a.function("mulQM31", 1, []string{"dst *QM31", "a *QM31", "b *QM31"}, func(p []string) {
		even := a.even()
		a.loop(p, []int{16, 16, 16}, func() {
			x := a.load(p[1], 0)
			ix := a.timesI(x, even)
			// (2+i)B, A
			b, ib := a.SwapHalves(x), a.SwapHalves(ix)
			y := a.Low2D(a.add(a.add(b, b), ib), a.SwapHalves(b))
			a.store(a.times([4]vecasm.Reg{x, ix, y, a.timesI(y, even)}, a.load(p[2], 0)), p[0], 0)
		})
	})
}

// timesI is i*x, with words that may be P.
func (a *neon) timesI(x, even vecasm.Reg) vecasm.Reg {
	s := a.SwapWords(x)
	a.Select(s, a.Sub4S(a.prime, s), even)
	return s
}

// move copies a word of x to a word of d.
func (a *neon) move(d vecasm.Reg, at int, x vecasm.Reg, word int) {
	a.Op("VMOV", vecasm.In{Before: "V", Reg: x, After: index(word)}, vecasm.In{Before: "V", Reg: d, After: index(at)})
}

func index(word int) string { return ".S[" + string(rune('0'+word)) + "]" }

// sumFunctions are the sums with elements of QM31. They leave words 0 and 2, and
// 1 and 3, in one vector each.
func (a *neon) sumFunctions() {
	base := func(name string, args []string, steps []int, f func(p []string) (x vecasm.Reg, y func(i int) vecasm.Reg)) {
		a.function(name, 4, args, func(p []string) {
			low, high := a.newSum(), a.newSum() // words 0 and 1, 2 and 3
			a.loop(p, steps, func() {
				x, y := f(p)
				first := y(0)
				v := [2]vecasm.Reg{a.MulLongBy(first, x, 0, false), a.MulLongBy(first, x, 0, true)}
				for i := 1; i < 4; i++ {
					next := y(i)
					a.MulAddLongBy(v[0], next, x, i, false)
					a.MulAddLongBy(v[1], next, x, i, true)
				}
				a.addTo(low, v[0])
				a.addTo(high, v[1])
			})
			a.storeSums(p[0], neonSum{a.Low2D(low.all, high.all), a.Low2D(low.high, high.high)},
				neonSum{a.High2D(low.all, high.all), a.High2D(low.high, high.high)})
		})
	}
	base("dotBase", []string{"out *lazySums", "a *Element", "b *QM31"}, []int{0, 16, 64}, func(p []string) (vecasm.Reg, func(int) vecasm.Reg) {
		return a.load(p[1], 0), func(i int) vecasm.Reg { return a.load(p[2], i) }
	})
	base("dotBaseTwo", []string{"out *lazySums", "a0 *Element", "a1 *Element", "b0 *QM31", "b1 *QM31"}, []int{0, 16, 16, 64, 64}, func(p []string) (vecasm.Reg, func(int) vecasm.Reg) {
		return a.atTwo(a.load(p[1], 0), a.load(p[2], 0)), func(i int) vecasm.Reg { return a.atTwo(a.load(p[3], i), a.load(p[4], i)) }
	})
	ext := func(name string, args []string, steps []int, f func(p []string) (x, y [2]vecasm.Reg)) {
		a.function(name, 2, args, func(p []string) {
			var s [4]neonSum
			for i := range s {
				s[i] = a.newSum()
			}
			a.loop(p, steps, func() {
				x, y := f(p)
				re, im := a.Even4S(x[0], x[1]), a.Odd4S(x[0], x[1]) // A and B of one element, then of the other
				minus := a.Sub4S(a.prime, im)
				c, ci := a.Even4S(y[0], y[1]), a.Odd4S(y[0], y[1])
				for k := range 2 { // C, D and D, C
					if k == 1 {
						c, ci = a.SwapWords(c), a.SwapWords(ci)
					}
					a.addTo(s[2*k], a.products([2]vecasm.Reg{re, minus}, [2]vecasm.Reg{c, ci}))
					a.addTo(s[2*k+1], a.products([2]vecasm.Reg{re, im}, [2]vecasm.Reg{ci, c}))
				}
			})
			a.storeSums(p[0], s[:]...)
		})
	}
	ext("dotQM31", []string{"out *lazySums", "a *QM31", "b *QM31"}, []int{0, 32, 32}, func(p []string) (x, y [2]vecasm.Reg) {
		for i := range 2 {
			x[i], y[i] = a.load(p[1], i), a.load(p[2], i)
		}
		return x, y
	})
	ext("dotQM31Two", []string{"out *lazySums", "a0 *QM31", "a1 *QM31", "b0 *QM31", "b1 *QM31"}, []int{0, 32, 32, 32, 32}, func(p []string) (x, y [2]vecasm.Reg) {
		for i := range 2 {
			x[i] = a.atTwo(a.load(p[1], i), a.load(p[2], i))
			y[i] = a.atTwo(a.load(p[3], i), a.load(p[4], i))
		}
		return x, y
	})
}
