package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// Linear maps take 64 elements at a time as planes: 16 vectors, plane j having byte j of
// each, in an order that only toPlanes and fromPlanes know.

func mapFunctions() *vecasm.Asm {
	a := asm{vecasm.X86{Asm: vecasm.New(vecasm.AVX512, "genvec")}}
	// gather makes 16 words of the bytes 0, 1, .. of four elements; scatter undoes it.
	var gather, scatter [64]byte
	for j := range 16 {
		for e := range 4 {
			gather[4*j+e] = byte(16*e + j)
			scatter[16*e+j] = byte(4*j + e)
		}
	}
	a.Data("gather", words(gather))
	a.Data("scatter", words(scatter))

	a.Function(vecasm.Function{Name: "toPlanes", Args: []string{"out *planes", "src *Element"}, Block: 1}, func(p []string) {
		index := a.To("VMOVDQU32", "gather<>(SB)")
		a.Repeat(p, []int{1024, 1024}, func() {
			var rows [16]vecasm.Reg
			for i := range rows {
				rows[i] = a.To("VPERMB", a.Mem(p[1], i), index)
			}
			for i, r := range a.transpose(rows) {
				a.Store(r, p[0], i)
			}
		})
	})
	a.Function(vecasm.Function{Name: "fromPlanes", Args: []string{"dst *Element", "in *planes"}, Block: 1}, func(p []string) {
		index := a.To("VMOVDQU32", "scatter<>(SB)")
		a.Repeat(p, []int{1024, 1024}, func() {
			var rows [16]vecasm.Reg
			for i := range rows {
				rows[i] = a.Load(p[1], i)
			}
			for i, r := range a.transpose(rows) {
				a.Store(a.To("VPERMB", r, index), p[0], i)
			}
		})
	})
	// mapPlanes adds the map of in to out, n of the planes of out: those that the blocks are
	// of, 16 blocks each, one for each plane of in.
	a.Function(vecasm.Function{Name: "mapPlanes", Args: []string{"out *planes", "m *blocks", "in *planes"}, Block: 1}, func(p []string) {
		var in [16]vecasm.Reg
		for j := range in {
			in[j] = a.Load(p[2], j)
		}
		a.Repeat(p, []int{64, 128, 0}, func() {
			// Two sums, so that one does not wait for itself.
			sums := [2]vecasm.Reg{a.Load(p[0], 0), a.affine(p[1], 0, in[0])}
			for j := 1; j < 15; j += 2 {
				s := sums[j/2%2]
				a.Op("VPTERNLOGD", "$0x96", a.affine(p[1], j, in[j]), a.affine(p[1], j+1, in[j+1]), s)
			}
			a.Op("VPTERNLOGD", "$0x96", a.affine(p[1], 15, in[15]), sums[1], sums[0])
			a.Store(sums[0], p[0], 0)
		})
	})
	return a.Asm
}

// affine applies the j-th block from the pointer on to all bytes.
func (a asm) affine(pointer string, j int, x vecasm.Reg) vecasm.Reg {
	return a.To("VGF2P8AFFINEQB.BCST", "$0", fmt.Sprintf("%d(%s)", 8*j, pointer), x)
}

// transpose is the transposed matrix of 16 x 16 words.
func (a asm) transpose(rows [16]vecasm.Reg) (out [16]vecasm.Reg) {
	// Of rows 4g .. 4g+3, t[g][c] has the words 4l + c in lane l.
	var t [4][4]vecasm.Reg
	for g := range t {
		r := rows[4*g : 4*g+4]
		l0, h0 := a.To("VPUNPCKLDQ", r[1], r[0]), a.To("VPUNPCKHDQ", r[1], r[0])
		l1, h1 := a.To("VPUNPCKLDQ", r[3], r[2]), a.To("VPUNPCKHDQ", r[3], r[2])
		t[g] = [4]vecasm.Reg{a.To("VPUNPCKLQDQ", l1, l0), a.To("VPUNPCKHQDQ", l1, l0), a.To("VPUNPCKLQDQ", h1, h0), a.To("VPUNPCKHQDQ", h1, h0)}
	}
	for c := range 4 {
		for half, pick := range []string{"$0x44", "$0xee"} { // lanes 0 and 1, or 2 and 3
			u, v := a.To("VSHUFI32X4", pick, t[1][c], t[0][c]), a.To("VSHUFI32X4", pick, t[3][c], t[2][c])
			out[8*half+c] = a.To("VSHUFI32X4", "$0x88", v, u)
			out[8*half+4+c] = a.To("VSHUFI32X4", "$0xdd", v, u)
		}
	}
	return out
}

// words are bytes as vecasm.Asm.Data wants them.
func words(b [64]byte) []uint32 {
	out := make([]uint32, 16)
	for i, x := range b {
		out[i/4] |= uint32(x) << (8 * (i % 4))
	}
	return out
}
