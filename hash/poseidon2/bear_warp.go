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
	for _, half := range [][4][24]int64{b.first, b.last} {
		for r := range half {
			rounds = append(rounds, b.less(half[r][:16]))
		}
	}
	rounds = append(rounds, make([]uint32, 16)) // is read but not used

	p := int64(b.P)
	residue := func(v int64) int64 { return (v%p + p) % p }
	words := func(v []int64) []uint32 {
		out := make([]uint32, len(v))
		for i, x := range v {
			out[i] = uint32(residue(x))
		}
		return out
	}
	mul := func(x, y int64) int64 { return product(x, y, p, b.inverse) }

	// row is the weights of words 1 to 15 in their sum after r rounds whose S-boxes
	// give 0, and all its sum: what a 1 added to each of them contributes then.
	var weights [][]uint32
	var totals []int64
	row := make([]int64, 16)
	for i := 1; i < 16; i++ {
		row[i] = b.form(1)
	}
	for range 32 {
		var all int64
		for _, w := range row {
			all = residue(all + w)
		}
		weights, totals = append(weights, words(row)), append(totals, all)
		for i := 1; i < 16; i++ {
			row[i] = residue(mul(row[i], b.diagonal[i]) + all)
		}
	}

	// Of lane r: the constant after round r, and what round 0's S-box adds to the sum
	// of round r. Of word i: what the constants have added to it in the end.
	constants, feedback, extra := make([]int64, 32), make([]int64, 32), make([]int64, 16)
	copy(constants, b.partial[1:])
	copy(feedback[2:], totals[1:])
	for i := 1; i < 16; i++ {
		for _, c := range b.partial[1:] {
			extra[i] = mul(residue(extra[i]+c), b.diagonal[i])
		}
	}
	diagonal := append([]int64{0}, b.diagonal[1:16]...)
	return fmt.Sprintf("#define POSEIDON2_WARP_PARTIAL %d\n#define POSEIDON2_WARP_FIRST 0x%xu\n", b.Partial, b.less(b.partial[:1])[0]) +
		warpTable("rounds", rounds...) + warpTable("weights", weights...) + warpTable("constants", words(constants)) +
		warpTable("feedback", words(feedback)) + warpTable("extra", words(extra)) + warpTable("diagonal", words(diagonal))
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
