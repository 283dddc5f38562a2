package parallel

import (
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
