// Package prover makes the proofs that package sumcheck verifies, on a device.
//
// A run is a chain of asynchronous operations: a round's message is computed
// into a buffer, the device's transcript absorbs it and draws the challenge into
// another, and the fold reads it there. The host waits once, to read the proof.
package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
)

// Table is the 2^n values of one factor: Base or Ext is set. Entry x is at
// index x*Stride; Stride 0 stands for 1. Tables are read, never written.
type Table struct {
	Base   device.Buffer[m31.Element]
	Ext    device.Buffer[m31.QM31]
	Stride int
}

// Base is the table of a buffer over the prime field.
func Base(b device.Buffer[m31.Element]) Table { return Table{Base: b} }

// Ext is the table of a buffer over the extension.
func Ext(b device.Buffer[m31.QM31]) Table { return Table{Ext: b} }

func (t Table) stride() int { return max(1, t.Stride) }

// Instance is one claim of a batch as the prover knows it.
type Instance struct {
	sumcheck.Shape
	Tables []Table                 // one a factor
	Point  device.Buffer[m31.QM31] // eq's point z, Vars long, if Eq; else empty
	Coeffs device.Buffer[m31.QM31] // one a term, empty: all 1; or the scalars of Expr
}

func (in Instance) check(q *device.Queue) error {
	if err := in.Shape.Check(); err != nil {
		return err
	}
	if len(in.Tables) != in.Factors {
		return fmt.Errorf("%w: %d tables for %d factors", sumcheck.ErrShape, len(in.Tables), in.Factors)
	}
	for k, t := range in.Tables {
		n := t.Base.Len() + t.Ext.Len()
		// A stride beyond the table is refused first: its multiples may overflow.
		if (t.Base.Len() == 0) == (t.Ext.Len() == 0) || t.stride() > max(n, 1) && in.Vars > 0 || n < (1<<in.Vars-1)*t.stride()+1 || n > t.stride()<<in.Vars {
			return fmt.Errorf("%w: factor %d: %d base and %d extension entries at stride %d for %d variables",
				sumcheck.ErrShape, k, t.Base.Len(), t.Ext.Len(), t.stride(), in.Vars)
		}
		if err := errors.Join(t.Base.Use(q), t.Ext.Use(q)); err != nil {
			return fmt.Errorf("factor %d: %w", k, err)
		}
	}
	want := 0
	if in.Eq {
		want = in.Vars
	}
	if in.Point.Len() != want {
		return fmt.Errorf("%w: eq point of %d coordinates, want %d", sumcheck.ErrShape, in.Point.Len(), want)
	}
	if n, want := in.Coeffs.Len(), in.NumCoeffs(); n != want && (n != 0 || in.Expr != nil) {
		return fmt.Errorf("%w: %d coefficients, want %d", sumcheck.ErrShape, n, want)
	}
	return errors.Join(in.Point.Use(q), in.Coeffs.Use(q))
}

// checkAll says what is wrong with the first instance that does not fit its shape
// or is not on q's device.
func checkAll(q *device.Queue, instances []Instance) error {
	for j, in := range instances {
		if err := in.check(q); err != nil {
			return fmt.Errorf("instance %d: %w", j, err)
		}
	}
	return nil
}

// Shapes of the instances.
func Shapes(instances []Instance) []sumcheck.Shape {
	s := make([]sumcheck.Shape, len(instances))
	for i, in := range instances {
		s[i] = in.Shape
	}
	return s
}

// Output is where Run leaves the proof and the point, for n rounds of degree d.
type Output struct {
	Rounds device.Buffer[m31.QM31] // n*d
	Evals  device.Buffer[m31.QM31] // one a factor of all instances
	Point  device.Buffer[m31.QM31] // n
}

// Prove proves the batch; values are the claimed sums, one an instance, which are
// not checked. tr must be where the verifier's transcript is when it calls
// sumcheck.Verify; FromHost of package transcript/prover takes one there from the
// host. Prove waits for the device, once. Proof and Result are as package sumcheck
// describes them. Errors are sumcheck.ErrShape for instances that do not fit their
// shapes, and those of the device.
func Prove(q *device.Queue, tr *transcript.Transcript, instances []Instance, values []m31.QM31) (*sumcheck.Proof, *sumcheck.Result, error) {
	return prove(q, tr, instances, values, usual(q))
}

