// Package prover makes the proofs that package binary verifies: of sums over
// {0,1}^n of a product of multilinear polynomials over the tower of binary
// fields, of which all but the first may have bits for values.
//
// Every Algorithm makes the same proof. On a GPU a proof is a chain of launches
// in which the transcript runs on the device, and the host waits once.
package prover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// Instance is a claim as the prover knows it: the values of p_1..p_d over
// {0,1}^n, where the first variable is the top bit of an index.
//
//	kind      Z      Ext           Bits
//	ExtBits   empty  p_1           p_2 .. p_d
//	AllExt    empty  p_1 .. p_d    none
//	EqBits    n long none          p_2 .. p_d; p_1 = eq(Z, .) is never stored whole
//
// A table of Ext has 2^n elements and a column of Bits the words of 2^n bits, 32
// a word and at least one; in a word, bits above 2^n are zero. Tables and columns
// are read, never written, and may be the same memory.
type Instance struct {
	binary.Shape
	Z    []gf2.Element
	Ext  []device.Buffer[gf2.Element]
	Bits []device.Buffer[uint32]
}

// Claim is what the instance's proof is about.
func (in Instance) Claim(value gf2.Element) binary.Claim {
	return binary.Claim{Shape: in.Shape, Value: value, Z: in.Z}
}

// InstanceError is an instance that does not fit its shape: What has Got in place
// of Want.
type InstanceError struct {
	Shape     binary.Shape
	What      string // "tables", "elements of table 0", "words of column 1", ...
	Want, Got int
}

func (e *InstanceError) Error() string {
	return fmt.Sprintf("binary sum-check: %s, n = %d, d = %d: %d %s, want %d",
		e.Shape.Kind, e.Shape.Vars, e.Shape.Degree, e.Got, e.What, e.Want)
}

// check says what is wrong with the instance: the shape's own error, an
// *InstanceError, that of gf2.CheckColumn, or device.ErrUsage for a buffer of
// another device.
func (in Instance) check(q *device.Queue) error { return in.checkBut(q, false) }

// checkBut is check; p_1 may be elsewhere.
func (in Instance) checkBut(q *device.Queue, elsewhere bool) error {
	if err := in.Shape.Check(); err != nil {
		return err
	}
	wrong := func(what string, want, got int) error {
		if want == got {
			return nil
		}
		return &InstanceError{Shape: in.Shape, What: what, Want: want, Got: got}
	}
	point := 0
	if in.Kind == binary.EqBits {
		point = in.Vars
	}
	tables := in.Shape.Ext()
	if elsewhere {
		tables = 0
	}
	if err := cmp.Or(
		wrong("coordinates of z", point, len(in.Z)),
		wrong("tables", tables, len(in.Ext)),
		wrong("columns", in.Shape.Bits(), len(in.Bits)),
	); err != nil {
		return err
	}
	for j, t := range in.Ext {
		if err := wrong(fmt.Sprintf("elements of table %d", j), 1<<in.Vars, t.Len()); err != nil {
			return err
		}
		if err := t.Use(q); err != nil {
			return fmt.Errorf("binary sum-check: table %d: %w", j, err)
		}
	}
	for j, c := range in.Bits {
		if err := wrong(fmt.Sprintf("words of column %d", j), gf2.BitWords(in.Vars), c.Len()); err != nil {
			return err
		}
		if err := c.Use(q); err != nil {
			return fmt.Errorf("binary sum-check: column %d: %w", j, err)
		}
		if gf2.PaddingMask(in.Vars) == 0 {
			continue
		}
		// One word: bits that are no values would be summed as if they were.
		words, err := c.Read(q)
		if err == nil {
			err = gf2.CheckColumn(words, in.Vars)
		}
		if err != nil {
			return fmt.Errorf("binary sum-check: column %d: %w", j, err)
		}
	}
	return nil
}

// Algorithm is how round polynomials are computed. The proof does not depend on
// it, nor on the device.
type Algorithm int

// The algorithms. BDT1, BDT2, SumCATS1 and SumCATS2 are those of Fan, Han, Wu and
// Arafin, "GPU Acceleration of the Sum-Check Protocol Over Towers of Binary Fields"
// (sections III and IV), after Bagad, Domb and Thaler, ePrint 2024/1046.
const (
	// Window computes the first rounds from one pass of masked sums, without a
	// product, then folds once and goes on with fused rounds.
	Window Algorithm = iota
	// BDT1 folds every table and composes the folded ones, point by point.
	BDT1
	// BDT2 expands the first rounds in the challenges' products, so that the
	// tables' sums are masked ones, term by term; then it goes on with BDT1.
	BDT2
	// SumCATS1 is BDT2 and BDT1 with sums by blocks instead of whole tables.
	SumCATS1
	// SumCATS2 is SumCATS1 where the middle rounds rebuild the folded bits from
	// bits and products of challenges (get_batch) instead of storing them.
	SumCATS2
)

var algorithmNames = [...]string{"window", "bdt1", "bdt2", "sumcats1", "sumcats2"}

