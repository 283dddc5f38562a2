package gf2

import "math/bits"

// blocks are a map as GFNI takes it: block [i][j] is from byte j of the argument to byte i
// of the value. Its byte 7 - b has the bits of the argument that bit b of the value is the
// sum of.
type blocks [16][16]uint64

func newBlocks(m *Matrix) *blocks {
	r := new(blocks)
	for j := range 16 {
		var columns [8][Size]byte
		for c := range columns {
			columns[c] = m.Columns[8*j+c].Bytes()
		}
		for i := range 16 {
			var v uint64 // byte c is column c
			for c := range columns {
				v |= uint64(columns[c][i]) << (8 * c)
			}
			r[i][j] = bits.ReverseBytes64(transpose8(v))
		}
	}
	return r
}

// transpose8 makes bit b of byte c bit c of byte b.
func transpose8(v uint64) uint64 {
	t := (v ^ v>>7) & 0x00aa00aa00aa00aa
	v ^= t ^ t<<7
	t = (v ^ v>>14) & 0x0000cccc0000cccc
	v ^= t ^ t<<14
	t = (v ^ v>>28) & 0x00000000f0f0f0f0
	return v ^ t ^ t<<28
}
