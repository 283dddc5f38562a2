package msm

import (
	"slices"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm/internal/affine"
	"github.com/zkwarp/zkwarp/msm/internal/bases"
	"github.com/zkwarp/zkwarp/msm/internal/bucket"
	"github.com/zkwarp/zkwarp/msm/internal/edwards"
	"github.com/zkwarp/zkwarp/msm/internal/reduce"
	"github.com/zkwarp/zkwarp/msm/internal/scatter"
	"github.com/zkwarp/zkwarp/msm/internal/tiny"
)

// Sources is the room's translation units.
func Sources() []*kernel.Source {
	return slices.Concat(
		affine.Sources(),
		bases.Sources(),
		bucket.Sources(),
		edwards.Sources(),
		reduce.Sources(),
		scatter.Sources(),
		tiny.Sources(),
	)
}
