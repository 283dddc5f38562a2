package whirfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Kind of a claim.
type Kind string

// Kinds of claims about tables, read as polynomials.
const (
	// Eval says what the multilinear polynomial with the table as its values on
	// the cube is at a point; the first coordinate belongs to the top bit of the
	// index.
	Eval Kind = "eval"
	// Univariate says what the polynomial with the table as its coefficients is
	// at a point of one coordinate.
	Univariate Kind = "univariate"
)

// Words is one element of the challenge field: its coefficients, lowest degree
// first. In JSON an element of the base field may be a plain number.
type Words []uint32

// Claim says that at Point the tables of a commitment have Values, one each.
type Claim struct {
	Kind   Kind
	Point  []Words
	Values []Words // nil where they are still to be found
}

// claimsFormat begins claims files.
const claimsFormat = "zkwarp whir claims 1"

// MarshalJSON writes a plain number where that is the element.
func (w Words) MarshalJSON() ([]byte, error) {
	if len(w) > 0 && !slices.ContainsFunc(w[1:], func(v uint32) bool { return v != 0 }) {
		return strconv.AppendUint(nil, uint64(w[0]), 10), nil
	}
	return json.Marshal([]uint32(w))
}

// EncodeClaims is a claims file.
func EncodeClaims(claims []Claim) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"format\": %q,\n  \"claims\": [", claimsFormat)
	list := func(name string, words []Words) {
		fmt.Fprintf(&b, ",\n      %q: [", name)
		for i, w := range words {
			if i > 0 {
				b.WriteString(", ")
			}
			text, _ := w.MarshalJSON() // numbers always have a text
			b.Write(text)
		}
		b.WriteString("]")
	}
	for i, c := range claims {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n    {\n      \"kind\": %q", c.Kind)
		list("point", c.Point)
		if c.Values != nil {
			list("values", c.Values)
		}
		b.WriteString("\n    }")
	}
	b.WriteString("\n  ]\n}\n")
	return b.Bytes()
}

// DecodeClaims reads a claims file: a JSON object with the fields format and
// claims, spelt exactly so and once. Whether the claims fit a commitment,
// [Params.CheckClaims] says.
func DecodeClaims(data []byte) ([]Claim, error) {
	d := &reader{json.NewDecoder(bytes.NewReader(data))}
	var format string
	var claims []Claim
	err := d.object(map[string]func() error{
		"format": func() error { return d.Decode(&format) },
		"claims": func() error {
			claims = []Claim{}
			return d.list(func(i int) error {
				c, err := d.claim()
				if err != nil {
					return fmt.Errorf("claim %d: %w", i, err)
				}
				claims = append(claims, c)
				return nil
			})
		},
	}, "format", "claims")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: more after the end of the object", ErrFormat)
	}
	if format != claimsFormat {
		return nil, fmt.Errorf("%w: format is %.60q, want %q", ErrFormat, format, claimsFormat)
	}
	return claims, nil
}

// reader reads JSON strictly. It takes no more memory than the text justifies.
type reader struct{ *json.Decoder }

func (d *reader) claim() (c Claim, err error) {
	words := func(into *[]Words) func() error {
		return func() error {
			*into = []Words{}
			return d.list(func(i int) error {
				w, err := d.element()
				if err != nil {
					return fmt.Errorf("element %d: %w", i, err)
				}
				*into = append(*into, w)
				return nil
			})
		}
	}
	err = d.object(map[string]func() error{
		"kind":   func() error { return d.Decode((*string)(&c.Kind)) },
		"point":  words(&c.Point),
		"values": words(&c.Values),
	}, "kind", "point")
	return c, err
}

// element is a number or a list of numbers.
func (d *reader) element() (Words, error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return nil, err
	}
	texts := []json.Number{json.Number(raw)}
	if bytes.HasPrefix(raw, []byte("[")) && !bytes.ContainsRune(raw, '"') {
		texts = nil
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&texts); err != nil {
			return nil, fmt.Errorf("%.40q is no list of numbers", raw)
		}
	}
	var out Words
	for _, t := range texts {
		v, err := strconv.ParseUint(string(t), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%.40q is not a number from 0 to 2^32-1, nor a list of such", string(t))
		}
		out = append(out, uint32(v))
	}
	return out, nil
}

func (d *reader) object(fields map[string]func() error, required ...string) error {
	if err := d.delim('{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := tok.(string)
		field, ok := fields[name]
		switch {
		case !ok:
			return fmt.Errorf("unknown field %.40q", name)
		case seen[name]:
			return fmt.Errorf("field %s occurs twice", name)
		}
		seen[name] = true
		if err := field(); err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
	}
	for _, name := range required {
		if !seen[name] {
			return fmt.Errorf("field %s is missing", name)
		}
	}
	return d.delim('}')
}

func (d *reader) list(item func(i int) error) error {
	if err := d.delim('['); err != nil {
		return err
	}
	for i := 0; d.More(); i++ {
		if err := item(i); err != nil {
			return err
		}
	}
	return d.delim(']')
}

func (d *reader) delim(want json.Delim) error {
	tok, err := d.Token()
	switch {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	case tok != want:
		return fmt.Errorf("found %.40q, want %v", fmt.Sprint(tok), want)
	}
	return nil
}

// CheckClaims checks that the claims can be about a commitment with these
// parameters, and brings every element to its full number of words. Values may
// be missing if open is set.
func (p *Params) CheckClaims(claims []Claim, open bool) error {
	if len(claims) > p.Claims() {
		return fmt.Errorf("%w: %d claims, the commitment allows %d", ErrFormat, len(claims), p.Claims())
	}
	for i := range claims {
		c, coordinates := &claims[i], p.Vars()
		switch {
		case c.Kind == Univariate && p.packed != nil:
			return fmt.Errorf("%w: claim %d: field m31 has no univariate claims; field cm31 has, about pairs", ErrFormat, i)
		case c.Kind == Univariate:
			coordinates = 1
		case c.Kind != Eval:
			return fmt.Errorf("%w: claim %d: kind is %.40q, want %s or %s", ErrFormat, i, string(c.Kind), Eval, Univariate)
		}
		if err := p.elements("point", c.Point, coordinates); err != nil {
			return fmt.Errorf("%w: claim %d: %w", ErrFormat, i, err)
		}
		if c.Values == nil && open {
			continue
		}
		if err := p.elements("values", c.Values, p.Tables()); err != nil {
			return fmt.Errorf("%w: claim %d: %w", ErrFormat, i, err)
		}
	}
	return nil
}

func (p *Params) elements(name string, list []Words, n int) error {
	if len(list) != n {
		return fmt.Errorf("%s has %d elements, want %d", name, len(list), n)
	}
	spec := p.inner.Spec()
	for i, w := range list {
		if len(w) < 1 || len(w) > spec.ChallengeWords {
			return fmt.Errorf("%s: element %d has %d coefficients, want 1 to %d", name, i, len(w), spec.ChallengeWords)
		}
		if err := checkWords(spec.Modulus, w); err != nil {
			return fmt.Errorf("%s: element %d: %w", name, i, err)
		}
		full := make(Words, spec.ChallengeWords)
		copy(full, w)
		list[i] = full
	}
	return nil
}
