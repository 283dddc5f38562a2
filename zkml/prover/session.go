package prover

import (
	"fmt"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	logupprover "github.com/zkwarp/zkwarp/logup/prover"
	"github.com/zkwarp/zkwarp/mle"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Stage is a part of the work of a proof, for progress and timing.
type Stage string

// Stages of a proof, in order.
const (
	StageForward  Stage = "forward pass"
	StageCommit   Stage = "commitments"
	StageLookups  Stage = "lookups"
	StageSumcheck Stage = "sum-checks"
	StageMerge    Stage = "claim merging"
	StageOpen     Stage = "openings"
)

// Stages lists all stages in order.
func Stages() []Stage {
	return []Stage{StageForward, StageCommit, StageLookups, StageSumcheck, StageMerge, StageOpen}
}

// Timing is how long a stage took, in wall time of the host.
type Timing struct {
	Stage Stage
	Time  time.Duration
}

// hooks let the tests of this package cheat between the stages of a proof. The
// zero value changes nothing. Verifiers have nothing of the kind.
type hooks struct {
	params     func(p *plan.Plan, stack []m31.Element)               // at setup, before they are committed
	statement  func(s *session, x, y []int32) (x2, y2 []int32)       // before it is absorbed
	program    func(p *graph.Program) *graph.Program                 // that the forward pass runs
	input      func(s *session) error                                // before the forward pass
	witness    func(s *session) error                                // after the forward pass
	counts     func(s *session) error                                // after multiplicities are counted
	leaves     func(num []m31.Element, den []m31.QM31)               // of the fractional-sum tree
	evaluation func(s *session, id int, v m31.QM31) m31.QM31         // before it is sent
	instance   func(s *session, in *plan.Instance, table []m31.QM31) // a public factor over the extension
	weight     func(s *session, h plan.Home, table []m31.QM31)       // of the claim merging
	open       func(s *session, h plan.Home, c whir.M31Claim) whir.M31Claim
	proof      func(s *session, p *zkml.Proof) // before it is encoded
}

// edit changes a buffer through the host.
func edit[T any](q *device.Queue, b device.Buffer[T], f func(v []T)) error {
	v, err := b.Read(q)
	if err != nil {
		return err
	}
	f(v)
	return b.CopyFrom(q, v)
}

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

// enter ends the current stage, if any, and starts the next.
func (s *session) enter(next Stage) {
	now := time.Now()
	if s.stage != "" {
		s.timings = append(s.timings, Timing{s.stage, now.Sub(s.began)})
		if s.notify != nil {
			s.notify(s.stage, true)
		}
	}
	s.stage, s.began = next, now
	if next != "" && s.notify != nil {
		s.notify(next, false)
	}
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

// commit counts the multiplicities and commits to witness and multiplicities.
func (s *session) commit(tr *transcript.Transcript) error {
	if s.hooks.witness != nil {
		if err := s.hooks.witness(s); err != nil {
			return err
		}
	}
	for i := range s.plan.Leaves {
		if l := &s.plan.Leaves[i]; !l.Rows {
			if err := s.count(l); err != nil {
				return fmt.Errorf("multiplicities: %w", err)
			}
		}
	}
	if s.hooks.counts != nil {
		if err := s.hooks.counts(s); err != nil {
			return err
		}
	}
	if s.arg.Commitments[plan.Parameters] != nil { // made with the key, unless that was read from a file
		c, err := s.pk.commitment(s.host)
		if err != nil {
			return err
		}
		s.committed[plan.Parameters] = c
	}
	for h := plan.Witness; h < plan.Stacks; h++ {
		params := s.arg.Commitments[h]
		if params == nil {
			continue
		}
		table, err := s.stacks[h].Read(s.q)
		if err != nil {
			return fmt.Errorf("%s: %w", h, err)
		}
		c, err := whirprover.CommitM31(s.host, params, table)
		if err != nil {
			return fmt.Errorf("%s: %w", h, err)
		}
		s.committed[h], s.proof.Roots[h] = c, c.Root()
		tr.Absorb(params.CommitmentWords(c.Root()))
	}
	return nil
}

// lookups draws the lookup challenges, proves the fractional sums and sends
// the evaluations at the leaf point; then it draws the binding point.
func (s *session) lookups(tr *transcript.Transcript) error {
	var err error
	if len(s.plan.Leaves) == 0 {
		if s.tr, err = transcriptprover.FromHost(s.q, tr); err != nil {
			return err
		}
		return s.bind()
	}
	if s.proof.Nonce, err = tr.Grind(s.arg.Work); err != nil {
		return fmt.Errorf("work: %w", err)
	}
	alpha, beta := tr.Challenge(), tr.Challenge()
	if s.tr, err = transcriptprover.FromHost(s.q, tr); err != nil {
		return err
	}
	num, den, err := s.fractions(alpha, beta)
	defer num.Free()
	defer den.Free()
	if err != nil {
		return fmt.Errorf("fractions: %w", err)
	}
	if s.hooks.leaves != nil {
		n, err := num.Read(s.q)
		if err != nil {
			return err
		}
		if err := edit(s.q, den, func(d []m31.QM31) { s.hooks.leaves(n, d) }); err != nil {
			return err
		}
		if err := num.CopyFrom(s.q, n); err != nil {
			return err
		}
	}
	tree, claim, err := logupprover.Prove(s.q, s.tr, s.plan.TreeVars, logupprover.Leaves{Base: num, Den: den})
	if err != nil {
		return err
	}
	s.proof.Tree = tree
	if err := s.values.Draw(claim.Point); err != nil {
		return err
	}
	if s.proof.Leaves, err = s.send(s.plan.LeafSent); err != nil {
		return fmt.Errorf("leaf evaluations: %w", err)
	}
	return s.bind()
}

// bind draws the binding point, and evaluates the output there if the plan
// says so.
func (s *session) bind() error {
	point, err := s.challenges(s.plan.BindVars)
	if err != nil {
		return err
	}
	if err := s.values.Draw(point); err != nil {
		return err
	}
	if s.plan.Given >= 0 {
		return s.values.Set(s.plan.Given, mle.EvaluateBase(s.y, point))
	}
	return nil
}

// challenges draws n challenges from the device's transcript.
func (s *session) challenges(n int) ([]m31.QM31, error) {
	if n == 0 {
		return nil, nil
	}
	b, err := alloc[m31.QM31](s, n)
	if err != nil {
		return nil, err
	}
	if err := s.tr.Challenge(b); err != nil {
		return nil, err
	}
	return b.Read(s.q)
}

// send evaluates polynomials, absorbs the values and returns them.
func (s *session) send(ids []int) ([]m31.QM31, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := device.Alloc[m31.QM31](s.q, len(ids))
	if err != nil {
		return nil, err
	}
	defer out.Free()
	for i, id := range ids {
		point, err := device.Upload(s.q, s.values.At(id))
		if err != nil {
			return nil, err
		}
		err = mleprover.Evaluate(s.q, out.Slice(i, i+1), s.polys[s.plan.Evals[id].Poly], point)
		point.Free()
		if err != nil {
			return nil, err
		}
	}
	if s.hooks.evaluation != nil {
		if err := edit(s.q, out, func(v []m31.QM31) {
			for i, id := range ids {
				v[i] = s.hooks.evaluation(s, id, v[i])
			}
		}); err != nil {
			return nil, err
		}
	}
	if err := s.tr.Absorb(device.View[m31.Element](out)); err != nil {
		return nil, err
	}
	v, err := out.Read(s.q)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if err := s.values.Set(id, v[i]); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// open opens every commitment at its merged claim. Openings run on the host.
func (s *session) open() error {
	tr, err := s.tr.Host()
	if err != nil {
		return err
	}
	for h, c := range s.merged {
		if s.committed[h] == nil {
			continue
		}
		if s.hooks.open != nil {
			c = s.hooks.open(s, plan.Home(h), c)
		}
		o, err := whirprover.OpenM31(s.host, tr, s.committed[h], []whir.M31Claim{c})
		if err != nil {
			return fmt.Errorf("%s: %w", plan.Home(h), err)
		}
		s.proof.Openings[h] = o
	}
	return nil
}
