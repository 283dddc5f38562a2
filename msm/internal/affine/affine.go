// Package affine is arithmetic of affine points on a device, with inversions shared by
// many (Montgomery's trick).
package affine

import (
	_ "embed" // kernel sources
	"fmt"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/mont"
)

var (
	//go:embed block.cuh
	blockText string
	//go:embed affine.cu
	affineText string
	//go:embed normalize.cu
	normalizeText string
)

var blockHeader = &kernel.Source{Name: "msm/internal/affine/block.cuh", Text: blockText,
	Headers: []*kernel.Source{curve.Fp2, curve.XYZZ, mont.InverseHeader}}

// units are of bucket sums, normalizers of everything else.
var units, normalizers = newUnits()

func newUnits() (sums, others map[*curve.Group]*kernel.Source) {
	sums, others = map[*curve.Group]*kernel.Source{}, map[*curve.Group]*kernel.Source{}
	t := kernel.Template{Name: "msm/internal/affine/normalize.cu", Text: normalizeText}
	for g, c := range configs {
		sums[g], others[g] = c.unit(g), g.Unit(t, nil, blockHeader)
	}
	return sums, others
}

// Sources is the package's translation units.
func Sources() []*kernel.Source {
	var out []*kernel.Source
	for _, g := range append([]*curve.Group{curve.Toy61}, curve.Groups...) {
		out = append(out, units[g], normalizers[g])
	}
	return out
}

// Source is the kernels of a group's bucket sums, and Normalizer that of Normalize, for
// loading them before they are needed.
func Source(g *curve.Group) *kernel.Source { return units[g] }

// Normalizer is explained at Source.
func Normalizer(g *curve.Group) *kernel.Source { return normalizers[g] }

// elementBytes is the size of a coordinate.
func elementBytes(g *curve.Group) int { return g.Degree * g.Base.Bytes() }

// treeNodes is how many elements block_inverse keeps besides those of so many threads.
func treeNodes(threads int) int {
	n := 0
	for size := threads; size > 32; n += size {
		size = (size + 1) / 2
	}
	return n
}

// Normalize enqueues the conversion of n sums in XYZZ coordinates (g.XYZZBytes() each)
// to n affine points (g.AffineBytes() each), infinity to (0, 0). The buffers must not
// overlap.
func Normalize(q *device.Queue, g *curve.Group, out, sums device.Buffer[uint32]) error {
	// Each point takes 6 products and a square besides its share of the inversion and
	// of the tree, which this many points a thread share.
	const threads, each = 128, 16
	u, ok := normalizers[g]
	n := sums.Len() * 4 / g.XYZZBytes()
	switch {
	case !ok:
		return fmt.Errorf("affine: no kernels for %s: %w", g.Name, device.ErrUsage)
	case q.OnHost():
		return fmt.Errorf("affine: normalize on the CPU: %w", device.ErrUsage)
	case n*g.XYZZBytes() != sums.Len()*4 || n*g.AffineBytes() != out.Len()*4:
		return fmt.Errorf("affine: normalize sums of %d words into points of %d: %w", sums.Len(), out.Len(), device.ErrUsage)
	case device.Overlap(out, sums):
		return fmt.Errorf("affine: normalize in place: %w", device.ErrUsage)
	}
	if n == 0 {
		return nil
	}
	room := treeNodes(threads)
	k := device.Kernel{Source: u, Name: "affine_normalize_" + g.Name}
	return q.Launch(k, device.D1(device.Blocks(n, threads*each)), device.D1(threads), (threads+room)*elementBytes(g),
		out.Arg(), sums.Arg(), device.U64(n), device.U32(each), device.U32(room))
}
