package poseidon2

import (
	"fmt"
	"strings"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
)

// constantsHeader is the round constants as a header without a file: they have
// one source, the derivation in Go.
var constantsHeader = &kernel.Source{
	Name: "hash/poseidon2/m31_constants.cuh",
	Text: fmt.Sprintf("#pragma once\n#include \"device/ptx.cuh\"\n\n"+
		"#define POSEIDON2_ABOVE %dll\n\n%s%s%s", above, renderConstants(16), renderThreadConstants(16), renderThreadConstants(24)),
	Headers: []*kernel.Source{kernel.PTX},
}

// above is a multiple of P that m31.cuh adds to a fifth power to keep it
// positive.
const above = 1 << 30 * m31.P

// renderConstants is the constants as they are.
func renderConstants(width int) string {
	p, c := constantsOf(width)
	return table("u32", "poseidon2_first", width, c.First...) + table("u32", "poseidon2_last", width, c.Last...) +
		fmt.Sprintf("static __constant__ const u32 poseidon2_partial%d[%d] = %s;\n", width, p.Partial, list(c.Partial))
}

// renderThreadConstants is the constants for a permutation by one thread. They
// are added earlier than where they stand in the definition, where it costs
// nothing: those of full rounds before the linear layer that comes before them,
// and within the S-boxes before that (poseidon2_added, plus above); those of the
// first round to the input (poseidon2_before). Those of partial rounds stay
// between the rounds, to word 0; so do the others of the round that comes after
// the last partial one (poseidon2_between).
func renderThreadConstants(width int) string {
	p, c := constantsOf(width)
	firstPartial, between := make([]uint32, width), append([]uint32{0}, c.Last[0][1:]...)
	firstPartial[0] = c.Partial[0]
	var added [][]uint64
	for _, rows := range [][][]uint32{c.First[1:], {firstPartial}, c.Last[1:], {make([]uint32, width)}} {
		for _, row := range rows {
			words := make([]uint64, width)
			for i, w := range unmix(row) {
				words[i] = above + uint64(w)
			}
			added = append(added, words)
		}
	}
	partial := append(append([]uint32{}, c.Partial[1:]...), c.Last[0][0])
	return table("u32", "poseidon2_before", width, unmix(c.First[0])) + table("i64", "poseidon2_added", width, added...) +
		fmt.Sprintf("static __constant__ const u32 poseidon2_added_partial%d[%d] = %s;\n", width, p.Partial, list(partial)) +
		table("u32", "poseidon2_between", width, between)
}

func constantsOf(width int) (Params, Constants) {
	p, err := M31(width)
	if err != nil {
		panic(err) // both widths in use are known
	}
	return p, p.Constants()
}

// table renders rows of width numbers, or one row as a plain array.
func table[T uint32 | uint64](kind, name string, width int, rows ...[]T) string {
	text := make([]string, len(rows))
	for i, r := range rows {
		text[i] = list(r)
	}
	dimensions, body := fmt.Sprintf("[%d]", width), text[0]
	if len(rows) > 1 {
		dimensions = fmt.Sprintf("[%d]%s", len(rows), dimensions)
		body = "{" + strings.Join(text, ",\n  ") + "}"
	}
	return fmt.Sprintf("static __constant__ const %s %s%d%s = %s;\n", kind, name, width, dimensions, body)
}

func list[T uint32 | uint64](v []T) string {
	words := make([]string, len(v))
	for i, w := range v {
		words[i] = fmt.Sprintf("0x%x", w)
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// unmix is what the external matrix, circ(2 M4, M4, ..., M4), takes to v. With
// y = M4^-1 v in each group of four words, and S the sum of x over all groups, y
// is x + S; so the sum of y is (1 + groups) S.
func unmix(v []uint32) []uint32 {
	groups := len(v) / 4
	scale, part := m31.New(uint64(1+groups)).Inverse(), m31.Element(35).Inverse()
	y, x := make([]m31.Element, len(v)), make([]uint32, len(v))
	var sum [4]m31.Element
	for g := 0; g < len(v); g += 4 {
		for i := range 4 {
			// 35 M4^-1 = circ(-4, 3, -11, 17).
			for j, w := range []m31.Element{m31.P - 4, 3, m31.P - 11, 17} {
				y[g+i] = y[g+i].Add(w.Mul(m31.Element(v[g+(i+j)%4])))
			}
			y[g+i] = y[g+i].Mul(part)
			sum[i] = sum[i].Add(y[g+i])
		}
	}
	for i := range x {
		x[i] = uint32(y[i].Sub(sum[i%4].Mul(scale)))
	}
	return x
}
