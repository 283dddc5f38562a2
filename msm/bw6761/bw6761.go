// Package bw6761 is BW6-761 for multi-scalar multiplication, over
// gnark-crypto's types: msm.New(dev, bw6761.G1, points, msm.Options{}).
package bw6761

import (
	"github.com/consensys/gnark-crypto/ecc/bw6-761"
	"github.com/consensys/gnark-crypto/ecc/bw6-761/fp"
	"github.com/consensys/gnark-crypto/ecc/bw6-761/fr"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/msm/fixedbase"
	"github.com/zkwarp/zkwarp/msm/internal/host"
	"github.com/zkwarp/zkwarp/msm/msmfile"
)

// The groups of BW6-761's pairing.
var (
	G1 = host.Gnark[bw6761.G1Affine, fr.Element, fp.Element](curve.BW6761G1)
	G2 = host.Gnark[bw6761.G2Affine, fr.Element, fp.Element](curve.BW6761G2)
)

// Files of points of the groups, and of scalars.
var (
	G1Files = msmfile.New[bw6761.G1Affine, fr.Element, fp.Element](curve.BW6761G1)
	G2Files = msmfile.New[bw6761.G2Affine, fr.Element, fp.Element](curve.BW6761G2)
)

// Multiples of points of the groups on the CPU, for package fixedbase.
var (
	G1Multiples = fixedbase.OnHost[bw6761.G1Affine, fr.Element, fp.Element](curve.BW6761G1)
	G2Multiples = fixedbase.OnHost[bw6761.G2Affine, fr.Element, fp.Element](curve.BW6761G2)
)
