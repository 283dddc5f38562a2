// Package curvetest is the arithmetic of every group in package curve over math/big,
// slow and plain, for tests to compare kernels with.
package curvetest

import (
	"math/big"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/field/mont"
)

// Point is an affine point, or infinity if Infinity is set. X and Y have the group's
// Degree of numbers.
type Point struct {
	X, Y     []*big.Int
	Infinity bool
}

// Curve does arithmetic in a group.
type Curve struct{ *curve.Group }

// Generator of the group.
func (c Curve) Generator() Point {
	return Point{X: c.Group.Generator[:c.Degree], Y: c.Group.Generator[c.Degree:]}
}

// Neg is -p.
func (c Curve) Neg(p Point) Point {
	if p.Infinity {
		return p
	}
	return Point{X: p.X, Y: c.sub(c.zero(), p.Y)}
}

// Add is p + q.
func (c Curve) Add(p, q Point) Point {
	switch {
	case p.Infinity:
		return q
	case q.Infinity:
		return p
	}
	var slope []*big.Int
	if dx := c.sub(q.X, p.X); !isZero(dx) {
		slope = c.mul(c.sub(q.Y, p.Y), c.inverse(dx))
	} else {
		sum := c.add(p.Y, q.Y)
		if isZero(sum) {
			return Point{Infinity: true}
		}
		xx := c.mul(p.X, p.X)
		slope = c.mul(c.add(c.add(xx, c.add(xx, xx)), c.A), c.inverse(sum))
	}
	x := c.sub(c.mul(slope, slope), c.add(p.X, q.X))
	return Point{X: x, Y: c.sub(c.mul(slope, c.sub(p.X, x)), p.Y)}
}

// Mul is k p.
func (c Curve) Mul(k *big.Int, p Point) Point {
	if k.Sign() < 0 {
		return c.Mul(new(big.Int).Neg(k), c.Neg(p))
	}
	r := Point{Infinity: true}
	for i := k.BitLen() - 1; i >= 0; i-- {
		r = c.Add(r, r)
		if k.Bit(i) == 1 {
			r = c.Add(r, p)
		}
	}
	return r
}

// Equal says whether two points are the same.
func (c Curve) Equal(p, q Point) bool {
	if p.Infinity || q.Infinity {
		return p.Infinity == q.Infinity
	}
	return isZero(c.sub(p.X, q.X)) && isZero(c.sub(p.Y, q.Y))
}

// Multiples are 0, p, 2p, ..., (n-1)p.
func (c Curve) Multiples(p Point, n int) []Point {
	out := make([]Point, n)
	out[0] = Point{Infinity: true}
	for i := 1; i < n; i++ {
		out[i] = c.Add(out[i-1], p)
	}
	return out
}

// Affine is p in a device's memory: x, y in Montgomery form, all zero for infinity.
func (c Curve) Affine(p Point) []uint32 {
	if p.Infinity {
		return make([]uint32, c.AffineBytes()/4)
	}
	return append(c.words(p.X), c.words(p.Y)...)
}

// XYZZ is p as a sum in a device's memory, with the given Z, which is not 0: x Z², y Z³,
// Z², Z³. Infinity has its last two coordinates 0 and whatever in the others.
func (c Curve) XYZZ(p Point, z *big.Int) []uint32 {
	v := c.zero()
	v[0] = new(big.Int).Set(z)
	zz := c.mul(v, v)
	zzz := c.mul(zz, v)
	if p.Infinity {
		return append(append(c.words(zz), c.words(zzz)...), append(c.words(c.zero()), c.words(c.zero())...)...)
	}
	return append(append(c.words(c.mul(p.X, zz)), c.words(c.mul(p.Y, zzz))...), append(c.words(zz), c.words(zzz)...)...)
}

// FromAffine reads what Affine writes.
func (c Curve) FromAffine(words []uint32) Point {
	n := len(words) / 2
	p := Point{X: c.numbers(words[:n]), Y: c.numbers(words[n:])}
	p.Infinity = isZero(p.X) && isZero(p.Y)
	return p
}

