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
	//go:embed windows.cuh
	windowsText string
	//go:embed recode.cuh
	recodeText string
	//go:embed tile.cuh
	tileText string
	//go:embed digits.cu
	digitsText string
	//go:embed partition.cu
	partitionText string
	//go:embed split.cu
	splitText string
	//go:embed bins.cu
	binsText string
)

var (
	// RecodeHeader cuts scalars of any field into digits (recode.cuh).
	RecodeHeader = &kernel.Source{Name: "msm/internal/scatter/recode.cuh", Text: recodeText, Headers: []*kernel.Source{mont.Header}}

	windowsHeader = &kernel.Source{Name: "msm/internal/scatter/windows.cuh", Text: windowsText, Headers: []*kernel.Source{kernel.PTX}}
	tileHeader    = &kernel.Source{Name: "msm/internal/scatter/tile.cuh", Text: tileText, Headers: []*kernel.Source{windowsHeader}}

	partitionSource = &kernel.Source{Name: "msm/internal/scatter/partition.cu", Text: partitionText, Headers: []*kernel.Source{tileHeader}}
	splitSource     = &kernel.Source{Name: "msm/internal/scatter/split.cu", Text: splitText, Headers: []*kernel.Source{tileHeader}}
	binsSource      = &kernel.Source{Name: "msm/internal/scatter/bins.cu", Text: binsText, Headers: []*kernel.Source{tileHeader}}
	digits          = kernel.Template{Name: "msm/internal/scatter/digits.cu", Text: digitsText}

	// fields are those of the scalars of all groups.
	fields = []*mont.Field{curve.Toy61Fr, curve.BN254Fr, curve.BLS12377Fr, curve.BLS12381Fr, curve.BW6761Fr, curve.MNT4753Fr}
	units  = digitsUnits()
)

func digitsUnits() map[*mont.Field]*kernel.Source {
	out := map[*mont.Field]*kernel.Source{}
	for _, f := range fields {
		out[f] = curve.ScalarUnit(f, digits, nil, windowsHeader, RecodeHeader)
	}
	return out
}

// Sources is the package's translation units.
func Sources() []*kernel.Source {
	out := []*kernel.Source{partitionSource, splitSource, binsSource}
	for _, f := range fields {
		out = append(out, units[f])
	}
	return out
}

// SourcesOf is the units that scalars of one field take, to preload them.
func SourcesOf(f *mont.Field) []*kernel.Source {
	return []*kernel.Source{partitionSource, splitSource, binsSource, units[f]}
}

// digitsKernel is the kernel that cuts scalars of a field.
func digitsKernel(f *mont.Field) (device.Kernel, error) {
	u, ok := units[f]
	if !ok {
		return device.Kernel{}, fmt.Errorf("%w: no kernels that cut scalars of %s", device.ErrUsage, f.Name)
	}
	return device.Kernel{Source: u, Name: "scatter_digits_" + f.Name}, nil
}
