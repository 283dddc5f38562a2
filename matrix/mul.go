package matrix

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// Mul sets c = a b on the calling machine's cores.
func Mul[B Entry](c, a []m31.Element, b []B, s Shape) error {
	if err := s.Check(len(c), len(a), len(b)); err != nil {
		return fmt.Errorf("matrix: multiply: %w", err)
	}
	if s.M == 0 || s.N == 0 {
		return nil
	}
	if s.Transposed {
		// Entries one by one, each a product of contiguous vectors.
		parallel.For(s.M*s.N, max(1, 1<<14/max(s.K, 1)), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				r, j := i/s.N, i%s.N
				c[i] = dot(a[r*s.K:(r+1)*s.K], b[j*s.K:(j+1)*s.K])
			}
		})
		return nil
	}
	// Pieces of rows, so that sums and the part of b that they need stay in cache.
	const width = 512
	across := (s.N + width - 1) / width
	parallel.For(s.M*across, max(1, 1<<14/max(s.K*min(s.N, width), 1)), func(lo, hi int) {
		var sums [width]uint64
		for i := lo; i < hi; i++ {
			r, j := i/across, i%across*width
			end := min(j+width, s.N)
			acc := sums[:end-j]
			clear(acc)
			row := a[r*s.K : (r+1)*s.K]
			k := 0
			for ; k+3 <= s.K; k += 3 {
				axpy3(acc, row[k:k+3], b[k*s.N+j:k*s.N+end], b[(k+1)*s.N+j:(k+1)*s.N+end], b[(k+2)*s.N+j:(k+2)*s.N+end])
			}
			for ; k < s.K; k++ {
				f := uint64(row[k])
				for x, v := range b[k*s.N+j : k*s.N+end] {
					acc[x] = partial(acc[x]) + f*word(v)
				}
			}
			for x, v := range acc {
				c[r*s.N+j+x] = m31.New(v)
			}
		}
	})
	return nil
}

// axpy3 adds three multiples: with a partial value, three products stay below 2^64.
func axpy3[B Entry](acc []uint64, f []m31.Element, x, y, z []B) {
	a, b, c := uint64(f[0]), uint64(f[1]), uint64(f[2])
	x, y, z = x[:len(acc)], y[:len(acc)], z[:len(acc)]
	for i := range acc {
		acc[i] = partial(acc[i]) + a*word(x[i]) + b*word(y[i]) + c*word(z[i])
	}
}

// partial folds any 64-bit value to one below 2^34 of the same residue.
func partial(x uint64) uint64 { return x&m31.P + x>>31 }

// word is the canonical value of an entry.
func word[B Entry](v B) uint64 {
	x := int64(v) // negative for bytes only
	return uint64(x + x>>63&m31.P)
}

func dot[B Entry](a []m31.Element, b []B) m31.Element {
	if b, ok := any(b).([]m31.Element); ok {
		return m31.Dot(a, b)
	}
	var s int64 // of products below 2^38 in absolute value
	var total m31.Element
	for len(a) > 0 {
		n := min(len(a), 1<<24)
		for i, v := range a[:n] {
			s += int64(v) * int64(b[i])
		}
		total, s = total.Add(m31.FromInt(s)), 0
		a, b = a[n:], b[n:]
	}
	return total
}
