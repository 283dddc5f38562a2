package binary

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"lukechampine.com/blake3"

	"github.com/zkwarp/zkwarp/field/gf2"
)

// ErrFormat is returned for bytes that are not a proof of the shape that is asked for.
var ErrFormat = errors.New("sumcheck/binary: not a proof of this shape")

// headerBytes is the length of what stands before the elements: magic, version, digest.
const headerBytes = 4 + 4 + 32

// Digest is the BLAKE3 hash of the shape's words as they are absorbed, little-endian.
func (s Shape) Digest() [32]byte {
	var b []byte
	for _, w := range s.words() {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return blake3.Sum256(b)
}

// ProofBytes is the length of an encoded proof.
func (s Shape) ProofBytes() int { return headerBytes + gf2.Size*(s.Vars*s.Points()+s.Evals()) }

// AppendProof appends the encoding of a proof of the shape: magic and version, both
// little-endian words, the shape's digest, the round messages, and the evaluations, 16
// bytes an element. It fails where the proof's lengths are not the shape's.
func (s Shape) AppendProof(b []byte, p *Proof) ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := p.Check(s); err != nil {
		return nil, err
	}
	b = s.appendHeader(b)
	for _, list := range append(p.Rounds[:len(p.Rounds):len(p.Rounds)], p.Evals) {
		for _, e := range list {
			bytes := e.Bytes()
			b = append(b, bytes[:]...)
		}
	}
	return b, nil
}

func (s Shape) appendHeader(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, magic)
	b = binary.LittleEndian.AppendUint32(b, version)
	digest := s.Digest()
	return append(b, digest[:]...)
}

// DecodeProof reads the proof of a claim of that shape from exactly data.
func DecodeProof(s Shape, data []byte) (*Proof, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if want := s.ProofBytes(); len(data) != want {
		return nil, &LengthError{What: "bytes", Want: want, Got: len(data), class: ErrLength}
	}
	if got, want := data[:headerBytes], s.appendHeader(nil); !bytes.Equal(got, want) {
		return nil, fmt.Errorf("%w (%v): it begins with %x, want %x", ErrFormat, s, got, want)
	}
	data = data[headerBytes:]
	take := func(n int) []gf2.Element {
		list := make([]gf2.Element, n)
		for i := range list {
			list[i] = gf2.FromBytes([gf2.Size]byte(data[:gf2.Size]))
			data = data[gf2.Size:]
		}
		return list
	}
	p := &Proof{Rounds: make([][]gf2.Element, s.Vars)}
	for i := range p.Rounds {
		p.Rounds[i] = take(s.Points())
	}
	p.Evals = take(s.Evals())
	return p, nil
}
