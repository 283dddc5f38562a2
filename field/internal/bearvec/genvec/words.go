package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// wordFunctions are those on the prime field.
func (a *asm) wordFunctions() {
	step := a.Bytes
	binary := func(name string, unroll int, f func(p []string, i int) vecasm.Reg) {
		a.function(name, unroll*a.Words(), []string{"dst *uint32", "a *uint32", "b *uint32"}, func(p []string) {
			a.Repeat(p, []int{unroll * step, unroll * step, unroll * step}, func() {
				for i := range unroll {
					a.Store(f(p, i), p[0], i)
				}
			})
		})
	}
	add := func(p []string, i int) vecasm.Reg { return a.add(a.Load(p[1], i), a.Load(p[2], i)) }
	sub := func(p []string, i int) vecasm.Reg { return a.sub(a.Load(p[1], i), a.Load(p[2], i)) }
	const unroll = 2
	binary("add", unroll, add)
	binary("sub", unroll, sub)
	binary("addOne", 1, add) // one vector at a time
	binary("subOne", 1, sub)
	binary("mul", unroll, func(p []string, i int) vecasm.Reg { return a.times(a.Load(p[1], i), p[2], i) })
	a.function("scale", unroll*a.Words(), []string{"dst *uint32", "a *uint32", "s *factor"}, func(p []string) {
		s := a.factor(p[2], 0)
		a.Repeat(p, []int{unroll * step, unroll * step}, func() {
			for i := range unroll {
				a.Store(a.scaled(a.Load(p[1], i), s), p[0], i)
			}
		})
	})
}

// radix4 is two layers of butterflies without their twiddles: the sums of x0 to x3
// with the factors 1, 1, 1, 1; 1, -1, 1, -1; 1, i, -1, -i; 1, -i, -1, i.
func (a *asm) radix4(x [4]vecasm.Reg, i factor) [4]vecasm.Reg {
	b0, b1 := a.add(x[0], x[2]), a.sub(x[0], x[2])
	b2, b3 := a.add(x[1], x[3]), a.scaled(a.sub(x[1], x[3]), i)
	return [4]vecasm.Reg{a.add(b0, b2), a.sub(b0, b2), a.add(b1, b3), a.sub(b1, b3)}
}

// transposed exchanges rows and columns of four by four words in every 128-bit lane.
func (a *asm) transposed(x [4]vecasm.Reg) [4]vecasm.Reg {
	l0, h0 := a.To("VPUNPCKLDQ", x[1], x[0]), a.To("VPUNPCKHDQ", x[1], x[0])
	l1, h1 := a.To("VPUNPCKLDQ", x[3], x[2]), a.To("VPUNPCKHDQ", x[3], x[2])
	return [4]vecasm.Reg{
		a.To("VPUNPCKLQDQ", l1, l0), a.To("VPUNPCKHQDQ", l1, l0),
		a.To("VPUNPCKLQDQ", h1, h0), a.To("VPUNPCKHQDQ", h1, h0),
	}
}

// butterflies are for transforms. The twiddles of output 1 are w2's, of output 2
// w1's.
func (a *asm) butterflies() {
	step := a.Bytes
	a.function("radix4", a.Words(), []string{"x0 *uint32", "x1 *uint32", "x2 *uint32", "x3 *uint32", "w1 *uint32", "w2 *uint32", "w3 *uint32", "i *factor"}, func(p []string) {
		i := a.factor(p[7], 0)
		a.Repeat(p, []int{step, step, step, step, step, step, step}, func() {
			y := a.radix4([4]vecasm.Reg{a.Load(p[0], 0), a.Load(p[1], 0), a.Load(p[2], 0), a.Load(p[3], 0)}, i)
			a.Store(y[0], p[0], 0)
			a.Store(a.times(y[1], p[5], 0), p[1], 0)
			a.Store(a.times(y[2], p[4], 0), p[2], 0)
			a.Store(a.times(y[3], p[6], 0), p[3], 0)
		})
	})
	// As many transforms of 16 as a vector has 128-bit lanes, one in each. w is the
	// twiddles w1, w2 and w3.
	lanes := a.Bytes / 16
	a.function("radix16", 16*lanes, []string{"x *uint32", "w *uint32", "i *factor"}, func(p []string) {
		i := a.factor(p[2], 0)
		a.Repeat(p, []int{4 * step}, func() {
			x := a.radix4(a.lanes(p[0]), i)
			for k, w := range []int{0, 1, 0, 2} {
				if k > 0 {
					x[k] = a.mul(x[k], a.Broadcast128(p[1], 16*w))
				}
			}
			a.storeLanes(a.transposed(a.radix4(a.transposed(x), i)), p[0])
		})
	})
}

// lanes reads four vectors' worth of words, of which lane j of vector k is the 16
// bytes at 4j + k.
func (a *asm) lanes(pointer string) [4]vecasm.Reg {
	if a.Wide() {
		return a.crossed([4]vecasm.Reg{a.Load(pointer, 0), a.Load(pointer, 1), a.Load(pointer, 2), a.Load(pointer, 3)})
	}
	var x [4]vecasm.Reg
	for k := range x {
		lo, hi := a.Load(pointer, k/2), a.Load(pointer, 2+k/2)
		x[k] = a.To("VPERM2I128", fmt.Sprintf("$%#x", 0x20+0x11*(k%2)), hi, lo)
	}
	return x
}

// storeLanes is the opposite of lanes.
func (a *asm) storeLanes(x [4]vecasm.Reg, pointer string) {
	if a.Wide() {
		for k, r := range a.crossed(x) {
			a.Store(r, pointer, k)
		}
		return
	}
	for k := range x {
		pair := k % 2 * 2
		a.Store(a.To("VPERM2I128", fmt.Sprintf("$%#x", 0x20+0x11*(k/2)), x[pair+1], x[pair]), pointer, k)
	}
}

// crossed exchanges rows and columns of four by four 128-bit lanes.
func (a *asm) crossed(x [4]vecasm.Reg) [4]vecasm.Reg {
	l, h := a.To("VSHUFI32X4", "$0x44", x[1], x[0]), a.To("VSHUFI32X4", "$0xee", x[1], x[0])
	m, n := a.To("VSHUFI32X4", "$0x44", x[3], x[2]), a.To("VSHUFI32X4", "$0xee", x[3], x[2])
	return [4]vecasm.Reg{
		a.To("VSHUFI32X4", "$0x88", m, l), a.To("VSHUFI32X4", "$0xdd", m, l),
		a.To("VSHUFI32X4", "$0x88", n, h), a.To("VSHUFI32X4", "$0xdd", n, h),
	}
}
