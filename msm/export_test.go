package msm

import (
	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// WithGroups is o with so many groups of windows.
func WithGroups(o Options, groups int) Options {
	o.groups = groups
	return o
}

// WithSets is o with windows of so many bits in so many sets of buckets, for n points.
func WithSets(o Options, g *curve.Group, bits, sets, n int) (Options, error) {
	w, err := plan.Uniform(g.Scalar, bits, sets, n)
	o.windows = w
	return o, err
}

// WithFull is o with windows of so many bits in one set of buckets, the top one full.
func WithFull(o Options, g *curve.Group, bits, n int) (Options, error) {
	w, err := plan.Full(g.Scalar, bits, n)
	o.windows = w
	return o, err
}

// InAffine is o with bucket sums in affine coordinates.
func InAffine(o Options) Options {
	o.adder = adderAffine
	return o
}

// InXYZZ is o with bucket sums in XYZZ coordinates, step by step also for few points.
func InXYZZ(o Options) Options {
	o.adder = adderXYZZ
	return o
}

// WithLink is o with uploads of so many bytes a second.
func WithLink(o Options, link float64) Options {
	o.link = link
	return o
}

// WithCount is o with so many windows of about equal numbers of buckets.
func WithCount(o Options, g *curve.Group, count int) (Options, error) {
	w, err := plan.Split(g.Scalar, count)
	o.windows = w
	return o, err
}

// WithPiece is o with so many points in two forms at a time.
func WithPiece(o Options, points int) Options {
	o.piece = points
	return o
}

// Form is the name of the group in which b's sums are made.
func (b *Bases[P, S]) Form() string { return b.residents[0].group.Name }
