package weierstrass

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"sync"

	"github.com/zkwarp/zkwarp/internal/parallel"
)

const (
	// block is how many points are added in affine coordinates with shared
	// inversions: an inversion costs some fifty products, a level of a block shares
	// it among half of the block's points and fewer.
	block = 4096
	// sortBytes bounds the memory for sorted windows.
	sortBytes = 1 << 30
)

// Sum is Σ scalars[i]·points[i] on all cores, by Pippenger's method: scalars in signed
// digits, points sorted by digit, buckets added pair by pair in affine coordinates with
// one inversion for a block's pairs (about 6 products a point against 10), then running
// sums over the buckets. Lists are cut by length and not by bucket, so that no
// distribution of scalars is slower than the uniform one. words writes the number
// that a scalar stands for as 64-bit words, lowest first; it is below 2^bits.
func Sum[E any, F Field[E], S any](ctx context.Context, c *Curve[E, F], points []Affine[E], scalars []S, bits int, words func([]uint64, *S)) (Affine[E], error) {
	if len(points) != len(scalars) {
		return Affine[E]{}, fmt.Errorf("weierstrass: %d points, %d scalars", len(points), len(scalars))
	}
	if len(points) == 0 {
		return Affine[E]{}, ctx.Err()
	}
	p := newPippenger(c, points, bits)
	parallel.For(len(scalars), 256, func(lo, hi int) {
		number := make([]uint64, (bits+63)/64)
		for i := lo; i < hi; i++ {
			words(number, &scalars[i])
			p.bias(i, number)
		}
	})
	var parts []Part[E]
	for lo := 0; lo < p.windows; lo += p.group {
		hi := min(lo+p.group, p.windows)
		sums, err := p.run(ctx, lo, hi)
		if err != nil {
			return Affine[E]{}, err
		}
		for i := range sums {
			parts = append(parts, Part[E]{Shift: (lo + i) * p.width, Sum: sums[i]})
		}
	}
	return c.Combine(parts), nil
}

// pippenger is one sum under way.
type pippenger[E any, F Field[E]] struct {
	c       *Curve[E, F]
	points  []Affine[E]
	width   int // of a digit
	windows int
	group   int // windows that are sorted and added at once
	buckets int // of a window
	stride  int // 64-bit words of a scalar with its bias
	biased  []uint64
	shift   []uint64 // the bias
}

// widthFor is the digits' width with the least additions: n of about 6 products and
// 2^(width-1) of 28 in each window.
func widthFor(n, bits int) int {
	best, least := 2, float64(0)
	for c := 2; c <= 20; c++ {
		cost := float64((bits+2+c-1)/c) * (6*float64(n) + 28*float64(int(1)<<(c-1)))
		if c == 2 || cost < least {
			best, least = c, cost
		}
	}
	return best
}

func newPippenger[E any, F Field[E]](c *Curve[E, F], points []Affine[E], scalarBits int) *pippenger[E, F] {
	p := &pippenger[E, F]{c: c, points: points, width: widthFor(len(points), scalarBits)}
	// The digits of s + Σ 2^(width-1) 2^(width j), less 2^(width-1) each, are signed
	// digits of s without a carry. The bias is at most 2/3 of 2^(width windows), so s
	// has to stay below a third.
	p.windows = (scalarBits + 2 + p.width - 1) / p.width
	p.buckets = 1 << (p.width - 1)
	p.stride = (p.windows*p.width + 63) / 64
	p.shift = make([]uint64, p.stride)
	for j := range p.windows {
		at := j*p.width + p.width - 1
		p.shift[at/64] |= 1 << (at % 64)
	}
	p.biased = make([]uint64, p.stride*len(points))
	p.group = max(1, min(p.windows, runtime.GOMAXPROCS(0), sortBytes/(4*len(points))))
	return p
}

func (p *pippenger[E, F]) bias(i int, w []uint64) {
	to := p.biased[i*p.stride : (i+1)*p.stride]
	var carry uint64
	for j := range to {
		var x uint64
		if j < len(w) {
			x = w[j]
		}
		to[j], carry = bits.Add64(x, p.shift[j], carry)
	}
}

