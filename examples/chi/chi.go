// Package chi is the statement that zkwarp binary demo proves: Keccak-f's step chi
// (FIPS 202, section 3.2.4) on many rows of five bits, as columns of bits.
package chi

import (
	"fmt"
	"math/rand/v2"
)

// lanes is the number of bits that chi works on at a time.
const lanes = 5

// Statement is the text for 2^vars rows: columns a0 to a4 go in, b0 to b4 come out.
func Statement(vars int) string {
	return fmt.Sprintf(`# Keccak-f's step chi, on rows of five bits a to five bits b
rows 2^%d
columns a0 a1 a2 a3 a4
columns b0 b1 b2 b3 b4
b0 = a0 ^ ~a1 & a2
b1 = a1 ^ ~a2 & a3
b2 = a2 ^ ~a3 & a4
b3 = a3 ^ ~a4 & a0
b4 = a4 ^ ~a0 & a1
`, vars)
}

// Columns are five random columns of so many words of packed bits, and what chi makes of
// them.
func Columns(seed uint64, words int) [][]uint32 {
	r := rand.New(rand.NewPCG(seed, 0x6b656363616b))
	columns := make([][]uint32, 2*lanes)
	for j := range columns {
		columns[j] = make([]uint32, words)
	}
	for _, column := range columns[:lanes] {
		for i := range column {
			column[i] = r.Uint32()
		}
	}
	for j, out := range columns[lanes:] {
		a, b, c := columns[j], columns[(j+1)%lanes], columns[(j+2)%lanes]
		for i := range out {
			out[i] = a[i] ^ ^b[i]&c[i]
		}
	}
	return columns
}
