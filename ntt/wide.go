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
		share(part, width, n, live, func(side []T, at int) {
			to := apart[at:][:(len(side)+width-1)/width]
			for i := range to {
				to[i] = side[i*width]
			}
		})
		if err := e.reversed(apart, n, live); err != nil {
			return err
		}
		share(part, width, n, n, func(side []T, at int) {
			from := apart[at:][:(len(side)+width-1)/width]
			for i, v := range from {
				side[i*width] = v
			}
		})
	}
	return nil
}

// share goes over the first 2^live elements of each column. It calls f for one
// coordinate of some of them: side begins with the first of these and has one every
// width; they belong at apart[at], apart[at+1] and so on.
func share[T any](data []T, width, n, live int, f func(side []T, at int)) {
	const block = 1 << 11 // elements, so that all coordinates stay in cache
	parallel.For(len(data)/width>>n<<live, block, func(lo, hi int) {
		for lo < hi {
			c, j := lo>>live, lo&(1<<live-1)
			count := min(hi-lo, 1<<live-j, block)
			elements := data[(c<<n+j)*width:][:count*width]
			for k := range width {
				f(elements[k:], (c*width+k)<<n+j)
			}
			lo += count
		}
	})
}
