package fribinius

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/merkle"
)

// Root of a hash tree: the commitment, or a layer's.
type Root [8]uint32

// RootOf is a digest as a root.
func RootOf(d merkle.DigestOf[merkle.Word]) (r Root) {
	for i, w := range d {
		r[i] = uint32(w)
	}
	return r
}

func (r Root) digest() (d merkle.DigestOf[merkle.Word]) {
	for i, w := range r {
		d[i] = merkle.Word(w)
	}
	return d
}

// Round is a message of the sum-check: the round polynomial's value at 0 and its
// coefficient of X^2. Its value at 1 is the claim less the one at 0.
type Round struct{ AtZero, Lead gf2.Element }

// At is the round polynomial's value at r, under that claim: the next claim.
func (m Round) At(claim, r gf2.Element) gf2.Element {
	// S(1) = claim + S(0), so that the coefficient of X is claim + Lead.
	return m.AtZero.Add(r.Mul(claim.Add(m.Lead).Add(r.Mul(m.Lead))))
}

// Proof is an opening. Its shape follows from the parameters, but for the numbers of
// rows and siblings, which follow from the query indices.
type Proof struct {
	// Partial are the evaluations at the point's first coordinates of the 128
	// polynomials that the values of the last seven variables make of the bits'.
	Partial []gf2.Element
	// Rounds are those of the sum-check.
	Rounds []Round
	// Roots are those of the layers but the first, which is the commitment.
	Roots []Root
	// Final is the message that is left after the last layer.
	Final []gf2.Element
	// Openings are the queried rows of each layer's tree.
	Openings []Opening
}

// Opening is a pruned proof of a tree's rows.
type Opening = merkle.OpeningOf[merkle.Word]

// shape checks all lengths that follow from the parameters.
func (pf *Proof) shape(p *Params) error {
	for _, n := range []struct {
		what      string
		got, want int
	}{
		{"partial evaluations", len(pf.Partial), 1 << Packing},
		{"rounds", len(pf.Rounds), p.MessageVars()},
		{"roots", len(pf.Roots), len(p.layers) - 1},
		{"elements of the final message", len(pf.Final), 1 << p.final},
		{"openings", len(pf.Openings), len(p.layers)},
	} {
		if n.got != n.want {
			return fmt.Errorf("%d %s, want %d", n.got, n.what, n.want)
		}
	}
	for i := range pf.Openings {
		o := &pf.Openings[i]
		words := p.Tree(i).RowWords
		rows := len(o.Rows) / words
		if len(o.Rows)%words != 0 || rows < 1 || rows > p.maxRows(i) {
			return fmt.Errorf("opening %d has %d words in rows of %d, want 1 to %d rows", i, len(o.Rows), words, p.maxRows(i))
		}
		if most := rows * p.LogLeaves(i); len(o.Siblings) > most {
			return fmt.Errorf("opening %d has %d siblings, want at most %d", i, len(o.Siblings), most)
		}
	}
	return nil
}

// ErrEncoding is what errors of decoding proofs wrap.
var ErrEncoding = errors.New("fribinius: encoding of a proof")

// version of the encoding and of the protocol.
const version = 1

// magic is "zkFB" in a file.
const magic = 'z' | 'k'<<8 | 'F'<<16 | 'B'<<24

// header is the words that proofs and transcripts start with: format, version and
// everything that the protocol's course depends on.
func (p *Params) header() []uint32 {
	h := []uint32{magic, version, uint32(p.vars), uint32(p.rate), uint32(p.queries), uint32(p.final), uint32(len(p.layers))}
	for _, l := range p.layers {
		h = append(h, uint32(l.Fold))
	}
	return h
}

