// Package msmtest has a small curve for tests of multi-scalar multiplication.
package msmtest

import (
	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/toy61"
	"github.com/zkwarp/zkwarp/curve/toy61/fp"
	"github.com/zkwarp/zkwarp/curve/toy61/fr"
	"github.com/zkwarp/zkwarp/msm/internal/host"
	"github.com/zkwarp/zkwarp/msm/msmfile"
)

// Toy61 is the group of curve.Toy61, over the types of curve/toy61.
var Toy61 = host.New(curve.Toy61, toy61.G1, toy61.Sum, nil)

// Toy61Files are files of its points and scalars.
var Toy61Files = msmfile.New[toy61.G1Affine, fr.Element, fp.Element](curve.Toy61)
