package circom

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/consensys/gnark-crypto/ecc"
)

// Term is a wire with its coefficient.
type Term struct {
	Wire  uint32
	Value Element
}

// R1CS is a circuit as rank-1 constraints: sums a, b and c of terms with a·b = c.
type R1CS struct {
	Curve ecc.ID
	// Wires are the constant 1, Outputs, PublicInputs, PrivateInputs, and others, in this
	// order.
	Wires, Outputs, PublicInputs, PrivateInputs int
	// Labels are, of every wire, the number of circom's signal that it is.
	Labels []uint64
	// Signals is how many signals the circuit had before circom made it simpler.
	Signals uint64

	terms []Term
	ends  []int // of the sums of all constraints, three each, in terms
}

var r1cs = format{
	magic: "r1cs", version: 1,
	sections: map[uint32]string{1: "header", 2: "constraints", 3: "wires"},
	refused:  map[uint32]string{4: "custom gates, for PLONK", 5: "uses of custom gates, for PLONK"},
}

// OpenR1CS reads an .r1cs file.
func OpenR1CS(path string) (*R1CS, error) { return openFile(path, ReadR1CS) }

// ReadR1CS reads an .r1cs file of size bytes; name is for errors.
func ReadR1CS(name string, r io.ReaderAt, size int64) (*R1CS, error) {
	f, err := r1cs.scan(name, r, size)
	if err != nil {
		return nil, err
	}
	h, err := f.sections[1].header()
	if err != nil {
		return nil, err
	}
	s := h.order()
	c := &R1CS{}
	at := h.at
	c.Wires = h.u32("the number of wires")
	c.Outputs = h.u32("the number of outputs")
	c.PublicInputs = h.u32("the number of public inputs")
	c.PrivateInputs = h.u32("the number of private inputs")
	c.Signals = h.u64("the number of labels")
	constraints := h.u32("the number of constraints")
	if named := 1 + c.Outputs + c.PublicInputs + c.PrivateInputs; h.err == nil && named > c.Wires {
		h.fail(at, "%d wires, but the constant, outputs and inputs are %d", c.Wires, named)
	}
	if err := h.end(); err != nil {
		return nil, err
	}
	c.Curve = s.curve().id
	if err := c.readLabels(f.sections[3]); err != nil {
		return nil, err
	}
	// The labels have shown that the file is larger than the number of wires.
	if err := c.readConstraints(f.sections[2], s.curve(), constraints); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *R1CS) readLabels(s *section) error {
	if err := s.expect(int64(c.Wires)*8, fmt.Sprintf("the labels of %d wires", c.Wires)); err != nil {
		return err
	}
	c.Labels = make([]uint64, c.Wires)
	return s.records(0, c.Wires, 8, func(first int, b []byte) error {
		decodeWords(c.Labels[first:first+len(b)/8], b)
		for i, label := range c.Labels[first : first+len(b)/8] {
			if label >= c.Signals {
				return s.errorf(int64(first+i)*8, "wire %d has label %d of %d", first+i, label, c.Signals)
			}
		}
		return nil
	})
}

// termBytes is the size of a term in the file.
const termBytes = 4 + 32

func (c *R1CS) readConstraints(s *section, field *curve, n int) error {
	if int64(n) > s.size/12 {
		return s.errorf(0, "%d bytes are too few for %d constraints", s.size, n)
	}
	c.ends = make([]int, 0, 3*n)
	c.terms = make([]Term, 0, (s.size-12*int64(n))/termBytes)
	// A wire that is twice in a sum is a mistake: snarkjs would take the last, others add.
	seen := make([]int, c.Wires)
	r := &stream{s: s}
	for i := range 3 * n {
		at := r.at
		b, err := r.next(4)
		if err != nil {
			return err
		}
		count := int64(binary.LittleEndian.Uint32(b))
		if count > (s.size-r.at)/termBytes {
			return s.errorf(at, "%s: %d terms, with %d bytes left", sumName(i), count, s.size-r.at)
		}
		for range count {
			at := r.at
			if b, err = r.next(termBytes); err != nil {
				return err
			}
			t := Term{Wire: binary.LittleEndian.Uint32(b)}
			decodeWords(t.Value[:], b[4:])
			switch {
			case int64(t.Wire) >= int64(c.Wires):
				return s.errorf(at, "%s: wire %d of %d", sumName(i), t.Wire, c.Wires)
			case !below(t.Value[:], field.rWords):
				return s.errorf(at+4, "%s: the coefficient of wire %d is not below the field's order", sumName(i), t.Wire)
			case seen[t.Wire] == i+1:
				return s.errorf(at, "%s: wire %d is there twice", sumName(i), t.Wire)
			}
			seen[t.Wire] = i + 1
			c.terms = append(c.terms, t)
		}
		c.ends = append(c.ends, len(c.terms))
	}
	if r.at != s.size {
		return s.errorf(r.at, "%d bytes behind the last constraint", s.size-r.at)
	}
	return nil
}

