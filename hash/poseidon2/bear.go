package poseidon2

import (
	"unsafe"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field"
)

// bear is a permutation over a prime field of words in Montgomery form: v stands
// for 2^32 v mod P. Between steps words have 64 bits and a sign. They are reduced
// only as far as the next step needs:
//
//	into an S-box        at most P in size, and little more
//	out of an S-box      less than P in size
//	in partial rounds    less than 2 P in size
//	sums                 below 2^37 in size
type bear struct {
	Params
	inverse     int32 // 1/P modulo 2^32
	quotient    int64 // 2^52 / P, rounded down
	first, last [4][24]int64
	partial     []int64
	diagonal    [24]int64 // at most P / 2 in size
	flat        []uint32  // all constants in the order of their use, less P
}

func newBear(p Params) *bear {
	b := &bear{Params: p, inverse: int32(p.Inverse()), quotient: 1 << 52 / int64(p.P)}
	c := p.Constants()
	for r := range b.first {
		for i := range p.Width {
			b.first[r][i], b.last[r][i] = b.form(c.First[r][i]), b.form(c.Last[r][i])
		}
	}
	for _, v := range c.Partial {
		b.partial = append(b.partial, b.form(v))
	}
	for i, v := range p.Internal() {
		b.diagonal[i] = b.form(v)
		if b.diagonal[i] > int64(p.P/2) {
			b.diagonal[i] -= int64(p.P)
		}
	}
	for r := range b.first {
		b.flat = append(b.flat, b.less(b.first[r][:p.Width])...)
	}
	b.flat = append(b.flat, b.less(b.partial)...)
	for r := range b.last {
		b.flat = append(b.flat, b.less(b.last[r][:p.Width])...)
	}
	return b
}

// form is the Montgomery form of a number.
func (b *bear) form(v uint32) int64 { return int64(uint64(v) << 32 % uint64(b.P)) }

// less is words less P, modulo 2^32.
func (b *bear) less(v []int64) []uint32 {
	out := make([]uint32, len(v))
	for i, w := range v {
		out[i] = uint32(w) - b.P
	}
	return out
}

// product is x y / 2^32 modulo p for a product of at most p^2 in size: it is at most
// p/2 + |x y| / 2^32.
func product(x, y, p int64, inverse int32) int64 {
	t := x * y
	return (t - int64(int32(t)*inverse)*p) >> 32
}

// centre is v modulo p for v below 2^37 in size, from -p to p: the quotient is right or
// one too small, or by 2^-15 too large.
func centre(v, p, quotient int64) int64 { return v - (v>>20*quotient>>32)*p - p }

func power(x int64, degree int, p int64, inverse int32) int64 {
	x2 := product(x, x, p, inverse)
	x3 := product(x2, x, p, inverse)
	if degree == 3 {
		return x3
	}
	return product(x3, product(x2, x2, p, inverse), p, inverse) // x^7
}

// external multiplies by circ(2 M4, M4, ..., M4) and adds rc.
func (b *bear) external(s []int64, rc *[24]int64) {
	p, quotient := int64(b.P), b.quotient
	var column [4]int64
	for g := s; len(g) >= 4; g = g[4:] {
		ab, cd := g[0]+g[1], g[2]+g[3]
		all := ab + cd
		allb, alld := all+g[1], all+g[3]
		g[0], g[1], g[2], g[3] = allb+ab, allb+2*g[2], alld+cd, alld+2*g[0]
		column[0] += g[0]
		column[1] += g[1]
		column[2] += g[2]
		column[3] += g[3]
	}
	for i, c := range rc[:len(s)] {
		s[i] = centre(s[i]+column[i&3]+c, p, quotient)
	}
}

var none [24]int64

// half is four full rounds with constants rc, the first of which are added
// already.
func (b *bear) half(s []int64, rc *[4][24]int64) {
	degree, p, inverse := b.Degree, int64(b.P), b.inverse
	for r := range rc {
		for i, x := range s {
			s[i] = power(x, degree, p, inverse)
		}
		next := &none
		if r < 3 {
			next = &rc[r+1]
		}
		b.external(s, next)
	}
}

func (b *bear) permute(s []int64) {
	p, inverse, quotient := int64(b.P), b.inverse, b.quotient
	b.external(s, &b.first[0])
	b.half(s, &b.first)
	for _, c := range b.partial {
		s[0] = power(centre(s[0]+c, p, quotient), b.Degree, p, inverse)
		var sum int64
		for _, x := range s {
			sum += x
		}
		sum = centre(sum, p, quotient)
		for i, d := range b.diagonal[:len(s)] {
			s[i] = product(d, s[i], p, inverse) + sum
		}
	}
	for i := range s {
		s[i] = centre(s[i]+b.last[0][i], p, quotient)
	}
	b.half(s, &b.last)
}

// words permutes a state of 32-bit words.
func (b *bear) words(state []uint32) {
	var room [24]int64
	s := room[:len(state)]
	for i, w := range state {
		s[i] = int64(w)
	}
	b.permute(s)
	for i, v := range s {
		w := uint32(v)
		w = min(w, w+b.P) // from -P: it wraps to a large number when it is negative
		state[i] = min(w, w+b.P)
	}
}

// bearLanes is how many states Many16 and Many24 take.
const bearLanes = 16

// many permutes bearLanes states, one after the other if there are no vectors.
func (b *bear) many(s []uint32) {
	if b.vectorLanes(s) {
		return
	}
	var room [24]uint32
	one := room[:b.Width]
	for j := range bearLanes {
		for k := range one {
			one[k] = s[k*bearLanes+j]
		}
		b.words(one)
		for k, w := range one {
			s[k*bearLanes+j] = w
		}
	}
}

// words32 are the words of a slice of at least n elements, the first n of them.
func words32[W ~uint32](s []W, n int) []uint32 { return unsafe.Slice((*uint32)(first(s, n)), n) }

func bearPermutation[W field.Base[W]](name string, params func(int) (Params, error), fp *kernel.Source) *Permutation[W] {
	b16, b24 := newBear(known(params, 16)), newBear(known(params, 24))
	header := bearHeader(name, fp, b16, b24)
	return &Permutation[W]{
		Name:       name,
		Permute16:  func(s *[16]W) { b16.words(words32(s[:], 16)) },
		Permute24:  func(s *[24]W) { b24.words(words32(s[:], 24)) },
		Lanes:      bearLanes,
		Many16:     func(s []W) { b16.many(words32(s, 16*bearLanes)) },
		Many24:     func(s []W) { b24.many(words32(s, 24*bearLanes)) },
		Header:     header,
		WarpHeader: bearWarpHeader(name, header, b16),
	}
}
