// Package scalar has number-theoretic transforms over the scalar fields of curves, on
// GPUs and on the CPU, and the quotient polynomial of Groth16 that is made of them.
//
// Elements are those of gnark-crypto: Montgomery form, 64-bit words, the lowest first; a
// buffer holds them one after the other, and device.View[uint64] is a buffer of
// fr.Element as such. Domains have gnark-crypto's generators, so that a transform gives
// what fft.Domain's FFT and FFTInverse give, on every device.
package scalar

import (
	"fmt"
	"math/big"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/mont"
)

// MaxLog is the base-2 logarithm of the largest number of elements of a transform.
const MaxLog = 27

// Domain is the powers of a root of unity of order 2^Log, and the coset of them by a
// generator of the field's multiplicative group. It does not change, and serves all
// devices.
type Domain struct {
	f    *fieldOf
	log  int
	w, g *big.Int // the root, and the coset's generator
	tune tuning

	host func() hostDomain
}

// New returns the domain of 2^log elements of the scalar field of BN254, BLS12-377,
// BLS12-381 or BW6-761 (curve.BN254Fr and so on). log is 0 to MaxLog.
func New(field *mont.Field, log int) (*Domain, error) {
	f := find(field)
	if f == nil {
		name := "no field"
		if field != nil {
			name = field.Name
		}
		return nil, fmt.Errorf("scalar: transforms over %s: %w: fields are %s", name, device.ErrUsage, names())
	}
	if log < 0 || log > MaxLog {
		return nil, fmt.Errorf("scalar: 2^%d elements of %s: %w: from 2^0 to 2^%d", log, field.Name, device.ErrUsage, MaxLog)
	}
	w, g := f.family.generators(f.Field, log)
	d := &Domain{f: f, log: log, w: w, g: g, tune: usual}
	d.host = sync.OnceValue(func() hostDomain { return f.family.open(f.Field, log, d.divisor()) })
	return d, nil
}

// Field of the elements.
func (d *Domain) Field() *mont.Field { return d.f.Field }

// Log is the base-2 logarithm of Len.
func (d *Domain) Log() int { return d.log }

// Len is the number of elements.
func (d *Domain) Len() int { return 1 << d.log }

// Words is the length of a buffer of Len elements.
func (d *Domain) Words() int { return d.Len() * d.f.Limbs / 2 }

// Generator is the root of unity of order Len whose powers the domain is.
func (d *Domain) Generator() *big.Int { return new(big.Int).Set(d.w) }

// CosetGenerator is what takes the domain to its coset.
func (d *Domain) CosetGenerator() *big.Int { return new(big.Int).Set(d.g) }

// divisor is the inverse of X^n - 1 on the coset, where that is the same everywhere.
func (d *Domain) divisor() *big.Int {
	v := new(big.Int).Exp(d.g, big.NewInt(int64(d.Len())), d.f.Modulus)
	return v.ModInverse(v.Sub(v, big.NewInt(1)), d.f.Modulus)
}

// Order of elements in a buffer.
type Order int

// Orders: that of their indices, or that of the indices with their bits reversed.
const (
	Natural Order = iota
	Reversed
)

func (o Order) String() string {
	switch o {
	case Natural:
		return "natural"
	case Reversed:
		return "bit-reversed"
	}
	return fmt.Sprintf("Order(%d)", int(o))
}

// Transform is a domain with its tables on one device. It is safe for concurrent use, by
// several queues of the device, until Free.
type Transform struct {
	d      *Domain
	dev    *device.Device
	tables *tables // nil on the CPU
}

// On makes the domain's tables on q's device: some megabytes on a GPU, those of
// gnark-crypto's domain, which take as much as three buffers, on the CPU, where all
// transforms of a domain share them.
func (d *Domain) On(q *device.Queue) (*Transform, error) {
	t := &Transform{d: d, dev: q.Device()}
	if err := q.Err(); err != nil {
		return nil, err
	}
	if q.OnHost() {
		d.host()
		return t, nil
	}
	var err error
	if t.tables, err = d.makeTables(q); err != nil {
		return nil, fmt.Errorf("scalar: tables for 2^%d elements of %s: %w", d.log, d.f.Name, err)
	}
	return t, nil
}

// Domain of the transform.
func (t *Transform) Domain() *Domain { return t.d }

// Bytes of device memory that the tables take.
func (t *Transform) Bytes() int64 {
	if t.tables == nil {
		return 0
	}
	return t.tables.bytes()
}

// Free gives the tables' memory back once work enqueued so far no longer needs it. The
// transform must not be used any more.
func (t *Transform) Free() {
	if t.tables != nil {
		t.tables.free()
	}
}

func (t *Transform) check(q *device.Queue, op string, buffers ...device.Buffer[uint64]) error {
	if q.Device() != t.dev {
		return fmt.Errorf("scalar: %s on %s: %w: the tables are on %s", op, q.Device().Name(), device.ErrUsage, t.dev.Name())
	}
	for i, b := range buffers {
		if b.Len() != t.d.Words() {
			return fmt.Errorf("scalar: %s of 2^%d elements of %s: %w: %d words, want %d", op, t.d.log, t.d.f.Name, device.ErrUsage, b.Len(), t.d.Words())
		}
		if err := b.Use(q); err != nil {
			return fmt.Errorf("scalar: %s: %w", op, err)
		}
		for _, other := range buffers[:i] {
			if device.Overlap(b, other) {
				return fmt.Errorf("scalar: %s: %w: buffers share memory", op, device.ErrUsage)
			}
		}
	}
	return q.Err()
}

