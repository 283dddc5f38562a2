package merkle

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

const lanes = poseidon2.Lanes // and the words of a digest

// state is that of as many permutations.
type state [][lanes]m31.Element

// eight words of all states, from the i-th on.
func (s state) eight(i int) *[8][lanes]m31.Element {
	return (*[8][lanes]m31.Element)(s[i : i+8])
}

// store writes the digests that the states hold.
func (s state) store(dst []Digest) {
	m31.Transpose8((*[8]Digest)(dst[:8]), s[:8], 1)
}

// load sets the states to pairs of digests, which lie arity apart.
func (s state) load(src []Digest, arity int) {
	m31.Transpose8(s.eight(0), src, arity)
	m31.Transpose8(s.eight(8), src[1:], arity)
}

// hashRows hashes len(dst) rows that lie one after the other, several at once.
func hashRows(dst []Digest, rows []m31.Element, width int) {
	for ; len(dst) >= lanes; dst, rows = dst[lanes:], rows[lanes*width:] {
		var s [16][lanes]m31.Element
		for j := range lanes {
			s[8][j] = m31.New(leafTag + uint64(width))
		}
		for w := 0; w < width; w += 8 {
			if w+8 <= width {
				m31.Transpose8Words(state(s[:]).eight(0), rows[w:], width)
			} else {
				for j := range lanes {
					for k, x := range rows[j*width+w : (j+1)*width] {
						s[k][j] = x
					}
				}
			}
			poseidon2.PermuteLanes16(&s)
		}
		state(s[:]).store(dst)
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
			state(s[:]).load(src, 2)
			poseidon2.PermuteLanes16(&s)
			state(s[:]).store(dst)
			continue
		}
		var s [24][lanes]m31.Element
		for j := range lanes {
			s[16][j] = m31.New(nodeTag + uint64(arity))
		}
		for c := 0; c < arity; c += 2 {
			state(s[:]).load(src[c:], arity)
			poseidon2.PermuteLanes24(&s)
		}
		state(s[:]).store(dst)
	}
	for i := range dst {
		dst[i] = HashNode(src[i*arity : (i+1)*arity])
	}
}
