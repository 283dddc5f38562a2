//go:build !amd64 || purego

package blake3

import "lukechampine.com/blake3/guts"

// Vectors says whether SumMany hashes inputs at once.
func Vectors() bool { return false }

// compressMany is never called.
func compressMany(*lanes, *byte, *[guts.ChunkSize / guts.BlockSize]uint32, int, int) {}