func sumName(i int) string { return fmt.Sprintf("%c of constraint %d", 'A'+i%3, i/3) }

// stream reads a section from begin to end.
type stream struct {
	s   *section
	at  int64 // of what next returns next
	buf []byte
}

// next are the next n bytes, until the next call.
func (r *stream) next(n int) ([]byte, error) {
	if int64(n) > r.s.size-r.at {
		return nil, r.s.errorf(r.at, "the section ends early")
	}
	if len(r.buf) < n {
		b := make([]byte, min(chunk, r.s.size-r.at))
		if err := r.s.readAt(b, r.at); err != nil {
			return nil, err
		}
		r.buf = b
	}
	b := r.buf[:n]
	r.buf, r.at = r.buf[n:], r.at+int64(n)
	return b, nil
}

// Constraints is their number.
func (c *R1CS) Constraints() int { return len(c.ends) / 3 }

// NumPublic is the number of public signals: outputs and public inputs.
func (c *R1CS) NumPublic() int { return c.Outputs + c.PublicInputs }

// Constraint is the sums of a constraint, 0 <= i < Constraints(). They must not be changed.
func (c *R1CS) Constraint(i int) (a, b, out []Term) {
	return c.sum(3 * i), c.sum(3*i + 1), c.sum(3*i + 2)
}

func (c *R1CS) sum(i int) []Term {
	begin := 0
	if i > 0 {
		begin = c.ends[i-1]
	}
	return c.terms[begin:c.ends[i]:c.ends[i]]
}

// Check returns an error, an ErrUnsatisfied, that names the first constraint which the
// witness does not satisfy, or an ErrMismatch if it is of another circuit.
func (c *R1CS) Check(w *Witness) error {
	s, err := systemOf(c.Curve)
	if err != nil {
		return fmt.Errorf("circom: %w: %w", ErrMismatch, err)
	}
	if err := sameCircuit("circuit", c.Curve, c.Wires, s, w); err != nil {
		return err
	}
	if i := s.unsatisfied(c, w.Values); i >= 0 {
		return fmt.Errorf("circom: %w: constraint %d of %d does not hold", ErrUnsatisfied, i, c.Constraints())
	}
	return nil
}

// sameCircuit checks that a witness has the curve and wires of a circuit or its key.
func sameCircuit(what string, id ecc.ID, wires int, s system, w *Witness) error {
	switch {
	case w == nil:
		return fmt.Errorf("circom: %w: no witness", ErrMismatch)
	case w.Curve != id:
		return fmt.Errorf("circom: %w: the %s is for %s, the witness for %s", ErrMismatch, what, id, w.Curve)
	case len(w.Values) != wires:
		return fmt.Errorf("circom: %w: the %s has %d wires, the witness %d values", ErrMismatch, what, wires, len(w.Values))
	case w.Values[0] != (Element{1}):
		return fmt.Errorf("circom: %w: wire 0 has the value %s and not 1", ErrUnsatisfied, w.Values[0].Big())
	}
	return forEach(len(w.Values), func(i int) error {
		if !below(w.Values[i][:], s.curve().rWords) {
			return fmt.Errorf("circom: %w: the value of wire %d is not below the field's order", ErrMismatch, i)
		}
		return nil
	})
}
