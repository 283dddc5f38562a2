//go:build !purego

package poseidon2

import "github.com/zkwarp/zkwarp/field/m31"

// Instruction sets that lanes are written for.
const (
	useNone = iota
	useNEON
)

// vectors is the one in use; every arm64 has the vectors, and tests try without.
var vectors = useNEON

func supported(int) bool { return true }

// These permute four states; s is word 0 of the first, in rows of eight states.

//go:noescape
func permuteLanes16NEON(s *m31.Element, rc *uint32)

//go:noescape
func permuteLanes24NEON(s *m31.Element, rc *uint32)

// permuteLanes16 permutes and says true, or does nothing.
func permuteLanes16(s *[16][Lanes]m31.Element) bool {
	if vectors != useNEON {
		return false
	}
	permuteLanes16NEON(&s[0][0], &lanes16[0])
	permuteLanes16NEON(&s[0][4], &lanes16[0])
	return true
}

func permuteLanes24(s *[24][Lanes]m31.Element) bool {
	if vectors != useNEON {
		return false
	}
	permuteLanes24NEON(&s[0][0], &lanes24[0])
	permuteLanes24NEON(&s[0][4], &lanes24[0])
	return true
}

func permute16(*[16]m31.Element) bool { return false }
