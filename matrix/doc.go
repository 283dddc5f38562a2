// Package matrix has what products of matrices over Mersenne-31 have in common
// with those of bounded integers: by how many small moduli an exact sum of
// products is known, and the products themselves on the CPU. Package
// matrix/prover multiplies on a device.
//
// Matrices are row-major. An element stands for its representative of least
// absolute value, from -(p-1)/2 to (p-1)/2; "negative" means above (p-1)/2.
package matrix

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
)

// ErrShape marks slices or buffers that do not fit a product's shape, and bounds
// that no integers keep.
var ErrShape = errors.New("shape mismatch")

// Entry is what a right factor is made of: field elements or signed bytes.
type Entry interface{ m31.Element | int8 }

// Shape of a product: M x K by K x N gives M x N.
type Shape struct {
	M, K, N int
	// Transposed says that the right factor is stored as N x K.
	Transposed bool
	// Bounds, where the caller knows them; the result is undefined, though
	// always canonical, where entries do not keep them.
	Bounds Bounds
}

// Bounds on absolute values of representatives; 0 is no bound.
type Bounds struct {
	Left, Right int64 // of a factor's entries
	Sum         int64 // of the result's entries, as integers
}

// Check says whether factors and result of these lengths have the shape, as an
// ErrShape with expected and given lengths.
func (s Shape) Check(result, left, right int) error {
	const most = 1<<31 - 1
	if s.M < 0 || s.K < 0 || s.N < 0 || s.M > most || s.K > most || s.N > most {
		return fmt.Errorf("%w: %d x %d by %d x %d", ErrShape, s.M, s.K, s.K, s.N)
	}
	if b := s.Bounds; b.Left < 0 || b.Right < 0 || b.Sum < 0 {
		return fmt.Errorf("%w: negative bounds %+v", ErrShape, b)
	}
	for _, x := range []struct {
		what      string
		want, got int
	}{{"left factor", s.M * s.K, left}, {"right factor", s.K * s.N, right}, {"result", s.M * s.N, result}} {
		if x.got != x.want {
			return fmt.Errorf("%w: %s of %d x %d by %d x %d has %d entries, want %d", ErrShape, x.what, s.M, s.K, s.K, s.N, x.got, x.want)
		}
	}
	return nil
}
