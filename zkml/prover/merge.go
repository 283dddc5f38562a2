package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
)

// mergeClaims proves that all claims on each stack follow from one: the batch
// of sums of the stack times a random combination of the claims' eq weights.
// Then it waits for all messages.
func (s *session) mergeClaims() error {
	if s.layout.merge.stacks != nil {
		if err := s.mergeBatch(); err != nil {
			return err
		}
	}
	return s.collect()
}

func (s *session) mergeBatch() error {
	m := &s.layout.merge
	if err := s.tr.Challenge(s.part(s.gamma, 1)); err != nil {
		return err
	}
	if err := s.run(&s.mergeStep); err != nil {
		return err
	}
	if err := s.combine(); err != nil {
		return err
	}
	shapes := s.plan.MergeShapes()
	n, d := sumcheck.Rounds(shapes), sumcheck.Degree(shapes)
	claims := s.part(m.claims, len(shapes))
	out := sumprover.Output{Rounds: s.part(m.rounds, n*d), Evals: s.part(m.evals, sumcheck.Evaluations(shapes)), Point: s.part(m.point, n)}
	if s.hooks.merge != nil {
		return s.hooks.merge(s, claims, out)
	}
	words := make([]device.Buffer[m31.Element], len(m.homes))
	for i, h := range m.homes {
		words[i] = s.stacks[h]
	}
	var desc device.Buffer[uint64]
	if !s.q.OnHost() {
		desc = s.key.desc.Slice(m.descAt, m.descAt+len(m.stacks.Desc))
	}
	return m.stacks.Run(s.q, s.tr, desc, s.scratch.Slice(m.factors, m.factors+m.stacks.Factors), words, claims, out)
}

// combine leaves the values that the weights give.
func (s *session) combine() error {
	m := &s.layout.merge
	if !s.q.OnHost() {
		return s.blocks(ClaimsSource, "zkml_combine", len(m.homes), s.ext.Arg(), s.key.desc.Arg(), device.U32(m.stacksAt), device.U32(s.gamma))
	}
	ext := s.ext.Host()
	for i, h := range m.homes {
		var sum m31.QM31
		evals := s.plan.Stacks[h].Evals
		for k := len(evals) - 1; k >= 0; k-- {
			sum = sum.Mul(ext[s.gamma]).Add(ext[s.values[evals[k]]])
		}
		ext[m.claims+i] = sum
	}
	return nil
}
