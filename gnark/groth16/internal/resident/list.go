package resident

import (
	"slices"
	"sync/atomic"

	"github.com/zkwarp/zkwarp/internal/parallel"
)

// List is wires in ascending order: those of Index or, where that is nil, N of them from
// From on.
type List struct {
	From, N int
	Index   []uint32
}

// Len is the number of wires.
func (l *List) Len() int { return l.N }

// All is the wires [from, to).
func All(from, to int) List { return List{From: from, N: to - from} }

// Except is the wires [from, to) but for some, in ascending order and each once.
func Except(from, to int, out []int) List {
	l := List{From: from, N: to - from - len(out), Index: make([]uint32, 0, to-from-len(out))}
	for _, x := range out {
		for ; from < x; from++ {
			l.Index = append(l.Index, uint32(from))
		}
		from = x + 1
	}
	for ; from < to; from++ {
		l.Index = append(l.Index, uint32(from))
	}
	return l.tidy()
}

// tidy drops the indices of a list without gaps.
func (l List) tidy() List {
	if len(l.Index) > 0 && int(l.Index[l.N-1]-l.Index[0]) == l.N-1 {
		l.From, l.Index = int(l.Index[0]), nil
	}
	return l
}

// part is the i-th to the j-th wire of a list.
func (l *List) part(i, j int) List {
	if l.Index == nil {
		return List{From: l.From + i, N: j - i}
	}
	return List{N: j - i, Index: l.Index[i:j]}.tidy()
}

// within is the places [i, j) of a list at which wires [lo, hi) are.
func (l *List) within(lo, hi int) (i, j int) {
	if l.Index == nil {
		i = min(max(lo-l.From, 0), l.N)
		return i, max(i, min(hi-l.From, l.N))
	}
	i, _ = slices.BinarySearch(l.Index, uint32(lo))
	j, _ = slices.BinarySearch(l.Index, uint32(hi))
	return i, max(i, j)
}

// scalarsOf is the values of a list's wires: a part of all, or a copy.
func scalarsOf[S any](l *List, wires []S) []S {
	if l.Index == nil {
		return wires[l.From : l.From+l.N]
	}
	out := make([]S, l.N)
	parallel.For(l.N, 1<<14, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = wires[l.Index[i]]
		}
	})
	return out
}

// set is some of the queries A, B and K that wires are in.
type set uint8

const (
	inA set = 1 << iota
	inB
	inK
	sets = 8
)

// membership is the queries of every wire.
type membership []set

// grain is how many wires a goroutine looks at, at a time.
const grain = 1 << 16

// members looks queries up: those that are not at infinity, and K's, from wire k on.
func members(infinityA, infinityB []bool, k int) membership {
	out := make(membership, len(infinityA))
	parallel.For(len(out), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if !infinityA[i] {
				out[i] = inA
			}
			if !infinityB[i] {
				out[i] |= inB
			}
			if i >= k {
				out[i] |= inK
			}
		}
	})
	return out
}

// counts is how many wires [lo, hi) are in just the queries of each set.
func (m membership) counts(lo, hi int) (out [sets]int) {
	var all [sets]atomic.Int64
	parallel.For(hi-lo, grain, func(from, to int) {
		var n [sets]int64
		for _, s := range m[lo+from : lo+to] {
			n[s&(sets-1)]++
		}
		for s := range n {
			all[s].Add(n[s])
		}
	})
	for s := range out {
		out[s] = int(all[s].Load())
	}
	return out
}

// union is how many wires are in any of some queries, of what counts says.
func union(counts [sets]int, of set) (n int) {
	for s, c := range counts {
		if set(s)&of != 0 {
			n += c
		}
	}
	return n
}

// list is the wires [lo, hi) that are in any of some queries.
func (m membership) list(of set, lo, hi int) List {
	blocks := (hi - lo + grain - 1) / grain
	at := make([]int, blocks+1)
	each := func(f func(block, from, to int)) {
		parallel.For(blocks, 1, func(first, last int) {
			for b := first; b < last; b++ {
				f(b, lo+b*grain, min(lo+(b+1)*grain, hi))
			}
		})
	}
	each(func(b, from, to int) {
		n := 0
		for _, s := range m[from:to] {
			if s&of != 0 {
				n++
			}
		}
		at[b+1] = n
	})
	for b := range blocks {
		at[b+1] += at[b]
	}
	l := List{From: lo, N: at[blocks], Index: make([]uint32, at[blocks])}
	each(func(b, from, to int) {
		k := at[b]
		for i, s := range m[from:to] {
			if s&of != 0 {
				l.Index[k] = uint32(from + i)
				k++
			}
		}
	})
	if l.N == 0 {
		l.Index = nil
	}
	return l.tidy()
}

// places is where the wires of one list are in another, which has them all.
func places(of, in *List) []uint32 {
	out := make([]uint32, of.N)
	k := 0
	for i := range out {
		w := uint32(of.From + i)
		if of.Index != nil {
			w = of.Index[i]
		}
		if in.Index == nil {
			out[i] = w - uint32(in.From)
			continue
		}
		for in.Index[k] != w {
			k++
		}
		out[i] = uint32(k)
	}
	return out
}

// cut is where wires are cut so that the parts cost in proportion to the weights, for costs
// of a wire by its queries.
func (m membership) cut(cost [sets]float64, weights []float64) []int {
	blocks := (len(m) + grain - 1) / grain
	before := make([]float64, blocks+1)
	of := func(lo, hi int) (sum float64) {
		for _, s := range m[lo:hi] {
			sum += cost[s&(sets-1)]
		}
		return sum
	}
	parallel.For(blocks, 1, func(first, last int) {
		for b := first; b < last; b++ {
			before[b+1] = of(b*grain, min((b+1)*grain, len(m)))
		}
	})
	for b := range blocks {
		before[b+1] += before[b]
	}
	all := 0.0
	for _, w := range weights {
		all += w
	}
	ends := []int{0}
	want, b := 0.0, 0
	for _, w := range weights[:len(weights)-1] {
		want += w / all * before[blocks]
		for b < blocks && before[b+1] <= want {
			b++
		}
		at, have := min(b*grain, len(m)), before[b]
		for at < len(m) && have+cost[m[at]&(sets-1)] <= want {
			have += cost[m[at]&(sets-1)]
			at++
		}
		ends = append(ends, max(at, ends[len(ends)-1]))
	}
	return append(ends, len(m))
}
