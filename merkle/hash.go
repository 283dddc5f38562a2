package merkle

import (
	"unsafe"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

// Digest is a hash: 8 words, about 248 bits, so collisions cost about 2^124.
type Digest [8]m31.Element

// Words is the memory of d as words, eight a digest.
func Words(d []Digest) []m31.Element {
	return unsafe.Slice((*m31.Element)(unsafe.Pointer(unsafe.SliceData(d))), 8*len(d))
}

// Domain words. A leaf's capacity starts with leafTag plus the words of a row,
// a node's of arity 4 or 8 with nodeTag plus the arity. Transcripts have tags
// below leafTag.
const (
	leafTag = 1 << 16
	nodeTag = 1 << 17
)

// HashRow is the digest of a row as a leaf: an overwrite sponge on the width-16
// permutation with 8 rate words. A last block that is not full is permuted with
// the words of the state that it leaves standing; the length in the capacity
// keeps rows of different lengths apart. The row must not be empty.
func HashRow(row []m31.Element) Digest {
	var s [16]m31.Element
	s[8] = m31.New(leafTag + uint64(len(row)))
	for len(row) > 0 {
		row = row[copy(s[:8], row):]
		poseidon2.Permute16(&s)
	}
	return Digest(s[:8])
}

// HashNode is the digest of an inner node of 2, 4 or 8 children. Two children
// fill the width-16 permutation; more go through an overwrite sponge on the
// width-24 permutation with 16 rate words.
func HashNode(children []Digest) Digest {
	if len(children) == 2 {
		var s [16]m31.Element
		copy(s[:8], children[0][:])
		copy(s[8:], children[1][:])
		poseidon2.Permute16(&s)
		return Digest(s[:8])
	}
	var s [24]m31.Element
	s[16] = m31.New(nodeTag + uint64(len(children)))
	for i := 0; i+1 < len(children); i += 2 {
		copy(s[:8], children[i][:])
		copy(s[8:16], children[i+1][:])
		poseidon2.Permute24(&s)
	}
	return Digest(s[:8])
}
