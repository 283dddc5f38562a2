package blake3

import "lukechampine.com/blake3/guts"

//go:generate go run -tags=purego ./internal/genmany

// Lanes is how many inputs SumMany hashes at once.
const Lanes = 16

// lanes are words of as many inputs: word i of input j is at [i][j].
type lanes [8][Lanes]uint32

// SumMany sets each dst[i] to Sum of the i-th size bytes of data, which is as long as all
// of them. Inputs of whole blocks, 64 bytes, within a chunk, 1024 bytes, are hashed Lanes
// at a time where the machine has vectors of 512 bits.
func SumMany(key *[8]uint32, dst [][8]uint32, data []byte, size int) {
	_ = data[:len(dst)*size]
	i := 0
	if Vectors() && size%guts.BlockSize == 0 && size <= guts.ChunkSize && size > 0 {
		var flags [guts.ChunkSize / guts.BlockSize]uint32
		blocks := size / guts.BlockSize
		for b := range blocks {
			flags[b] = guts.FlagKeyedHash
		}
		flags[0] |= guts.FlagChunkStart
		flags[blocks-1] |= guts.FlagChunkEnd | guts.FlagRoot
		var cv lanes
		for ; i+Lanes <= len(dst); i += Lanes {
			for w := range cv {
				for j := range cv[w] {
					cv[w][j] = key[w]
				}
			}
			compressMany(&cv, &data[i*size], &flags, size, blocks)
			for j := range Lanes {
				for w := range cv {
					dst[i+j][w] = cv[w][j]
				}
			}
		}
	}
	for ; i < len(dst); i++ {
		dst[i] = Sum(key, data[i*size:(i+1)*size])
	}
}
