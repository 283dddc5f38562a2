// Package sha256 is the hash function SHA-256 (FIPS 180-4) with its output as
// little-endian words, on the host, where it is the standard library's, and in CUDA.
package sha256

import (
	"crypto/sha256"
	"encoding/binary"
)

// Sum is the hash of data: its 32 bytes as little-endian words.
func Sum(data []byte) [8]uint32 {
	d := sha256.Sum256(data)
	var out [8]uint32
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(d[4*i:])
	}
	return out
}
