package ntt

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// engine transforms columns over one field, whose vector operations it is given.
// Columns are natural to bit-reversed order by decimation in frequency, two layers
// of butterflies at a time.
type engine[T field.Element[T]] struct {
	maxLog int
	root   func(n int) T

	scale    func(dst, a []T, by T) // dst[i] = by * a[i]
	add, sub func(dst, a, b []T)    // dst[i] = a[i] + b[i], a[i] - b[i]
	mul      func(dst, a, b []T)    // dst[i] = a[i] * b[i]
	// radix4 does two layers on the quarters of a column, with the twiddles w^j,
	// w^2j and w^3j of their positions j.
	radix4 func(x0, x1, x2, x3, w1, w2, w3 []T)
	// radix16 transforms every 16 elements, given the twiddles of radix4 for 16.
	radix16 func(a []T, w *[3][4]T)

	twiddles [31]cached[T] // by n
}

// cached is powers of root(n): all below 2^n/4 in low up to cachedLog; beyond it the
// first 2^half in low and every 2^half-th in high.
type cached[T any] struct {
	once      sync.Once
	low, high twiddle[T]
}

// twiddle holds the powers w^j, w^2j and w^3j for all j from 0.
type twiddle[T any] struct{ w1, w2, w3 []T }

// part is the powers for j in [lo, hi).
func (t *twiddle[T]) part(lo, hi int) twiddle[T] {
	return twiddle[T]{t.w1[lo:hi], t.w2[lo:hi], t.w3[lo:hi]}
}

const (
	// cachedLog is the largest transform whose first pass reads its twiddles from
	// one table; longer ones multiply them together from two shorter tables.
	cachedLog = 16
	// blockLog is the size up to which a transform makes pass after pass instead of
	// recursing: a block fits into the first-level cache.
	blockLog = 12
	// stretch is the number of positions whose twiddles are made at a time.
	stretch = 256
)

// halfLog is log2 of the length of the low table for n > cachedLog.
func halfLog(n int) int { return (n - 2) / 2 }

func (e *engine[T]) tables(n int) (low, high *twiddle[T]) {
	c := &e.twiddles[n]
	c.once.Do(func() {
		w := e.root(n)
		if n <= cachedLog {
			c.low = powers(w, 1<<(n-2))
			return
		}
		h := halfLog(n)
		c.low, c.high = powers(w, 1<<h), powers(w.Exp(1<<h), 1<<(n-2-h))
	})
	return &c.low, &c.high
}

func powers[T field.Element[T]](w T, count int) twiddle[T] {
	out := twiddle[T]{make([]T, count), make([]T, count), make([]T, count)}
	p := w.One()
	for j := range count {
		p2 := p.Square()
		out.w1[j], out.w2[j], out.w3[j] = p, p2, p2.Mul(p)
		p = p.Mul(w)
	}
	return out
}

// natural evaluates columns of coefficients, in natural order.
func (e *engine[T]) natural(data []T, n int) error {
	if err := e.reversed(data, n, n); err != nil {
		return err
	}
	for lo := 0; lo < len(data); lo += 1 << n {
		Permute(data[lo:lo+1<<n], n)
	}
	return nil
}

// reversed evaluates columns of which only the first 2^live coefficients may be
// non-zero, and leaves the values in bit-reversed order.
func (e *engine[T]) reversed(data []T, n, live int) error {
	if err := check(len(data), n, e.maxLog); err != nil {
		return err
	}
	if live < 0 || live > n {
		return fmt.Errorf("ntt: 2^%d coefficients of 2^%d are live", live, n)
	}
	columns, cores := len(data)>>n, runtime.GOMAXPROCS(0)
	if n >= 14 { // long columns: to each core a few, and the rest by all of them together
		columns -= columns % cores
	}
	parallel.For(columns, max(1, 1<<12>>n), func(lo, hi int) {
		for c := lo; c < hi; c++ {
			e.column(data[c<<n:(c+1)<<n], n, live)
		}
	})
	if rest := data[columns<<n:]; len(rest) > 0 {
		// The first two passes over all of them, and then the sixteen independent parts
		// of each.
		e.parallelPass(rest, n, live)
		e.parallelPass(rest, n-2, min(live, n-2))
		parallel.For(len(rest)>>(n-4), 1, func(lo, hi int) {
			for b := lo; b < hi; b++ {
				e.column(rest[b<<(n-4):(b+1)<<(n-4)], n-4, min(live, n-4))
			}
		})
	}
	return nil
}

