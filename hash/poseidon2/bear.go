package poseidon2

import (
	"unsafe"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field"
)

// bear is a permutation over a prime field of words in Montgomery form: v stands
// for 2^32 v mod P. Words are below P between steps.
type bear struct {
	Params
	inverse     uint32 // 1/P modulo 2^32
	quotient    uint64 // 2^52 / P, rounded down
	first, last [4][24]uint64
	partial     []uint64
	diagonal    [24]uint64
	flat        []uint32 // all constants in the order of their use, less P
}

func newBear(p Params) *bear {
	b := &bear{Params: p, inverse: p.Inverse(), quotient: 1 << 52 / uint64(p.P)}
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
func (b *bear) form(v uint32) uint64 { return uint64(v) << 32 % uint64(b.P) }

// reduce is t / 2^32 modulo P for t below 2^32 P.
func (b *bear) reduce(t uint64) uint64 {
	q := uint32(t) * b.inverse
	r := uint32(t>>32) - uint32(uint64(q)*uint64(b.P)>>32)
	return uint64(min(r, r+b.P)) // r wraps to a large number when it is negative
}

// small is v modulo P for v below 2^37: the quotient is right or one too small.
func (b *bear) small(v uint64) uint64 {
	r := uint32(v) - uint32(v>>20*b.quotient>>32)*b.P
	return uint64(min(r, r-b.P))
}

func (b *bear) sbox(x uint64) uint64 {
	x2 := b.reduce(x * x)
	x3 := b.reduce(x2 * x)
	if b.Degree == 3 {
		return x3
	}
	return b.reduce(x3 * b.reduce(x2*x2)) // x^7
}

// external multiplies by circ(2 M4, M4, ..., M4) and adds rc.
func (b *bear) external(s []uint64, rc *[24]uint64) {
	var column [4]uint64
	for i := 0; i < len(s); i += 4 {
		g := s[i : i+4 : i+4]
		g[0], g[1], g[2], g[3] = m4(g[0], g[1], g[2], g[3])
		for k, v := range g {
			column[k] += v
		}
	}
	for i := range s {
		s[i] = b.small(s[i] + column[i%4] + rc[i])
	}
}

var none [24]uint64

// half is four full rounds with constants rc, the first of which are added
// already. It adds next after the last.
func (b *bear) half(s []uint64, rc *[4][24]uint64, next *[24]uint64) {
	for r := range rc {
		for i, x := range s {
			s[i] = b.sbox(x)
		}
		if r < 3 {
			b.external(s, &rc[r+1])
		} else {
			b.external(s, next)
		}
	}
}

func (b *bear) permute(s []uint64) {
	b.external(s, &b.first[0])
	b.half(s, &b.first, &none)
	for _, c := range b.partial {
		s[0] = b.sbox(b.small(s[0] + c))
		var sum uint64
		for _, x := range s {
			sum += x
		}
		sum = b.small(sum)
		for i, x := range s {
			s[i] = b.small(b.reduce(b.diagonal[i]*x) + sum)
		}
	}
	for i := range s {
		s[i] = b.small(s[i] + b.last[0][i])
	}
	b.half(s, &b.last, &none)
}

// words permutes a state of 32-bit words.
func (b *bear) words(state []uint32) {
	var room [24]uint64
	s := room[:len(state)]
	for i, w := range state {
		s[i] = uint64(w)
	}
	b.permute(s)
	for i := range state {
		state[i] = uint32(s[i])
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
