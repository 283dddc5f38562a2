// Package known makes bases whose discrete logarithms are known, and scalars of several
// distributions, so that a multi-scalar multiplication of any size can be checked by one
// multiplication of the generator. For tests and benchmarks.
package known

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"sync"
	"unsafe"

	"github.com/zkwarp/zkwarp/curve/weierstrass"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/msm"
)

// Affine are affine points with coordinates E.
type Affine[E any] interface{ ~struct{ X, Y E } }

// Scalar is what logarithms are computed with.
type Scalar[S any] interface {
	*S
	Add(x, y *S) *S
	Mul(x, y *S) *S
	SetUint64(v uint64) *S
	SetBigInt(v *big.Int) *S
	BigInt(v *big.Int) *big.Int
}

// Bases are points k·G for known k: each is the sum of one of 2^14 points and one of as
// many as it takes, whose logarithms are uniform.
type Bases[P, S any] struct {
	Curve  *msm.Curve[P, S]
	Points []P

	low, high []S // their logarithms
	expected  func(scalars []S) P
	scalars   func(kind string, seed uint64, n int) ([]S, error)
}

// New makes n bases. The same seed gives the same points, and fewer of them a part of
// more up to 2^28.
func New[P Affine[E], S, E any, F weierstrass.Field[E], M Scalar[S]](c *msm.Curve[P, S], seed uint64, n int) *Bases[P, S] {
	g := weierstrass.New[E, F](c.Group)
	b := &Bases[P, S]{Curve: c, Points: make([]P, n)}
	lows := min(n, row)
	highs := max(1, (n+row-1)/row)
	fixed := newFixedBase(g)
	r := uniform{c.Group.Scalar.Words(c.Group.Scalar.Modulus)}
	b.low, b.high = random[S](r, rng(seed, 1), lows), random[S](r, rng(seed, 2), highs)
	low, high := fixed.multiples(logs[S, M](b.low)), fixed.multiples(logs[S, M](b.high))
	out := unsafe.Slice((*weierstrass.Affine[E])(unsafe.Pointer(unsafe.SliceData(b.Points))), n)
	parallel.For(highs, 1, func(lo, hi int) {
		room := make([]E, 2*lows)
		for h := lo; h < hi; h++ {
			to := out[h*row : min((h+1)*row, n)]
			g.AddToAll(to, low[:len(to)], &high[h], room)
		}
	})
	b.expected = func(scalars []S) P {
		k := dot[S, M](b.low, b.high, scalars)
		var v big.Int
		return P(g.Mul(g.Generator, M(&k).BigInt(&v)))
	}
	b.scalars = func(kind string, seed uint64, n int) ([]S, error) { return scalars[S, M](r, kind, seed, n) }
	return b
}

// Expected is Σ scalars[i]·Points[i], by logarithms.
func (b *Bases[P, S]) Expected(scalars []S) P { return b.expected(scalars) }

// Scalars are n scalars of one of Kinds.
func (b *Bases[P, S]) Scalars(kind string, seed uint64, n int) ([]S, error) {
	return b.scalars(kind, seed, n)
}

