// Package blake3 is the hash function BLAKE3 with a key, on the host and, for inputs
// that are whole 32-bit words, in CUDA.
//
// Source: J. O'Connor, J.-P. Aumasson, S. Neves, Z. Wilcox-O'Hearn, "BLAKE3: one
// function, fast everywhere" (2020), sections 2.1 to 2.4 and 2.6. The host's compressions
// are those of lukechampine.com/blake3.
package blake3

import (
	"math/bits"

	"lukechampine.com/blake3/guts"
)

// Sum is the keyed hash of data: the 32 bytes of output, and of the key, as
// little-endian words. Data must not be empty.
func Sum(key *[8]uint32, data []byte) [8]uint32 {
	n := subtree(key, data, 0)
	n.Flags |= guts.FlagRoot
	return guts.ChainingValue(n)
}

// Output is the first 64 bytes of the keyed hash's extendable output, the first half
// of which is Sum (section 2.6). Data may be empty.
func Output(key *[8]uint32, data []byte) [16]uint32 {
	n := subtree(key, data, 0)
	n.Flags |= guts.FlagRoot
	return guts.CompressNode(n)
}

// subtree is the node above the chunks of data, of which the first has that number;
// it is not compressed yet.
func subtree(key *[8]uint32, data []byte, chunk uint64) guts.Node {
	if len(data) <= guts.ChunkSize {
		return guts.CompressChunk(data, key, chunk, guts.FlagKeyedHash)
	}
	// The left half is the largest power of two of chunks that leaves something
	// to the right.
	left := 1 << (bits.Len(uint((len(data)-1)/guts.ChunkSize)) - 1)
	at := left * guts.ChunkSize
	return guts.ParentNode(
		guts.ChainingValue(subtree(key, data[:at], chunk)),
		guts.ChainingValue(subtree(key, data[at:], chunk+uint64(left))),
		key, guts.FlagKeyedHash)
}
