package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// An element of CM31 is a 64-bit lane, the real part in the even word.

// times is x by the factors y, of which the imaginary parts stand in the even
// words of imag.
func (a *asm) times(x, y, imag vecasm.Reg) vecasm.Reg {
	xi := a.Odd(x)
	e := a.To("VPMULUDQ", a.To("VPSUBD", xi, a.prime), imag)
	e = a.plus(e, a.To("VPMULUDQ", x, y))
	o := a.plus(a.To("VPMULUDQ", x, imag), a.To("VPMULUDQ", xi, y))
	return a.reduce64(e, o)
}

// timesMemory is times the i-th vector in memory.
func (a *asm) timesMemory(x vecasm.Reg, pointer string, i int) vecasm.Reg {
	return a.times(x, a.Load(pointer, i), a.Odd(a.Mem(pointer, i)))
}

// crossed takes real parts from x and imaginary ones from y.
func (a *asm) crossed(x, y vecasm.Reg) vecasm.Reg {
	if a.Wide() {
		r := a.Copy(x)
		a.Op("VMOVDQA32", y, "K2", r)
		return r
	}
	return a.To("VPBLENDD", "$0xaa", y, x)
}

// radix4 is the butterfly before its twiddles: the sums of x0 to x3 with the
// factors 1, 1, 1, 1; 1, -1, 1, -1; 1, i, -1, -i; 1, -i, -1, i.
func (a *asm) radix4(x0, x1, x2, x3 vecasm.Reg) (y0, y1, y2, y3 vecasm.Reg) {
	b0, b1 := a.add(x0, x2), a.sub(x0, x2)
	b2, b3 := a.add(x1, x3), a.sub(x1, x3)
	y0, y1 = a.add(b0, b2), a.sub(b0, b2)
	turned := a.To("VPSHUFD", "$0xb1", b3)
	sum, difference := a.add(b1, turned), a.sub(b1, turned)
	return y0, y1, a.crossed(difference, sum), a.crossed(sum, difference)
}

// transpose exchanges rows and columns of 4 by 4 elements.
func (a *asm) transpose(x [4]vecasm.Reg) (y [4]vecasm.Reg) {
	var t [4]vecasm.Reg
	for i := range 2 { // elements 0, 2 and 1, 3 of two rows
		t[2*i] = a.To("VPUNPCKLQDQ", x[2*i+1], x[2*i])
		t[2*i+1] = a.To("VPUNPCKHQDQ", x[2*i+1], x[2*i])
	}
	for i := range 2 {
		y[i] = a.To("VPERM2I128", "$0x20", t[2+i], t[i])
		y[2+i] = a.To("VPERM2I128", "$0x31", t[2+i], t[i])
	}
	return y
}

// complexFunctions are those on CM31.
func (a *asm) complexFunctions() {
	step, lanes := a.Bytes, a.Bytes/8
	a.function("mulCM31", lanes, []string{"dst *CM31", "a *CM31", "b *CM31"}, func(p []string) {
		a.Repeat(p, []int{step, step, step}, func() {
			a.Store(a.timesMemory(a.Load(p[1], 0), p[2], 0), p[0], 0)
		})
	})
	a.function("scaleCM31", lanes, []string{"dst *CM31", "a *CM31", "s *CM31"}, func(p []string) {
		s := a.To("VPBROADCASTQ", fmt.Sprintf("(%s)", p[2]))
		imag := a.Odd(s)
		a.Repeat(p, []int{step, step}, func() {
			a.Store(a.times(a.Load(p[1], 0), s, imag), p[0], 0)
		})
	})
	a.function("radix4", lanes, []string{"x0 *CM31", "x1 *CM31", "x2 *CM31", "x3 *CM31", "w1 *CM31", "w2 *CM31", "w3 *CM31"}, func(p []string) {
		a.Repeat(p, []int{step, step, step, step, step, step, step}, func() {
			y0, y1, y2, y3 := a.radix4(a.Load(p[0], 0), a.Load(p[1], 0), a.Load(p[2], 0), a.Load(p[3], 0))
			a.Store(y0, p[0], 0)
			a.Store(a.timesMemory(y1, p[5], 0), p[1], 0)
			a.Store(a.timesMemory(y2, p[4], 0), p[2], 0)
			a.Store(a.timesMemory(y3, p[6], 0), p[3], 0)
		})
	})
	if a.Wide() {
		return // sixteen elements are too few for wide vectors, and so is a transposition
	}
	a.function("radix16", 16, []string{"a *CM31", "w *CM31"}, func(p []string) {
		a.Repeat(p, []int{4 * step}, func() {
			var x [4]vecasm.Reg
			x[0], x[1], x[2], x[3] = a.radix4(a.Load(p[0], 0), a.Load(p[0], 1), a.Load(p[0], 2), a.Load(p[0], 3))
			x[1] = a.timesMemory(x[1], p[1], 1)
			x[2] = a.timesMemory(x[2], p[1], 0)
			x[3] = a.timesMemory(x[3], p[1], 2)
			x = a.transpose(x)
			x[0], x[1], x[2], x[3] = a.radix4(x[0], x[1], x[2], x[3])
			for i, r := range a.transpose(x) {
				a.Store(r, p[0], i)
			}
		})
	})
	a.transposeFunction()
}
