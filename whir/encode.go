package whir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
)

// ErrEncoding is what errors of decoding proofs and parameters wrap.
var ErrEncoding = errors.New("whir: encoding")

// canonical checks that every word of the proof is below the modulus.
func (s *Scheme[W, F, E]) canonical(pf *Proof[W, E]) error {
	c := &canonicalizer[W]{modulus: s.Spec.Modulus}
	e := func(v ...E) { c.words(s.Words(v)) }
	d := func(v [8]W) {
		if !s.Hash.Raw() {
			c.words(v[:])
		}
	}
	c.words(pf.BatchNonce[:])
	for _, r := range pf.Rounds {
		d(r.Root)
		e(r.Samples...)
		for _, f := range r.Folds {
			e(f.AtZero, f.Lead)
			c.words(f.Nonce[:])
		}
	}
	e(pf.Final...)
	for _, o := range pf.Openings {
		c.words(o.Nonce[:])
		c.words(o.Rows)
		for _, v := range o.Siblings {
			d(v)
		}
	}
	for _, f := range pf.FinalFolds {
		e(f.AtZero, f.Lead)
		c.words(f.Nonce[:])
	}
	if c.bad {
		return errors.New("a word is not below the modulus")
	}
	return nil
}

type canonicalizer[W field.Base[W]] struct {
	modulus uint64
	bad     bool
}

func (c *canonicalizer[W]) words(v []W) {
	below := int64(0) // negative once a word is not
	for _, w := range v {
		below |= int64(c.modulus) - 1 - int64(uint32(w))
	}
	c.bad = c.bad || below < 0
}

// AppendProof appends the proof's encoding: little-endian words in the order
// of the protocol. Nonces are left out where no work is asked for; the numbers
// of rows and of siblings precede an opening. It fails if the proof does not
// have the parameters' shape.
func (s *Scheme[W, F, E]) AppendProof(dst []byte, p *Params, pf *Proof[W, E]) ([]byte, error) {
	if err := pf.shape(p); err != nil {
		return nil, fmt.Errorf("whir: encoding a proof: %w", err)
	}
	err := s.walk(p, pf, &appender[W]{&dst})
	return dst, err
}

// DecodeProof decodes a proof of exactly the given bytes. It never allocates
// more than the bytes justify.
func (s *Scheme[W, F, E]) DecodeProof(p *Params, data []byte) (*Proof[W, E], error) {
	if p == nil || p.c.Spec != s.Spec {
		return nil, fmt.Errorf("%w: parameters are not for %s", ErrEncoding, s.Spec.Name)
	}
	pf := &Proof[W, E]{Rounds: make([]RoundProof[W, E], p.Rounds()), Openings: make([]Opening[W], p.Rounds())}
	d := &decoder[W]{data: data, modulus: s.Spec.Modulus}
	if err := s.walk(p, pf, d); err != nil {
		return nil, err
	}
	if len(d.data) != 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrEncoding, len(d.data))
	}
	return pf, nil
}

// codec reads or writes what walk shows it.
type codec[W field.Base[W]] interface {
	// slice is n words, which a decoder allocates unless there are as many; raw is
	// such words of a digest of bytes.
	slice(v *[]W, n int, what string) error
	raw(v *[]W, n int, what string) error
	// count is a number from least to limit, each of which stands for unit words.
	count(n *int, least, limit, unit int, what string) error
}

// walk visits the proof in the order of its encoding.
func (s *Scheme[W, F, E]) walk(p *Params, pf *Proof[W, E], c codec[W]) error {
	if err := nonce(c, &pf.BatchNonce, p.c.BatchWork); err != nil {
		return err
	}
	for i, d := range p.c.Rounds {
		r := &pf.Rounds[i]
		if i > 0 {
			if err := s.digest(c, &r.Root, "root"); err != nil {
				return fmt.Errorf("round %d: %w", i, err)
			}
		}
		if err := first(
			s.elements(c, &r.Samples, d.Samples, "samples"),
			s.previous(p, pf, c, i-1),
			s.folds(c, &r.Folds, d.Fold, d.FoldWork),
		); err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
	}
	n := p.Rounds()
	m := p.RoundVars(n)
	return first(
		s.elements(c, &pf.Final, 1<<m, "final table"),
		s.previous(p, pf, c, n-1),
		s.folds(c, &pf.FinalFolds, m, 0),
	)
}

// previous visits the opening of round i's tree, if there is such a round.
func (s *Scheme[W, F, E]) previous(p *Params, pf *Proof[W, E], c codec[W], i int) error {
	if i < 0 {
		return nil
	}
	o, width := &pf.Openings[i], p.RowWords(i)
	rows, siblings := len(o.Rows)/width, len(o.Siblings)
	if err := first(
		nonce(c, &o.Nonce, p.c.Rounds[i].QueryWork),
		c.count(&rows, 1, p.maxRows(i), width, "rows"),
	); err != nil {
		return err
	}
	if err := first(
		c.slice(&o.Rows, rows*width, "rows"),
		c.count(&siblings, 0, p.maxSiblings(i, rows), 8, "siblings"),
	); err != nil {
		return err
	}
	if o.Siblings == nil {
		o.Siblings = make([][8]W, siblings)
	}
	return s.digests(c, o.Siblings, "siblings")
}

