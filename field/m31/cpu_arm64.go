//go:build !purego

package m31

// Instruction sets that slice operations are written for.
const (
	useNone = iota
	useNEON
)

// vectors is the one in use; every arm64 has the vectors, and tests try without.
var vectors = useNEON

func supported(int) bool { return true }

// sumLanes is the number of 64-bit lanes of a lazy sum.
func sumLanes() int { return 2 }
