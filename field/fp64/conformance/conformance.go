// Package conformance has the kernels that field/fp64 is tested with.
package conformance

import (
	_ "embed" // kernel source

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/fp64"
	"github.com/zkwarp/zkwarp/field/mont"
)

//go:embed ops.cu
var opsText string

// Fields that the kernels are made for: of 2, 5, 8, and 15 limbs. The moduli are those
// of package curve, which this room may not import.
var Fields = []*fp64.Field{
	fp64.New(mont.New("fp61", "11abbb6eae18f6ad")),
	fp64.New(mont.New("fp254", "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47")),
	fp64.New(mont.New("fp381", "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab")),
	fp64.New(mont.New("fp753", "1c4c62d92c41110229022eee2cdadb7f997505b8fafed5eb7e8f96c97d87307fdb925e8a0ed8d99d124d9a15af79db117e776f218059db80f0da5cb537e38685acce9767254a4638810719ac425f0e39d54522cdd119f5e9063de245e8001")),
}

// Source is a field's unit.
func Source(f *fp64.Field) *kernel.Source {
	return kernel.Template{Name: "field/fp64/conformance/ops.cu", Text: opsText}.Unit(f.Name,
		[]string{"FP64_HEADER", f.Params().Name, "FP64_FIELD", f.Name}, f.Params(), fp64.Header)
}

// Sources are all units.
func Sources() []*kernel.Source {
	var out []*kernel.Source
	for _, f := range Fields {
		out = append(out, Source(f))
	}
	return out
}
