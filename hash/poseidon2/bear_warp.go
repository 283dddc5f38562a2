package poseidon2

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed bear_warp.cuh
var bearWarpText string

// bearWarpTemplate is bear_warp.cuh, the permutation of width 16 by one warp.
var bearWarpTemplate = kernel.Template{Name: "hash/poseidon2/bear_warp.cuh", Text: bearWarpText}

// bearWarpHeader is the template's header for one field.
func bearWarpHeader(name string, header *kernel.Source, b *bear) *kernel.Source {
	t := tables("hash/poseidon2/"+name+"_warp_tables.cuh", bearWarpTables(b))
	return bearWarpTemplate.Unit(name, []string{"POSEIDON2_HEADER", header.Name, "TABLES_HEADER", t.Name}, header, t)
}

// bearWarpTables is what bear_warp.cuh looks up, in Montgomery form. It has 32 lanes,
// one for each partial round and more.
func bearWarpTables(b *bear) string {
	var rounds [][]uint32
	for _, half := range [][4][24]uint64{b.first, b.last} {
		for r := range half {
			rounds = append(rounds, b.less(half[r][:16]))
		}
	}
	rounds = append(rounds, make([]uint32, 16)) // is read but not used

	add := func(x, y uint64) uint64 { return b.small(x + y) }
	mul := func(x, y uint64) uint64 { return b.reduce(x * y) }

	// row is the weights of words 1 to 15 in their sum after r rounds whose S-boxes
	// give 0, and all its sum: what a 1 added to each of them contributes then.
	var weights [][]uint32
	var totals []uint64
	row := make([]uint64, 16)
	for i := 1; i < 16; i++ {
		row[i] = b.form(1)
	}
	for range 32 {
		var all uint64
		for _, w := range row {
			all = add(all, w)
		}
		weights, totals = append(weights, words(row)), append(totals, all)
		for i := 1; i < 16; i++ {
			row[i] = add(mul(row[i], b.diagonal[i]), all)
		}
	}

	// Of lane r: the constant after round r, and what round 0's S-box adds to the sum
	// of round r. Of word i: what the constants have added to it in the end.
	constants, feedback, extra := make([]uint32, 32), make([]uint32, 32), make([]uint64, 16)
	for r := range b.partial[1:] {
		constants[r] = uint32(b.partial[r+1])
	}
	for r := 2; r < 32; r++ {
		feedback[r] = uint32(totals[r-1])
	}
	for i := 1; i < 16; i++ {
		for _, c := range b.partial[1:] {
			extra[i] = mul(add(extra[i], c), b.diagonal[i])
		}
	}
	diagonal := append([]uint32{0}, words(b.diagonal[1:16])...)
	return fmt.Sprintf("#define POSEIDON2_WARP_PARTIAL %d\n#define POSEIDON2_WARP_FIRST 0x%xu\n", b.Partial, b.less(b.partial[:1])[0]) +
		warpTable("rounds", rounds...) + warpTable("weights", weights...) + warpTable("constants", constants) +
		warpTable("feedback", feedback) + warpTable("extra", words(extra)) + warpTable("diagonal", diagonal)
}

// warpTable is a table that lanes look up, each another word or row.
func warpTable(name string, rows ...[]uint32) string {
	text := make([]string, len(rows))
	for i, r := range rows {
		text[i] = list(r)
	}
	return fmt.Sprintf("static __device__ const __align__(16) u32 poseidon2_warp_%s[%d][%d] = {%s};\n",
		name, len(rows), len(rows[0]), strings.Join(text, ",\n  "))
}
