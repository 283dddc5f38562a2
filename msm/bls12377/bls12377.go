// Package bls12377 is BLS12-377 for multi-scalar multiplication, over
// gnark-crypto's types: msm.New(dev, bls12377.G1, points, msm.Options{}).
package bls12377

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-377"
	"github.com/consensys/gnark-crypto/ecc/bls12-377/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-377/fr"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/msm/fixedbase"
	"github.com/zkwarp/zkwarp/msm/internal/host"
	"github.com/zkwarp/zkwarp/msm/msmfile"
)

// The groups of BLS12-377's pairing.
var (
	G1 = host.Gnark[bls12377.G1Affine, fr.Element, fp.Element](curve.BLS12377G1)
	G2 = host.Gnark[bls12377.G2Affine, fr.Element, bls12377.E2](curve.BLS12377G2)
)

// Files of points of the groups, and of scalars.
var (
	G1Files = msmfile.New[bls12377.G1Affine, fr.Element, fp.Element](curve.BLS12377G1)
	G2Files = msmfile.New[bls12377.G2Affine, fr.Element, bls12377.E2](curve.BLS12377G2)
)

// Multiples of points of the groups on the CPU, for package fixedbase.
var (
	G1Multiples = fixedbase.OnHost[bls12377.G1Affine, fr.Element, fp.Element](curve.BLS12377G1)
	G2Multiples = fixedbase.OnHost[bls12377.G2Affine, fr.Element, bls12377.E2](curve.BLS12377G2)
)
