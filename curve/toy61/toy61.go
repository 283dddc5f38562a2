// Package toy61 is the host's side of curve.Toy61, a curve of prime order over a field
// of 61 bits: for tests of everything but wide arithmetic. Its discrete logarithms are
// easy.
package toy61

//go:generate go run -C ../../internal/tools/genfield -trimpath=false . ../../../curve/toy61/fp 0x11abbb6eae18f6ad
//go:generate go run -C ../../internal/tools/genfield -trimpath=false . ../../../curve/toy61/fr 0x11abbb6e32baebdd

import (
	"context"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/toy61/fp"
	"github.com/zkwarp/zkwarp/curve/toy61/fr"
	"github.com/zkwarp/zkwarp/curve/weierstrass"
)

// G1Affine is a point, infinity as (0, 0).
type G1Affine = weierstrass.Affine[fp.Element]

// G1 is the group of all points.
var G1 = weierstrass.New[fp.Element](curve.Toy61)

// Sum is Σ scalars[i]·points[i], on all cores.
func Sum(ctx context.Context, points []G1Affine, scalars []fr.Element) (G1Affine, error) {
	return weierstrass.Sum(ctx, G1, points, scalars, fr.Bits, func(to []uint64, s *fr.Element) {
		w := s.Bits()
		copy(to, w[:])
	})
}
