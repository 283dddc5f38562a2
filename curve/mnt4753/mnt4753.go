// Package mnt4753 is the host's side of G1 of MNT4-753, the curve of 753 bits in a
// cycle with MNT6-753 (Ben-Sasson, Chiesa, Tromer, Virza, CRYPTO 2014; the parameters
// are those of libff and of DistMSM's evaluation). Every point of the curve is in the
// group: its order is prime.
package mnt4753

//go:generate go run -C ../../internal/tools/genfield -trimpath=false . ../../../curve/mnt4753/fp 0x1c4c62d92c41110229022eee2cdadb7f997505b8fafed5eb7e8f96c97d87307fdb925e8a0ed8d99d124d9a15af79db117e776f218059db80f0da5cb537e38685acce9767254a4638810719ac425f0e39d54522cdd119f5e9063de245e8001
//go:generate go run -C ../../internal/tools/genfield -trimpath=false . ../../../curve/mnt4753/fr 0x1c4c62d92c41110229022eee2cdadb7f997505b8fafed5eb7e8f96c97d87307fdb925e8a0ed8d99d124d9a15af79db26c5c28c859a99b3eebca9429212636b9dff97634993aa4d6c381bc3f0057974ea099170fa13a4fd90776e240000001

import (
	"context"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/mnt4753/fp"
	"github.com/zkwarp/zkwarp/curve/mnt4753/fr"
	"github.com/zkwarp/zkwarp/curve/weierstrass"
)

// G1Affine is a point, infinity as (0, 0).
type G1Affine = weierstrass.Affine[fp.Element]

// G1 is the group of all points.
var G1 = weierstrass.New[fp.Element](curve.MNT4753G1)

// Sum is Σ scalars[i]·points[i], on all cores.
func Sum(ctx context.Context, points []G1Affine, scalars []fr.Element) (G1Affine, error) {
	return weierstrass.Sum(ctx, G1, points, scalars, fr.Bits, func(to []uint64, s *fr.Element) {
		w := s.Bits()
		copy(to, w[:])
	})
}
