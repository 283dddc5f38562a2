package ntt

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/parallel"
)

// wide is reversed for elements of `width` coordinates each, which lie side by side:
// a column has 2^n elements, and each of their coordinates is transformed by itself.
func (e *engine[T]) wide(data []T, width, n, live int) error {
	if width < 1 || len(data)%width != 0 {
		return fmt.Errorf("ntt: %d coordinates are not elements of %d", len(data), width)
	}
	if width == 1 {
		return e.reversed(data, n, live)
	}
	if err := check(len(data)/width, n, e.maxLog); err != nil {
		return err
	}
	if live < 0 || live > n {
		return fmt.Errorf("ntt: 2^%d coefficients of 2^%d are live", live, n)
	}
	// As many columns at a time as make a good batch.
	size := width << n
	group := max(1, 1<<20/size) * size
	scratch := make([]T, min(group, len(data)))
	for ; len(data) > 0; data = data[min(group, len(data)):] {
		part := data[:min(group, len(data))]
		apart := scratch[:len(part)]
		if live < n { // what is not live must be zero
			parallel.For(len(apart), 1<<16, func(lo, hi int) { clear(apart[lo:hi]) })
		}
		move(part, width, n, live, func(element []T, at int) {
			for k, v := range element {
				apart[at+k<<n] = v
			}
		})
		if err := e.reversed(apart, n, live); err != nil {
			return err
		}
		move(part, width, n, n, func(element []T, at int) {
			for k := range element {
				element[k] = apart[at+k<<n]
			}
		})
	}
	return nil
}

// move calls f for the first 2^live elements of each column with the place that the
// element's first coordinate has when coordinates lie apart.
func move[T any](data []T, width, n, live int, f func(element []T, at int)) {
	parallel.For(len(data)/width>>n<<live, 1<<12, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			column, j := i>>live, i&(1<<live-1)
			at := column*width<<n + j
			f(data[(column<<n+j)*width:][:width], at)
		}
	})
}
