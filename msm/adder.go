package msm

import (
	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm/internal/affine"
	"github.com/zkwarp/zkwarp/msm/internal/bucket"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// adder is a way of adding up the points of each bucket.
type adder interface {
	Sums(q *device.Queue, points device.Buffer[uint32], s plan.Sorted, buckets device.Buffer[uint32], onto bool) error
	Free()
}

// Ways of adding, for Options.adder: the best one, which has kernels of its own for few
// points, or one of two for any number. Affine coordinates, with inversions shared by
// many additions, take fewer products, but more memory traffic and barriers, and won on
// no curve in the end (bench/NOTES.md): they are for measurements.
const (
	adderBest = iota
	adderXYZZ
	adderAffine
)

// batchAffine says whether points of a group are added in affine coordinates.
func batchAffine(g *curve.Group, option int) bool { return option == adderAffine && g.Edwards == nil }

// newAdder allocates what an adder needs for lists of up to so many entries and buckets.
func newAdder(q *device.Queue, g *curve.Group, entries, buckets int, inAffine bool) (adder, error) {
	if inAffine {
		return affine.NewWorkspace(q, g, entries)
	}
	return bucket.NewWorkspace(q, g, entries, buckets)
}

// adderBytes is the memory that it takes; onto says whether sums are added to what
// buckets hold.
func adderBytes(g *curve.Group, info device.Info, entries, buckets int, inAffine, onto bool) int64 {
	if !inAffine {
		return bucket.Bytes(g, info, entries, buckets)
	}
	n := affine.Bytes(g, info, entries)
	if onto {
		n += int64(buckets) * int64(g.XYZZBytes())
	}
	return n
}
