package prover

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

//go:embed transcript.cuh
var headerText string

//go:embed transcript.cu
var sourceText string

// unit is the kernels of one field. All challenges of the field, of whatever
// degree, are drawn by the same ones.
type unit struct {
	field  string
	header *kernel.Source
	source *kernel.Source
}

// newUnit fills in the templates. base is the field's header, which has the modulus
// p; word makes a number a word of the field, and number undoes that. An empty word
// or number stands for nothing to be done.
func newUnit[W field.Base[W]](base *kernel.Source, hash *poseidon2.Permutation[W], p, word, number string) unit {
	pairs := []string{"FIELD_P", p, "FIELD_WORD", word, "FIELD_NUMBER", number}
	header := kernel.Template{Name: "transcript/prover/transcript.cuh", Text: headerText}.Unit(hash.Name,
		append([]string{"FIELD_HEADER", base.Name, "PERMUTATION_HEADER", hash.WarpHeader.Name}, pairs...), base, hash.WarpHeader)
	return unit{
		field:  hash.Name,
		header: header,
		source: kernel.Template{Name: "transcript/prover/transcript.cu", Text: sourceText}.Unit(hash.Name,
			append([]string{"TRANSCRIPT_HEADER", header.Name, "PERMUTATION_HEADER", hash.Header.Name}, pairs...), header, hash.Header),
	}
}

var units = []unit{
	newUnit(m31.Header, poseidon2.M31Permutation(), "M31_P", "", ""),
	newUnit(babybear.Header, poseidon2.BabyBear(), "FP_P", "fp_from", "fp_canonical"),
	newUnit(koalabear.Header, poseidon2.KoalaBear(), "FP_P", "fp_from", "fp_canonical"),
}

func unitOf(field string) unit {
	for _, u := range units {
		if u.field == field {
			return u
		}
	}
	panic("transcript: no kernels over " + field) // there are for every variant
}

// HeaderOf is the header of a field's transcript, such as babybear (the Field of a
// transcript.Variant), for kernels that absorb and draw challenges themselves.
func HeaderOf(field string) *kernel.Source { return unitOf(field).header }

// Header is that over Mersenne-31.
var Header = HeaderOf("m31")

// Source holds the kernels over Mersenne-31.
var Source = unitOf("m31").source

// Sources is the kernels of all fields.
func Sources() []*kernel.Source {
	var out []*kernel.Source
	for _, u := range units {
		out = append(out, u.source)
	}
	return out
}

func (u unit) kernel(name string) device.Kernel {
	return device.Kernel{Source: u.source, Name: name + "_" + u.field}
}

// warp is the block of the kernels that go through the sponge.
var warp = device.D1(32)
