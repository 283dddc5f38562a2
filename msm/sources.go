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
	"github.com/zkwarp/zkwarp/msm/pick"
)

// Sources is the room's translation units.
func Sources() []*kernel.Source {
	return slices.Concat(
		affine.Sources(),
		bases.Sources(),
		bucket.Sources(),
		edwards.Sources(),
		pick.Sources(),
		reduce.Sources(),
		scatter.Sources(),
		tiny.Sources(),
	)
}
