package msm

import (
	"slices"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm/internal/affine"
	"github.com/zkwarp/zkwarp/msm/internal/bases"
	"github.com/zkwarp/zkwarp/msm/internal/edwards"
	"github.com/zkwarp/zkwarp/msm/internal/tiny"
)

// Units are the translation units that sums over c may use, for Device.Preload: those
// of the group in all its forms, of its scalars, and those that all groups share.
func (c *Curve[P, S]) Units() []*kernel.Source { return unitsOf(c.Group) }

func unitsOf(g *curve.Group) []*kernel.Source {
	// Besides what sums need: checks of bases and multiples of them, for tables.
	out := append(bases.SourcesOf(g), affine.Normalizer(g))
	for _, form := range []*curve.Group{g, edwards.Form(g)} {
		if form == nil {
			continue
		}
		more, err := kernels(form, &Options{})
		if err != nil {
			return nil // a group without kernels
		}
		for _, s := range append(more, tiny.Source(form)) {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}
