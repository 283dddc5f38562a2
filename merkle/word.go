package merkle

import "fmt"

// Word is 32 bits that are no prime field's element, for trees by BLAKE3 or SHA-256
// over other data, such as elements of binary fields: rows are its words as they
// are. It has a field's methods, as Hash asks for them, but is only a ring, the
// integers modulo 2^32; trees use none of them but Modulus, Uint32 and One.
type Word uint32

// Modulus is 2^32 modulo 2^32, which is 0: every word is canonical.
func (Word) Modulus() uint32 { return 0 }

// Uint32 is the word itself.
func (w Word) Uint32() uint32 { return uint32(w) }

// Add is w + v modulo 2^32.
func (w Word) Add(v Word) Word { return w + v }

// Sub is w - v modulo 2^32.
func (w Word) Sub(v Word) Word { return w - v }

// Mul is w v modulo 2^32.
func (w Word) Mul(v Word) Word { return w * v }

// Neg is -w modulo 2^32.
func (w Word) Neg() Word { return -w }

// Double is 2 w modulo 2^32.
func (w Word) Double() Word { return 2 * w }

// Square is w^2 modulo 2^32.
func (w Word) Square() Word { return w * w }

// Inverse of w modulo 2^32, and 0 for an even w, which has none.
func (w Word) Inverse() Word {
	if w%2 == 0 {
		return 0
	}
	v := w // right modulo 8, and each step doubles the bits
	for range 4 {
		v *= 2 - w*v
	}
	return v
}

// Exp is w^e modulo 2^32.
func (w Word) Exp(e uint64) Word {
	p := Word(1)
	for ; e != 0; e >>= 1 {
		if e&1 == 1 {
			p *= w
		}
		w *= w
	}
	return p
}

// IsZero says whether w is 0.
func (w Word) IsZero() bool { return w == 0 }

// One is 1.
func (Word) One() Word { return 1 }

// FromUint64 is v modulo 2^32.
func (Word) FromUint64(v uint64) Word { return Word(v) }

// Degree is 1.
func (Word) Degree() int { return 1 }

// AppendWords appends w.
func (w Word) AppendWords(dst []uint32) []uint32 { return append(dst, uint32(w)) }

// SetWords is the one word.
func (Word) SetWords(words []uint32) (Word, error) {
	if len(words) != 1 {
		return 0, fmt.Errorf("merkle: an element of one word from %d", len(words))
	}
	return Word(words[0]), nil
}
