package onnx

import (
	"slices"
	"sync"
)

// contraction is an Einsum as a batch of matrix products: tables of offsets for every kind of axis. With one operand, the second is the
// number one.
type contraction struct {
	batch, m, n, k int
	a, b, out      offsets
}

// offsets of one tensor: the position of an element is the sum of one offset from each table that the tensor has (nil counts as zeros).
type offsets struct{ batch, m, n, k []int }

// The block of a product that one worker computes at a time, so that its operands stay in the cache.
const (
	blockM, blockN, blockK = 64, 64, 512
	tileM, tileN           = 2, 4
)

func newContraction(labels [][]uint8, in []*Tensor, out []int) *contraction {
	al, ol := labels[0], labels[len(in)]
	var bl []uint8
	if len(in) == 2 {
		bl = labels[1]
	}
	var batch, ms, ns, ks []uint8
	extent := map[uint8]int{}
	for i, l := range al {
		extent[l] = in[0].Shape[i]
		inB, inOut := slices.Contains(bl, l), slices.Contains(ol, l)
		switch {
		case inB && inOut:
			batch = append(batch, l)
		case inOut:
			ms = append(ms, l)
		default:
			ks = append(ks, l)
		}
	}
	for i, l := range bl {
		extent[l] = in[1].Shape[i]
		if !slices.Contains(al, l) {
			ns = append(ns, l)
		}
	}
	c := &contraction{batch: 1, m: 1, n: 1, k: 1}
	table := func(group, own []uint8, shape []int) []int {
		t := []int{0}
		for _, l := range group {
			step := 0
			if axis := slices.Index(own, l); axis >= 0 {
				step = elements(shape[axis+1:])
			}
			next := make([]int, 0, len(t)*extent[l])
			for _, o := range t {
				for i := range extent[l] {
					next = append(next, o+i*step)
				}
			}
			t = next
		}
		return t
	}
	all := func(own []uint8, shape []int) offsets {
		return offsets{table(batch, own, shape), table(ms, own, shape), table(ns, own, shape), table(ks, own, shape)}
	}
	c.a = all(al, in[0].Shape)
	if len(in) == 2 {
		c.b = all(bl, in[1].Shape)
	} else {
		c.b = all(nil, nil)
	}
	c.out = all(ol, out)
	c.batch, c.m, c.n, c.k = len(c.a.batch), len(c.a.m), len(c.a.n), len(c.a.k)
	return c
}

func (c *contraction) run(in []*Tensor, out *Tensor) {
	b := &Tensor{Real: []float32{1}, Ints: []int64{1}}
	if len(in) == 2 {
		b = in[1]
	}
	x := in[0]
	if out.Ints != nil {
		contract(c, x.Ints, b.Ints, integerTile, func(at int, v int64) { out.Ints[at] = v })
		return
	}
	contract(c, x.Real, b.Real, realTile, func(at int, v float64) { out.Real[at] = float32(v) })
}

