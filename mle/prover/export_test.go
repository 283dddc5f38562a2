package prover

import "github.com/zkwarp/zkwarp/device"

// RestrictInPasses is Restrict with tiles of as many passes as there can be.
func RestrictInPasses(q *device.Queue, list []Restriction) error {
	return launchRestrictions(q, list, func(k restrictKernel, _ []Restriction) division {
		return division{along: k.along * k.passes, tile: segment}
	})
}
