// Package edwards takes points and sums from a curve's Weierstrass form to its twisted
// Edwards form and back.
package edwards

import (
	_ "embed" // kernel source
	"fmt"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed edwards.cu
var text string

var source = curve.BLS12377Edwards.Unit(kernel.Template{Name: "msm/internal/edwards/edwards.cu", Text: text}, nil, kernel.PTX)

// Sources is the package's translation units.
func Sources() []*kernel.Source { return []*kernel.Source{source} }

// Form is the Edwards form of a group, nil where there is none.
func Form(g *curve.Group) *curve.Group {
	if g == curve.BLS12377G1 {
		return curve.BLS12377Edwards
	}
	return nil
}

// perThread is how many points share an inversion at least, where there are many.
const perThread = 64

// FromAffine enqueues the conversion of affine points of the Weierstrass curve (infinity
// as zeros) to g, an Edwards form. The points must be of the subgroup of odd prime order.
// The two buffers have the same number of points and do not overlap.
func FromAffine(q *device.Queue, g *curve.Group, out, points device.Buffer[uint32]) error {
	from, to := 2*g.Base.Limbs, 3*g.Base.Limbs
	n := points.Len() / from
	if g.Edwards == nil || q.OnHost() || points.Len() != n*from || out.Len() != n*to || n >= 1<<31 || device.Overlap(out, points) {
		return fmt.Errorf("edwards: from %d words of points to %d in form %s: %w", points.Len(), out.Len(), g.Name, device.ErrUsage)
	}
	if n == 0 {
		return nil
	}
	return fromAffine(q, g, out, points, n, min(n, max(256*q.Device().Info().Units, (n+perThread-1)/perThread)))
}

// fromAffine has so many threads for n points.
func fromAffine(q *device.Queue, g *curve.Group, out, points device.Buffer[uint32], n, threads int) error {
	return launch(q, g, "edwards_from_affine", threads, points.Arg(), out.Arg(), device.U32(n), device.U32(threads))
}

// ToXYZZ enqueues the conversion of sums in extended coordinates to sums in XYZZ
// coordinates on the Weierstrass curve, of the same size; out may be sums.
func ToXYZZ(q *device.Queue, g *curve.Group, out, sums device.Buffer[uint32]) error {
	n := sums.Len() / (4 * g.Base.Limbs)
	if g.Edwards == nil || q.OnHost() || sums.Len() != n*4*g.Base.Limbs || out.Len() != sums.Len() || n >= 1<<31 {
		return fmt.Errorf("edwards: from %d words of sums in form %s to %d: %w", sums.Len(), g.Name, out.Len(), device.ErrUsage)
	}
	if n == 0 {
		return nil
	}
	return launch(q, g, "edwards_to_xyzz", n, sums.Arg(), out.Arg(), device.U32(n))
}

func launch(q *device.Queue, g *curve.Group, name string, threads int, args ...device.Arg) error {
	const block = 128
	if err := q.Launch(device.Kernel{Source: source, Name: name + "_" + g.Name}, device.D1(device.Blocks(threads, block)), device.D1(block), 0, args...); err != nil {
		return fmt.Errorf("edwards: %w", err)
	}
	return nil
}
