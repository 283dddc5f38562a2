package prover

import (
	_ "embed"

	cuda "github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/ntt"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
)

//go:embed common.cuh
var commonText string

//go:embed blocks.cuh
var blocksText string

//go:embed weights.cuh
var weightsText string

//go:embed points.cuh
var pointsText string

//go:embed transform.cuh
var transformText string

//go:embed rounds.cuh
var roundsText string

//go:embed packed.cu
var packedText string

//go:embed whir.cu
var whirText string

// unit is the kernels over one pair of fields.
type unit struct {
	name   string // the variant's
	source *cuda.Source
	// root is the words of the generator of the 2^n-th roots of unity, in the
	// form of device memory; the second is 0 where a symbol is one word.
	root func(n int) [2]uint32
}

func header(name, text string) *cuda.Source {
	return &cuda.Source{Name: "whir/prover/" + name, Text: text}
}

func newUnit(k field.Kernel, sponge *cuda.Source, root func(n int) [2]uint32) *unit {
	t := cuda.Template{Name: "whir/prover/whir.cu", Text: whirText}
	return &unit{
		name: k.Name,
		source: k.Unit(t, []string{"TRANSCRIPT_HEADER", sponge.Name}, cuda.PTX, sponge,
			header("common.cuh", commonText), header("blocks.cuh", blocksText), header("weights.cuh", weightsText),
			header("points.cuh", pointsText), header("transform.cuh", transformText), header("rounds.cuh", roundsText)),
		root: root,
	}
}

// The variants' kernels.
var (
	unitM31 = newUnit(m31.KernelQM31, transcript.Header, func(n int) [2]uint32 {
		w := ntt.CM31{}.Root(n)
		return [2]uint32{uint32(w.Re), uint32(w.Im)}
	})
	unitBabyBear4  = newUnit(babybear.Kernel4, transcript.HeaderOf("babybear"), rootBabyBear)
	unitBabyBear5  = newUnit(babybear.Kernel5, transcript.HeaderOf("babybear"), rootBabyBear)
	unitKoalaBear4 = newUnit(koalabear.Kernel4, transcript.HeaderOf("koalabear"), rootKoalaBear)
	unitKoalaBear5 = newUnit(koalabear.Kernel5, transcript.HeaderOf("koalabear"), rootKoalaBear)
)

func rootBabyBear(n int) [2]uint32 { return [2]uint32{uint32(babybear.Root(n))} }

func rootKoalaBear(n int) [2]uint32 { return [2]uint32{uint32(koalabear.Root(n))} }

// packedSource is the kernels for tables of Mersenne-31 words.
var packedSource = m31.KernelQM31.Unit(cuda.Template{Name: "whir/prover/packed.cu", Text: packedText},
	[]string{"TRANSCRIPT_HEADER", transcript.Header.Name}, cuda.PTX, transcript.Header, header("common.cuh", commonText))

// Sources is the package's translation units.
func Sources() []*cuda.Source {
	out := []*cuda.Source{packedSource}
	for _, u := range []*unit{unitM31, unitBabyBear4, unitBabyBear5, unitKoalaBear4, unitKoalaBear5} {
		out = append(out, u.source)
	}
	return out
}
