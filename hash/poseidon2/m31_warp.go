package poseidon2

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
)

//go:embed m31_warp.cuh
var warpText string

// M31WarpHeader is m31_warp.cuh: poseidon2_warp_permute is Permute16 by one warp,
// one word a lane.
var M31WarpHeader = &kernel.Source{
	Name:    "hash/poseidon2/m31_warp.cuh",
	Text:    warpText,
	Headers: []*kernel.Source{Header, warpTables},
}

// warpTables is what the lanes of a warp look up in a permutation, a header
// without a file: it follows from the permutation's parameters.
var warpTables = &kernel.Source{
	Name:    "hash/poseidon2/m31_warp_tables.cuh",
	Text:    renderWarpTables(),
	Headers: []*kernel.Source{kernel.PTX},
}

const warpWidth = 16

// doublings is how often the internal matrix doubles word i >= 1.
func doublings(i int) int {
	switch {
	case i < 10:
		return i - 1
	case i == 10:
		return 10
	}
	return i + 1
}

// warpSums returns the weights of the words in the sum of words 1 to 15 after r
// partial rounds whose S-boxes give 0, for r < rounds, and the weights' sums:
// what a 1 added to each of these words contributes r rounds later.
func warpSums(rounds int) (weights [][warpWidth]m31.Element, total []m31.Element) {
	row := [warpWidth]m31.Element{}
	for i := 1; i < warpWidth; i++ {
		row[i] = 1
	}
	for range rounds {
		var all m31.Element
		for _, w := range row {
			all = all.Add(w)
		}
		weights, total = append(weights, row), append(total, all)
		for i := 1; i < warpWidth; i++ {
			row[i] = row[i].Mul(m31.Element(1) << doublings(i)).Add(all)
		}
	}
	return weights, total
}

func renderWarpTables() string {
	p, err := M31(warpWidth)
	if err != nil {
		panic(err) // the warpWidth is known
	}
	var b strings.Builder
	b.WriteString("#pragma once\n#include \"device/ptx.cuh\"\n\n")
	table := func(name string, rows [][warpWidth]uint32) {
		text := make([]string, len(rows))
		for i, row := range rows {
			words := make([]string, warpWidth)
			for j, w := range row {
				words[j] = fmt.Sprintf("0x%08xu", w)
			}
			text[i] = "{" + strings.Join(words, ", ") + "}"
		}
		fmt.Fprintf(&b, "static __device__ const __align__(16) u32 %s[%d][%d] = {%s};\n", name, len(rows), warpWidth, strings.Join(text, ",\n  "))
	}

	// Constants of the full rounds less P, and a row that is read but not used.
	c := p.Constants()
	rounds := make([][warpWidth]uint32, 9)
	for r, row := range append(append([][]uint32{}, c.First...), c.Last...) {
		for i, w := range row {
			rounds[r][i] = w - m31.P
		}
	}
	table("poseidon2_warp_rounds", rounds)

	weights, total := warpSums(len(c.Partial))
	lanes := make([][warpWidth]uint32, warpWidth)
	// Of lane r: the constant after round r, what round 0's S-box adds to the sum
	// of round r, and what the constants have added to word r in the end.
	partials := make([][warpWidth]uint32, 3)
	for r, row := range weights {
		for i, w := range row {
			lanes[r][i] = uint32(w)
		}
		if r+1 < len(c.Partial) {
			partials[0][r] = c.Partial[r+1]
		}
		if r >= 2 {
			partials[1][r] = uint32(total[r-1])
		}
	}
	for i := 1; i < warpWidth; i++ {
		var added m31.Element
		for _, w := range c.Partial[1:] {
			added = added.Add(m31.Element(w)).Mul(1 << doublings(i))
		}
		partials[2][i] = uint32(added.Neg())
	}
	table("poseidon2_warp_weights", lanes)
	table("poseidon2_warp_partials", partials)
	return b.String()
}
