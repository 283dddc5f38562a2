package matrix

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// Mul sets c = a b on the calling machine's cores: a is s.M x s.K, b is s.K x s.N,
// or s.N x s.K if s.Transposed, and c is s.M x s.N and may not overlap a factor.
// Bounds are not needed. Lengths that do not fit are an ErrShape.
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
	// Pieces of a few rows of c, which stay in cache while b's rows pass.
	const high, wide = 8, 512
	across := (s.N + wide - 1) / wide
	pieces := across * ((s.M + high - 1) / high)
	parallel.For(pieces, max(1, 1<<14/max(s.K*min(s.N, wide), 1)), func(lo, hi int) {
		var room [wide]m31.Element
		for i := lo; i < hi; i++ {
			row, column := i/across*high, i%across*wide
			rows, end := min(row+high, s.M), min(column+wide, s.N)
			for r := row; r < rows; r++ {
				clear(c[r*s.N+column : r*s.N+end])
			}
			for k := range s.K {
				v := elements(room[:], b[k*s.N+column:k*s.N+end])
				for r := row; r < rows; r++ {
					m31.MulAddVec(c[r*s.N+column:r*s.N+end], v, a[r*s.K+k])
				}
			}
		}
	})
	return nil
}

// elements is v itself, or its residues in room.
func elements[B Entry](room []m31.Element, v []B) []m31.Element {
	if v, ok := any(v).([]m31.Element); ok {
		return v
	}
	for i, x := range v {
		w := int32(x)
		room[i] = m31.Element(w + w>>31&m31.P)
	}
	return room[:len(v)]
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
