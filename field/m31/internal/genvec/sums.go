package main

import "github.com/zkwarp/zkwarp/internal/vecasm"

// pairSums are the four lazy sums of products of QM31 elements A + uB and C +
// uD: in the two 64-bit lanes of an element (AC, BD) real, (AC, BD) imaginary,
// (AD, BC) real, (AD, BC) imaginary.
type pairSums [4]lazySum

func (a *asm) newPairSums() (s pairSums) {
	for i := range s {
		s[i] = a.newSum()
	}
	return s
}

// addPairs adds the products of one or two vectors each.
func (a *asm) addPairs(s pairSums, x, y []vecasm.Reg) {
	var terms [4]vecasm.Reg
	for i := range x {
		re, im := x[i], a.Odd(x[i])
		minus := a.To("VPSUBD", im, a.prime)
		for k := range 2 { // C, D and D, C
			c := y[i]
			if k == 1 {
				c = a.To("VPSHUFD", "$0x4e", c)
			}
			cim := a.Odd(c)
			t := &terms[2*k]
			*t = a.plus(a.plus(*t, a.To("VPMULUDQ", re, c)), a.To("VPMULUDQ", minus, cim))
			t = &terms[2*k+1]
			*t = a.plus(a.plus(*t, a.To("VPMULUDQ", re, cim)), a.To("VPMULUDQ", im, c))
			if i == len(x)-1 {
				a.addTo(s[2*k], terms[2*k])
				a.addTo(s[2*k+1], terms[2*k+1])
			}
		}
	}
}

// sumFunctions are the sums with elements of QM31.
func (a *asm) sumFunctions() {
	step := a.Bytes
	// One vector at a time where there are 16 registers.
	unroll := 1
	if a.Wide() {
		unroll = 2
	}
	a.function("dotBase", a.Words(), []string{"out *lazySums", "a *Element", "b *QM31"}, func(p []string) {
		spread := a.spread()
		even, odd := a.newSum(), a.newSum()
		a.Repeat(p, []int{0, step, 4 * step}, func() {
			x := a.Load(p[1], 0)
			var e, o vecasm.Reg
			for i, quarter := range spread {
				v := a.expand(x, quarter)
				e = a.plus(e, a.To("VPMULUDQ", a.Mem(p[2], i), v))
				o = a.plus(o, a.To("VPMULUDQ", a.Odd(a.Mem(p[2], i)), v))
			}
			a.addTo(even, e)
			a.addTo(odd, o)
		})
		a.storeSums(p[0], even, odd)
	})
	a.function("dotBaseTwo", a.Words(), []string{"out *lazySums", "a0 *Element", "a1 *Element", "b0 *QM31", "b1 *QM31"}, func(p []string) {
		spread := a.spread()
		even, odd := a.newSum(), a.newSum()
		a.Repeat(p, []int{0, step, step, 4 * step, 4 * step}, func() {
			x := a.atTwo(a.Load(p[1], 0), a.Load(p[2], 0))
			var e, o vecasm.Reg
			for i, quarter := range spread {
				v := a.expand(x, quarter)
				y := a.atTwo(a.Load(p[3], i), a.Load(p[4], i))
				e = a.plus(e, a.To("VPMULUDQ", y, v))
				o = a.plus(o, a.To("VPMULUDQ", a.Odd(y), v))
			}
			a.addTo(even, e)
			a.addTo(odd, o)
		})
		a.storeSums(p[0], even, odd)
	})
	a.function("dotQM31", unroll*a.Words()/4, []string{"out *lazySums", "a *QM31", "b *QM31"}, func(p []string) {
		s := a.newPairSums()
		a.Repeat(p, []int{0, unroll * step, unroll * step}, func() {
			var x, y []vecasm.Reg
			for i := range unroll {
				x, y = append(x, a.Load(p[1], i)), append(y, a.Load(p[2], i))
			}
			a.addPairs(s, x, y)
		})
		a.storeSums(p[0], s[:]...)
	})
	a.function("dotQM31Two", unroll*a.Words()/4, []string{"out *lazySums", "a0 *QM31", "a1 *QM31", "b0 *QM31", "b1 *QM31"}, func(p []string) {
		s := a.newPairSums()
		a.Repeat(p, []int{0, unroll * step, unroll * step, unroll * step, unroll * step}, func() {
			var x, y []vecasm.Reg
			for i := range unroll {
				x = append(x, a.atTwo(a.Load(p[1], i), a.Load(p[2], i)))
				y = append(y, a.atTwo(a.Load(p[3], i), a.Load(p[4], i)))
			}
			a.addPairs(s, x, y)
		})
		a.storeSums(p[0], s[:]...)
	})
}
