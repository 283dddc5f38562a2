package merkle

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
)

// DigestOf is a hash of 8 words. Those of a field hash are elements, about 248
// bits, so that collisions cost about 2^124; those of a byte hash are its 32 bytes
// as little-endian words, whatever W is.
type DigestOf[W any] [8]W

// Digest is the digest of the Poseidon2 tree over Mersenne-31.
type Digest = DigestOf[m31.Element]

// DigestBytes is the length of a digest as bytes.
const DigestBytes = 32

// Words is the memory of d as words, eight a digest.
func Words[W any](d []DigestOf[W]) []W {
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(d))), 8*len(d))
}

// AppendDigest appends the 32 bytes of d: eight little-endian words, which are
// canonical numbers or a byte hash itself.
func (h *Hash[W]) AppendDigest(dst []byte, d DigestOf[W]) []byte {
	for _, w := range d {
		x := uint32(w)
		if !h.raw {
			x = w.Uint32()
		}
		dst = binary.LittleEndian.AppendUint32(dst, x)
	}
	return dst
}

// SetDigest is the digest with those 32 bytes. A word of a field hash that is not
// canonical is an ErrWords.
func (h *Hash[W]) SetDigest(b []byte) (DigestOf[W], error) {
	var d DigestOf[W]
	if len(b) != DigestBytes {
		return d, fmt.Errorf("%w: a digest of %d bytes, want %d", ErrWords, len(b), DigestBytes)
	}
	var zero W
	for i := range d {
		x := binary.LittleEndian.Uint32(b[4*i:])
		switch {
		case h.raw:
			d[i] = W(x)
		case x >= zero.Modulus():
			return d, fmt.Errorf("%w: word %d of a digest is %d, modulus %d", ErrWords, i, x, zero.Modulus())
		default:
			d[i] = zero.FromUint64(uint64(x))
		}
	}
	return d, nil
}

// checkCanonical fails for a word that no element has. Words in Montgomery form
// are below the modulus too.
func checkCanonical[W field.Base[W]](words []W) error {
	var zero W
	p := zero.Modulus()
	if p == 0 { // Word's
		return nil
	}
	below := int64(0) // negative once a word is not
	for _, w := range words {
		below |= int64(p) - 1 - int64(uint32(w))
	}
	if below >= 0 {
		return nil
	}
	for i, w := range words {
		if uint32(w) >= p {
			return fmt.Errorf("word %d is %d, modulus %d", i, uint32(w), p)
		}
	}
	return nil
}
