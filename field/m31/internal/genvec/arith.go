package main

import "github.com/zkwarp/zkwarp/internal/vecasm"

// Write masks K1 to K4 of AVX-512, over the words of a vector: the even ones,
// the odd ones, the first of each element of QM31, and its first half.
var masks = []int{0x5555, 0xaaaa, 0x1111, 0x3333}

// once takes r, below 2P (or P itself), to its residue: the difference to P
// wraps to a large number when it is not due.
func (a *asm) once(r vecasm.Reg) vecasm.Reg {
	t := a.To("VPSUBD", a.prime, r)
	return a.To("VPMINUD", t, r)
}

func (a *asm) add(x, y vecasm.Reg) vecasm.Reg { return a.once(a.To("VPADDD", x, y)) }

// sub is x - y.
func (a *asm) sub(x, y vecasm.Reg) vecasm.Reg { return a.lift(a.To("VPSUBD", y, x)) }

// lift is the residue of a signed word between -P and P: where that is negative, the
// sum with P wraps to a smaller number.
func (a *asm) lift(d vecasm.Reg) vecasm.Reg {
	t := a.To("VPADDD", a.prime, d)
	return a.To("VPMINUD", t, d)
}

// residue is that of a signed word. A negative one is its low 31 bits less 2^31, which
// is 1.
func (a *asm) residue(d vecasm.Reg) vecasm.Reg {
	sign := a.To("VPSRLD", "$31", d)
	return a.once(a.lift(a.To("VPSUBD", sign, a.And(d, a.prime))))
}

// atTwo is the value at 2 of the line through lo at 0 and hi at 1.
func (a *asm) atTwo(lo, hi vecasm.Reg) vecasm.Reg { return a.add(a.sub(hi, lo), hi) }

// merge takes 64-bit lanes, e for the even words and o for the odd ones, apart
// into low and high words in their places. It may use up o.
func (a *asm) merge(e, o vecasm.Reg) (low, high vecasm.Reg) {
	if a.Wide() {
		low = a.Copy(e)
		a.Op("VMOVSLDUP", o, "K2", low)
		a.Op("VMOVSHDUP", e, "K1", o)
		return low, o
	}
	low = a.To("VPBLENDD", "$0xaa", a.To("VMOVSLDUP", o), e)
	high = a.To("VPBLENDD", "$0xaa", o, a.To("VMOVSHDUP", e))
	return low, high
}

// middle is bits 31 to 62 of the 64-bit numbers with these halves.
func (a *asm) middle(low, high vecasm.Reg) vecasm.Reg {
	if a.Wide() {
		return a.To("VPSHLDD", "$1", low, high)
	}
	return a.To("VPOR", a.To("VPADDD", high, high), a.To("VPSRLD", "$31", low))
}

// reduce62 are the residues of products, or of anything up to (P-1)^2 + P.
func (a *asm) reduce62(e, o vecasm.Reg) vecasm.Reg {
	low, high := a.merge(e, o)
	m := a.middle(low, high)
	return a.add(a.And(low, a.prime), m)
}

// reduceDoubled are the residues of doubled products: a low word is twice the
// remainder by 2^31, a high word the quotient.
func (a *asm) reduceDoubled(e, o vecasm.Reg) vecasm.Reg {
	low, high := a.merge(e, o)
	return a.add(a.To("VPSRLD", "$1", low), high)
}

// reduce64 are the residues of any 64-bit lanes.
func (a *asm) reduce64(e, o vecasm.Reg) vecasm.Reg {
	low, high := a.merge(e, o)
	m := a.And(a.middle(low, high), a.prime)
	s := a.add(a.And(low, a.prime), m)
	return a.add(s, a.To("VPSRLD", "$30", high))
}

// mul is the product of the i-th vectors in memory.
func (a *asm) mul(x, y string, i int) vecasm.Reg {
	u, v := a.Load(x, i), a.Load(y, i)
	if a.Wide() {
		uo, vo := a.Odd(a.Mem(x, i)), a.Odd(a.Mem(y, i))
		return a.reduce62(a.To("VPMULUDQ", u, v), a.To("VPMULUDQ", uo, vo))
	}
	// Bits 31 up of a 64-bit lane are twice its odd word.
	u2, uo2 := a.To("VPADDD", u, u), a.To("VPSRLQ", "$31", u)
	return a.reduceDoubled(a.To("VPMULUDQ", u2, v), a.To("VPMULUDQ", uo2, a.Odd(a.Mem(y, i))))
}

// scale is the product of the i-th vector in memory by a doubled scalar.
func (a *asm) scale(x string, i int, twice vecasm.Reg) vecasm.Reg {
	u, uo := a.Load(x, i), a.Odd(a.Mem(x, i))
	return a.reduceDoubled(a.To("VPMULUDQ", u, twice), a.To("VPMULUDQ", uo, twice))
}

// lazySum is a sum of 64-bit lanes: all of the lanes, modulo 2^64, and of their
// high words.
type lazySum struct{ all, high vecasm.Reg }

func (a *asm) newSum() lazySum { return lazySum{a.Zero(), a.Zero()} }

func (a *asm) addTo(s lazySum, v vecasm.Reg) {
	a.Op("VPADDQ", v, s.all, s.all)
	a.Op("VPADDQ", a.To("VPSRLQ", "$32", v), s.high, s.high)
}

// plus is the sum of 64-bit lanes; x may be missing.
func (a *asm) plus(x, y vecasm.Reg) vecasm.Reg {
	if x == 0 {
		return y
	}
	return a.To("VPADDQ", x, y)
}

// storeSums leaves them where the pointer points.
func (a *asm) storeSums(pointer string, sums ...lazySum) {
	for i, s := range sums {
		a.Store(s.all, pointer, 2*i)
		a.Store(s.high, pointer, 2*i+1)
	}
}
