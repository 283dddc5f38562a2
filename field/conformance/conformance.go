// Package conformance holds the kernels that compare what kernels for several
// fields use with the fields' Go packages, function by function, and the test that
// does so on every device.
package conformance

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
)

var (
	//go:embed conformance.cu
	text string
	//go:embed bear.cu
	bearText string
)

var (
	bears = []field.Kernel{babybear.Kernel4, babybear.Kernel5, koalabear.Kernel4, koalabear.Kernel5}

	units     = map[string]*kernel.Source{} // by the variant's name
	bearUnits = map[string]*kernel.Source{}
)

func init() {
	for _, k := range bears {
		units[k.Name] = k.Unit(kernel.Template{Name: "field/conformance/conformance.cu", Text: text}, nil)
		bearUnits[k.Name] = k.Unit(kernel.Template{Name: "field/conformance/bear.cu", Text: bearText}, nil)
	}
	units[m31.KernelQM31.Name] = m31.KernelQM31.Unit(kernel.Template{Name: "field/conformance/conformance.cu", Text: text}, nil)
}

// Sources are the kernels of all variants.
func Sources() []*kernel.Source {
	var out []*kernel.Source
	for _, k := range append([]field.Kernel{m31.KernelQM31}, bears...) {
		out = append(out, units[k.Name])
		if u, ok := bearUnits[k.Name]; ok {
			out = append(out, u)
		}
	}
	return out
}
