package parallel

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestForCoversEachIndexOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 64, 1000, 4097} {
		for _, grain := range []int{0, 1, 3, 64, 5000} {
			hits := make([]atomic.Int32, n)
			For(n, grain, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					hits[i].Add(1)
				}
			})
			for i := range hits {
				if hits[i].Load() != 1 {
					t.Fatalf("n=%d grain=%d: index %d visited %d times", n, grain, i, hits[i].Load())
				}
			}
		}
	}
}

// Loops within loops, and several at a time, each cover their indices once.
func TestForNested(t *testing.T) {
	const callers, outer, inner = 4, 30, 200
	hits := make([]atomic.Int32, callers*outer*inner)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			For(outer, 1, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					For(inner, 7, func(lo, hi int) {
						for j := lo; j < hi; j++ {
							hits[(c*outer+i)*inner+j].Add(1)
						}
					})
				}
			})
		})
	}
	wg.Wait()
	for i := range hits {
		if hits[i].Load() != 1 {
			t.Fatalf("index %d visited %d times", i, hits[i].Load())
		}
	}
}
