package plan

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/zkwarp/zkwarp/field/m31"
)

// labelSalt separates the hashes that salts are made by.
const labelSalt = "zkwarp zkml salt\n"

// Salt fills out with the words that a salt stands for: word 8 b + k is, modulo
// the prime, the low 31 bits of word k of SHA-256 of a label, the salt and b in 64
// bits, little-endian. No word is more likely than 2^-30.
func Salt(salt [32]byte, out []m31.Element) {
	const size = 1 << 12
	parallel((len(out)+size-1)/size, func(i int) {
		part := out[i*size : min(len(out), (i+1)*size)]
		text := append([]byte(labelSalt), salt[:]...)
		n := len(text)
		for at := 0; at < len(part); at += 8 {
			text = binary.LittleEndian.AppendUint64(text[:n], uint64(i*size+at)/8)
			h := sha256.Sum256(text)
			for k := range min(8, len(part)-at) {
				part[at+k] = m31.New(uint64(binary.LittleEndian.Uint32(h[4*k:]) & (1<<31 - 1)))
			}
		}
	})
}

// SaltedStack is the stack of a committed tensor: its values, padded with zeros,
// at the beginning, and the salt in the upper half.
func SaltedStack(values []m31.Element, vars int, salt [32]byte) []m31.Element {
	out := make([]m31.Element, 1<<vars)
	copy(out, values)
	Salt(salt, out[len(out)/2:])
	return out
}