// inverse undoes natural: a forward transform, the values at j and -j exchanged,
// over 2^n.
func (e *engine[T]) inverse(data []T, n int) error {
	if err := e.natural(data, n); err != nil {
		return err
	}
	var zero T
	scale := zero.FromUint64(1 << n).Inverse()
	for lo := 0; lo < len(data); lo += 1 << n {
		column := data[lo : lo+1<<n]
		for i, j := 1, len(column)-1; i < j; i, j = i+1, j-1 {
			column[i], column[j] = column[j], column[i]
		}
		e.scale(column, column, scale)
	}
	return nil
}

// column transforms one column: radix-4 passes, and where n is odd one layer before
// those of a block, so that the last four layers are radix16's.
func (e *engine[T]) column(a []T, n, live int) {
	if n > blockLog {
		parts := e.pass(a, n, live, 0, 1<<(n-2))
		for q := range 4 {
			e.column(a[q<<(n-2):(q+1)<<(n-2)], n-2, parts)
		}
		return
	}
	if n%2 == 1 {
		e.layer(a, n, live)
		live = min(live, n-1)
	}
	for size := n &^ 1; size >= 2; size -= 2 {
		if size == 4 {
			low, _ := e.tables(4)
			e.radix16(a, &[3][4]T{[4]T(low.w1), [4]T(low.w2), [4]T(low.w3)})
			return
		}
		parts := live
		for lo := 0; lo < len(a); lo += 1 << size {
			parts = e.pass(a[lo:lo+1<<size], size, live, 0, 1<<(size-2))
		}
		live = parts
	}
}

// layer does one layer of butterflies on a column of 2^n elements, n <= cachedLog,
// whose halves are independent columns afterwards.
func (e *engine[T]) layer(a []T, n, live int) {
	if n == 1 {
		a[0], a[1] = a[0].Add(a[1]), a[0].Sub(a[1])
		return
	}
	low, _ := e.tables(n)
	q, i := len(a)/4, e.root(2)
	var difference [stretch]T
	for from := 0; from < 2*q; from += min(stretch, q) {
		x, y := a[from:from+min(stretch, q)], a[2*q+from:2*q+from+min(stretch, q)]
		d := difference[:len(x)]
		if live < n { // y is zero
			copy(d, x)
		} else {
			e.sub(d, x, y)
			e.add(x, x, y)
		}
		if from >= q {
			e.scale(d, d, i)
		}
		w := low.w1[from%q:]
		e.mul(y, d, w)
	}
}

// parallelPass is pass for columns of 2^n elements one after the other.
func (e *engine[T]) parallelPass(data []T, n, live int) {
	parallel.For(len(data)>>2, 1<<12, func(lo, hi int) {
		for lo < hi {
			c, from := lo>>(n-2), lo&(1<<(n-2)-1)
			to := min(from+hi-lo, 1<<(n-2))
			e.pass(data[c<<n:(c+1)<<n], n, live, from, to)
			lo += to - from
		}
	})
}

// pass does two layers of butterflies on a column of 2^n elements, n >= 2, for
// the positions [from, to) of its quarters. Afterwards the quarters are
// independent columns. It returns log2 of the number of elements of a quarter
// that may be non-zero.
func (e *engine[T]) pass(a []T, n, live, from, to int) int {
	if live <= n-2 {
		to = min(to, 1<<live)
	}
	low, high := e.tables(n)
	if n <= cachedLog {
		if from < to {
			e.apply(low.part(from, to), a, n, live, from)
		}
		return min(live, n-2)
	}
	// The twiddles of a stretch of positions are those of the low table times
	// one of the high table.
	shift := halfLog(n)
	var memory [3][stretch]T
	for from < to {
		h, l := from>>shift, from&(1<<shift-1)
		count := min(to-from, 1<<shift-l, stretch)
		t, factors := twiddle[T]{memory[0][:count], memory[1][:count], memory[2][:count]}, low.part(l, l+count)
		e.scale(t.w1, factors.w1, high.w1[h])
		e.scale(t.w2, factors.w2, high.w2[h])
		e.scale(t.w3, factors.w3, high.w3[h])
		e.apply(t, a, n, live, from)
		from += count
	}
	return min(live, n-2)
}

// apply does the butterflies of a column of 2^n elements from one position on,
// for as many as there are twiddles.
func (e *engine[T]) apply(t twiddle[T], a []T, n, live, from int) {
	q, count := 1<<(n-2), len(t.w1)
	quarter := func(k int) []T { return a[k*q+from : k*q+from+count] }
	if live <= n-2 { // all but the first quarter are zero
		v := quarter(0)
		e.mul(quarter(1), v, t.w2)
		e.mul(quarter(2), v, t.w1)
		e.mul(quarter(3), v, t.w3)
		return
	}
	e.radix4(quarter(0), quarter(1), quarter(2), quarter(3), t.w1, t.w2, t.w3)
}
