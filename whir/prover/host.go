package prover

import (
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// vectors is the arithmetic of one pair of fields on slices of the host. A symbol
// is SymbolWords base field elements; sums over symbols are taken word by word
// and put together at the end.
type vectors[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	// words is the symbols' memory, and collapse makes one element of the sums
	// for the words of each symbol, in place where there is one word.
	words    func([]F) []W
	collapse func(dst, sums []E)
	// combine adds the sum of c[k]*x[k*stride+i] to acc[i].
	combine func(acc []E, x []W, stride int, c []E)
	// mulAddExt adds c*x to acc; mulAddSym too, for symbols.
	mulAddSym func(acc []E, x []F, c E)
	mulAddExt func(acc, x []E, c E)
	dotExt    func(a, b []E) E
	foldExt   func(dst, lo, hi []E, r E)
	// roundExt is the sums of loF*loW and of (hiF-loF)*(hiW-loW).
	roundExt func(loF, hiF, loW, hiW []E) (atZero, lead E)
}

// host is the operations in Go.
type host[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	*variant[W, F, E]
	q *device.Queue
}

// grain is how many table entries are worth another core.
const grain = 1 << 12

func (h host[W, F, E]) free() {}

// use checks that all buffers are the queue's.
func use[E any](q *device.Queue, buffers ...device.Buffer[E]) error {
	for _, b := range buffers {
		if err := b.Use(q); err != nil {
			return err
		}
	}
	return q.Err()
}

func (h host[W, F, E]) eqPowers(dst, z device.Buffer[E]) error {
	if err := use(h.q, dst, z); err != nil {
		return err
	}
	out, x := dst.Host(), z.Host()[0]
	for j := len(out)/2 - 1; j >= 0; j-- {
		out[2*j], out[2*j+1] = x.One().Sub(x), x
		x = x.Square()
	}
	return nil
}

func (h host[W, F, E]) geometric(dst, x device.Buffer[E], first int) error {
	if err := use(h.q, dst, x); err != nil {
		return err
	}
	r := x.Host()[0]
	v := r.Exp(uint64(first))
	for j := range dst.Host() {
		dst.Host()[j] = v
		v = v.Mul(r)
	}
	return nil
}

// productTable is coeff times the products of factors for all values of
// len(factors)/2 variables.
func productTable[E field.Element[E]](factors []E, coeff E) []E {
	t := make([]E, 1, 1<<(len(factors)/2))
	t[0] = coeff
	for j := 0; j < len(factors); j += 2 {
		n := len(t)
		t = t[:2*n]
		for x := n - 1; x >= 0; x-- { // the new variable is the lowest bit
			v := t[x]
			t[2*x], t[2*x+1] = v.Mul(factors[j]), v.Mul(factors[j+1])
		}
	}
	return t
}

// splitTable is the products of factors as a table of rows and one of columns:
// entry b is high[b>>l]*low[b mod 2^l], 2^l being low's length.
func splitTable[E field.Element[E]](factors []E, coeff E) (high, low []E) {
	half := len(factors) / 4 * 2
	return productTable(factors[:half], coeff), productTable(factors[half:], coeff.One())
}

func (h host[W, F, E]) blockSums(sums device.Buffer[E], stride, column int, f device.Buffer[F], factors device.Buffer[E], fold int) error {
	if err := use(h.q, sums, factors); err != nil {
		return err
	}
	if err := use(h.q, f); err != nil {
		return err
	}
	words, s := h.vectors.words(f.Host()), h.scheme.Spec.SymbolWords
	blockSums(sums.Host(), stride, column, f.Len(), factors.Host(), fold, s, func(acc []E, at int, c []E) {
		h.vectors.combine(acc, words[at:at+len(c)*len(acc)], len(acc), c)
	}, func(acc, low []E) E {
		row := acc[:len(low)]
		h.vectors.collapse(row, acc)
		return h.vectors.dotExt(row, low)
	})
	return nil
}

func (h host[W, F, E]) blockSumsExt(sums device.Buffer[E], stride, column int, f device.Buffer[E], factors device.Buffer[E], fold int) error {
	if err := use(h.q, sums, f, factors); err != nil {
		return err
	}
	table := f.Host()
	blockSums(sums.Host(), stride, column, f.Len(), factors.Host(), fold, 1, func(acc []E, at int, c []E) {
		for k, e := range c {
			h.vectors.mulAddExt(acc, table[at+k*len(acc):at+(k+1)*len(acc)], e)
		}
	}, h.vectors.dotExt)
	return nil
}

// blockSums takes a block as a matrix: the table of the first of its variables
// combines the rows, from an index on, into one by add, word by word of the symbols,
// and finish sums that up with the table of the last ones.
func blockSums[E field.Element[E]](sums []E, stride, column, n int, factors []E, fold, words int, add func(acc []E, at int, c []E), finish func(acc, low []E) E) {
	m := log2(n)
	claims := 0
	if m > 0 {
		claims = len(factors) / (2 * m)
	} else if len(factors) == 0 {
		claims = 1
	}
	type split struct{ high, low []E }
	tables := make([]split, claims)
	for c := range tables {
		var zero E
		tables[c].high, tables[c].low = splitTable(factors[2*(m*c+fold):2*m*(c+1)], zero.One())
	}
	if claims == 0 {
		return
	}
	rows, width := len(tables[0].high), words*len(tables[0].low)
	blocks := 1 << fold
	parts := 1 // of a block, where there are few blocks
	for parts*blocks < 32 && 2*parts <= rows {
		parts *= 2
	}
	rows /= parts
	out := make([]E, blocks*parts*claims)
	parallel.For(blocks*parts, max(1, grain/(rows*width)), func(lo, hi int) {
		acc := make([]E, width)
		for k := lo; k < hi; k++ {
			for c, t := range tables {
				clear(acc)
				add(acc, k*rows*width, t.high[k%parts*rows:(k%parts+1)*rows])
				out[k*claims+c] = finish(acc, t.low)
			}
		}
	})
	for u := range blocks {
		for c := range claims {
			var v E
			for p := range parts {
				v = v.Add(out[(u*parts+p)*claims+c])
			}
			sums[u*stride+column+c] = v
		}
	}
}

func (h host[W, F, E]) blockWeights(dst device.Buffer[E], stride, column int, factors, coeffs device.Buffer[E], fold, vars int) error {
	if err := use(h.q, dst, factors, coeffs); err != nil {
		return err
	}
	for c, coeff := range coeffs.Host() {
		at := 2 * vars * c
		for u, v := range productTable(factors.Host()[at:at+2*fold], coeff) {
			dst.Host()[u*stride+column+c] = v
		}
	}
	return nil
}

// foldBlocks works on ranges of columns whose sums stay in the cache.
func (h host[W, F, E]) foldBlocks(dst device.Buffer[E], f device.Buffer[F], challenges device.Buffer[E]) error {
	if err := use(h.q, dst, challenges); err != nil {
		return err
	}
	if err := use(h.q, f); err != nil {
		return err
	}
	const columns = 256
	weights := eqTable(challenges.Host())
	out, words, s := dst.Host(), h.vectors.words(f.Host()), h.scheme.Spec.SymbolWords
	n := len(out)
	parallel.For(n, max(columns, grain/len(weights)), func(lo, hi int) {
		acc := make([]E, s*columns)
		for ; lo < hi; lo += columns {
			end := min(lo+columns, hi)
			t := acc[:s*(end-lo)]
			clear(t)
			h.vectors.combine(t, words[s*lo:], s*n, weights)
			h.vectors.collapse(out[lo:end], t)
		}
	})
	return nil
}

func (h host[W, F, E]) addWeights(w, factors device.Buffer[E], vars int, coeffs device.Buffer[E], set bool) error {
	if err := use(h.q, w, factors, coeffs); err != nil {
		return err
	}
	out, n := w.Host(), log2(w.Len())
	if set {
		parallel.For(len(out), grain, func(lo, hi int) { clear(out[lo:hi]) })
	}
	for c, coeff := range coeffs.Host() {
		high, low := splitTable(factors.Host()[2*(vars*(c+1)-n):2*vars*(c+1)], coeff)
		size := len(low)
		parallel.For(len(high), max(1, grain/size), func(from, to int) {
			for i := from; i < to; i++ {
				h.vectors.mulAddExt(out[i*size:(i+1)*size], low, high[i])
			}
		})
	}
	return nil
}

func (h host[W, F, E]) addTable(w, t, coeff device.Buffer[E]) error {
	if err := use(h.q, w, t, coeff); err != nil {
		return err
	}
	out, in, c := w.Host(), t.Host(), coeff.Host()[0]
	parallel.For(len(out), grain, func(lo, hi int) { h.vectors.mulAddExt(out[lo:hi], in[lo:hi], c) })
	return nil
}

func (h host[W, F, E]) dot(dst, a, b device.Buffer[E], stride, column int) error {
	if err := use(h.q, dst, a, b); err != nil {
		return err
	}
	var v E
	for i := column; i < a.Len(); i += stride {
		v = v.Add(a.Host()[i].Mul(b.Host()[i]))
	}
	dst.Host()[0] = v
	return nil
}

func (h host[W, F, E]) combine(dst device.Buffer[E], tables []device.Buffer[F], coeffs device.Buffer[E]) error {
	if err := use(h.q, append([]device.Buffer[E]{dst}, coeffs)...); err != nil {
		return err
	}
	if err := use(h.q, tables...); err != nil {
		return err
	}
	out := dst.Host()
	parallel.For(len(out), grain, func(lo, hi int) {
		clear(out[lo:hi])
		for a, t := range tables {
			h.vectors.mulAddSym(out[lo:hi], t.Host()[lo:hi], coeffs.Host()[a])
		}
	})
	return nil
}

func (h host[W, F, E]) lift(dst device.Buffer[E], f device.Buffer[F]) error {
	if err := use(h.q, f); err != nil {
		return err
	}
	if err := use(h.q, dst); err != nil {
		return err
	}
	out, in := dst.Host(), f.Host()
	parallel.For(len(out), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = h.scheme.Embed(in[i])
		}
	})
	return nil
}

// sum2 adds up, on all cores, two values that body returns for parts of [0, n).
func sum2[E field.Element[E]](n, grain int, body func(lo, hi int) (a, b E)) (a, b E) {
	var mu sync.Mutex
	parallel.For(n, grain, func(lo, hi int) {
		x, y := body(lo, hi)
		mu.Lock()
		defer mu.Unlock()
		a, b = a.Add(x), b.Add(y)
	})
	return a, b
}

func log2(n int) int {
	l := 0
	for n>>l > 1 {
		l++
	}
	return l
}

// eqTable is the 2^n values eq(point, x).
func eqTable[E field.Element[E]](point []E) []E {
	factors := make([]E, 0, 2*len(point))
	var one E
	one = one.One()
	for _, r := range point {
		factors = append(factors, one.Sub(r), r)
	}
	return productTable(factors, one)
}
