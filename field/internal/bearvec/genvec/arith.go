package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// asm writes the functions for one instruction set. Words are below P, in
// Montgomery form; products of words are 64-bit lanes, those of the even words and
// those of the odd ones apart.
type asm struct {
	vecasm.X86
	prime, inverse vecasm.Reg // P and 1/P modulo 2^32 in every word
}

// evenWords is the write mask K1 of AVX-512.
const evenWords = 0x5555

// function writes one that takes block elements an iteration. Its last argument,
// which body does not get, are the field's constants.
func (a *asm) function(name string, block int, args []string, body func(p []string)) {
	args = append(args, "f *Field")
	a.Function(vecasm.Function{Name: name, Args: args, Block: block}, func(p []string) {
		if a.Wide() {
			a.Op("MOVL", fmt.Sprintf("$%#x", evenWords), "AX")
			a.Op("KMOVW", "AX", "K1")
		}
		f := p[len(p)-1]
		a.prime, a.inverse = a.word(f, 0), a.word(f, 1)
		body(p[:len(p)-1])
	})
}

// word is the i-th word of an array in every place.
func (a *asm) word(pointer string, i int) vecasm.Reg {
	return a.To("VPBROADCASTD", fmt.Sprintf("%d(%s)", 4*i, pointer))
}

// once takes r, below 2P, to its residue: the difference to P wraps to a large
// number when it is not due.
func (a *asm) once(r vecasm.Reg) vecasm.Reg {
	return a.To("VPMINUD", a.To("VPSUBD", a.prime, r), r)
}

func (a *asm) add(x, y vecasm.Reg) vecasm.Reg { return a.once(a.To("VPADDD", x, y)) }

// sub is x - y.
func (a *asm) sub(x, y vecasm.Reg) vecasm.Reg {
	d := a.To("VPSUBD", y, x)
	return a.To("VPMINUD", a.To("VPADDD", a.prime, d), d)
}

// long is the 64-bit products of the even words.
func (a *asm) long(x, y any) vecasm.Reg { return a.To("VPMULUDQ", x, y) }

// high is the high words of 64-bit lanes, e for the even places and o for the odd
// ones. It may use up o.
func (a *asm) high(e, o vecasm.Reg) vecasm.Reg {
	if a.Wide() {
		a.Op("VMOVSHDUP", e, "K1", o)
		return o
	}
	return a.To("VPBLENDD", "$0xaa", o, a.Odd(e))
}

// taken is the high words of multiples of P, given the factors in the low words of
// 64-bit lanes: what reductions take off, so that the low words vanish.
func (a *asm) taken(e, o vecasm.Reg) vecasm.Reg {
	return a.high(a.long(a.prime, e), a.long(a.prime, o))
}

// reduce divides lanes below 2^32 P by 2^32, modulo P.
func (a *asm) reduce(e, o vecasm.Reg) vecasm.Reg {
	t := a.taken(a.long(a.inverse, e), a.long(a.inverse, o))
	return a.sub(a.high(e, o), t)
}

// reduceFour is reduce for lanes below 2^33 P, such as sums of four products.
func (a *asm) reduceFour(e, o vecasm.Reg) vecasm.Reg {
	t := a.taken(a.long(a.inverse, e), a.long(a.inverse, o))
	return a.sub(a.once(a.high(e, o)), t)
}

// mul is the product of words in registers.
func (a *asm) mul(x, y vecasm.Reg) vecasm.Reg {
	return a.reduce(a.long(x, y), a.long(a.Odd(x), a.Odd(y)))
}

// times is mul by the i-th vector in memory.
func (a *asm) times(x vecasm.Reg, pointer string, i int) vecasm.Reg {
	return a.reduce(a.long(a.Mem(pointer, i), x), a.long(a.Odd(x), a.Odd(a.Mem(pointer, i))))
}

// factor is a word in every place, and that word times 1/P modulo 2^32.
type factor struct{ word, quotient vecasm.Reg }

func (a *asm) factor(pointer string, i int) factor {
	return factor{a.word(pointer, i), a.word(pointer, i+1)}
}

// scaled is the product by a factor.
func (a *asm) scaled(x vecasm.Reg, s factor) vecasm.Reg {
	xo := a.Odd(x)
	t := a.taken(a.long(x, s.quotient), a.long(xo, s.quotient))
	return a.sub(a.high(a.long(x, s.word), a.long(xo, s.word)), t)
}

// plus is the sum of 64-bit lanes; x may be missing.
func (a *asm) plus(x, y vecasm.Reg) vecasm.Reg {
	if x == 0 {
		return y
	}
	return a.To("VPADDQ", x, y)
}

// lazySum is a sum of 64-bit lanes: of all of the lanes, modulo 2^64, and of their
// high words.
type lazySum struct{ all, high vecasm.Reg }

func (a *asm) newSum() lazySum { return lazySum{a.Zero(), a.Zero()} }

func (a *asm) addTo(s lazySum, v vecasm.Reg) {
	a.Op("VPADDQ", v, s.all, s.all)
	a.Op("VPADDQ", a.To("VPSRLQ", "$32", v), s.high, s.high)
}

// storeSums leaves them where the pointer points.
func (a *asm) storeSums(pointer string, sums ...lazySum) {
	for i, s := range sums {
		a.Store(s.all, pointer, 2*i)
		a.Store(s.high, pointer, 2*i+1)
	}
}
