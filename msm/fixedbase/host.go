package fixedbase

import (
	"math/big"
	"math/bits"
	"sync"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/weierstrass"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// Host makes what multiplies a base by scalars on the CPU, on all cores: for about n
// scalars in all, of lists with a point for each scalar. Scalars are below the order.
type Host[P, S any] func(base *P, n int) func(points []P, scalars []S)

// Affine are affine points with coordinates E.
type Affine[E any] interface{ ~struct{ X, Y E } }

// Scalar is gnark-crypto's elements of a scalar field.
type Scalar[S any] interface {
	*S
	BigInt(v *big.Int) *big.Int
}

// OnHost is the Host of a group over gnark-crypto's points P, scalars S and coordinates E:
// like a device it adds up a point of every window of a table. Points are added in affine
// form, those of a block of scalars with one inversion (Montgomery's trick), 6 products an
// addition; gnark-crypto's BatchScalarMultiplication doubles besides, some 250 times a point.
func OnHost[P Affine[E], S, E any, F weierstrass.Field[E], M Scalar[S]](g *curve.Group) Host[P, S] {
	arith := weierstrass.New[E, F](g)
	return func(base *P, n int) func([]P, []S) {
		t := newHostTable(arith, g, weierstrass.Affine[E](*base), n)
		return func(points []P, scalars []S) {
			// A block's points stay in a core's cache, and its inversion costs little.
			const block = 256
			rooms := sync.Pool{New: func() any { return newHostRoom[E](block, t.windows.n) }}
			parallel.For((len(scalars)+block-1)/block, 1, func(from, to int) {
				r := rooms.Get().(*hostRoom[E])
				defer rooms.Put(r)
				for b := from; b < to; b++ {
					lo, hi := b*block, min((b+1)*block, len(scalars))
					for i := lo; i < hi; i++ {
						M(&scalars[i]).BigInt(&r.number)
						t.places(r, i-lo)
					}
					t.multiply(r, hi-lo)
					for i := lo; i < hi; i++ {
						points[i] = P(r.sums[i-lo])
					}
				}
			})
		}
	}
}

// hostTable is a base's table on the CPU; its places are those of a device's.
type hostTable[E any, F weierstrass.Field[E]] struct {
	arith   *weierstrass.Curve[E, F]
	windows windows
	points  []weierstrass.Affine[E]
}

// hostRoom is memory for a block of scalars.
type hostRoom[E any] struct {
	number     big.Int
	places     []uint32 // of a window, all scalars'
	sums, with []weierstrass.Affine[E]
	inverses   []E
	scratch    weierstrass.Room[E]
}

func newHostRoom[E any](block, windows int) *hostRoom[E] {
	return &hostRoom[E]{places: make([]uint32, block*windows), sums: make([]weierstrass.Affine[E], block), with: make([]weierstrass.Affine[E], block), inverses: make([]E, 2*block)}
}

// mostHostWindow is the widest window of a table on the CPU, some megabytes of points: a
// larger one leaves the cache.
const mostHostWindow = 13

func newHostTable[E any, F weierstrass.Field[E]](c *weierstrass.Curve[E, F], g *curve.Group, base weierstrass.Affine[E], n int) *hostTable[E, F] {
	t := &hostTable[E, F]{arith: c}
	for b := minHostWindow; b <= mostHostWindow; b++ {
		w, ok := cutInto(g.Scalar, b, g.Scalar.Bits())
		if ok && (t.windows.n == 0 || w.hostCost(n) < t.windows.hostCost(n)) {
			t.windows = w
		}
	}
	w := t.windows
	t.points = make([]weierstrass.Affine[E], w.points())
	// The base times the powers of two at which windows begin.
	at := c.FromAffine(&base)
	shifted := make([]weierstrass.XYZZ[E], w.n)
	for i := range shifted {
		shifted[i] = at
		for range w.bits {
			c.Double(&at)
		}
	}
	bases := c.BatchAffine(shifted)
	parallel.For(w.n, 1, func(from, to int) {
		for i := from; i < to; i++ {
			t.fill(i, &bases[i])
		}
	})
	return t
}

// fill makes the multiples of a window of its base: the low ones, and those plus each of the
// high ones.
func (t *hostTable[E, F]) fill(i int, base *weierstrass.Affine[E]) {
	low, high := t.windows.parts(i)
	all := t.points[t.windows.at(i) : t.windows.at(i)+t.windows.multiples(i)]
	lows := t.runs(base, low, false)
	highs := t.runs(&lows[low-1], high, true)
	room, scratch, with := make([]E, 2*low), new(weierstrass.Room[E]), make([]weierstrass.Affine[E], low)
	for k := range highs {
		for j := range with {
			with[j] = highs[k]
		}
		to := all[k*low : min((k+1)*low, len(all))]
		copy(to, lows)
		t.arith.AddEach(to, with[:len(to)], room, scratch)
	}
}

// runs are n multiples of a point, by 1, 2 and so on, or from 0 on.
func (t *hostTable[E, F]) runs(p *weierstrass.Affine[E], n int, zero bool) []weierstrass.Affine[E] {
	sums := make([]weierstrass.XYZZ[E], n)
	var at weierstrass.XYZZ[E]
	for k := range sums {
		if zero {
			sums[k] = at
		}
		t.arith.Accumulate(&at, p)
		if !zero {
			sums[k] = at
		}
	}
	return t.arith.BatchAffine(sums)
}

// places are where scalar r.number, the block's i-th, has its points, as explained at the
// kernel.
func (t *hostTable[E, F]) places(r *hostRoom[E], i int) {
	w := t.windows
	r.number.Add(&r.number, w.sum)
	words := r.number.Bits()
	half := uint32(1) << (w.bits - 1)
	block := len(r.sums)
	for k := range w.n {
		at := k * w.bits
		word, shift := at/bits.UintSize, at%bits.UintSize
		var v uint
		if word < len(words) {
			v = uint(words[word]) >> shift
		}
		if shift+w.bits > bits.UintSize && word+1 < len(words) {
			v |= uint(words[word+1]) << (bits.UintSize - shift)
		}
		digit := uint32(v) & (2*half - 1)
		if k+1 < w.n {
			digit -= half
		}
		place, down := digit, uint32(0)
		if digit>>31 != 0 {
			place, down = -digit, 1<<31
		}
		if place != 0 {
			place = (uint32(k)*half + place) | down
		}
		r.places[k*block+i] = place
	}
}

// multiply adds up the points of the first n scalars of a block.
func (t *hostTable[E, F]) multiply(r *hostRoom[E], n int) {
	block := len(r.sums)
	for k := range t.windows.n {
		to := r.with
		if k == 0 {
			to = r.sums
		}
		for i := range n {
			place := r.places[k*block+i]
			to[i] = t.points[place&^(1<<31)]
			if place>>31 != 0 {
				F(&to[i].Y).Neg(&to[i].Y)
			}
		}
		if k > 0 {
			t.arith.AddEach(r.sums[:n], r.with[:n], r.inverses, &r.scratch)
		}
	}
}