func prove(q *device.Queue, tr *transcript.Transcript, instances []Instance, values []m31.QM31, lim limits) (*sumcheck.Proof, *sumcheck.Result, error) {
	shapes := Shapes(instances)
	if len(values) != len(instances) || len(values) == 0 {
		return nil, nil, fmt.Errorf("%w: %d values for %d instances", sumcheck.ErrShape, len(values), len(instances))
	}
	if err := checkAll(q, instances); err != nil {
		return nil, nil, err
	}
	n, d, e := sumcheck.Rounds(shapes), sumcheck.Degree(shapes), sumcheck.Evaluations(shapes)
	all, err := device.Alloc[m31.QM31](q, n*d+e+n+len(values))
	if err != nil {
		return nil, nil, fmt.Errorf("sumcheck: proof: %w", err)
	}
	defer all.Free()
	all, claimed := all.Slice(0, n*d+e+n), all.Slice(n*d+e+n, all.Len())
	if err := claimed.CopyFrom(q, values); err != nil {
		return nil, nil, fmt.Errorf("sumcheck: claims: %w", err)
	}
	out := Output{Rounds: all.Slice(0, n*d), Evals: all.Slice(n*d, n*d+e), Point: all.Slice(n*d+e, n*d+e+n)}
	if err := run(q, tr, instances, claimed, out, lim); err != nil {
		return nil, nil, err
	}
	host, err := all.Read(q)
	if err != nil {
		return nil, nil, fmt.Errorf("sumcheck: read the proof: %w", err)
	}
	proof := &sumcheck.Proof{Rounds: host[: n*d : n*d], Evals: host[n*d : n*d+e : n*d+e]}
	return proof, sumcheck.NewResult(shapes, host[n*d+e:], proof.Evals), nil
}

// batch is a run's state on one kind of device. What it absorbs and draws is
// what sumcheck.Verify absorbs and draws, in the same order.
type batch interface {
	// start absorbs the claimed sums and draws the batching challenge.
	start(values device.Buffer[m31.QM31]) error
	// round does round i, and maybe later ones too; it returns the round that
	// comes next.
	round(i int) (next int, err error)
	// finish leaves the factors' final values, absorbed.
	finish() error
	free()
}

// Run is Prove on the device alone: values are the claimed sums, one an
// instance, and everything stays there. It does not wait for the device.
func Run(q *device.Queue, tr *transcript.Transcript, instances []Instance, values device.Buffer[m31.QM31], out Output) error {
	if err := checkAll(q, instances); err != nil {
		return err
	}
	return run(q, tr, instances, values, out, usual(q))
}

// run is Run for instances that are checked.
func run(q *device.Queue, tr *transcript.Transcript, instances []Instance, values device.Buffer[m31.QM31], out Output, lim limits) error {
	shapes := Shapes(instances)
	n, d := sumcheck.Rounds(shapes), sumcheck.Degree(shapes)
	if len(instances) == 0 || values.Len() != len(instances) || out.Rounds.Len() != n*d || out.Evals.Len() != sumcheck.Evaluations(shapes) || out.Point.Len() != n {
		return fmt.Errorf("%w: buffers do not fit %d instances", sumcheck.ErrShape, len(instances))
	}
	if err := errors.Join(tr.Use(q), values.Use(q), out.Rounds.Use(q), out.Evals.Use(q), out.Point.Use(q)); err != nil {
		return fmt.Errorf("sumcheck: transcript, claims and proof: %w", err)
	}
	var b batch
	var err error
	if q.OnHost() {
		b = newHost(q, tr, instances, n, d, out)
	} else if lim.isLinear(instances) {
		b, err = newLinear(q, tr, instances[0], out)
	} else {
		b, err = newOnDevice(q, tr, instances, n, d, out, lim, alone(len(instances)))
	}
	if err != nil {
		return fmt.Errorf("sumcheck: set up: %w", err)
	}
	return rounds(b, values, n)
}

// rounds runs a batch of n rounds and frees it.
func rounds(b batch, values device.Buffer[m31.QM31], n int) error {
	defer b.free()
	if err := b.start(values); err != nil {
		return fmt.Errorf("sumcheck: start: %w", err)
	}
	for i := 0; i < n; {
		next, err := b.round(i)
		if err != nil {
			return fmt.Errorf("sumcheck: round %d: %w", i, err)
		}
		i = next
	}
	if err := b.finish(); err != nil {
		return fmt.Errorf("sumcheck: evaluations: %w", err)
	}
	return nil
}
