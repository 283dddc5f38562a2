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
		if size == 4 {
			low, _ := tables(4)
			m31.Radix16(a, &[3][4]m31.CM31{[4]m31.CM31(low.w1), [4]m31.CM31(low.w2), [4]m31.CM31(low.w3)})
			return
		}
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
	if live <= n-2 {
		to = min(to, 1<<live)
	}
	low, high := tables(n)
	if n <= cachedLog {
		if from < to {
			low.part(from, to).apply(a, n, live, from)
		}
		return min(live, n-2)
	}
	// The twiddles of a stretch of positions are those of the low table times
	// one of the high table.
	shift := halfLog(n)
	var memory [3][stretch]m31.CM31
	for from < to {
		h, l := from>>shift, from&(1<<shift-1)
		count := min(to-from, 1<<shift-l, stretch)
		t, factors := twiddle{memory[0][:count], memory[1][:count], memory[2][:count]}, low.part(l, l+count)
		m31.ScaleVecCM31(t.w1, factors.w1, high.w1[h])
		m31.ScaleVecCM31(t.w2, factors.w2, high.w2[h])
		m31.ScaleVecCM31(t.w3, factors.w3, high.w3[h])
		t.apply(a, n, live, from)
		from += count
	}
	return min(live, n-2)
}

// stretch is the number of positions whose twiddles are made at a time.
const stretch = 256

// apply does the butterflies of a column of 2^n elements from one position on,
// for as many as there are twiddles.
func (t twiddle) apply(a []m31.CM31, n, live, from int) {
	q, count := 1<<(n-2), len(t.w1)
	quarter := func(k int) []m31.CM31 { return a[k*q+from : k*q+from+count] }
	if live <= n-2 { // all but the first quarter are zero
		v := quarter(0)
		m31.MulVecCM31(quarter(1), v, t.w2)
		m31.MulVecCM31(quarter(2), v, t.w1)
		m31.MulVecCM31(quarter(3), v, t.w3)
		return
	}
	m31.Radix4(quarter(0), quarter(1), quarter(2), quarter(3), t.w1, t.w2, t.w3)
}
