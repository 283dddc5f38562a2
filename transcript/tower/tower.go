// Package tower is Fiat-Shamir over GF(2^128): a chain of keyed BLAKE3, for protocols
// whose messages are elements of the binary tower field and digests of bytes.
//
// The state is a key of 32 bytes. A step hashes an input under the key to 64 bytes of
// output: the first half is the next key, the second half two challenges. So a message
// of up to four field elements is one compression of BLAKE3, which matters where the
// transcript is on a device and every round of a protocol waits for it.
//
// Absorbing a list is the step whose input is the list's words. A challenge that the
// last step has none left for comes from a step with the empty input. What a step
// absorbs is never empty, so the two differ; and since each list is a step of its own
// and BLAKE3 binds its input's length, a key fixes the number of steps before it, their
// order, and every list's length and contents. How many challenges are drawn after
// which step follows from the protocol.
//
// Source: J. O'Connor, J.-P. Aumasson, S. Neves, Z. Wilcox-O'Hearn, "BLAKE3: one
// function, fast everywhere" (2020), sections 2.3, 2.6 and 6.2 (keyed hash and extendable
// output). docs/binary.md has the full description; testdata/golden.json binds it.
package tower

import (
	"encoding/binary"
	"errors"
	"fmt"

	"lukechampine.com/blake3"

	"github.com/zkwarp/zkwarp/field/gf2"
	hash "github.com/zkwarp/zkwarp/hash/blake3"
)

// Label names the protocol that starts a transcript: the first key is its hash.
type Label string

// Labels.
const (
	// LabelTest is for tests and benchmarks.
	LabelTest Label = "zkwarp tower transcript: test"
	// LabelSumcheck is a sum-check over the tower by itself.
	LabelSumcheck Label = "zkwarp tower transcript: sumcheck/binary"
	// LabelFRIBinius is a commitment to bits opened by itself.
	LabelFRIBinius Label = "zkwarp tower transcript: fribinius"
	// LabelBinary is the proof of a statement about columns of bits, with all the
	// protocols it is made of.
	LabelBinary Label = "zkwarp tower transcript: bitproof"
)

// ErrBits is returned for numbers of bits that cannot be sampled or ground.
var ErrBits = errors.New("tower transcript: number of bits out of range")

// perStep is the number of challenges of a step.
const perStep = 2

// Transcript is the state of one run of a protocol. Prover and verifier go through the
// same calls and so get the same challenges. Use New or FromState.
type Transcript struct {
	key [8]uint32
	out [8]uint32 // the last step's challenges, the first one's words first
	// left is the number of challenges in out that were not handed out.
	left int
}

// New starts a transcript of the protocol with that label.
func New(label Label) *Transcript {
	t := &Transcript{}
	sum := blake3.Sum256([]byte(label))
	for i := range t.key {
		t.key[i] = binary.LittleEndian.Uint32(sum[4*i:])
	}
	return t
}

// Clone is an independent copy.
func (t *Transcript) Clone() *Transcript {
	c := *t
	return &c
}

// step replaces the key and the challenges by the hash of an input.
func (t *Transcript) step(input []byte) {
	out := hash.Output(&t.key, input)
	copy(t.key[:], out[:8])
	copy(t.out[:], out[8:])
	t.left = perStep
}

// emptyList is the input that stands for a list of no words. All other lists have inputs
// of whole words.
var emptyList = []byte{0}

// AbsorbWords takes a list of words, little-endian. Challenges of the step before that
// were not drawn are thrown away.
func (t *Transcript) AbsorbWords(list []uint32) {
	if len(list) == 0 {
		t.step(emptyList)
		return
	}
	b := make([]byte, 0, 4*len(list))
	for _, w := range list {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	t.step(b)
}

// Absorb takes a list of elements as the list of their words, four an element, lowest
// bits first.
func (t *Transcript) Absorb(list []gf2.Element) {
	if len(list) == 0 {
		t.step(emptyList)
		return
	}
	b := make([]byte, 0, 16*len(list))
	for _, e := range list {
		b = binary.LittleEndian.AppendUint64(b, e.Lo)
		b = binary.LittleEndian.AppendUint64(b, e.Hi)
	}
	t.step(b)
}

// AbsorbBytes takes a string of bytes as the list of its length, in two words, lower one
// first, and its bytes, four a word, the last word filled up with zeros.
func (t *Transcript) AbsorbBytes(b []byte) {
	input := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(b)+3), uint64(len(b)))
	input = append(input, b...)
	for len(input)%4 != 0 {
		input = append(input, 0)
	}
	t.step(input)
}

// Challenge is a uniform element.
func (t *Transcript) Challenge() gf2.Element {
	if t.left == 0 {
		t.step(nil)
	}
	w := t.out[4*(perStep-t.left):]
	t.left--
	return gf2.Element{Lo: uint64(w[0]) | uint64(w[1])<<32, Hi: uint64(w[2]) | uint64(w[3])<<32}
}

// Challenges draws n challenges one after the other.
func (t *Transcript) Challenges(n int) []gf2.Element {
	out := make([]gf2.Element, n)
	for i := range out {
		out[i] = t.Challenge()
	}
	return out
}

// MaxIndexBits is the largest width of a sampled index, a word.
const MaxIndexBits = 32

// Indices draws n indices, uniform in [0, 2^bits): the low bits of the words of
// challenges, four indices a challenge, lowest word first. Words of the last challenge
// that are not needed are thrown away. The indices need not be distinct.
func (t *Transcript) Indices(n, bits int) ([]uint32, error) {
	if bits < 0 || bits > MaxIndexBits {
		return nil, fmt.Errorf("%w: an index of %d bits, want 0 to %d", ErrBits, bits, MaxIndexBits)
	}
	mask := uint32(uint64(1)<<bits - 1)
	out := make([]uint32, n)
	var c gf2.Element
	for i := range out {
		if i%4 == 0 {
			c = t.Challenge()
		}
		half := c.Lo
		if i%4 >= 2 {
			half = c.Hi
		}
		out[i] = uint32(half>>(32*(i%2))) & mask
	}
	return out, nil
}
