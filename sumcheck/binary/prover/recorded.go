package prover

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// Recorded is an instance whose proof by Window is made again and again, from tables
// that change where they are, for a z that does not: it keeps the memory of a proof, and on
// a GPU all launches as one graph. It is used by one goroutine at a time, the one of its queue.
type Recorded struct {
	q     *device.Queue
	in    Instance
	state device.Buffer[uint32]
	run   *windowProof  // nil where there is no GPU
	graph *device.Graph // nil where launches cannot be recorded
}

// Record takes the memory for proofs of the instance and records their launches.
// Kinds with bits only: others are an *AlgorithmError. Other errors are Prove's.
func Record(q *device.Queue, in Instance) (*Recorded, error) {
	if err := in.check(q); err != nil {
		return nil, err
	}
	if in.Kind == binary.AllExt {
		return nil, &AlgorithmError{Kind: in.Kind, Got: Window}
	}
	in.Z, in.Ext, in.Bits = slices.Clone(in.Z), slices.Clone(in.Ext), slices.Clone(in.Bits)
	r := &Recorded{q: q, in: in}
	if q.OnHost() {
		return r, nil
	}
	if err := r.record(); err != nil {
		r.Free()
		return nil, fmt.Errorf("binary sum-check: record: %w", err)
	}
	return r, nil
}

func (r *Recorded) record() (err error) {
	if r.state, err = newState(r.q, tower.New(tower.LabelSumcheck), r.in.Degree, gf2.Element{}); err != nil {
		return err
	}
	if r.run, err = newWindowProof(r.q, r.in, r.state); err != nil {
		return err
	}
	// A kernel is loaded by its first launch, which cannot be recorded.
	if err := r.q.Device().Preload(r.run.sources()...); err != nil {
		return err
	}
	r.graph, err = r.q.Record(r.run.launch)
	if errors.Is(err, device.ErrUnavailable) || errors.Is(err, device.ErrUsage) {
		r.graph, err = nil, nil // launched one by one
	}
	return err
}

// Prove is Prove for the tables' values of now.
func (r *Recorded) Prove(ctx context.Context, tr *tower.Transcript, value gf2.Element) (*binary.Proof, *binary.Result, error) {
	if r.run == nil {
		return Prove(ctx, r.q, tr, r.in, value, Options{})
	}
	// The tables may have been given back meanwhile, and bits written where there are none.
	if err := r.in.check(r.q); err != nil {
		return nil, nil, err
	}
	if err := stopped(ctx, r.q); err != nil {
		return nil, nil, fmt.Errorf("binary sum-check: %w", err)
	}
	start := tr.Clone()
	r.in.Claim(value).Absorb(start)
	proof, err := r.prove(ctx, start, value)
	if err != nil {
		return nil, nil, fmt.Errorf("binary sum-check: %w", err)
	}
	return proof, replay(tr, r.in.Claim(value), proof), nil
}

func (r *Recorded) prove(ctx context.Context, tr *tower.Transcript, value gf2.Element) (*binary.Proof, error) {
	if err := resetState(r.q, r.state, tr, value); err != nil {
		return nil, err
	}
	r.run.ctx = ctx
	launch := r.run.launch
	if r.graph != nil {
		launch = r.graph.Launch
	}
	if err := launch(); err != nil {
		return nil, err
	}
	return readState(r.q, r.state, r.in.Shape)
}

// Free gives the memory back. It may be called more than once.
func (r *Recorded) Free() {
	if r.graph != nil {
		// An error of earlier work comes up elsewhere.
		_ = r.graph.Free()
		r.graph = nil
	}
	if r.run != nil {
		r.run.free()
		r.run = nil
	}
	r.state.Free()
}
