package prover

import (
	"fmt"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// session is one run of an argument's prover.
type session struct {
	q    *device.Queue
	host *device.Queue
	pk   *ProvingKey
	arg  *zkml.Argument
	plan *plan.Plan

	stacks    [plan.Stacks]device.Buffer[m31.Element]
	committed [plan.Stacks]*whirprover.Committed
	merged    [plan.Stacks]whir.M31Claim   // what each opening shows
	polys     []device.Buffer[m31.Element] // padded, by number; views where committed
	y         []m31.Element                // the padded output, if the plan has one
	values    *plan.Values
	proof     *zkml.Proof
	tr        *transcriptprover.Transcript
	hooks     hooks

	tables  map[int]device.Buffer[m31.Element] // second columns, by multiplicities
	owned   []interface{ Free() }
	stage   Stage
	began   time.Time
	timings []Timing
	notify  func(Stage, bool)
}

func newSession(q *device.Queue, pk *ProvingKey, arg *zkml.Argument, notify func(Stage, bool)) (*session, error) {
	if err := preload(q.Device()); err != nil {
		return nil, err
	}
	h, err := host(q.Context())
	if err != nil {
		return nil, err
	}
	s := &session{q: q, host: h, pk: pk, arg: arg, plan: arg.Plan, notify: notify, proof: new(zkml.Proof), tables: map[int]device.Buffer[m31.Element]{}, values: plan.NewValues(arg.Plan)}
	if err := s.layout(); err != nil {
		s.free()
		return nil, err
	}
	return s, nil
}

// leastMemory is a number of bytes of device memory that a session cannot do
// without: the stacks and the tensors outside them, and beside them the larger
// of the fractional-sum tree and the weights that merge the claims on one
// stack. It is asked for before any work, so that what cannot end does not
// begin.
func leastMemory(pl *plan.Plan) int64 {
	const base, ext = 4, 16 // bytes of an element
	var held, beside int64
	for h := range pl.Stacks {
		st := &pl.Stacks[h]
		if st.Empty() {
			continue
		}
		held += base << st.Vars
		if len(st.Evals) > 0 {
			beside = max(beside, ext<<st.Vars)
		}
	}
	for i := range pl.Polys {
		if p := &pl.Polys[i]; p.Home >= plan.Stacks {
			held += base << p.Vars
		}
	}
	if len(pl.Leaves) > 0 {
		// A numerator and a denominator a leaf, and as many nodes above, less one.
		leaves := int64(1) << pl.TreeVars
		beside = max(beside, leaves*(base+ext)+(leaves-1)*2*ext)
	}
	return held + beside
}

func alloc[T any](s *session, n int) (device.Buffer[T], error) {
	b, err := device.Alloc[T](s.q, n)
	s.owned = append(s.owned, b)
	return b, err
}

func upload[T any](s *session, v []T) (device.Buffer[T], error) {
	b, err := device.Upload(s.q, v)
	s.owned = append(s.owned, b)
	return b, err
}

func (s *session) free() {
	if s.tr != nil {
		s.tr.Free()
	}
	for _, b := range s.owned {
		b.Free()
	}
}

// layout allocates the stacks, zeroed, and the polynomials within and outside
// them.
func (s *session) layout() error {
	for h := range s.plan.Stacks {
		if st := &s.plan.Stacks[h]; !st.Empty() {
			b, err := alloc[m31.Element](s, 1<<st.Vars)
			if err != nil {
				return fmt.Errorf("%s: %w", st.Home, err)
			}
			if err := b.Zero(s.q); err != nil {
				return fmt.Errorf("%s: %w", st.Home, err)
			}
			s.stacks[h] = b
		}
	}
	s.polys = make([]device.Buffer[m31.Element], len(s.plan.Polys))
	for i := range s.plan.Polys {
		p := &s.plan.Polys[i]
		if p.Home < plan.Stacks {
			s.polys[i] = s.stacks[p.Home].Slice(p.Offset, p.Offset+1<<p.Vars)
			continue
		}
		b, err := alloc[m31.Element](s, 1<<p.Vars)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", p.Name, err)
		}
		s.polys[i] = b
	}
	return nil
}

// prove runs the argument from the witness's commitment on; the parameters and
// the witness are in their buffers, and tr has absorbed the statement.
func (s *session) prove(tr *transcript.Transcript) error {
	steps := []struct {
		stage Stage
		name  string
		run   func() error
	}{
		{StageCommit, "commit", func() error { return s.commit(tr) }},
		{StageLookups, "lookups", func() error { return s.lookups(tr) }},
		{StageSumcheck, "sum-checks", s.layers},
		{StageMerge, "claim merging", s.merge},
		{StageOpen, "openings", s.open},
	}
	for _, st := range steps {
		s.enter(st.stage)
		if err := st.run(); err != nil {
			return fmt.Errorf("%s: %w", st.name, err)
		}
	}
	return nil
}
