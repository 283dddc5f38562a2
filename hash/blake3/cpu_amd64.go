//go:build !purego

package blake3

import (
	"github.com/klauspost/cpuid/v2"
	"lukechampine.com/blake3/guts"
)

// vectors says whether the machine has vectors of 512 bits; tests go without.
var vectors = cpuid.CPU.Supports(cpuid.AVX512F)

// Vectors says whether SumMany hashes inputs at once. Then it reads data in the machine's
// order of bytes, which is little-endian.
func Vectors() bool { return vectors }

func compressMany(cv *lanes, rows *byte, flags *[guts.ChunkSize / guts.BlockSize]uint32, stride, blocks int) {
	compressAVX512(cv, rows, &flags[0], stride, blocks)
}
