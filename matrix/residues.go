package matrix

import (
	"math/big"
	"slices"
	"sync"

	"github.com/zkwarp/zkwarp/field/m31"
)

// MaxDepth is how many products of signed bytes one sum may have: up to 2^16 of
// them, of at most 2^14 each, stay within 2^30.
const MaxDepth = 1 << 16

// moduli are pairwise coprime, so that a byte holds a signed residue of each:
// 2^8, and the largest products of odd primes below it that share none.
var moduli = [...]int64{256, 255, 253, 251, 247, 241, 239, 233, 229, 227}

// Modulus is one of a System's, and what kernels need to know of it: words of 32
// bits in the order of their struct of the same name. Residues are those of least
// absolute value (-128 for 256); M is the product of the system's moduli.
type Modulus struct {
	M       int32
	Magic32 int32 // 2^32/m, rounded
	Magic38 int32 // 2^38/m, rounded
	Left0   int32 // (M/m)^-1 mod m
	Left1   int32 // 2^15 (M/m)^-1 mod m
	Right1  int32 // 2^15 mod m
	Weight  int32 // M/m mod p
	Share   int32 // 2^24/m, rounded
}

// System is a residue number system: integers of at most a quarter of the
// moduli's product M in absolute value are the sum of weight_i * y_i less a
// multiple of M, where y_i is the residue of (M/m_i)^-1 times the integer; the
// multiple is the rounded sum of y_i/m_i.
type System struct {
	Moduli  []Modulus
	Product int32 // M mod p, of least absolute value
	limit   *big.Int
}

// systems by the number of moduli, from 1.
var systems = sync.OnceValue(func() []System {
	var out []System
	for t := range moduli {
		out = append(out, newSystem(moduli[:t+1]))
	}
	return out
})

// SystemFor is the smallest system for sums of depth products that keep the
// bounds, with the rounding error of the shares to spare; ok is false if none
// will do, which happens above MaxDepth only.
func SystemFor(depth int, b Bounds) (s System, ok bool) {
	if depth > MaxDepth {
		return System{}, false
	}
	bound := b.sum(depth)
	all := systems()
	i := slices.IndexFunc(all, func(s System) bool { return s.limit.Cmp(bound) >= 0 })
	if i < 0 {
		return System{}, false
	}
	return all[i], true
}

// Direct says whether the factors are signed bytes themselves, so that a sum of
// depth products needs no residues. A right bound of 128 is that of stored bytes:
// 128 itself is none.
func (b Bounds) Direct(depth int) bool {
	return depth <= MaxDepth && b.left() <= 127 && b.right() <= 128
}

// sum bounds the absolute value of a sum of depth products.
func (b Bounds) sum(depth int) *big.Int {
	v := new(big.Int).Mul(big.NewInt(b.left()), big.NewInt(b.right()))
	v.Mul(v, big.NewInt(int64(depth)))
	if s := big.NewInt(b.Sum); b.Sum > 0 && s.Cmp(v) < 0 {
		return s
	}
	return v
}

func (b Bounds) left() int64  { return orHalf(b.Left) }
func (b Bounds) right() int64 { return orHalf(b.Right) }

func orHalf(v int64) int64 {
	if v == 0 || v > m31.P/2 {
		return m31.P / 2
	}
	return v
}

func newSystem(ms []int64) System {
	product := big.NewInt(1)
	for _, m := range ms {
		product.Mul(product, big.NewInt(m))
	}
	s := System{Product: int32(least(product, m31.P)), limit: new(big.Int).Rsh(product, 2)}
	for _, m := range ms {
		rest := new(big.Int).Div(product, big.NewInt(m))
		inverse := new(big.Int).ModInverse(rest, big.NewInt(m))
		if len(ms) == 1 {
			inverse = big.NewInt(1)
		}
		s.Moduli = append(s.Moduli, Modulus{
			M: int32(m), Magic32: rounded(32, m), Magic38: rounded(38, m),
			Left0: int32(least(inverse, m)), Left1: int32(least(new(big.Int).Lsh(inverse, 15), m)), Right1: int32(least(big.NewInt(1<<15), m)),
			Weight: int32(least(rest, m31.P)), Share: rounded(24, m),
		})
	}
	return s
}

// rounded is 2^bits/m to the nearest integer.
func rounded(bits int, m int64) int32 { return int32((int64(1)<<bits + m/2) / m) }

// least is v mod m between -m/2 and m/2, for even m below m/2.
func least(v *big.Int, m int64) int64 {
	r := new(big.Int).Mod(v, big.NewInt(m)).Int64()
	if r >= (m+1)/2 {
		r -= m
	}
	return r
}
