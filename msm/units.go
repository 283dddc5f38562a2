package msm

import (
	"strings"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device/kernel"
)

// Units are the translation units that sums over c may use, for Device.Preload: those
// of the group, of its scalars, and those that all groups share.
func (c *Curve[P, S]) Units() []*kernel.Source { return unitsOf(c.Group) }

func unitsOf(g *curve.Group) []*kernel.Source {
	variants := map[string]bool{g.Name: true, g.Scalar.Name: true}
	if g == curve.BLS12377G1 {
		variants[curve.BLS12377Edwards.Name] = true
	}
	var out []*kernel.Source
	for _, s := range Sources() {
		// folder/file.variant.cu, or without a variant
		parts := strings.Split(s.Name[strings.LastIndex(s.Name, "/")+1:], ".")
		if len(parts) == 2 || len(parts) == 3 && variants[parts[1]] {
			out = append(out, s)
		}
	}
	return out
}
