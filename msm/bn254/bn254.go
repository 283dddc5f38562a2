// Package bn254 is BN254 for multi-scalar multiplication, over
// gnark-crypto's types: msm.New(dev, bn254.G1, points, msm.Options{}).
package bn254

import (
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/msm/fixedbase"
	"github.com/zkwarp/zkwarp/msm/internal/host"
	"github.com/zkwarp/zkwarp/msm/msmfile"
)

// The groups of BN254's pairing.
var (
	G1 = host.Gnark[bn254.G1Affine, fr.Element, fp.Element](curve.BN254G1)
	G2 = host.Gnark[bn254.G2Affine, fr.Element, bn254.E2](curve.BN254G2)
)

// Files of points of the groups, and of scalars.
var (
	G1Files = msmfile.New[bn254.G1Affine, fr.Element, fp.Element](curve.BN254G1)
	G2Files = msmfile.New[bn254.G2Affine, fr.Element, bn254.E2](curve.BN254G2)
)

// Multiples of points of the groups on the CPU, for package fixedbase.
var (
	G1Multiples = fixedbase.OnHost[bn254.G1Affine, fr.Element, fp.Element](curve.BN254G1)
	G2Multiples = fixedbase.OnHost[bn254.G2Affine, fr.Element, bn254.E2](curve.BN254G2)
)
