// Package bls12381 is BLS12-381 for multi-scalar multiplication, over
// gnark-crypto's types: msm.New(dev, bls12381.G1, points, msm.Options{}).
package bls12381

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/msm/fixedbase"
	"github.com/zkwarp/zkwarp/msm/internal/host"
	"github.com/zkwarp/zkwarp/msm/msmfile"
)

// The groups of BLS12-381's pairing.
var (
	G1 = host.Gnark[bls12381.G1Affine, fr.Element, fp.Element](curve.BLS12381G1)
	G2 = host.Gnark[bls12381.G2Affine, fr.Element, bls12381.E2](curve.BLS12381G2)
)

// Files of points of the groups, and of scalars.
var (
	G1Files = msmfile.New[bls12381.G1Affine, fr.Element, fp.Element](curve.BLS12381G1)
	G2Files = msmfile.New[bls12381.G2Affine, fr.Element, bls12381.E2](curve.BLS12381G2)
)

// Multiples of points of the groups on the CPU, for package fixedbase.
var (
	G1Multiples = fixedbase.OnHost[bls12381.G1Affine, fr.Element, fp.Element](curve.BLS12381G1)
	G2Multiples = fixedbase.OnHost[bls12381.G2Affine, fr.Element, bls12381.E2](curve.BLS12381G2)
)
