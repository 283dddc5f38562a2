// Package msmtest has a small curve for tests of multi-scalar multiplication.
package msmtest

import (
	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/toy61"
	"github.com/zkwarp/zkwarp/msm/internal/host"
)

// Toy61 is the group of curve.Toy61, over the types of curve/toy61.
var Toy61 = host.New(curve.Toy61, toy61.G1, toy61.Sum, nil)
