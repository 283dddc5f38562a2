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
	table := func(name, dimensions, text string) {
		fmt.Fprintf(&b, "static __constant__ const u32 %s%d%s = %s;\n", name, width, dimensions, text)
	}
	if width == 16 {
		b.WriteString("#pragma once\n#include \"device/ptx.cuh\"\n\n")
		b.WriteString(powers())
		table("poseidon2_first", fmt.Sprintf("[%d][%d]", len(c.First), width), rounds(c.First))
		table("poseidon2_partial", fmt.Sprintf("[%d]", p.Partial), list(c.Partial))
		table("poseidon2_last", fmt.Sprintf("[%d][%d]", len(c.Last), width), rounds(c.Last))
	}
	added, partial := c.added()
	table("poseidon2_added", fmt.Sprintf("[%d][%d]", len(added), width), rounds(added))
	table("poseidon2_added_partial", fmt.Sprintf("[%d]", len(partial)), list(partial))
	return b.String()
}

// added is the constants by what they are added after rather than before: to
// all words after the first linear layer, after each full round of the first
// half, after the partial rounds, and after each full round of the second half;
// and to word 0 after each partial round.
func (c Constants) added() (full [][]uint32, partial []uint32) {
	width := len(c.First[0])
	first := make([]uint32, width)
	first[0] = c.Partial[0]
	rest := append([]uint32{0}, c.Last[0][1:]...)
	full = append(full, c.First...)
	full = append(full, first, rest)
	full = append(full, c.Last[1:]...)
	full = append(full, make([]uint32, width))
	return full, append(append(partial, c.Partial[1:]...), c.Last[0][0])
}

// powers is a table of powers of two that the compiler does not see through:
// multiplying by an entry stays a multiplication.
func powers() string {
	words := make([]string, 31)
	for k := range words {
		words[k] = fmt.Sprint(1 << k)
	}
	return "__constant__ u32 poseidon2_power[31] = {" + strings.Join(words, ", ") + "};\n"
}
