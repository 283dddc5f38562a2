package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// An element of QM31 fills a 128-bit lane. Words 0 and 2 of its multiples come
// out of one 64-bit vector, words 1 and 3 out of another, and reductions put
// them back into their places.

// spread readies the tables that expand takes a vector of words apart with.
func (a *asm) spread() [4]vecasm.Reg {
	var t [4]vecasm.Reg
	for i := range t {
		t[i] = a.Table(fmt.Sprint("spread", i))
	}
	return t
}

// expand repeats each of a quarter of the words over a 128-bit lane.
func (a *asm) expand(words, quarter vecasm.Reg) vecasm.Reg { return a.To("VPERMD", words, quarter) }

// first is expand with zeros in all but the first word of a lane.
func (a *asm) first(words, quarter, zero vecasm.Reg) vecasm.Reg {
	if a.Wide() {
		return a.To("VPERMD.Z", words, quarter, "K3")
	}
	return a.To("VPBLENDD", "$0x11", a.expand(words, quarter), zero)
}

// scalar is a QM31 element as the factor of words: words 0 and 2, and 1 and 3,
// in the even places.
type scalar struct{ even, odd vecasm.Reg }

func (a *asm) scalar(pointer string) scalar {
	r := a.Broadcast128(pointer, 0)
	return scalar{r, a.Odd(r)}
}

// timesWord is the product with words that are repeated over lanes, unreduced.
func (a *asm) timesWord(s scalar, x vecasm.Reg) (e, o vecasm.Reg) {
	return a.To("VPMULUDQ", s.even, x), a.To("VPMULUDQ", s.odd, x)
}

// matrix is multiplication by a constant as a 4x4 matrix of signed words, in
// the order in which affine uses it.
func (a *asm) matrix(pointer string) (m [8]vecasm.Reg) {
	for i := range m {
		m[i] = a.Broadcast128(pointer, 16*i)
	}
	return m
}

// affine is lo + m*x for canonical lo, and x that is canonical or the signed
// difference of canonical words. The lanes start with lo and a multiple of P
// that keeps them positive.
func (a *asm) affine(m [8]vecasm.Reg, lo, x vecasm.Reg) vecasm.Reg {
	var e, o vecasm.Reg
	if a.Wide() {
		e, o = a.Copy(lo), a.Copy(a.off)
		a.Op("VMOVDQA32", a.off, "K2", e)
		a.Op("VMOVSHDUP", lo, "K1", o)
	} else {
		e = a.To("VPBLENDD", "$0xaa", a.off, lo)
		o = a.To("VPBLENDD", "$0xaa", a.off, a.Odd(lo))
	}
	add := func(k int, v vecasm.Reg) {
		e = a.To("VPADDQ", a.To("VPMULDQ", m[k], v), e)
		o = a.To("VPADDQ", a.To("VPMULDQ", m[4+k], v), o)
	}
	add(0, x)                           // words 0 and 2
	add(1, a.To("VPSHUFD", "$0x4e", x)) // 2 and 0
	x = a.Odd(x)
	add(2, x)                           // 1 and 3
	add(3, a.To("VPSHUFD", "$0x4e", x)) // 3 and 1
	return a.reduce64(e, o)
}

// half is the vector with the first two words of each lane from x, the others
// from y.
func (a *asm) half(x, y vecasm.Reg) vecasm.Reg {
	if a.Wide() {
		a.Op("VMOVDQA32", x, "K4", y)
		return y
	}
	return a.To("VPBLENDD", "$0x33", x, y)
}

// product of elements A + uB and C + uD.
func (a *asm) product(x, y vecasm.Reg) vecasm.Reg {
	swapped := a.To("VPSHUFD", "$0x4e", x) // B, A
	// (2+i)B is twice B plus -B.Im + i B.Re.
	turned := a.To("VPSHUFD", "$0x4b", x) // B.Im, B.Re, ...
	if a.Wide() {
		a.Op("VPSUBD", turned, a.prime, "K3", turned)
	} else {
		turned = a.To("VPBLENDD", "$0x11", a.To("VPSUBD", turned, a.prime), turned)
	}
	b := a.half(a.add(a.add(swapped, swapped), turned), swapped) // (2+i)B, A
	xo, bo := a.Odd(x), a.Odd(b)
	c0, c1 := a.To("VPSHUFD", "$0x00", y), a.To("VPSHUFD", "$0x55", y)
	e := a.To("VPADDQ", a.To("VPMULUDQ", x, c0), a.off)
	o := a.To("VPMULUDQ", x, c1)
	e = a.To("VPSUBQ", a.To("VPMULUDQ", xo, c1), e)
	o = a.To("VPADDQ", a.To("VPMULUDQ", xo, c0), o)
	d0, d1 := a.To("VPSHUFD", "$0xaa", y), a.To("VPSHUFD", "$0xff", y)
	e = a.To("VPADDQ", a.To("VPMULUDQ", b, d0), e)
	o = a.To("VPADDQ", a.To("VPMULUDQ", b, d1), o)
	e = a.To("VPSUBQ", a.To("VPMULUDQ", bo, d1), e)
	o = a.To("VPADDQ", a.To("VPMULUDQ", bo, d0), o)
	return a.reduce64(e, o)
}

