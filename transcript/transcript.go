// Package transcript is Fiat-Shamir over a 31-bit field: a duplex sponge on the
// width-16 Poseidon2 permutation of that field, with 8 rate and 8 capacity words.
// Challenges are from an extension of the field. A Variant is a choice of both;
// New is for the Mersenne-31 one.
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
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
)

// Rate is the number of words absorbed or squeezed a permutation.
const Rate = 8

// ErrBits is returned for numbers of bits that cannot be sampled or ground.
var ErrBits = errors.New("transcript: number of bits out of range")

// Of is the state of one run of a protocol, over the field W and with challenges
// from E. Prover and verifier go through the same calls and so get the same
// challenges. Use New or Variant.New.
type Of[W field.Base[W], E field.Element[E]] struct {
	variant *Variant[W, E]
	words   [16]W
	// at is the rate word that the next absorbed word goes to, left the number
	// of output words not yet handed out. One of them is always 0.
	at, left int
}

// Transcript is the one over Mersenne-31.
type Transcript = Of[m31.Element, m31.QM31]

// New starts a transcript over Mersenne-31 of the protocol with the given domain
// tag, one of the Tag constants.
func New(tag m31.Element) *Transcript { return M31().New(tag.Uint32()) }

// Variant is the kind of transcript that t is.
func (t *Of[W, E]) Variant() *Variant[W, E] { return t.variant }

// Clone is an independent copy.
func (t *Of[W, E]) Clone() *Of[W, E] {
	c := *t
	return &c
}

func (t *Of[W, E]) put(w W) {
	t.left = 0
	t.words[t.at] = w
	t.at++
	if t.at == Rate {
		t.permute()
	}
}

func (t *Of[W, E]) permute() {
	t.variant.permutation.Permute16(&t.words)
	t.at = 0
}

// Squeeze returns the next output word, uniform below the modulus.
func (t *Of[W, E]) Squeeze() W {
	if t.left == 0 {
		t.permute()
		t.left = Rate
	}
	w := t.words[Rate-t.left]
	t.left--
	return w
}

// Absorb takes a list of canonical words, preceded by their number (which must
// be below the modulus). An empty list counts too.
func (t *Of[W, E]) Absorb(list []W) {
	t.put(word[W](uint64(len(list))))
	for _, w := range list {
		t.put(w)
	}
}

// AbsorbExt absorbs the list of the elements' words, lowest coefficient first
// (those of QM31 are A.Re, A.Im, B.Re, B.Im); the number before it is of words.
func (t *Of[W, E]) AbsorbExt(list []E) { t.Absorb(t.variant.Words(list)) }

// AbsorbBytes absorbs the list that BytesToWords makes of b.
func (t *Of[W, E]) AbsorbBytes(b []byte) { t.Absorb(BytesToWords[W](b)) }

// DigestWords is the number of words of a tree's root.
const DigestWords = 8

// AbsorbDigest absorbs the root of a tree: eight field elements as a list, or,
// with raw, the 32 bytes of a digest of bytes, of which d has four a word, the
// first one lowest.
func (t *Of[W, E]) AbsorbDigest(d [DigestWords]W, raw bool) {
	if !raw {
		t.Absorb(d[:])
		return
	}
	b := make([]byte, 0, 4*DigestWords)
	for _, w := range d {
		b = binary.LittleEndian.AppendUint32(b, uint32(w))
	}
	t.AbsorbBytes(b)
}

// BytesToWords is the number of bytes, then the bytes in groups of three, each
// group a little-endian word, the last one padded with zeros. (The number
// keeps strings apart that differ in zeros at the end.)
func BytesToWords[W field.Base[W]](b []byte) []W {
	out := make([]W, 0, 1+(len(b)+2)/3)
	out = append(out, word[W](uint64(len(b))))
	for i := 0; i < len(b); i += 3 {
		var w uint64
		for j, c := range b[i:min(i+3, len(b))] {
			w |= uint64(c) << (8 * j)
		}
		out = append(out, word[W](w))
	}
	return out
}

// maxDegree is the largest number of words of a challenge.
const maxDegree = 5

// Challenge is a uniform element of E: a squeezed word for each coefficient.
func (t *Of[W, E]) Challenge() E {
	var w [maxDegree]W
	for i := range t.variant.degree {
		w[i] = t.Squeeze()
	}
	return *(*E)(unsafe.Pointer(&w))
}

// Challenges draws n challenges one after the other.
func (t *Of[W, E]) Challenges(n int) []E {
	out := make([]E, n)
	for i := range out {
		out[i] = t.Challenge()
	}
	return out
}

// MaxIndexBits is the largest width of a sampled index: of 31 bits no word
// could be accepted without bias.
const MaxIndexBits = 30

// Index is uniform in [0, 2^bits): squeezed words are thrown away until one is
// below the largest multiple of 2^bits that does not exceed the modulus, and its
// low bits count. bits is at most MaxIndexBits.
func (t *Of[W, E]) Index(bits int) (int, error) {
	if bits < 0 || bits > MaxIndexBits {
		return 0, fmt.Errorf("%w: an index of %d bits", ErrBits, bits)
	}
	limit := modulus[W]() >> bits << bits
	for {
		if w := t.Squeeze().Uint32(); w < limit {
			return int(w & (1<<bits - 1)), nil
		}
	}
}

// Indices draws n indices one after the other; they need not be distinct.
func (t *Of[W, E]) Indices(n, bits int) ([]int, error) {
	out := make([]int, n)
	for i := range out {
		var err error
		if out[i], err = t.Index(bits); err != nil {
			return nil, err
		}
	}
	return out, nil
}