func rng(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// dot is Σ scalars[i]·(low[i mod len(low)] + high[i div len(low)]).
func dot[S any, M Scalar[S]](low, high, scalars []S) S {
	var total S
	var mu sync.Mutex
	rows := (len(scalars) + len(low) - 1) / max(1, len(low))
	parallel.For(rows, 8, func(lo, hi int) {
		columns := make([]S, len(low))
		var sum S
		for h := lo; h < hi; h++ {
			list := scalars[h*len(low) : min((h+1)*len(low), len(scalars))]
			var row S
			for i := range list {
				M(&row).Add(&row, &list[i])
				M(&columns[i]).Add(&columns[i], &list[i])
			}
			M(&row).Mul(&row, &high[h])
			M(&sum).Add(&sum, &row)
		}
		for i := range columns {
			M(&columns[i]).Mul(&columns[i], &low[i])
			M(&sum).Add(&sum, &columns[i])
		}
		mu.Lock()
		M(&total).Add(&total, &sum)
		mu.Unlock()
	})
	return total
}

func logs[S any, M Scalar[S]](s []S) []*big.Int {
	out := make([]*big.Int, len(s))
	for i := range s {
		out[i] = M(&s[i]).BigInt(new(big.Int))
	}
	return out
}

// digit is how many bits of a logarithm one of a fixed base's tables takes.
const digit = 8

// fixedBase has d·2^(8 w)·G for all d below 2^8.
type fixedBase[E any, F weierstrass.Field[E]] struct {
	g      *weierstrass.Curve[E, F]
	tables [][]weierstrass.Affine[E]
}

func newFixedBase[E any, F weierstrass.Field[E]](g *weierstrass.Curve[E, F]) *fixedBase[E, F] {
	f := &fixedBase[E, F]{g: g}
	at := g.FromAffine(&g.Generator)
	for range (g.Order.BitLen() + digit - 1) / digit {
		sums := make([]weierstrass.XYZZ[E], 1<<digit)
		for d := 1; d < len(sums); d++ {
			sums[d] = sums[d-1]
			g.Add(&sums[d], &at)
		}
		f.tables = append(f.tables, g.BatchAffine(sums))
		for range digit {
			g.Double(&at)
		}
	}
	return f
}

func (f *fixedBase[E, F]) multiples(k []*big.Int) []weierstrass.Affine[E] {
	out := make([]weierstrass.Affine[E], len(k))
	parallel.For(len(k), 64, func(lo, hi int) {
		sums := make([]weierstrass.XYZZ[E], hi-lo)
		for i := range sums {
			b := k[lo+i].Bytes()
			for w := range b {
				f.g.Accumulate(&sums[i], &f.tables[w][b[len(b)-1-w]])
			}
		}
		copy(out[lo:], f.g.BatchAffine(sums))
	})
	return out
}

// uniform numbers below a modulus, given by words with the lowest first.
type uniform struct{ modulus []uint32 }

func (u uniform) fill(r *rand.Rand, w []uint32) {
	top := len(w) - 1
	for u.modulus[top] == 0 {
		top--
	}
	mask := uint32(1)<<bits.Len32(u.modulus[top]) - 1
	for {
		for i := range w {
			w[i] = r.Uint32()
		}
		clear(w[top+1:])
		w[top] &= mask
		for i := top; i >= 0; i-- {
			if w[i] != u.modulus[i] {
				if w[i] < u.modulus[i] {
					return
				}
				break
			}
		}
	}
}

func words[T any](v *T) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(v)), unsafe.Sizeof(*v)/4)
}

// random elements: uniform words are those of a uniform element in Montgomery form, too.
func random[S any](u uniform, r *rand.Rand, n int) []S {
	out := make([]S, n)
	for i := range out {
		u.fill(r, words(&out[i]))
	}
	return out
}

// Kinds of scalars, by name.
func Kinds() []string {
	return []string{"uniform", "zero-one", "equal", "bits64", "hot-window", "half"}
}

// hot bits of all scalars are the same in kind hot-window: enough for a whole window of
// up to 26 bits wherever it begins.
const (
	hotFrom = 64
	hotBits = 51
)

// scalars of a kind: uniform; 0 or 1; all the same; uniform below 2^64; the same bits in
// one place, so that one window at least has a single digit; one value in half of the
// places, at random.
func scalars[S any, M Scalar[S]](u uniform, kind string, seed uint64, n int) ([]S, error) {
	var one S
	M(&one).SetUint64(1)
	same := random[S](u, rng(seed, 0), 1)[0]
	hot := M(&same).BigInt(new(big.Int))
	hot.Rsh(hot, hotFrom).And(hot, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), hotBits), big.NewInt(1))).Lsh(hot, hotFrom)
	var fill func(r *rand.Rand, s *S)
	switch kind {
	case "uniform":
		fill = func(r *rand.Rand, s *S) { u.fill(r, words(s)) }
	case "zero-one":
		fill = func(r *rand.Rand, s *S) {
			if r.Uint64()&1 == 1 {
				*s = one
			}
		}
	case "equal":
		fill = func(_ *rand.Rand, s *S) { *s = same }
	case "bits64":
		fill = func(r *rand.Rand, s *S) { M(s).SetUint64(r.Uint64()) }
	case "hot-window":
		lower := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), hotFrom), big.NewInt(1))
		fill = func(r *rand.Rand, s *S) {
			var v, low big.Int
			u.fill(r, words(s))
			M(s).BigInt(&v)
			low.And(&v, lower)
			v.Rsh(&v, hotFrom+hotBits).Lsh(&v, hotFrom+hotBits)
			v.Or(&v, &low).Or(&v, hot)
			M(s).SetBigInt(&v)
		}
	case "half":
		fill = func(r *rand.Rand, s *S) {
			if *s = same; r.Uint64()&1 == 1 {
				u.fill(r, words(s))
			}
		}
	default:
		return nil, fmt.Errorf("known: no scalars of kind %q", kind)
	}
	out := make([]S, n)
	// Every piece has a generator of its own, so that scalars do not depend on cores.
	const piece = 1 << 12
	parallel.For((n+piece-1)/piece, 1, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			r := rng(seed, 1+uint64(p))
			for i := p * piece; i < min(n, (p+1)*piece); i++ {
				fill(r, &out[i])
			}
		}
	})
	return out, nil
}
