// Package conformance holds the kernels that compare the headers of package
// poseidon2 with the Go permutations, and the test and benchmark that do so on
// every device.
package conformance

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

var (
	//go:embed conformance.cu
	text string
	//go:embed warp.cu
	warpText string
	//go:embed parts.cu
	partsText string
	//go:embed bear_parts.cu
	bearPartsText string
)

var (
	manyTemplate = kernel.Template{Name: "hash/poseidon2/conformance/conformance.cu", Text: text}
	bearTemplate = kernel.Template{Name: "hash/poseidon2/conformance/bear_parts.cu", Text: bearPartsText}
	warpTemplate = kernel.Template{Name: "hash/poseidon2/conformance/warp.cu", Text: warpText}

	partsSource = &kernel.Source{
		Name:    "hash/poseidon2/conformance/parts.cu",
		Text:    partsText,
		Headers: []*kernel.Source{poseidon2.Header},
	}
)

// units are the kernels for one field.
type units struct{ many, warp, parts *kernel.Source }

func unitsOf[W field.Base[W]](p *poseidon2.Permutation[W]) units {
	pairs := []string{"POSEIDON2_HEADER", p.Header.Name}
	u := units{
		many:  manyTemplate.Unit(p.Name, pairs, p.Header),
		warp:  warpTemplate.Unit(p.Name, []string{"POSEIDON2_WARP_HEADER", p.WarpHeader.Name}, p.WarpHeader),
		parts: partsSource,
	}
	if p.Name != "m31" {
		u.parts = bearTemplate.Unit(p.Name, pairs, p.Header)
	}
	return u
}

var (
	m31Units   = unitsOf(poseidon2.M31Permutation())
	babyUnits  = unitsOf(poseidon2.BabyBear())
	koalaUnits = unitsOf(poseidon2.KoalaBear())
)

// Sources are all kernels of this package.
func Sources() []*kernel.Source {
	var out []*kernel.Source
	for _, u := range []units{m31Units, babyUnits, koalaUnits} {
		out = append(out, u.many, u.warp, u.parts)
	}
	return out
}
