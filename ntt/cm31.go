package ntt

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// MaxLogCM31 is the largest n for which 2^n points of CM31 are used. Indices
// of that many bits can still be drawn from one base field element.
const MaxLogCM31 = 30

// root32 generates the 2^32-th roots of unity of CM31: it is 2+i to the power
// (P^2-1)/2^32.
var root32 = m31.CM31{Re: 21189756, Im: 42379512}

// CM31 is the transform over the complex extension of Mersenne-31, whose
// multiplicative group has order 2^32 times an odd number.
type CM31 struct{}

var _ Transform[m31.CM31] = CM31{}

// MaxLog is MaxLogCM31.
func (CM31) MaxLog() int { return MaxLogCM31 }

// Root returns the generator of the 2^n-th roots of unity.
func (CM31) Root(n int) m31.CM31 {
	r := root32
	for range 32 - n {
		r = r.Square()
	}
	return r
}

// Forward evaluates columns of coefficients, in natural order.
func (t CM31) Forward(data []m31.CM31, n int) error {
	if err := t.ForwardReversed(data, n, n); err != nil {
		return err
	}
	for lo := 0; lo < len(data); lo += 1 << n {
		Permute(data[lo:lo+1<<n], n)
	}
	return nil
}

// ForwardReversed evaluates columns of which only the first 2^live
// coefficients may be non-zero, and leaves the values in bit-reversed order.
func (CM31) ForwardReversed(data []m31.CM31, n, live int) error {
	if err := check(len(data), n, MaxLogCM31); err != nil {
		return err
	}
	if live < 0 || live > n {
		return fmt.Errorf("ntt: 2^%d coefficients of 2^%d are live", live, n)
	}
	columns := len(data) >> n
	if n < 14 || columns >= 4*runtime.GOMAXPROCS(0) {
		parallel.For(columns, max(1, 1<<12>>n), func(lo, hi int) {
			for c := lo; c < hi; c++ {
				forward(data[c<<n:(c+1)<<n], n, live)
			}
		})
		return nil
	}
	// Few long columns: share out the first two passes over each, and then the
	// sixteen independent parts.
	for c := range columns {
		column := data[c<<n : (c+1)<<n]
		parallelPass(column, n, live)
		for q := range 4 {
			parallelPass(column[q<<(n-2):(q+1)<<(n-2)], n-2, min(live, n-2))
		}
		parallel.For(16, 1, func(lo, hi int) {
			for b := lo; b < hi; b++ {
				forward(column[b<<(n-4):(b+1)<<(n-4)], n-4, min(live, n-4))
			}
		})
	}
	return nil
}

// Inverse undoes Forward: a forward transform, the values at j and -j
// exchanged, over 2^n.
func (t CM31) Inverse(data []m31.CM31, n int) error {
	if err := t.Forward(data, n); err != nil {
		return err
	}
	scale := m31.New(1 << n).Inverse()
	for lo := 0; lo < len(data); lo += 1 << n {
		column := data[lo : lo+1<<n]
		for i, j := 1, len(column)-1; i < j; i, j = i+1, j-1 {
			column[i], column[j] = column[j], column[i]
		}
		for i, v := range column {
			column[i] = v.MulBase(scale)
		}
	}
	return nil
}

// twiddle holds the powers w^j, w^2j and w^3j for all j from 0.
type twiddle struct{ w1, w2, w3 []m31.CM31 }

// part is the powers for j in [lo, hi).
func (t *twiddle) part(lo, hi int) twiddle {
	return twiddle{t.w1[lo:hi], t.w2[lo:hi], t.w3[lo:hi]}
}

// cachedLog is the largest transform whose first pass reads its twiddles from
// one table; longer ones multiply them together from two shorter tables.
const cachedLog = 16

// twiddles caches, by n, powers of Root(n): all below 2^n/4 in low up to
// cachedLog; beyond it the first 2^half in low and every 2^half-th in high.
var twiddles [MaxLogCM31 + 1]struct {
	once      sync.Once
	low, high twiddle
}

// halfLog is log2 of the length of the low table for n > cachedLog.
func halfLog(n int) int { return (n - 2) / 2 }

func tables(n int) (low, high *twiddle) {
	c := &twiddles[n]
	c.once.Do(func() {
		w := CM31{}.Root(n)
		if n <= cachedLog {
			c.low = powers(w, 1<<(n-2))
			return
		}
		h := halfLog(n)
		c.low, c.high = powers(w, 1<<h), powers(w.Exp(1<<h), 1<<(n-2-h))
	})
	return &c.low, &c.high
}

func powers(w m31.CM31, count int) twiddle {
	out := twiddle{make([]m31.CM31, count), make([]m31.CM31, count), make([]m31.CM31, count)}
	p := w.One()
	for j := range count {
		p2 := p.Square()
		out.w1[j], out.w2[j], out.w3[j] = p, p2, p2.Mul(p)
		p = p.Mul(w)
	}
	return out
}