// extFunctions are those on QM31.
func (a *asm) extFunctions() {
	step := a.Bytes
	a.function("foldBase", a.Words(), []string{"dst *QM31", "lo *Element", "hi *Element", "r *QM31"}, func(p []string) {
		s, spread, zero := a.scalar(p[3]), a.spread(), a.zeroForFirst()
		a.Repeat(p, []int{4 * step, step, step}, func() {
			lo := a.Load(p[1], 0)
			d := a.sub(a.Load(p[2], 0), lo)
			for i, quarter := range spread {
				e, o := a.timesWord(s, a.expand(d, quarter))
				e = a.To("VPADDQ", a.first(lo, quarter, zero), e)
				a.Store(a.reduce62(e, o), p[0], i)
			}
		})
	})
	a.function("scaleBase", a.Words(), []string{"dst *QM31", "a *Element", "s *QM31"}, func(p []string) {
		s, spread := a.scalar(p[2]), a.spread()
		a.Repeat(p, []int{4 * step, step}, func() {
			x := a.Load(p[1], 0)
			for i, quarter := range spread {
				a.Store(a.reduce62(a.timesWord(s, a.expand(x, quarter))), p[0], i)
			}
		})
	})
	a.function("mulBase", a.Words(), []string{"dst *QM31", "a *Element", "b *QM31"}, func(p []string) {
		spread := a.spread()
		a.Repeat(p, []int{4 * step, step, 4 * step}, func() {
			x := a.Load(p[1], 0)
			for i, quarter := range spread {
				v := a.expand(x, quarter)
				e := a.To("VPMULUDQ", a.Mem(p[2], i), v)
				a.Store(a.reduce62(e, a.To("VPMULUDQ", a.Odd(a.Mem(p[2], i)), v)), p[0], i)
			}
		})
	})
	a.function("mulAddBase", a.Words(), []string{"dst *QM31", "a *Element", "s *QM31"}, func(p []string) {
		s, spread := a.scalar(p[2]), a.spread()
		a.Repeat(p, []int{4 * step, step}, func() {
			x := a.Load(p[1], 0)
			for i, quarter := range spread {
				a.Store(a.add(a.reduce62(a.timesWord(s, a.expand(x, quarter))), a.Load(p[0], i)), p[0], i)
			}
		})
	})
	a.function("foldQM31", a.Words()/4, []string{"dst *QM31", "lo *QM31", "hi *QM31", "m *matrix"}, func(p []string) {
		m := a.matrix(p[3])
		a.Repeat(p, []int{step, step, step}, func() {
			lo := a.Load(p[1], 0)
			a.Store(a.affine(m, lo, a.To("VPSUBD", lo, a.Load(p[2], 0))), p[0], 0)
		})
	})
	a.function("mulAddQM31", a.Words()/4, []string{"dst *QM31", "a *QM31", "m *matrix"}, func(p []string) {
		m := a.matrix(p[2])
		a.Repeat(p, []int{step, step}, func() {
			a.Store(a.affine(m, a.Load(p[0], 0), a.Load(p[1], 0)), p[0], 0)
		})
	})
	a.function("scaleQM31", a.Words()/4, []string{"dst *QM31", "a *QM31", "m *matrix"}, func(p []string) {
		m, zero := a.matrix(p[2]), a.Zero()
		a.Repeat(p, []int{step, step}, func() {
			a.Store(a.affine(m, zero, a.Load(p[1], 0)), p[0], 0)
		})
	})
	a.function("mulQM31", a.Words()/4, []string{"dst *QM31", "a *QM31", "b *QM31"}, func(p []string) {
		a.Repeat(p, []int{step, step, step}, func() {
			a.Store(a.product(a.Load(p[1], 0), a.Load(p[2], 0)), p[0], 0)
		})
	})
}

// zeroForFirst is the zero that first takes, where it needs one.
func (a *asm) zeroForFirst() vecasm.Reg {
	if a.Wide() {
		return 0
	}
	return a.Zero()
}