func (s *Scheme[W, F, E]) elements(c codec[W], v *[]E, n int, what string) error {
	words := s.Words(*v)
	if err := c.slice(&words, n*s.Spec.ChallengeWords, what); err != nil {
		return err
	}
	*v = s.Challenges(words)
	return nil
}

func (s *Scheme[W, F, E]) folds(c codec[W], v *[]Fold[W, E], n, work int) error {
	if *v == nil {
		*v = make([]Fold[W, E], n)
	}
	for i := range *v {
		f := &(*v)[i]
		pair := []E{f.AtZero, f.Lead}
		if err := first(s.elements(c, &pair, 2, "fold"), nonce(c, &f.Nonce, work)); err != nil {
			return err
		}
		f.AtZero, f.Lead = pair[0], pair[1]
	}
	return nil
}

func nonce[W field.Base[W]](c codec[W], v *[2]W, work int) error {
	if work == 0 {
		return nil
	}
	w := v[:]
	err := c.slice(&w, 2, "nonce")
	copy(v[:], w)
	return err
}

func (s *Scheme[W, F, E]) digest(c codec[W], v *[8]W, what string) error {
	return s.digests(c, unsafe.Slice(v, 1), what)
}

func (s *Scheme[W, F, E]) digests(c codec[W], v [][8]W, what string) error {
	w := unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
	if s.Hash.Raw() {
		return c.raw(&w, len(w), what)
	}
	return c.slice(&w, len(w), what)
}

type appender[W field.Base[W]] struct{ dst *[]byte }

func (a *appender[W]) slice(v *[]W, n int, what string) error {
	for _, w := range *v {
		*a.dst = binary.LittleEndian.AppendUint32(*a.dst, w.Uint32())
	}
	return nil
}

func (a *appender[W]) raw(v *[]W, n int, what string) error {
	for _, w := range *v {
		*a.dst = binary.LittleEndian.AppendUint32(*a.dst, uint32(w))
	}
	return nil
}

func (a *appender[W]) count(n *int, _, _, _ int, _ string) error {
	*a.dst = binary.LittleEndian.AppendUint32(*a.dst, uint32(*n))
	return nil
}

// decoder keeps its first error: once failed, it reads nothing more.
type decoder[W field.Base[W]] struct {
	data    []byte
	modulus uint64
	err     error
}

func (d *decoder[W]) fail(format string, args ...any) error {
	d.err = fmt.Errorf("%w: "+format, append([]any{ErrEncoding}, args...)...)
	return d.err
}

func (d *decoder[W]) slice(v *[]W, n int, what string) error {
	if d.err != nil {
		return d.err
	}
	if len(d.data)/4 < n {
		return d.fail("%s end early", what)
	}
	out := d.words(*v, n)
	if e, ok := any(out).([]m31.Element); ok && m31.Decode(e, d.data[:4*n]) == nil {
		d.data, *v = d.data[4*n:], out
		return nil
	}
	var zero W
	for i := range out {
		w := binary.LittleEndian.Uint32(d.data[4*i:])
		if uint64(w) >= d.modulus {
			return d.fail("%s: word %#x is not canonical", what, w)
		}
		out[i] = zero.FromUint64(uint64(w))
	}
	d.data, *v = d.data[4*n:], out
	return nil
}

// words is where n words go.
func (d *decoder[W]) words(v []W, n int) []W {
	if len(v) == n {
		return v
	}
	return make([]W, n)
}

func (d *decoder[W]) raw(v *[]W, n int, what string) error {
	if d.err != nil {
		return d.err
	}
	if len(d.data)/4 < n {
		return d.fail("%s end early", what)
	}
	out := d.words(*v, n)
	for i := range out {
		out[i] = W(binary.LittleEndian.Uint32(d.data[4*i:]))
	}
	d.data, *v = d.data[4*n:], out
	return nil
}

func (d *decoder[W]) count(n *int, least, limit, unit int, what string) error {
	if d.err != nil {
		return d.err
	}
	if len(d.data) < 4 {
		return d.fail("%s end early", what)
	}
	c := binary.LittleEndian.Uint32(d.data)
	d.data = d.data[4:]
	if uint64(c) < uint64(least) || uint64(c) > uint64(limit) || uint64(c)*uint64(unit) > uint64(len(d.data)/4) {
		return d.fail("%d %s, %d to %d are possible", c, what, least, limit)
	}
	*n = int(c)
	return nil
}
