package poseidon2

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
)

//go:embed m31.cuh
var headerText string

// Header is m31.cuh, the same permutations in CUDA.
var Header = &kernel.Source{
	Name:    "hash/poseidon2/m31.cuh",
	Text:    headerText,
	Headers: []*kernel.Source{m31.Header, constantsHeader},
}

// constantsHeader is the round constants as a header without a file: they have
// one source, the derivation in Go.
var constantsHeader = &kernel.Source{
	Name:    "hash/poseidon2/m31_constants.cuh",
	Text:    renderConstants(16) + renderConstants(24),
	Headers: []*kernel.Source{kernel.PTX},
}

func renderConstants(width int) string {
	p, err := M31(width)
	if err != nil {
		panic(err) // both widths in use are known
	}
	c := p.Constants()
	list := func(v []uint32) string {
		words := make([]string, len(v))
		for i, w := range v {
			words[i] = fmt.Sprintf("0x%08xu", w)
		}
		return "{" + strings.Join(words, ", ") + "}"
	}
	rounds := func(v [][]uint32) string {
		rows := make([]string, len(v))
		for i, r := range v {
			rows[i] = list(r)
		}
		return "{" + strings.Join(rows, ",\n  ") + "}"
	}
	var b strings.Builder
	if width == 16 {
		b.WriteString("#pragma once\n#include \"device/ptx.cuh\"\n\n")
	}
	fmt.Fprintf(&b, "static __constant__ const u32 poseidon2_first%d[%d][%d] = %s;\n", width, len(c.First), width, rounds(c.First))
	fmt.Fprintf(&b, "static __constant__ const u32 poseidon2_partial%d[%d] = %s;\n", width, p.Partial, list(c.Partial))
	fmt.Fprintf(&b, "static __constant__ const u32 poseidon2_last%d[%d][%d] = %s;\n\n", width, len(c.Last), width, rounds(c.Last))
	return b.String()
}
