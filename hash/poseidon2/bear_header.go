package poseidon2

import (
	_ "embed"
	"fmt"
	"math/bits"
	"strings"

	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed bear.cuh
var bearText string

// bearTemplate is bear.cuh, the permutations over BabyBear and KoalaBear in CUDA.
var bearTemplate = kernel.Template{Name: "hash/poseidon2/bear.cuh", Text: bearText}

// bearHeader is the template's header for one field, whose arithmetic is in fp.
func bearHeader(name string, fp *kernel.Source, sets ...*bear) *kernel.Source {
	constants := tables("hash/poseidon2/"+name+"_constants.cuh", bearConstants(sets))
	return bearTemplate.Unit(name, []string{"FIELD_HEADER", fp.Name, "CONSTANTS_HEADER", constants.Name}, fp, constants)
}

// tables is a header without a file: numbers that follow from the parameters.
func tables(name, text string) *kernel.Source {
	return &kernel.Source{
		Name:    name,
		Text:    "#pragma once\n#include \"device/ptx.cuh\"\n\n" + text,
		Headers: []*kernel.Source{kernel.PTX},
	}
}

// bearConstants is what bear.cuh takes from the parameters: round constants, in
// Montgomery form and less P, and the plan of partial rounds.
func bearConstants(sets []*bear) string {
	var b strings.Builder
	p := sets[0].Params
	fmt.Fprintf(&b, "#define POSEIDON2_DEGREE %d\n#define POSEIDON2_TWOS %d // 2 divides P - 1 so often\n\n", p.Degree, bits.TrailingZeros32(p.P-1))
	b.WriteString("template <int T> struct poseidon2_plan;\n\n")
	for _, s := range sets {
		t := s.Width
		var first, last [][]uint32
		for r := range s.first {
			first, last = append(first, s.less(s.first[r][:t])), append(last, s.less(s.last[r][:t]))
		}
		b.WriteString(table("u32", "poseidon2_first", t, first...))
		b.WriteString(table("u32", "poseidon2_last", t, last...))
		fmt.Fprintf(&b, "static __constant__ const u32 poseidon2_partial%d[%d] = %s;\n", t, s.Partial, list(s.less(s.partial)))
		b.WriteString(renderPlan(s.Params))
	}
	return b.String()
}

// renderPlan is the pairs and singles with their factors.
func renderPlan(p Params) string {
	var pairs, singles []string
	pairWords, singleWords := p.Pairs()
	for _, w := range pairWords {
		f := p.Diagonal[w[0]]
		pairs = append(pairs, fmt.Sprintf("{%d, %d, %d, %d}", w[0], w[1], f.Times, f.Shift))
	}
	for _, w := range singleWords {
		f := p.Diagonal[w]
		singles = append(singles, fmt.Sprintf("{%d, %d, %d}", w, f.Times, f.Shift))
	}
	return fmt.Sprintf(`template <> struct poseidon2_plan<%d> {
  static constexpr int rounds = %d, pairs = %d, singles = %d;
  static constexpr int pair[pairs][4] = {%s};
  static constexpr int single[singles][3] = {%s};
};
`, p.Width, p.Partial, len(pairs), len(singles), strings.Join(pairs, ", "), strings.Join(singles, ", "))
}
