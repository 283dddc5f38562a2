package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	logupprover "github.com/zkwarp/zkwarp/logup/prover"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// lookups does the work that is due, draws the lookup challenges, proves the
// fractional sums and sends the evaluations at the leaf point; then it draws the
// binding point.
func (s *session) lookups() error {
	nonce := s.words(s.nonce, nonceElements).Slice(0, 2)
	if err := nonce.Zero(s.q); err != nil {
		return fmt.Errorf("work: %w", err)
	}
	if len(s.plan.Leaves) > 0 {
		if err := s.tr.Grind(s.arg.Work, nonce); err != nil {
			return fmt.Errorf("work: %w", err)
		}
	}
	binding := s.part(s.plan.Bind, s.plan.BindVars)
	if len(s.plan.Leaves) == 0 {
		return s.tr.Challenge(binding)
	}
	if err := s.tree(); err != nil {
		return err
	}
	if err := s.run(&s.leafStep); err != nil {
		return fmt.Errorf("leaf evaluations: %w", err)
	}
	return s.send(s.plan.LeafSent, s.sentLeaves, binding)
}

// tree draws the lookup challenges and proves the fractional sums.
func (s *session) tree() error {
	challenges := s.part(s.alpha, 2)
	if err := s.tr.Challenge(challenges); err != nil {
		return err
	}
	n := 1 << s.plan.TreeVars
	num, err := device.Alloc[m31.Element](s.q, n)
	if err != nil {
		return fmt.Errorf("fractions: %w", err)
	}
	defer num.Free()
	den, err := device.Alloc[m31.QM31](s.q, n)
	if err != nil {
		return fmt.Errorf("fractions: %w", err)
	}
	defer den.Free()
	if err := s.fractions(num, den, challenges); err != nil {
		return fmt.Errorf("fractions: %w", err)
	}
	if s.hooks.leaves != nil {
		err := edit(s.q, num, func(n []m31.Element) {
			if e := edit(s.q, den, func(d []m31.QM31) { s.hooks.leaves(n, d) }); e != nil {
				err = e
			}
		})
		if err != nil {
			return err
		}
	}
	n = s.plan.TreeVars
	proof := s.part(s.sums, logupprover.Elements(n))
	if err := logupprover.Run(s.q, s.tr, n, logupprover.Leaves{Base: num, Den: den}, proof); err != nil {
		return err
	}
	// The claim's point is the first coordinates.
	return device.Copy(s.q, s.part(0, n), proof.Slice(proof.Len()-n, proof.Len()))
}

// send absorbs evaluations, which are at element `at`, and draws challenges.
func (s *session) send(ids []int, at int, drawn device.Buffer[m31.QM31]) error {
	sent := s.part(at, len(ids))
	if s.hooks.evaluation != nil && len(ids) > 0 {
		if err := edit(s.q, sent, func(v []m31.QM31) {
			for i, id := range ids {
				v[i] = s.hooks.evaluation(s, id, v[i])
			}
		}); err != nil {
			return err
		}
	}
	switch {
	case len(ids) == 0 && drawn.Len() == 0:
		return nil
	case len(ids) == 0:
		return s.tr.Challenge(drawn)
	}
	return s.tr.AbsorbChallenge(device.View[m31.Element](sent), drawn)
}

// collect waits for the messages between the commitments and the openings.
func (s *session) collect() error {
	v, err := s.ext.Read(s.q)
	if err != nil {
		return fmt.Errorf("read the messages: %w", err)
	}
	copy(s.proof.Nonce[:], m31.Words(v[s.nonce:]))
	if err := m31.CheckCanonical(s.proof.Nonce[:]); err != nil { // a search that has failed
		return fmt.Errorf("work: %w", err)
	}
	s.statementRoots = make([]merkle.Digest, len(s.plan.Committed))
	for h := range s.committed {
		if s.committed[h] == nil || plan.Home(h) == plan.Parameters {
			continue
		}
		root := m31.Words(v[s.roots+rootElements*h:])
		if i := h - int(plan.FirstCommitted); i >= 0 {
			copy(s.statementRoots[i][:], root)
		} else {
			copy(s.proof.Roots[h][:], root)
		}
	}
	take := func(at, n int) []m31.QM31 { return v[at : at+n : at+n] }
	batch := func(shapes []sumcheck.Shape, rounds, evals int) *sumcheck.Proof {
		return &sumcheck.Proof{Rounds: take(rounds, sumcheck.Rounds(shapes)*sumcheck.Degree(shapes)), Evals: take(evals, sumcheck.Evaluations(shapes))}
	}
	if n := s.plan.TreeVars; len(s.plan.Leaves) > 0 {
		if s.proof.Tree, _, err = logupprover.Decode(n, take(s.sums, logupprover.Elements(n))); err != nil {
			return err
		}
		s.proof.Leaves = take(s.sentLeaves, len(s.plan.LeafSent))
	}
	for i := range s.layers {
		ly, o := &s.plan.Layers[i], &s.layers[i]
		var lp zkml.LayerProof
		if n := len(ly.Sent); n > 0 {
			lp.Sent = take(o.sent, n)
		}
		if len(ly.Instances) > 0 {
			lp.Batch = batch(ly.Shapes(), o.rounds, o.evals)
		}
		s.proof.Layers = append(s.proof.Layers, lp)
	}
	if s.layout.merge.stacks == nil {
		return nil
	}
	m := &s.layout.merge
	shapes := s.plan.MergeShapes()
	s.proof.Merge = batch(shapes, m.rounds, m.evals)
	res := sumcheck.NewResult(shapes, take(m.point, sumcheck.Rounds(shapes)), s.proof.Merge.Evals)
	for i, h := range m.homes {
		s.merged[h] = whir.M31Claim{Point: plan.StackPoint(res, shapes[i].Vars), Value: res.Evals[i][0]}
	}
	return nil
}
