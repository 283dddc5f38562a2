// Package shared is what setups over all curves share: the walk over constraints on all
// cores, the kinds of wires, and stages with their times.
package shared

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/consensys/gnark/constraint"

	"github.com/zkwarp/zkwarp/internal/parallel"
)

// ErrSystem is the class of errors about what a constraint system says.
var ErrSystem = errors.New("unusable constraint system")

// block is how many instructions one call of a body has: enough for what it does once, such
// as an inversion, not to count.
const block = 1 << 12

// Constraints calls body for runs of constraints, on all cores: next gives one after the
// other, the first of them number first, and nil after the last of n. What it returns is
// overwritten by the next call. progress, if it is not nil, is called with the number of
// constraints that are done, by one goroutine at a time. The first error ends the walk; a
// panic of a body, or of a blueprint that reads bad data, is one.
func Constraints(ctx context.Context, cs *constraint.System, progress func(done int), body func(first, n int, next func() *constraint.R1C) error) error {
	blueprints := make([]constraint.BlueprintR1C, len(cs.Blueprints))
	for i, b := range cs.Blueprints {
		blueprints[i], _ = b.(constraint.BlueprintR1C)
	}
	of := func(i constraint.PackedInstruction) constraint.BlueprintR1C {
		if int(i.BlueprintID) < len(blueprints) {
			return blueprints[i.BlueprintID]
		}
		return nil
	}
	// Instructions that are hints have no constraint: each block's first one is a sum.
	blocks := (len(cs.Instructions) + block - 1) / block
	first := make([]int, blocks+1)
	parallel.For(blocks, 4, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			for _, i := range cs.Instructions[b*block : min((b+1)*block, len(cs.Instructions))] {
				if of(i) != nil {
					first[b+1]++
				}
			}
		}
	})
	for b := range blocks {
		first[b+1] += first[b]
	}
	if n := cs.GetNbConstraints(); first[blocks] != n {
		return fmt.Errorf("%w: it has %d constraints and says %d", ErrSystem, first[blocks], n)
	}
	var (
		failure error
		mu      sync.Mutex
		stop    atomic.Bool
		done    int
	)
	finish := func(n int, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil && failure == nil {
			failure = err
			stop.Store(true)
		}
		done += n
		if failure == nil && progress != nil {
			progress(done)
		}
	}
	one := func(b int) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%w: constraints %d to %d: %v", ErrSystem, first[b], first[b+1], p)
			}
		}()
		var c constraint.R1C
		at, end := b*block, min((b+1)*block, len(cs.Instructions))
		return body(first[b], first[b+1]-first[b], func() *constraint.R1C {
			for at < end {
				i := cs.Instructions[at]
				at++
				if r := of(i); r != nil {
					r.DecompressR1C(&c, i.Unpack(cs))
					return &c
				}
			}
			return nil
		})
	}
	parallel.For(blocks, 1, func(lo, hi int) {
		for b := lo; b < hi && !stop.Load(); b++ {
			finish(first[b+1]-first[b], one(b))
		}
	})
	if failure == nil {
		failure = ctx.Err()
	}
	return failure
}

// Wires is how the wires of a system are told apart by a setup.
type Wires struct {
	N, Public int // all, and those of the statement with the wire of one
	// Special are the wires that are not public and still have no point in the key's query
	// K, in ascending order.
	Special     []Special
	Commitments constraint.Groth16Commitments
}

// Special is a wire that is a commitment, or is committed to.
type Special struct {
	Wire int
	// Commitment is which one commits to the wire, -1 if it is one itself.
	Commitment int
}

// NewWires looks at a system, which may be one that was read from somewhere.
func NewWires(cs *constraint.System) (*Wires, error) {
	info, ok := cs.CommitmentInfo.(constraint.Groth16Commitments)
	if !ok {
		return nil, fmt.Errorf("%w: commitments of type %T, want those of Groth16", ErrSystem, cs.CommitmentInfo)
	}
	w := &Wires{Public: cs.GetNbPublicVariables(), Commitments: info}
	w.N = w.Public + cs.GetNbSecretVariables() + cs.NbInternalVariables
	committed := info.GetPrivateCommitted()
	at := make([]int, len(committed))
	own := 0
	// The least of what is left of all lists, which are sorted.
	for last := w.Public - 1; ; {
		next, from := w.N, -2
		if own < len(info) {
			next, from = info[own].CommitmentIndex, -1
		}
		for i := range committed {
			if at[i] < len(committed[i]) && (from == -2 || committed[i][at[i]] < next) {
				next, from = committed[i][at[i]], i
			}
		}
		if from == -2 {
			break
		}
		if next <= last || next >= w.N {
			return nil, fmt.Errorf("%w: wire %d of %d, of which %d are public, is committed to out of order, twice or with no place", ErrSystem, next, w.N, w.Public)
		}
		if from == -1 {
			own++
		} else {
			at[from]++
		}
		w.Special = append(w.Special, Special{Wire: next, Commitment: from})
		last = next
	}
	// What public wires and commitments a commitment depends on, as its key will say.
	for i, c := range info {
		if c.NbPublicCommitted < 0 || c.NbPublicCommitted > len(c.PublicAndCommitmentCommitted) {
			return nil, fmt.Errorf("%w: commitment %d depends on %d public wires and has %d", ErrSystem, i, c.NbPublicCommitted, len(c.PublicAndCommitmentCommitted))
		}
		k := 0
		for _, wire := range c.GetCommitmentCommitted() {
			for k < len(info) && info[k].CommitmentIndex != wire {
				k++
			}
			if k == len(info) {
				return nil, fmt.Errorf("%w: commitment %d depends on wire %d, which is no earlier one", ErrSystem, i, wire)
			}
		}
	}
	return w, nil
}

// Compact moves the elements that are not dropped to the front of v, in their order, and
// returns them. Blocks are done on all cores, and then moved one after the other.
func Compact[T any](v []T, drop []bool) []T {
	const block = 1 << 15
	blocks := (len(v) + block - 1) / block
	kept := make([]int, blocks)
	parallel.For(blocks, 1, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			from, to := b*block, min((b+1)*block, len(v))
			n := from
			for i := from; i < to; i++ {
				if drop[i] {
					continue
				}
				if n != i {
					v[n] = v[i]
				}
				n++
			}
			kept[b] = n - from
		}
	})
	n := 0
	for b, k := range kept {
		if n != b*block {
			copy(v[n:n+k], v[b*block:b*block+k])
		}
		n += k
	}
	return v[:n]
}
