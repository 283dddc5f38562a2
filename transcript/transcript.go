// Package transcript is Fiat-Shamir over the Mersenne-31 field: a duplex sponge
// on the width-16 Poseidon2 permutation with 8 rate and 8 capacity words.
//
// A transcript starts with all words zero but for the first capacity word,
// which is the protocol's domain tag. Absorbing a list writes its length and
// then its words over successive rate words, permuting after every eighth.
// Squeezing hands out rate words, permuting first if none are left since the
// last absorb; an absorb throws away output not yet handed out.
//
// Which calls are made, in which order, must follow from the protocol and its
// key alone. Lists carry their lengths, so that between two squeezes the same
// number of lists with any other contents or lengths writes other words. (The
// number of lists itself is not written: a block that is not full keeps the
// words of the state, and could stand for a list more.)
//
// docs/transcript.md is the full description; testdata/golden.json binds it.
package transcript

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

// Rate is the number of words absorbed or squeezed a permutation.
const Rate = 8

// ErrBits is returned for numbers of bits that cannot be sampled or ground.
var ErrBits = errors.New("transcript: number of bits out of range")

// Transcript is the state of one run of a protocol. Prover and verifier go
// through the same calls and so get the same challenges. Use New.
type Transcript struct {
	words [16]m31.Element
	// at is the rate word that the next absorbed word goes to, left the number
	// of output words not yet handed out. One of them is always 0.
	at, left int
}

// New starts a transcript of the protocol with the given domain tag, one of
// the Tag constants.
func New(tag m31.Element) *Transcript {
	t := new(Transcript)
	t.words[Rate] = tag
	return t
}

// Clone is an independent copy.
func (t *Transcript) Clone() *Transcript {
	c := *t
	return &c
}

func (t *Transcript) put(w m31.Element) {
	t.left = 0
	t.words[t.at] = w
	t.at++
	if t.at == Rate {
		t.permute()
	}
}

func (t *Transcript) permute() {
	poseidon2.Permute16(&t.words)
	t.at = 0
}

// Squeeze returns the next output word, uniform below P.
func (t *Transcript) Squeeze() m31.Element {
	if t.left == 0 {
		t.permute()
		t.left = Rate
	}
	w := t.words[Rate-t.left]
	t.left--
	return w
}

// Absorb takes a list of canonical words, preceded by their number (which must
// be below P). An empty list counts too.
func (t *Transcript) Absorb(list []m31.Element) {
	t.put(m31.New(uint64(len(list))))
	for _, w := range list {
		t.put(w)
	}
}

// AbsorbQM31 absorbs the list of the elements' words: four times as many, in
// the order A.Re, A.Im, B.Re, B.Im.
func (t *Transcript) AbsorbQM31(list []m31.QM31) { t.Absorb(m31.Words(list)) }

// AbsorbBytes absorbs the list that BytesToWords makes of b.
func (t *Transcript) AbsorbBytes(b []byte) { t.Absorb(BytesToWords(b)) }

// BytesToWords is the number of bytes, then the bytes in groups of three, each
// group a little-endian word, the last one padded with zeros. (The number
// keeps strings apart that differ in zeros at the end.)
func BytesToWords(b []byte) []m31.Element {
	out := make([]m31.Element, 0, 1+(len(b)+2)/3)
	out = append(out, m31.New(uint64(len(b))))
	for i := 0; i < len(b); i += 3 {
		var w m31.Element
		for j, c := range b[i:min(i+3, len(b))] {
			w |= m31.Element(c) << (8 * j)
		}
		out = append(out, w)
	}
	return out
}

// Challenge is a uniform element of QM31: four squeezed words.
func (t *Transcript) Challenge() m31.QM31 {
	var w [4]m31.Element
	for i := range w {
		w[i] = t.Squeeze()
	}
	return m31.FromWords(w)
}

// Challenges draws n challenges one after the other.
func (t *Transcript) Challenges(n int) []m31.QM31 {
	out := make([]m31.QM31, n)
	for i := range out {
		out[i] = t.Challenge()
	}
	return out
}

// MaxIndexBits is the largest width of a sampled index: of 31 bits no word
// could be accepted without bias.
const MaxIndexBits = 30

// Index is uniform in [0, 2^bits): squeezed words are thrown away until one is
// below the largest multiple of 2^bits that does not exceed P, and its low bits
// count. bits is at most MaxIndexBits.
func (t *Transcript) Index(bits int) (int, error) {
	if bits < 0 || bits > MaxIndexBits {
		return 0, fmt.Errorf("%w: an index of %d bits", ErrBits, bits)
	}
	limit := m31.Element(m31.P >> bits << bits)
	for {
		if w := t.Squeeze(); w < limit {
			return int(w & (1<<bits - 1)), nil
		}
	}
}

// Indices draws n indices one after the other; they need not be distinct.
func (t *Transcript) Indices(n, bits int) ([]int, error) {
	out := make([]int, n)
	for i := range out {
		var err error
		if out[i], err = t.Index(bits); err != nil {
			return nil, err
		}
	}
	return out, nil
}
