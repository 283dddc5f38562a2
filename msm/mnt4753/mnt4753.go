// Package mnt4753 is G1 of MNT4-753 for multi-scalar multiplication, over the types of
// curve/mnt4753.
package mnt4753

import (
	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/mnt4753"
	"github.com/zkwarp/zkwarp/msm/internal/host"
)

// G1 is the group of all points of MNT4-753, whose number is prime.
var G1 = host.New(curve.MNT4753G1, mnt4753.G1, mnt4753.Sum, nil)
