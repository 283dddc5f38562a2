package circom

import (
	"io"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc"
)

// Witness is the values of all wires of a circuit.
type Witness struct {
	Curve ecc.ID
	// Values are of the wires in order: the constant 1, then outputs, public inputs,
	// private inputs and all others.
	Values []Element
}

var wtns = format{magic: "wtns", version: 2, sections: map[uint32]string{1: "header", 2: "values"}}

// OpenWitness reads a .wtns file.
func OpenWitness(path string) (*Witness, error) { return openFile(path, ReadWitness) }

// ReadWitness reads a .wtns file of size bytes; name is for errors.
func ReadWitness(name string, r io.ReaderAt, size int64) (*Witness, error) {
	f, err := wtns.scan(name, r, size)
	if err != nil {
		return nil, err
	}
	h, err := f.sections[1].header()
	if err != nil {
		return nil, err
	}
	s := h.order()
	n := h.u32("the number of values")
	if h.err == nil && n == 0 {
		h.fail(h.at-4, "there are no values")
	}
	if err := h.end(); err != nil {
		return nil, err
	}
	w := &Witness{Curve: s.curve().id}
	if w.Values, err = f.sections[2].elements(s.curve(), n); err != nil {
		return nil, err
	}
	return w, nil
}

// order reads the order of the scalar field.
func (h *header) order() system {
	return h.prime("the field's order", func(c *curve) *big.Int { return c.r }, func(c *curve) []uint64 { return c.rWords })
}

// Public is the n public signals: the outputs and then the public inputs. It is shorter if
// the witness is.
func (w *Witness) Public(n int) Public {
	end := min(n+1, len(w.Values))
	p := make(Public, 0, max(n, 0))
	for i := 1; i < end; i++ {
		p = append(p, w.Values[i])
	}
	return p
}
