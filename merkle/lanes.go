package merkle

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

const lanes = poseidon2.Lanes

// hashRows hashes len(dst) rows that lie one after the other, several at once.
func hashRows(dst []Digest, rows []m31.Element, width int) {
	for ; len(dst) >= lanes; dst, rows = dst[lanes:], rows[lanes*width:] {
		var s [16][lanes]m31.Element
		for j := range lanes {
			s[8][j] = m31.New(leafTag + uint64(width))
		}
		for w := 0; w < width; w += 8 {
			for j := range lanes {
				for k, x := range rows[j*width+w : j*width+min(w+8, width)] {
					s[k][j] = x
				}
			}
			poseidon2.PermuteLanes16(&s)
		}
		for j := range lanes {
			for k := range dst[j] {
				dst[j][k] = s[k][j]
			}
		}
	}
	for i := range dst {
		dst[i] = HashRow(rows[i*width : (i+1)*width])
	}
}

// hashNodes hashes each arity digests of src to one of dst, several at once.
func hashNodes(dst, src []Digest, arity int) {
	for ; len(dst) >= lanes; dst, src = dst[lanes:], src[lanes*arity:] {
		if arity == 2 {
			var s [16][lanes]m31.Element
			for j := range lanes {
				for k := range 8 {
					s[k][j], s[8+k][j] = src[2*j][k], src[2*j+1][k]
				}
			}
			poseidon2.PermuteLanes16(&s)
			for j := range lanes {
				for k := range dst[j] {
					dst[j][k] = s[k][j]
				}
			}
			continue
		}
		var s [24][lanes]m31.Element
		for j := range lanes {
			s[16][j] = m31.New(nodeTag + uint64(arity))
		}
		for c := 0; c < arity; c += 2 {
			for j := range lanes {
				for k := range 8 {
					s[k][j], s[8+k][j] = src[j*arity+c][k], src[j*arity+c+1][k]
				}
			}
			poseidon2.PermuteLanes24(&s)
		}
		for j := range lanes {
			for k := range dst[j] {
				dst[j][k] = s[k][j]
			}
		}
	}
	for i := range dst {
		dst[i] = HashNode(src[i*arity : (i+1)*arity])
	}
}