// AppendProof appends the proof's encoding: little-endian words, the parameters first,
// then in the order of the protocol. It fails if the proof has not the parameters' shape.
func (p *Params) AppendProof(dst []byte, pf *Proof) ([]byte, error) {
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	if pf == nil {
		return nil, fmt.Errorf("%w: no proof", ErrEncoding)
	}
	if err := pf.shape(p); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	word := func(w uint32) { dst = binary.LittleEndian.AppendUint32(dst, w) }
	element := func(e gf2.Element) {
		b := e.Bytes()
		dst = append(dst, b[:]...)
	}
	for _, w := range p.header() {
		word(w)
	}
	for _, e := range pf.Partial {
		element(e)
	}
	for _, r := range pf.Rounds {
		element(r.AtZero)
		element(r.Lead)
	}
	for _, r := range pf.Roots {
		for _, w := range r {
			word(w)
		}
	}
	for _, e := range pf.Final {
		element(e)
	}
	for i := range pf.Openings {
		o := &pf.Openings[i]
		word(uint32(len(o.Rows) / p.Tree(i).RowWords))
		word(uint32(len(o.Siblings)))
		for _, w := range o.Rows {
			word(uint32(w))
		}
		for _, w := range merkle.Words(o.Siblings) {
			word(uint32(w))
		}
	}
	return dst, nil
}

// DecodeProof decodes a proof of exactly these bytes. It takes no more memory than the
// bytes justify. What it accepts, AppendProof encodes to the same bytes.
func (p *Params) DecodeProof(data []byte) (*Proof, error) {
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	d := &decoder{data: data}
	for i, want := range p.header() {
		if got := d.word(); d.err == nil && got != want {
			return nil, fmt.Errorf("%w: word %d of the header is %#x, want %#x", ErrEncoding, i, got, want)
		}
	}
	pf := &Proof{Partial: d.elements(1 << Packing), Rounds: make([]Round, p.MessageVars()), Roots: make([]Root, len(p.layers)-1)}
	for i := range pf.Rounds {
		if v := d.elements(2); d.err == nil {
			pf.Rounds[i] = Round{v[0], v[1]}
		}
	}
	for i := range pf.Roots {
		for j := range pf.Roots[i] {
			pf.Roots[i][j] = d.word()
		}
	}
	pf.Final = d.elements(1 << p.final)
	pf.Openings = make([]Opening, len(p.layers))
	for i := range pf.Openings {
		words := p.Tree(i).RowWords
		rows := d.count("rows", 1, p.maxRows(i), words)
		siblings := d.count("siblings", 0, rows*p.LogLeaves(i), len(Root{}))
		pf.Openings[i].Rows = d.words(rows * words)
		flat := d.words(siblings * len(Root{}))
		if d.err != nil {
			return nil, fmt.Errorf("%w: opening %d: %w", ErrEncoding, i, d.err)
		}
		pf.Openings[i].Siblings = make([]merkle.DigestOf[merkle.Word], siblings)
		copy(merkle.Words(pf.Openings[i].Siblings), flat)
	}
	if len(d.data) != 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrEncoding, len(d.data))
	}
	return pf, nil
}

// decoder reads from data until the first error, and zeros after it.
type decoder struct {
	data []byte
	err  error
}

// take is the next n bytes, nil after an error.
func (d *decoder) take(n int) []byte {
	if d.err == nil && n > len(d.data) {
		d.err = fmt.Errorf("%d bytes left where %d are due", len(d.data), n)
	}
	if d.err != nil {
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) word() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) words(n int) []merkle.Word {
	b := d.take(4 * n)
	out := make([]merkle.Word, len(b)/4)
	for i := range out {
		out[i] = merkle.Word(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func (d *decoder) elements(n int) []gf2.Element {
	b := d.take(gf2.Size * n)
	out := make([]gf2.Element, len(b)/gf2.Size)
	for i := range out {
		out[i] = gf2.FromBytes([gf2.Size]byte(b[gf2.Size*i:]))
	}
	return out
}

// count is a number from least to most, each of which stands for so many words that
// are still to come.
func (d *decoder) count(what string, least, most, words int) int {
	n := d.word()
	if d.err == nil && (uint64(n) < uint64(least) || uint64(n) > uint64(most) || 4*uint64(n)*uint64(words) > uint64(len(d.data))) {
		d.err = fmt.Errorf("%d %s, want %d to %d and %d bytes for each, of which %d are left", n, what, least, most, 4*words, len(d.data))
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}