// digit of a scalar in a window, in [-2^(width-1), 2^(width-1)).
func (p *pippenger[E, F]) digit(i, window int) int {
	at := window * p.width
	w := p.biased[i*p.stride : (i+1)*p.stride]
	v := w[at/64] >> (at % 64)
	if at%64+p.width > 64 && at/64+1 < len(w) {
		v |= w[at/64+1] << (64 - at%64)
	}
	return int(v&(1<<p.width-1)) - 1<<(p.width-1)
}

// sorted is a window's points by bucket: bucket b's end at ends[b]. The top bit of an
// entry says that the point is taken negatively.
type sorted struct{ entries, ends []uint32 }

const sign = 1 << 31

func (s sorted) start(bucket int) int {
	if bucket == 0 {
		return 0
	}
	return int(s.ends[bucket-1])
}

func (p *pippenger[E, F]) sort(window int) sorted {
	s := sorted{ends: make([]uint32, p.buckets+1)}
	for i := range p.points {
		if d := p.digit(i, window); d != 0 {
			s.ends[abs(d)]++
		}
	}
	for b := range p.buckets {
		s.ends[b+1] += s.ends[b]
	}
	s.entries = make([]uint32, s.ends[p.buckets])
	// ends[b] is where bucket b starts until all of its points are placed.
	for i := range p.points {
		d := p.digit(i, window)
		if d == 0 {
			continue
		}
		e := uint32(i)
		if d < 0 {
			e |= sign
		}
		s.entries[s.ends[abs(d)-1]] = e
		s.ends[abs(d)-1]++
	}
	s.ends = s.ends[:p.buckets]
	return s
}

func abs(d int) int { return max(d, -d) }

// run adds the windows [lo, hi).
func (p *pippenger[E, F]) run(ctx context.Context, lo, hi int) ([]XYZZ[E], error) {
	lists := make([]sorted, hi-lo)
	parallel.For(len(lists), 1, func(a, b int) {
		for i := a; i < b && ctx.Err() == nil; i++ {
			lists[i] = p.sort(lo + i)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	buckets := make([][]XYZZ[E], len(lists))
	var mu sync.Mutex
	for i := range lists {
		buckets[i] = make([]XYZZ[E], p.buckets)
		parallel.For(len(lists[i].entries), 4*block, func(lo, b int) {
			add := p.adder()
			for a := lo; a < b && ctx.Err() == nil; a += block {
				first, sums := add.reduce(lists[i], a, min(a+block, b))
				for k := range sums {
					// A bucket that reaches beyond this part of the list is another's, too.
					shared := lists[i].start(first[k]) < lo || int(lists[i].ends[first[k]]) > b
					if shared {
						mu.Lock()
					}
					p.c.Accumulate(&buckets[i][first[k]], &sums[k])
					if shared {
						mu.Unlock()
					}
				}
			}
		})
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p.reduce(ctx, buckets)
}

// segment is how many buckets a running sum goes over.
const segment = 1 << 9

// reduce is Σ (i+1)·buckets[i] for every window.
func (p *pippenger[E, F]) reduce(ctx context.Context, buckets [][]XYZZ[E]) ([]XYZZ[E], error) {
	c := p.c
	each := (p.buckets + segment - 1) / segment
	parts := make([]XYZZ[E], each*len(buckets))
	parallel.For(len(parts), 1, func(a, b int) {
		room := new(Room[E])
		for k := a; k < b && ctx.Err() == nil; k++ {
			from := k % each * segment
			list := buckets[k/each][from:min(from+segment, p.buckets)]
			var run, sum XYZZ[E]
			for i := len(list) - 1; i >= 0; i-- {
				c.AddIn(&run, &list[i], room)
				c.AddIn(&sum, &run, room)
			}
			// from times the sum of the segment's buckets
			var far XYZZ[E]
			for i := bits.Len(uint(from)) - 1; i >= 0; i-- {
				c.DoubleIn(&far, room)
				if from>>i&1 == 1 {
					c.AddIn(&far, &run, room)
				}
			}
			c.AddIn(&sum, &far, room)
			parts[k] = sum
		}
	})
	out := make([]XYZZ[E], len(buckets))
	for k := range parts {
		c.Add(&out[k/each], &parts[k])
	}
	return out, ctx.Err()
}
