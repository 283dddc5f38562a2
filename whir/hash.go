package whir

import (
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/merkle"
)

// Hash names the hash of a commitment's trees. Transcripts are over Poseidon2
// whatever it is.
type Hash uint8

// Hashes. Poseidon2 is over the base field; the others hash bytes.
const (
	Poseidon2 Hash = iota
	BLAKE3
	SHA256
)

func (h Hash) String() string {
	switch h {
	case Poseidon2:
		return "Poseidon2 t=16,24"
	case BLAKE3:
		return "BLAKE3"
	case SHA256:
		return "SHA-256"
	}
	return fmt.Sprintf("Hash(%d)", uint8(h))
}

// collisionBits is log2 of what a collision costs: the square root of the number of
// digests, which for Poseidon2 are eight elements of the base field.
func (h Hash) collisionBits(modulus uint64) float64 {
	if h == Poseidon2 {
		return 4 * math.Log2(float64(modulus))
	}
	return 128
}

// ParseHash is the hash called poseidon2, blake3 or sha256.
func ParseHash(name string) (Hash, error) {
	for h, n := range []string{"poseidon2", "blake3", "sha256"} {
		if n == name {
			return Hash(h), nil
		}
	}
	return 0, fmt.Errorf("whir: no hash is called %q: want poseidon2, blake3 or sha256", name)
}

func hashOf[W field.Base[W]](h Hash, poseidon2 *merkle.Hash[W]) *merkle.Hash[W] {
	switch h {
	case BLAKE3:
		return merkle.BLAKE3[W]()
	case SHA256:
		return merkle.SHA256[W]()
	}
	return poseidon2
}
