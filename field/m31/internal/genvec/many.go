package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// eight addresses eight arrays that lie stride bytes apart. The register of the
// first one moves with the loop, and so must fourth.
type eight struct{ first, stride, fourth, triple string }

// eightArrays readies R11 and R12.
func (a *asm) eightArrays(first, stride string) eight {
	e := eight{first, stride, "R11", "R12"}
	a.Op("LEAQ", fmt.Sprintf("(%s)(%s*2)", stride, stride), e.triple)
	a.Op("LEAQ", fmt.Sprintf("(%s)(%s*4)", first, stride), e.fourth)
	return e
}

// memOf is the i-th vector of array k.
func (a *asm) memOf(e eight, k, i int) string { return a.rowOf(e, k, i*a.Bytes) }

// manyFunctions work on eight arrays at once.
func (a *asm) manyFunctions() {
	step := a.Bytes
	// Four dot products of a with arrays stride bytes apart, added to what out
	// holds.
	a.function("dotFour", 2*a.Words(), []string{"out *lazySums", "a *Element", "b *Element", "stride int"}, func(p []string) {
		e := a.eightArrays(p[2], p[3])
		var s [4]lazySum
		for k := range s {
			s[k] = lazySum{a.Load(p[0], 2*k), a.Load(p[0], 2*k+1)}
		}
		a.Repeat([]string{p[1], p[2], e.fourth}, []int{2 * step, 2 * step, 2 * step}, func() {
			for k := range s {
				var v vecasm.Reg
				for i := range 2 {
					v = a.plus(v, a.To("VPMULUDQ", a.memOf(e, k, i), a.Load(p[1], i)))
					v = a.plus(v, a.To("VPMULUDQ", a.Odd(a.memOf(e, k, i)), a.Odd(a.Mem(p[1], i))))
				}
				a.addTo(s[k], v)
			}
		})
		a.storeSums(p[0], s[:]...)
	})
	// The sum of eight arrays times a scalar each: 16 bytes of its words, then
	// 16 bytes with the odd ones in even places.
	a.function("combine", a.Words(), []string{"dst *QM31", "a *Element", "stride int", "s *scalars"}, func(p []string) {
		e := a.eightArrays(p[1], p[2])
		spread := a.spread()
		group := 2 // quarters at a time, as registers allow
		if a.Wide() {
			group = 4
		}
		a.Repeat([]string{p[0], p[1], e.fourth}, []int{4 * step, step, step}, func() {
			for first := 0; first < 4; first += group {
				var even, odd [4]vecasm.Reg
				for k := range 8 {
					x := a.To("VMOVDQU"+a.Suffix("32"), a.memOf(e, k, 0))
					se, so := a.Broadcast128(p[3], 32*k), a.Broadcast128(p[3], 32*k+16)
					for i := first; i < first+group; i++ {
						if k == 4 { // no more than four products fit
							even[i], odd[i] = a.folded(even[i]), a.folded(odd[i])
						}
						v := a.expand(x, spread[i])
						even[i] = a.plus(even[i], a.To("VPMULUDQ", se, v))
						odd[i] = a.plus(odd[i], a.To("VPMULUDQ", so, v))
					}
				}
				for i := first; i < first+group; i++ {
					a.Store(a.reduce64(even[i], odd[i]), p[0], i)
				}
			}
		})
	})
}

// folded is 64-bit lanes as ones below 2^34.
func (a *asm) folded(v vecasm.Reg) vecasm.Reg {
	p := a.To("VPSRLQ", "$32", a.off) // P in 64 bits
	return a.plus(a.To("VPAND"+a.Suffix("Q"), p, v), a.To("VPSRLQ", "$31", v))
}
