// Package bear makes the CUDA headers of the fields below 2^31 in Montgomery form,
// BabyBear and KoalaBear, from one text.
package bear

//go:generate go run ../genbear ../..

import (
	_ "embed"
	"fmt"

	"github.com/zkwarp/zkwarp/device/kernel"
)

var (
	//go:embed fp.cuh
	fieldText string
	//go:embed ext.cuh
	extText string
)

// Prime is the numbers of a prime field, those of its package.
type Prime struct {
	Package                 string
	P, Inverse, Square, One uint32 // 1/P mod 2^32; the words that stand for 2^32 and 1
	W, Quotient             uint32 // X^4 = W in E4; floor(2^32 W / P)
}

// Field is the header of a prime field.
func Field(p Prime) *kernel.Source {
	n := func(v uint32) string { return fmt.Sprint(v) }
	return kernel.Template{Name: "field/internal/bear/fp.cuh", Text: fieldText}.Unit(p.Package, []string{
		"FIELD_PACKAGE", p.Package,
		"FIELD_P", n(p.P), "FIELD_INVERSE", n(p.Inverse), "FIELD_SQUARE", n(p.Square), "FIELD_ONE", n(p.One),
		"FIELD_W", n(p.W), "FIELD_QUOTIENT", n(p.Quotient),
	}, kernel.PTX)
}

// Extension is the header of an extension of header's field. timesX lists the
// coefficients of X a in C++, the lowest first.
func Extension(variant string, header *kernel.Source, degree int, timesX string) *kernel.Source {
	align := ""
	if degree == 4 {
		align = "alignas(16)"
	}
	return kernel.Template{Name: "field/internal/bear/ext.cuh", Text: extText}.Unit(variant, []string{
		"FIELD_HEADER", header.Name, "EXT_DEGREE", fmt.Sprint(degree), "EXT_TIMES_X", timesX, "EXT_ALIGN", align,
	}, header)
}