// Algorithms is all of them, the default first.
func Algorithms() []Algorithm { return []Algorithm{Window, BDT1, BDT2, SumCATS1, SumCATS2} }

// String is the algorithm's name.
func (a Algorithm) String() string {
	if a < 0 || int(a) >= len(algorithmNames) {
		return fmt.Sprintf("algorithm(%d)", int(a))
	}
	return algorithmNames[a]
}

// ParseAlgorithm is String's inverse. Its error is an *AlgorithmNameError.
func ParseAlgorithm(name string) (Algorithm, error) {
	for i, n := range algorithmNames {
		if n == name {
			return Algorithm(i), nil
		}
	}
	return 0, &AlgorithmNameError{Got: name}
}

// AlgorithmNameError is a name that no algorithm has.
type AlgorithmNameError struct{ Got string }

func (e *AlgorithmNameError) Error() string {
	return fmt.Sprintf("binary sum-check: algorithm %q, want one of %s", e.Got, strings.Join(algorithmNames[:], ", "))
}

// AlgorithmError is an algorithm that there is not for the kind: those that work
// on bits need some.
type AlgorithmError struct {
	Kind binary.Kind
	Got  Algorithm
}

func (e *AlgorithmError) Error() string {
	if e.Got < 0 || int(e.Got) >= len(algorithmNames) {
		return fmt.Sprintf("binary sum-check: %s, want one of %s", e.Got, strings.Join(algorithmNames[:], ", "))
	}
	return fmt.Sprintf("binary sum-check: algorithm %s for kind %s, which has no bits; want %s or %s", e.Got, e.Kind, Window, BDT1)
}

// Options of Prove; the zero value is the default.
type Options struct {
	Algorithm Algorithm
}

// Supports says whether there is the algorithm for the kind: nil or an
// *AlgorithmError.
func Supports(k binary.Kind, a Algorithm) error {
	if a < 0 || int(a) >= len(algorithmNames) || k == binary.AllExt && a != Window && a != BDT1 {
		return &AlgorithmError{Kind: k, Got: a}
	}
	return nil
}

// ErrNotOnDevice says that the algorithm runs on the CPU only.
var ErrNotOnDevice = errors.New("binary sum-check: not on this device")

// Prove proves that the instance's sum is value, which it does not check: the
// proof of a wrong value does not verify, and need not be the same from every
// algorithm. tr must be where the verifier's transcript is when it calls
// binary.Verify, and is left where that leaves it; after an error it is as it
// was. Prove waits for the device once, and stops between passes, on a GPU between
// launches, when ctx is done.
//
// Errors: those of a shape, *InstanceError, *AlgorithmError, device.ErrNoMemory,
// device.ErrUsage for buffers of other devices, the context's, and the device's.
func Prove(ctx context.Context, q *device.Queue, tr *tower.Transcript, in Instance, value gf2.Element, o Options) (*binary.Proof, *binary.Result, error) {
	if err := in.check(q); err != nil {
		return nil, nil, err
	}
	if err := Supports(in.Kind, o.Algorithm); err != nil {
		return nil, nil, err
	}
	if err := errors.Join(ctx.Err(), q.Err()); err != nil {
		return nil, nil, fmt.Errorf("binary sum-check: %w", err)
	}
	start := tr.Clone()
	in.Claim(value).Absorb(start)
	proof, err := prove(ctx, q, start, in, value, o.Algorithm)
	if err != nil {
		return nil, nil, fmt.Errorf("binary sum-check: %s: %w", o.Algorithm, err)
	}
	return proof, replay(tr, in.Claim(value), proof), nil
}

// prove chooses who proves. tr has absorbed the claim; what becomes of it does
// not matter.
func prove(ctx context.Context, q *device.Queue, tr *tower.Transcript, in Instance, value gf2.Element, a Algorithm) (*binary.Proof, error) {
	switch {
	case q.OnHost():
		return proveHost(ctx, q, tr, in, value, a)
	case a != Window:
		return proveSeedDevice(ctx, q, tr, in, value, a)
	case in.Kind == binary.AllExt:
		return proveExtDevice(ctx, q, tr, in, value)
	}
	return proveWindowDevice(ctx, q, tr, in, value)
}

// stopped is the error of a context that is done, or of the queue's work: what launches of a
// proof look at in between.
func stopped(ctx context.Context, q *device.Queue) error { return errors.Join(ctx.Err(), q.Err()) }

// replay takes tr through the messages of a proof, as the verifier does. A device
// that ran the transcript itself needs not hand back more than the proof.
func replay(tr *tower.Transcript, c binary.Claim, p *binary.Proof) *binary.Result {
	c.Absorb(tr)
	r := &binary.Result{Evals: p.Evals, Value: gf2.One()}
	for _, message := range p.Rounds {
		tr.Absorb(message)
		r.Point = append(r.Point, tr.Challenge())
	}
	tr.Absorb(p.Evals)
	if c.Kind == binary.EqBits {
		r.Value = binary.EqEval(c.Z, r.Point)
	}
	for _, v := range p.Evals {
		r.Value = r.Value.Mul(v)
	}
	return r
}