func (o Order) check(op string) error {
	if o != Natural && o != Reversed {
		return fmt.Errorf("scalar: %s: %w: no order %v", op, device.ErrUsage, o)
	}
	return nil
}

// Forward turns buf, coefficients in the given order, into a polynomial's values on the
// domain, or on its coset, in the other order. Elements must be below the modulus, here
// and below; those that come out are.
func (t *Transform) Forward(q *device.Queue, buf device.Buffer[uint64], from Order, coset bool) error {
	return t.run(q, "forward transform", buf, from, false, coset)
}

// Inverse turns buf, values on the domain or on its coset in the given order, into a
// polynomial's coefficients in the other order.
func (t *Transform) Inverse(q *device.Queue, buf device.Buffer[uint64], from Order, coset bool) error {
	return t.run(q, "inverse transform", buf, from, true, coset)
}

func (t *Transform) run(q *device.Queue, op string, buf device.Buffer[uint64], from Order, inverse, coset bool) error {
	if err := from.check(op); err != nil {
		return err
	}
	if err := t.check(q, op, buf); err != nil {
		return err
	}
	if q.OnHost() {
		t.d.host().transform(buf.Host(), from, inverse, coset)
		return nil
	}
	s := step{inverse: inverse}
	switch {
	case coset && !inverse:
		s.in = t.tables.coset[from]
	case coset:
		s.out = t.tables.cosetInverse[1-from]
	case inverse:
		s.all = t.tables.length
	}
	return t.transform(q, buf, from, s)
}

// Reverse puts buf's elements from one order into the other.
func (t *Transform) Reverse(q *device.Queue, buf device.Buffer[uint64]) error {
	if err := t.check(q, "reversal", buf); err != nil {
		return err
	}
	if q.OnHost() {
		t.d.host().reverse(buf.Host())
		return nil
	}
	return t.reverse(q, buf)
}

// ToCoset turns buf, a polynomial's values on the domain, into those on the coset, both in
// natural order.
func (t *Transform) ToCoset(q *device.Queue, buf device.Buffer[uint64]) error {
	if err := t.check(q, "transform to the coset", buf); err != nil {
		return err
	}
	if q.OnHost() {
		t.d.host().transform(buf.Host(), Natural, true, false)
		t.d.host().transform(buf.Host(), Reversed, false, true)
		return nil
	}
	return t.toCoset(q, buf)
}

// Quotient turns a, b and c, the values of polynomials A, B and C on the domain in
// natural order, into the coefficients of
//
//	H = (A B - C) / (X^n - 1), n = Len
//
// in a, in bit-reversed order, which is that of the points Z in gnark's Groth16 keys: they
// are gnark's to the bit, which takes the value of the divisor on the coset for granted
// where the division leaves a rest. What is left in b and c is undefined.
//
// It is ToCoset of a and of b, and QuotientOnCoset, for which c need not be there before.
func (t *Transform) Quotient(q *device.Queue, a, b, c device.Buffer[uint64]) error {
	if err := t.check(q, "quotient", a, b, c); err != nil {
		return err
	}
	for _, x := range []device.Buffer[uint64]{a, b} {
		if err := t.ToCoset(q, x); err != nil {
			return err
		}
	}
	return t.QuotientOnCoset(q, a, b, c)
}

// QuotientOnCoset is the rest of Quotient where a and b are values on the coset, c still
// on the domain. C need not be taken to the coset, for the way back is linear: six
// transforms are all it takes.
func (t *Transform) QuotientOnCoset(q *device.Queue, a, b, c device.Buffer[uint64]) error {
	if err := t.check(q, "quotient", a, b, c); err != nil {
		return err
	}
	if q.OnHost() {
		return t.d.host().quotient(q, a.Host(), b.Host(), c.Host())
	}
	if err := t.rest(q, c); err != nil {
		return err
	}
	return t.quotientOfRest(q, a, b, c)
}

// Rest is a part of QuotientOnCoset, for c alone, which may be on another device than a and
// b: it turns c, a polynomial's values on the domain in natural order, into what
// QuotientOfRest takes off in the end, its coefficients times the inverse of X^n - 1 on the
// coset, in bit-reversed order.
func (t *Transform) Rest(q *device.Queue, c device.Buffer[uint64]) error {
	if err := t.check(q, "rest of a quotient", c); err != nil {
		return err
	}
	if q.OnHost() {
		t.d.host().transform(c.Host(), Natural, true, false)
		return t.d.host().divide(q, c.Host())
	}
	return t.rest(q, c)
}

// QuotientOfRest is what is left of Quotient where a and b are values on the coset, and c is
// what Rest makes.
func (t *Transform) QuotientOfRest(q *device.Queue, a, b, c device.Buffer[uint64]) error {
	if err := t.check(q, "quotient", a, b, c); err != nil {
		return err
	}
	if q.OnHost() {
		return t.d.host().ofRest(q, a.Host(), b.Host(), c.Host())
	}
	return t.quotientOfRest(q, a, b, c)
}

func (t *Transform) rest(q *device.Queue, c device.Buffer[uint64]) error {
	return t.transform(q, c, Natural, step{inverse: true, all: t.tables.rest})
}

func (t *Transform) quotientOfRest(q *device.Queue, a, b, c device.Buffer[uint64]) error {
	return t.transform(q, a, Natural, step{inverse: true, times: b, out: t.tables.fromCoset, minus: c})
}