// contract sums in float64 for real numbers, in the order of the summed axes, so that results do not depend on the number of workers.
func contract[T float64 | int64, E float32 | int64](c *contraction, a, b []E, tile func(a, b, top, low []T), store func(at int, v T)) {
	ao, bo, m, n := c.a, c.b, c.m, c.n
	outM, outN := c.out.m, c.out.n
	if n < tileN && m > n { // the larger side fills the wide side of a tile
		a, b = b, a
		ao, bo = offsets{bo.batch, bo.n, bo.m, bo.k}, offsets{ao.batch, ao.n, ao.m, ao.k}
		m, n = n, m
		outM, outN = outN, outM
	}
	bm, bn := min(blockM, m), min(blockN, n)
	if bm < blockM {
		bn = min(n, max(bn, blockM*blockN/max(bm, tileM)/4))
	}
	rowBlocks, colBlocks := (m+bm-1)/max(bm, 1), (n+bn-1)/max(bn, 1)
	pool := sync.Pool{New: func() any { return new(block[T]) }}
	work := max(1, bm*bn*c.k)
	parallel(c.batch*rowBlocks*colBlocks, max(1, (1<<15)/work), func(lo, hi int) {
		s := pool.Get().(*block[T])
		defer pool.Put(s)
		for i := lo; i < hi; i++ {
			g, rb, cb := i/(rowBlocks*colBlocks), i/colBlocks%rowBlocks, i%colBlocks
			rows := ao.m[rb*bm : min((rb+1)*bm, m)]
			cols := bo.n[cb*bn : min((cb+1)*bn, n)]
			s.reset(len(rows), len(cols))
			for k0 := 0; k0 < c.k; k0 += blockK {
				k1 := min(k0+blockK, c.k)
				s.a = pack(s.a, a[ao.batch[g]:], rows, ao.k[k0:k1], tileM)
				s.b = pack(s.b, b[bo.batch[g]:], cols, bo.k[k0:k1], tileN)
				s.multiply(k1-k0, tile)
			}
			base := c.out.batch[g]
			for r := range rows {
				for q := range cols {
					store(base+outM[rb*bm+r]+outN[cb*bn+q], s.sums[r*s.width+q])
				}
			}
		}
	})
}

// block holds packed operands and the sums of one block.
type block[T float64 | int64] struct {
	a, b, sums    []T
	height, width int // multiples of the tile
}

func (s *block[T]) reset(rows, cols int) {
	s.height, s.width = (rows+tileM-1)/tileM*tileM, (cols+tileN-1)/tileN*tileN
	s.sums = slices.Grow(s.sums[:0], s.height*s.width)[:s.height*s.width]
	clear(s.sums)
}

// pack copies lines so that the elements of a tile's lines at one k lie side by side; missing lines are zero.
func pack[T float64 | int64, E float32 | int64](to []T, from []E, lines, ks []int, tile int) []T {
	tiles := (len(lines) + tile - 1) / tile
	to = slices.Grow(to[:0], tiles*tile*len(ks))[:tiles*tile*len(ks)]
	for t := range tiles {
		part := to[t*tile*len(ks) : (t+1)*tile*len(ks)]
		for j := range tile {
			if t*tile+j >= len(lines) {
				for i := range ks {
					part[i*tile+j] = 0
				}
				continue
			}
			line := from[lines[t*tile+j]:]
			for i, k := range ks {
				part[i*tile+j] = T(line[k])
			}
		}
	}
	return to
}

// multiply adds the product of the packed operands to the sums.
func (s *block[T]) multiply(depth int, tile func(a, b, top, low []T)) {
	for r := 0; r < s.height; r += tileM {
		for q := 0; q < s.width; q += tileN {
			tile(s.a[r*depth:(r+tileM)*depth], s.b[q*depth:(q+tileN)*depth], s.sums[r*s.width+q:][:tileN], s.sums[(r+1)*s.width+q:][:tileN])
		}
	}
}

// realTile adds up products for two rows and four columns. The conversions keep products from being fused into the sums.
func realTile(a, b, top, low []float64) {
	t0, t1, t2, t3 := top[0], top[1], top[2], top[3]
	l0, l1, l2, l3 := low[0], low[1], low[2], low[3]
	for len(a) >= tileM && len(b) >= tileN {
		x, y := a[0], a[1]
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		t0 += float64(x * b0)
		t1 += float64(x * b1)
		t2 += float64(x * b2)
		t3 += float64(x * b3)
		l0 += float64(y * b0)
		l1 += float64(y * b1)
		l2 += float64(y * b2)
		l3 += float64(y * b3)
		a, b = a[tileM:], b[tileN:]
	}
	top[0], top[1], top[2], top[3] = t0, t1, t2, t3
	low[0], low[1], low[2], low[3] = l0, l1, l2, l3
}

func integerTile(a, b, top, low []int64) {
	for len(a) >= tileM && len(b) >= tileN {
		for i, y := range b[:tileN] {
			top[i] += a[0] * y
			low[i] += a[1] * y
		}
		a, b = a[tileM:], b[tileN:]
	}
}
