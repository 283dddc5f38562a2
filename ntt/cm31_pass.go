package ntt

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// blockLog is the size up to which a transform makes pass after pass instead
// of recursing: a block fits into the first-level cache.
const blockLog = 12

// forward transforms one column, natural to bit-reversed order, by
// decimation in frequency: radix-4 passes, and one of radix 2 at the end if n
// is odd.
func forward(a []m31.CM31, n, live int) {
	if n > blockLog {
		parts := pass(a, n, live, 0, 1<<(n-2))
		for q := range 4 {
			forward(a[q<<(n-2):(q+1)<<(n-2)], n-2, parts)
		}
		return
	}
	for size := n; size >= 2; size -= 2 {
		parts := live
		for lo := 0; lo < len(a); lo += 1 << size {
			parts = pass(a[lo:lo+1<<size], size, live, 0, 1<<(size-2))
		}
		live = parts
	}
	if n%2 == 1 {
		for i := 0; i+1 < len(a); i += 2 {
			a[i], a[i+1] = a[i].Add(a[i+1]), a[i].Sub(a[i+1])
		}
	}
}

func parallelPass(a []m31.CM31, n, live int) {
	parallel.For(1<<(n-2), 1<<12, func(lo, hi int) { pass(a, n, live, lo, hi) })
}

// pass does two layers of butterflies on a column of 2^n elements, n >= 2, for
// the positions [from, to) of its quarters. Afterwards the quarters are
// independent columns. It returns log2 of the number of elements of a quarter
// that may be non-zero.
func pass(a []m31.CM31, n, live, from, to int) int {
	q := 1 << (n - 2)
	a0, a1, a2, a3 := a[:q], a[q:2*q], a[2*q:3*q], a[3*q:4*q]
	if live <= n-2 {
		to = min(to, 1<<live)
	}
	low, high := tables(n)
	if n <= cachedLog {
		if live <= n-2 {
			for j := from; j < to; j++ {
				sparse(&a0[j], &a1[j], &a2[j], &a3[j], &low[j])
			}
		} else if n == 2 {
			butterfly(&a0[0], &a1[0], &a2[0], &a3[0])
		} else {
			t, a0, a1, a2, a3 := low[:to], a0[:to], a1[:to], a2[:to], a3[:to]
			for j := from; j < to; j++ {
				dense(&a0[j], &a1[j], &a2[j], &a3[j], &t[j])
			}
		}
		return min(live, n-2)
	}
	shift := halfLog(n)
	for j := from; j < to; j++ {
		h, l := &high[j>>shift], &low[j&(1<<shift-1)]
		t := twiddle{h.w1.Mul(l.w1), h.w2.Mul(l.w2), h.w3.Mul(l.w3)}
		if live <= n-2 {
			sparse(&a0[j], &a1[j], &a2[j], &a3[j], &t)
		} else {
			dense(&a0[j], &a1[j], &a2[j], &a3[j], &t)
		}
	}
	return min(live, n-2)
}

// sparse is dense where all but the first element are zero.
func sparse(x0, x1, x2, x3 *m31.CM31, t *twiddle) {
	v := *x0
	*x1, *x2, *x3 = v.Mul(t.w2), v.Mul(t.w1), v.Mul(t.w3)
}

// butterfly is dense where all twiddles are 1.
func butterfly(x0, x1, x2, x3 *m31.CM31) {
	b0, b1 := x0.Add(*x2), x0.Sub(*x2)
	b2, b3 := x1.Add(*x3), x1.Sub(*x3).MulI()
	*x0, *x1, *x2, *x3 = b0.Add(b2), b0.Sub(b2), b1.Add(b3), b1.Sub(b3)
}

// dense is the radix-4 butterfly: two layers of radix 2, in which the fourth
// root of unity is i. Sums that go into a product stay below 2P unreduced, so
// that two products add up within 64 bits.
func dense(x0, x1, x2, x3 *m31.CM31, t *twiddle) {
	const p = uint64(m31.P)
	b0, b1 := x0.Add(*x2), x0.Sub(*x2)
	b2, b3 := x1.Add(*x3), x1.Sub(*x3) // b3 still lacks its factor i
	w1r, w1i := uint64(t.w1.Re), uint64(t.w1.Im)
	w2r, w2i := uint64(t.w2.Re), uint64(t.w2.Im)
	w3r, w3i := uint64(t.w3.Re), uint64(t.w3.Im)
	*x0 = b0.Add(b2)
	r, i := uint64(b0.Re)+p-uint64(b2.Re), uint64(b0.Im)+p-uint64(b2.Im)
	*x1 = m31.CM31{Re: reduce(r*w2r + (2*p-i)*w2i), Im: reduce(r*w2i + i*w2r)}
	r, i = uint64(b1.Re)+p-uint64(b3.Im), uint64(b1.Im)+uint64(b3.Re)
	*x2 = m31.CM31{Re: reduce(r*w1r + (2*p-i)*w1i), Im: reduce(r*w1i + i*w1r)}
	r, i = uint64(b1.Re)+uint64(b3.Im), uint64(b1.Im)+p-uint64(b3.Re)
	*x3 = m31.CM31{Re: reduce(r*w3r + (2*p-i)*w3i), Im: reduce(r*w3i + i*w3r)}
}

// reduce is x modulo P.
func reduce(x uint64) m31.Element {
	x = x&m31.P + x>>31 // below 2^34
	x = x&m31.P + x>>31 // at most P+7
	return m31.Element(min(uint32(x), uint32(x)-m31.P))
}
