// Package conformance holds the kernels that compare the arithmetic of kernels in
// large prime fields and their quadratic extensions with math/big, function by
// function, and the test that does so on every device.
package conformance

import (
	_ "embed" // kernels

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/mont"
)

var (
	//go:embed field.cu
	fieldText string
	//go:embed fp2.cu
	fp2Text string
)

// fields are all fields of coordinates and of scalars.
var fields = []*mont.Field{
	curve.Toy61Fp, curve.Toy61Fr, curve.BN254Fp, curve.BN254Fr,
	curve.BLS12377Fp, curve.BLS12377Fr, curve.BLS12381Fp, curve.BLS12381Fr,
	curve.BW6761Fp, curve.MNT4753Fp, curve.MNT4753Fr,
}

// quadratic are the groups over quadratic extensions.
var quadratic = []*curve.Group{curve.BN254G2, curve.BLS12377G2, curve.BLS12381G2}

var units = map[string]*kernel.Source{} // by the name of the field or group

func init() {
	for _, f := range fields {
		units[f.Name] = curve.ScalarUnit(f, kernel.Template{Name: "curve/conformance/field.cu", Text: fieldText}, nil)
	}
	for _, g := range quadratic {
		units[g.Name] = g.Unit(kernel.Template{Name: "curve/conformance/fp2.cu", Text: fp2Text}, nil)
	}
}

// Sources are the kernels over a field of every shape: the others differ from them in
// constants alone, and need not take the time of checks that compile everything.
func Sources() []*kernel.Source {
	return sources([]*mont.Field{curve.Toy61Fp, curve.BN254Fp, curve.BLS12377Fp, curve.BLS12381Fp, curve.BLS12381Fr, curve.MNT4753Fp},
		[]*curve.Group{curve.BN254G2, curve.BLS12377G2})
}

func sources(fields []*mont.Field, groups []*curve.Group) []*kernel.Source {
	var out []*kernel.Source
	for _, f := range fields {
		out = append(out, units[f.Name])
	}
	for _, g := range groups {
		out = append(out, units[g.Name])
	}
	return out
}
