package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
)

// mergeClaims proves that all claims on each stack follow from one: the batch
// of sums of the stack times a random combination of the claims' eq weights.
// Then it waits for all messages.
func (s *session) mergeClaims() error {
	if len(s.layout.merge.stacks) > 0 {
		mark := len(s.owned)
		err := s.mergeBatch()
		s.release(mark)
		if err != nil {
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
	weights, err := alloc[m31.QM31](s, m.total)
	if err != nil {
		return fmt.Errorf("weights: %w", err)
	}
	if err := s.weigh(weights); err != nil {
		return err
	}
	shapes := s.plan.MergeShapes()
	instances := make([]sumprover.Instance, len(shapes))
	for i, st := range m.stacks {
		w := weights.Slice(st.at, st.at+1<<shapes[i].Vars)
		if s.hooks.weight != nil {
			if err := edit(s.q, w, func(w []m31.QM31) { s.hooks.weight(s, st.home, w) }); err != nil {
				return err
			}
		}
		instances[i] = sumprover.Instance{Shape: shapes[i], Tables: []sumprover.Table{sumprover.Base(s.stacks[st.home]), sumprover.Ext(w)}}
	}
	n, d := sumcheck.Rounds(shapes), sumcheck.Degree(shapes)
	return sumprover.Run(s.q, s.tr, instances, s.part(m.claims, len(shapes)), sumprover.Output{
		Rounds: s.part(m.rounds, n*d), Evals: s.part(m.evals, sumcheck.Evaluations(shapes)), Point: s.part(m.point, n)})
}

// weigh writes the weights of all stacks, one after the other, and the values
// that they give.
func (s *session) weigh(weights device.Buffer[m31.QM31]) error {
	m := &s.layout.merge
	if !s.q.OnHost() {
		if err := s.blocks(ClaimsSource, "zkml_weights", m.tiles, weights.Arg(), s.scratch.Arg(), s.key.desc.Arg(),
			device.U32(m.claimsAt), device.U32(m.tilesAt), device.U64(m.total)); err != nil {
			return err
		}
		return s.blocks(ClaimsSource, "zkml_combine", len(m.stacks), s.ext.Arg(), s.key.desc.Arg(), device.U32(m.stacksAt), device.U32(s.gamma))
	}
	if err := weights.Zero(s.q); err != nil {
		return err
	}
	scratch, ext, w := s.scratch.Host(), s.ext.Host(), weights.Host()
	for _, c := range m.list {
		low, high := c.eq.of(scratch, c.vars)
		if err := s.q.Parallel(len(high), max(1, 4096/len(low)), func(lo, hi int) {
			for h := lo; h < hi; h++ {
				m31.MulAddQM31(w[c.at+h*len(low):c.at+(h+1)*len(low)], low, high[h])
			}
		}); err != nil {
			return err
		}
	}
	for i, st := range m.stacks {
		var sum m31.QM31
		evals := s.plan.Stacks[st.home].Evals
		for k := len(evals) - 1; k >= 0; k-- {
			sum = sum.Mul(ext[s.gamma]).Add(ext[s.values[evals[k]]])
		}
		ext[m.claims+i] = sum
	}
	return nil
}
