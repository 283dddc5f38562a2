package poseidon2

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed bear.cuh
var bearText string

//go:embed bear_warp.cuh
var bearWarpText string

// The permutations over BabyBear and KoalaBear in CUDA.
var (
	bearTemplate     = kernel.Template{Name: "hash/poseidon2/bear.cuh", Text: bearText}
	bearWarpTemplate = kernel.Template{Name: "hash/poseidon2/bear_warp.cuh", Text: bearWarpText}
)

// bearHeader is a template's header for one field, whose arithmetic is in fp.
func bearHeader(t kernel.Template, name, constants string, fp *kernel.Source) *kernel.Source {
	c := &kernel.Source{
		Name:    strings.TrimSuffix(t.Name, ".cuh") + "_constants." + name + ".cuh",
		Text:    "#pragma once\n#include \"device/ptx.cuh\"\n\n" + constants,
		Headers: []*kernel.Source{kernel.PTX},
	}
	return t.Unit(name, []string{"FIELD_HEADER", fp.Name, "CONSTANTS_HEADER", c.Name}, fp, c)
}

// bearConstants is what bear.cuh takes from the parameters: words in Montgomery
// form.
func bearConstants(sets []*bear) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#define POSEIDON2_DEGREE %d\n", sets[0].Degree)
	for _, s := range sets {
		t := s.Width
		var first, last [][]uint32
		for r := range s.first {
			first, last = append(first, words(s.first[r][:t])), append(last, words(s.last[r][:t]))
		}
		fmt.Fprintf(&b, "#define POSEIDON2_PARTIAL%d %d\n", t, s.Partial)
		b.WriteString(table("u32", "poseidon2_first", t, first...))
		b.WriteString(table("u32", "poseidon2_last", t, last...))
		fmt.Fprintf(&b, "static __constant__ const u32 poseidon2_partial%d[%d] = %s;\n", t, s.Partial, list(words(s.partial)))
		b.WriteString(table("u32", "poseidon2_diagonal", t, words(s.diagonal[:t])))
	}
	return b.String()
}

// bearWarpConstants is what bear_warp.cuh takes from the parameters.
func bearWarpConstants(s *bear) string {
	var rounds [][]uint32
	for _, half := range [][4][24]uint64{s.first, s.last} {
		for r := range half {
			rounds = append(rounds, words(half[r][:16]))
		}
	}
	return fmt.Sprintf("#define POSEIDON2_WARP_DEGREE %d\n#define POSEIDON2_WARP_PARTIAL %d\n", s.Degree, s.Partial) +
		warpTable("poseidon2_warp_rounds", rounds...) +
		warpTable("poseidon2_warp_partial", words(s.partial)) +
		warpTable("poseidon2_warp_diagonal", words(s.diagonal[:16]))
}

// warpTable is a table that lanes look up, each another word.
func warpTable(name string, rows ...[]uint32) string {
	text := make([]string, len(rows))
	for i, r := range rows {
		text[i] = list(r)
	}
	return fmt.Sprintf("static __device__ const __align__(16) u32 %s[%d][%d] = {%s};\n", name, len(rows), len(rows[0]), strings.Join(text, ",\n  "))
}

func words(v []uint64) []uint32 {
	out := make([]uint32, len(v))
	for i, w := range v {
		out[i] = uint32(w)
	}
	return out
}
