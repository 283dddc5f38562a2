package simt

import "sort"

// arena hands out ranges of [0, size), first fit. It is not safe for concurrent
// use.
type arena struct {
	free []span          // sorted, no two adjacent
	used map[int64]int64 // start -> length
	left int64
}

type span struct{ at, n int64 }

func newArena(size int64) *arena {
	return &arena{free: []span{{0, size}}, used: map[int64]int64{}, left: size}
}

// alloc returns the start of a free range of n bytes.
func (a *arena) alloc(n int64) (int64, bool) {
	for i, s := range a.free {
		if s.n < n {
			continue
		}
		if s.n == n {
			a.free = append(a.free[:i], a.free[i+1:]...)
		} else {
			a.free[i] = span{s.at + n, s.n - n}
		}
		a.used[s.at] = n
		a.left -= n
		return s.at, true
	}
	return 0, false
}

// release gives back the range that starts at at, and returns its length, 0 if
// there is none.
func (a *arena) release(at int64) int64 {
	n, ok := a.used[at]
	if !ok {
		return 0
	}
	delete(a.used, at)
	a.left += n
	i := sort.Search(len(a.free), func(i int) bool { return a.free[i].at > at })
	a.free = append(a.free, span{})
	copy(a.free[i+1:], a.free[i:])
	a.free[i] = span{at, n}
	if i+1 < len(a.free) && at+n == a.free[i+1].at {
		a.free[i].n += a.free[i+1].n
		a.free = append(a.free[:i+1], a.free[i+2:]...)
	}
	if i > 0 && a.free[i-1].at+a.free[i-1].n == at {
		a.free[i-1].n += a.free[i].n
		a.free = append(a.free[:i], a.free[i+1:]...)
	}
	return n
}
