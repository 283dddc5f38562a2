package m31

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"
)

// ErrEncoding is what every decoding error wraps: a word that is P or more, or
// a wrong number of bytes or words.
var ErrEncoding = errors.New("m31: not a canonical encoding")

// Words is the memory of v as prime field elements, four an element. It shares
// v's memory.
func Words(v []QM31) []Element {
	return unsafe.Slice((*Element)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

// PairWords is the memory of v as prime field elements, two an element. It
// shares v's memory.
func PairWords(v []CM31) []Element {
	return unsafe.Slice((*Element)(unsafe.Pointer(unsafe.SliceData(v))), 2*len(v))
}

// Pairs is the memory of v as CM31 elements; it shares v's memory and drops an
// odd last word.
func Pairs(v []Element) []CM31 {
	return unsafe.Slice((*CM31)(unsafe.Pointer(unsafe.SliceData(v))), len(v)/2)
}

// Quads is the memory of v as QM31 elements; it shares v's memory and drops
// what is left after the last whole element.
func Quads(v []Element) []QM31 {
	return unsafe.Slice((*QM31)(unsafe.Pointer(unsafe.SliceData(v))), len(v)/4)
}

// Canonical says whether the word is below P, as every Element must be.
func (a Element) Canonical() bool { return a < P }

// CheckCanonical fails if some word of v is P or more; v may come from outside.
func CheckCanonical(v []Element) error {
	high := Element(0) // its top bit: that of a word, or of the word after P
	for _, w := range v {
		high |= w | (w + 1)
	}
	if high>>31 == 0 {
		return nil
	}
	for i, w := range v {
		if w >= P {
			return fmt.Errorf("%w: word %d is %d", ErrEncoding, i, uint32(w))
		}
	}
	return nil
}

// AppendBytes appends the little-endian 32-bit words of v.
func AppendBytes(dst []byte, v []Element) []byte {
	if littleEndian {
		return append(dst, asBytes(v)...)
	}
	for _, w := range v {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(w))
	}
	return dst
}

// littleEndian says that words lie in memory as they are encoded.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// asBytes is the memory of v.
func asBytes(v []Element) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

// Decode fills dst from exactly 4*len(dst) bytes. Words that are not below P
// are an error, never reduced.
func Decode(dst []Element, b []byte) error {
	if len(b) != 4*len(dst) {
		return fmt.Errorf("%w: %d bytes for %d words", ErrEncoding, len(b), len(dst))
	}
	if littleEndian {
		copy(asBytes(dst), b)
		return CheckCanonical(dst)
	}
	for i := range dst {
		dst[i] = Element(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return CheckCanonical(dst)
}

// DecodeQM31 fills dst from exactly 16*len(dst) bytes.
func DecodeQM31(dst []QM31, b []byte) error { return Decode(Words(dst), b) }

// AppendWords appends the word.
func (a Element) AppendWords(w []uint32) []uint32 { return append(w, uint32(a)) }

// SetWords is the element of one canonical word.
func (Element) SetWords(w []uint32) (Element, error) {
	var e [1]Element
	err := setWords(e[:], w)
	return e[0], err
}

// AppendWords appends Re and Im.
func (a CM31) AppendWords(w []uint32) []uint32 {
	return append(w, uint32(a.Re), uint32(a.Im))
}

// SetWords is the element of two canonical words.
func (CM31) SetWords(w []uint32) (CM31, error) {
	var e [2]Element
	err := setWords(e[:], w)
	return CM31{e[0], e[1]}, err
}

// AppendWords appends A.Re, A.Im, B.Re and B.Im.
func (a QM31) AppendWords(w []uint32) []uint32 {
	return a.B.AppendWords(a.A.AppendWords(w))
}

// SetWords is the element of four canonical words.
func (QM31) SetWords(w []uint32) (QM31, error) {
	var e [4]Element
	err := setWords(e[:], w)
	return FromWords(e), err
}

// setWords leaves dst zero when it fails.
func setWords(dst []Element, w []uint32) error {
	if len(w) != len(dst) {
		return fmt.Errorf("%w: %d words, want %d", ErrEncoding, len(w), len(dst))
	}
	for i, v := range w {
		if v >= P {
			clear(dst)
			return fmt.Errorf("%w: word %d is %d", ErrEncoding, i, v)
		}
		dst[i] = Element(v)
	}
	return nil
}
