// Package mnt4753 is G1 of MNT4-753 for multi-scalar multiplication, over the types of
// curve/mnt4753.
package mnt4753

import (
	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/mnt4753"
	"github.com/zkwarp/zkwarp/curve/mnt4753/fp"
	"github.com/zkwarp/zkwarp/curve/mnt4753/fr"
	"github.com/zkwarp/zkwarp/msm/internal/host"
	"github.com/zkwarp/zkwarp/msm/msmfile"
)

// G1 is the group of all points of MNT4-753, whose number is prime.
var G1 = host.New(curve.MNT4753G1, mnt4753.G1, mnt4753.Sum, nil)

// G1Files are files of points of G1, and of scalars.
var G1Files = msmfile.New[mnt4753.G1Affine, fr.Element, fp.Element](curve.MNT4753G1)