// FromXYZZ reads a sum. It also says whether its four coordinates are below the modulus
// and agree with each other and with the curve.
func (c Curve) FromXYZZ(words []uint32) (p Point, ok bool) {
	n := len(words) / 4
	x, y, zz, zzz := c.numbers(words[:n]), c.numbers(words[n:2*n]), c.numbers(words[2*n:3*n]), c.numbers(words[3*n:])
	for i := 0; i < len(words); i += c.Base.Limbs {
		if c.Base.Int(words[i:i+c.Base.Limbs]).Cmp(c.Base.Modulus) >= 0 {
			return p, false
		}
	}
	if isZero(zz) {
		return Point{Infinity: true}, isZero(zzz)
	}
	p = Point{X: c.mul(x, c.inverse(zz)), Y: c.mul(y, c.inverse(zzz))}
	square := c.mul(zzz, zzz)
	cube := c.mul(zz, c.mul(zz, zz))
	return p, isZero(c.sub(square, cube)) && c.OnCurve(p)
}

// OnCurve says whether p is on the curve.
func (c Curve) OnCurve(p Point) bool {
	if p.Infinity {
		return true
	}
	right := c.add(c.add(c.mul(c.mul(p.X, p.X), p.X), c.mul(c.A, p.X)), c.B)
	return isZero(c.sub(c.mul(p.Y, p.Y), right))
}

func (c Curve) numbers(words []uint32) []*big.Int {
	var out []*big.Int
	for ; len(words) > 0; words = words[c.Base.Limbs:] {
		out = append(out, c.Base.FromMontgomery(words[:c.Base.Limbs]))
	}
	return out
}

func (c Curve) words(v []*big.Int) []uint32 {
	var out []uint32
	for _, x := range v {
		out = append(out, c.Base.Montgomery(x)...)
	}
	return out
}

func (c Curve) zero() []*big.Int {
	out := make([]*big.Int, c.Degree)
	for i := range out {
		out[i] = new(big.Int)
	}
	return out
}

func (c Curve) each(f func(r *big.Int, i int)) []*big.Int {
	out := c.zero()
	for i := range out {
		f(out[i], i)
		out[i].Mod(out[i], c.Base.Modulus)
	}
	return out
}

func (c Curve) add(a, b []*big.Int) []*big.Int {
	return c.each(func(r *big.Int, i int) { r.Add(a[i], b[i]) })
}

func (c Curve) sub(a, b []*big.Int) []*big.Int {
	return c.each(func(r *big.Int, i int) { r.Sub(a[i], b[i]) })
}

func (c Curve) mul(a, b []*big.Int) []*big.Int {
	if c.Degree == 1 {
		return c.each(func(r *big.Int, _ int) { r.Mul(a[0], b[0]) })
	}
	return c.each(func(r *big.Int, i int) {
		if i == 0 {
			r.Mul(a[1], b[1])
			r.Mul(r, big.NewInt(-int64(c.Minus))).Add(r, new(big.Int).Mul(a[0], b[0]))
		} else {
			r.Mul(a[0], b[1])
			r.Add(r, new(big.Int).Mul(a[1], b[0]))
		}
	})
}

// inverse is the conjugate over the norm.
func (c Curve) inverse(a []*big.Int) []*big.Int {
	if c.Degree == 1 {
		return []*big.Int{new(big.Int).ModInverse(a[0], c.Base.Modulus)}
	}
	norm := new(big.Int).Mul(a[1], a[1])
	norm.Mul(norm, big.NewInt(int64(c.Minus))).Add(norm, new(big.Int).Mul(a[0], a[0]))
	norm.ModInverse(norm.Mod(norm, c.Base.Modulus), c.Base.Modulus)
	return []*big.Int{
		new(big.Int).Mod(new(big.Int).Mul(a[0], norm), c.Base.Modulus),
		new(big.Int).Mod(new(big.Int).Mul(new(big.Int).Neg(a[1]), norm), c.Base.Modulus),
	}
}

func isZero(a []*big.Int) bool {
	for _, x := range a {
		if x.Sign() != 0 {
			return false
		}
	}
	return true
}

// Random is a number of [1, p) from a stream of words.
func Random(f *mont.Field, next func() uint32) *big.Int {
	words := make([]uint32, f.Limbs)
	for i := range words {
		words[i] = next()
	}
	v := f.Int(words)
	v.Mod(v, new(big.Int).Sub(f.Modulus, big.NewInt(1)))
	return v.Add(v, big.NewInt(1))
}
