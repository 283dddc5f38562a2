package scatter

import (
	_ "embed" // kernel sources
	"fmt"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/mont"
)

var (
	//go:embed tile.cuh
	tileText string
	//go:embed partition.cu
	partitionText string
	//go:embed bins.cu
	binsText string
)

var (
	tileHeader = &kernel.Source{Name: "msm/internal/scatter/tile.cuh", Text: tileText, Headers: []*kernel.Source{kernel.PTX}}
	binsSource = &kernel.Source{Name: "msm/internal/scatter/bins.cu", Text: binsText, Headers: []*kernel.Source{tileHeader}}
	partition  = kernel.Template{Name: "msm/internal/scatter/partition.cu", Text: partitionText}

	// fields are those of the scalars of all groups.
	fields = []*mont.Field{curve.Toy61Fr, curve.BN254Fr, curve.BLS12377Fr, curve.BLS12381Fr, curve.BW6761Fr, curve.MNT4753Fr}
	units  = partitionUnits()
)

func partitionUnits() map[*mont.Field]*kernel.Source {
	out := map[*mont.Field]*kernel.Source{}
	for _, f := range fields {
		// Two blocks share a multiprocessor, where the registers of wide scalars allow it.
		bounds := "512, 2"
		if f.Limbs > 12 {
			bounds = "512"
		}
		out[f] = curve.ScalarUnit(f, partition, []string{"TILE_BOUNDS", bounds}, tileHeader)
	}
	return out
}

// Sources is the package's translation units.
func Sources() []*kernel.Source {
	out := []*kernel.Source{binsSource}
	for _, f := range fields {
		out = append(out, units[f])
	}
	return out
}

// SourcesOf is the units that scalars of one field take, to preload them.
func SourcesOf(f *mont.Field) []*kernel.Source {
	return []*kernel.Source{binsSource, units[f]}
}

// named is a kernel of the field's unit.
func named(f *mont.Field, name string) (device.Kernel, error) {
	u, ok := units[f]
	if !ok {
		return device.Kernel{}, fmt.Errorf("%w: no kernels that sort scalars of %s", device.ErrUsage, f.Name)
	}
	return device.Kernel{Source: u, Name: name + "_" + f.Name}, nil
}
