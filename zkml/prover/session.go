package prover

import (
	"fmt"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// session is one run of an argument's prover. The host waits for the device for
// the output, which the statement has, for the messages between the commitments and
// the openings, and in the openings.
type session struct {
	*layout
	q   *device.Queue
	pk  *ProvingKey
	arg *zkml.Argument
	key *keyMemory

	live           device.Buffer[m31.Element]
	ext            device.Buffer[m31.QM31]
	scratch        device.Buffer[m31.QM31]
	stacks         []device.Buffer[m31.Element] // by home
	polys          []device.Buffer[m31.Element] // padded, by number; views where committed
	committed      []*whirprover.CommittedM31   // by home
	merged         []whir.M31Claim              // what each opening shows, by home
	proof          *zkml.Proof
	statementRoots []merkle.Digest // of the statement's tensors, once they are read
	tr             *transcriptprover.Transcript
	hooks          hooks
	salts          [][32]byte // of the statement's tensors

	owned   []interface{ Free() }
	stage   Stage
	began   time.Time
	timings []Timing
	notify  func(Stage, bool)
}

// newSession is a run on memory that holds what the key and l say.
func newSession(q *device.Queue, pk *ProvingKey, arg *zkml.Argument, l *layout, key *keyMemory, notify func(Stage, bool)) (*session, error) {
	n := len(l.plan.Stacks)
	s := &session{
		layout: l, q: q, pk: pk, arg: arg, key: key, notify: notify, proof: &zkml.Proof{Openings: make([]*whir.M31Proof, n)},
		stacks: make([]device.Buffer[m31.Element], n), committed: make([]*whirprover.CommittedM31, n), merged: make([]whir.M31Claim, n),
	}
	if err := s.allocate(); err != nil {
		s.free()
		return nil, err
	}
	return s, nil
}

// allocate gets the memory of a proof and names its parts.
func (s *session) allocate() (err error) {
	if s.live, err = alloc[m31.Element](s, s.layout.live); err != nil {
		return fmt.Errorf("witness: %w", err)
	}
	all, err := alloc[m31.QM31](s, s.messages+s.layout.scratch)
	if err != nil {
		return fmt.Errorf("messages: %w", err)
	}
	s.ext, s.scratch = all.Slice(0, s.messages), all.Slice(s.messages, all.Len())
	if err := s.live.Slice(0, s.zeroed).Zero(s.q); err != nil {
		return fmt.Errorf("witness: %w", err)
	}
	if s.inPartsEnd > s.inParts {
		if err := s.live.Slice(s.inParts, s.inPartsEnd).Zero(s.q); err != nil {
			return fmt.Errorf("witness: %w", err)
		}
	}
	begin := []place{plan.Parameters: fixedBit, plan.Witness: place(s.witness), plan.Multiplicities: place(s.mult)}
	for _, at := range s.layout.committed {
		begin = append(begin, place(at))
	}
	for h := range s.plan.Stacks {
		if st := &s.plan.Stacks[h]; !st.Empty() {
			s.stacks[h] = s.at(begin[h], 1<<st.Vars)
		}
	}
	s.polys = make([]device.Buffer[m31.Element], len(s.plan.Polys))
	for i := range s.polys {
		if s.plan.Polys[i].Implied {
			continue
		}
		s.polys[i] = s.at(s.layout.polys[i], 1<<s.plan.Polys[i].Vars)
	}
	return nil
}

// at is n words of the key's or of the proof's memory.
func (s *session) at(p place, n int) device.Buffer[m31.Element] {
	if p&fixedBit != 0 {
		at := int(p &^ fixedBit)
		return s.key.words.Slice(at, at+n)
	}
	return s.live.Slice(int(p), int(p)+n)
}

// part is n elements of the proof's memory.
func (s *session) part(at, n int) device.Buffer[m31.QM31] { return s.ext.Slice(at, at+n) }

// words is n elements of the proof's memory as words.
func (s *session) words(at, n int) device.Buffer[m31.Element] {
	return device.View[m31.Element](s.part(at, n))
}

func alloc[T any](s *session, n int) (device.Buffer[T], error) {
	b, err := device.Alloc[T](s.q, n)
	s.owned = append(s.owned, b)
	return b, err
}

func (s *session) free() {
	if s.tr != nil {
		s.tr.Free()
	}
	for h, c := range s.committed {
		if c != nil && plan.Home(h) != plan.Parameters { // those are the key's
			c.Free()
		}
	}
	s.release(0)
}

// release gives back what was allocated after the first `mark` buffers.
func (s *session) release(mark int) {
	for _, b := range s.owned[mark:] {
		b.Free()
	}
	s.owned = s.owned[:mark]
}

// prove runs the argument once the witness is in its stack; part is given the
// outputs, part by part as they arrive, and absorb, which is given all of them, starts
// the transcript. A device commits to the columns while the host hashes the output, and
// reads it if it is large: only what follows the roots waits for the hash.
func (s *session) prove(part func(y []int32), absorb func(y []int32) (*transcript.Transcript, error)) error {
	if err := s.complete(); err != nil {
		return err
	}
	q := s.q // that the outputs are read on
	var y []int32
	var err error
	if s.q.OnHost() || s.integersEnd-s.integers < manyOutputs {
		if y, err = s.read(q, part); err != nil {
			return err
		}
	} else {
		if q, err = s.q.Device().NewQueue(s.q.Context()); err != nil {
			return err
		}
		defer func() { _ = s.q.Join(q) }() // what fails on it has failed in a copy
		if err := q.After(s.q); err != nil {
			return err
		}
	}
	s.enter(StageCommit)
	if err := s.commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if q != s.q {
		if y, err = s.read(q, part); err != nil {
			return err
		}
	}
	tr, err := absorb(y)
	if err != nil {
		return err
	}
	if err := s.commitStatement(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if s.tr, err = transcriptprover.FromHost(s.q, tr); err != nil {
		return err
	}
	if err := s.absorbRoots(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	steps := []struct {
		stage Stage
		name  string
		run   func() error
	}{
		{StageLookups, "lookups", s.lookups},
		{StageSumcheck, "sum-checks", s.proveLayers},
		{StageMerge, "claim merging", s.mergeClaims},
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

// manyOutputs are worth a queue of their own to be read on.
const manyOutputs = 1 << 16

// complete states the outputs and counts the multiplicities.
func (s *session) complete() error {
	for i := range s.outputs {
		if err := s.state(&s.outputs[i]); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	if s.hooks.witness != nil {
		if err := s.hooks.witness(s); err != nil {
			return err
		}
	}
	if err := s.count(); err != nil {
		return fmt.Errorf("multiplicities: %w", err)
	}
	if s.hooks.counts != nil {
		return s.hooks.counts(s)
	}
	return nil
}

// read waits for the outputs on a queue.
func (s *session) read(q *device.Queue, part func(y []int32)) ([]int32, error) {
	const size = 1 << 18 // values of a part
	integers := device.View[int32](s.live.Slice(s.integers, s.integersEnd))
	y := make([]int32, integers.Len())
	for from := 0; from < len(y); from += size {
		to := min(from+size, len(y))
		if err := integers.Slice(from, to).CopyTo(q, y[from:to]); err != nil {
			return nil, fmt.Errorf("read the output: %w", err)
		}
		part(y[from:to])
	}
	return y, nil
}

// commit commits to witness and multiplicities where they lie.
func (s *session) commit() error {
	for _, h := range []plan.Home{plan.Witness, plan.Multiplicities} {
		if err := s.commitTo(h); err != nil {
			return err
		}
	}
	return nil
}

// commitStatement commits to inputs and outputs that are committed, where they
// lie with their salts.
func (s *session) commitStatement() error {
	if s.hooks.stated != nil {
		if err := s.hooks.stated(s); err != nil {
			return err
		}
	}
	for i := range s.plan.Committed {
		if err := s.commitTo(plan.FirstCommitted + plan.Home(i)); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) commitTo(h plan.Home) (err error) {
	if params := s.arg.Commitments[h]; params != nil {
		if s.committed[h], err = whirprover.CommitTableM31(s.q, params, s.stacks[h]); err != nil {
			return fmt.Errorf("%s: %w", h, err)
		}
	}
	return nil
}

// absorbRoots absorbs the roots where they lie, and keeps them for the proof: the
// statement's, and then those that are sent.
func (s *session) absorbRoots() error {
	for _, h := range s.plan.Order() {
		c := s.committed[h]
		if c == nil || h == plan.Parameters {
			continue
		}
		if err := c.Absorb(s.q, s.tr); err != nil {
			return fmt.Errorf("%s: %w", h, err)
		}
		if err := device.Copy(s.q, s.root(h), c.RootBuffer()); err != nil {
			return fmt.Errorf("%s: %w", h, err)
		}
	}
	return nil
}

// root is where the root of a commitment waits to be read.
func (s *session) root(h plan.Home) device.Buffer[m31.Element] {
	return s.words(s.roots+rootElements*int(h), rootElements)
}

// open opens every commitment at its merged claim. That to the parameters was begun when the key was loaded.
func (s *session) open() error {
	if c := s.key.committed; c != nil {
		made, err := c.wait(s.q.Context())
		if err != nil {
			return err
		}
		s.committed[plan.Parameters] = made
	}
	var homes []plan.Home
	var openings []whirprover.OpeningM31
	for _, h := range s.plan.Order() {
		if s.committed[h] == nil {
			continue
		}
		c := s.merged[h]
		if s.hooks.open != nil {
			c = s.hooks.open(s, h, c)
		}
		homes = append(homes, h)
		openings = append(openings, whirprover.OpeningM31{Name: h.String(), Committed: s.committed[h], Claims: []whir.M31Claim{c}})
	}
	proofs, err := whirprover.OpenAllM31(s.q, s.tr, openings)
	if err != nil {
		return err
	}
	for i, h := range homes {
		s.proof.Openings[h] = proofs[i]
	}
	return nil
}
