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
	if err := s.combine(); err != nil {
		return err
	}
	shapes := s.plan.MergeShapes()
	instances := make([]sumprover.Instance, len(shapes))
	for i := range m.stacks {
		w, err := s.weight(&m.stacks[i])
		if err != nil {
			return fmt.Errorf("weights: %w", err)
		}
		instances[i] = sumprover.Instance{Shape: shapes[i], Tables: []sumprover.Table{sumprover.Base(s.stacks[m.stacks[i].home]), w}}
	}
	n, d := sumcheck.Rounds(shapes), sumcheck.Degree(shapes)
	return sumprover.Run(s.q, s.tr, instances, s.part(m.claims, len(shapes)), sumprover.Output{
		Rounds: s.part(m.rounds, n*d), Evals: s.part(m.evals, sumcheck.Evaluations(shapes)), Point: s.part(m.point, n)})
}

// weight is the weight of a stack: on a device it is made where it is read, unless
// it is small.
func (s *session) weight(st *stackLayout) (sumprover.Table, error) {
	m := &s.layout.merge
	if !s.q.OnHost() && st.vars >= sumprover.MinEqsVars && s.hooks.weight == nil {
		return sumprover.Table{Eqs: &sumprover.Eqs{Factors: s.scratch, Desc: s.key.desc, Blocks: m.claimsAt, Tiles: m.tilesAt, First: st.at}}, nil
	}
	w, err := alloc[m31.QM31](s, 1<<st.vars)
	if err != nil {
		return sumprover.Table{}, err
	}
	if !s.q.OnHost() {
		err = s.blocks(ClaimsSource, "zkml_weights", device.Blocks(w.Len(), sumprover.EqsTile), w.Arg(), s.scratch.Arg(), s.key.desc.Arg(),
			device.U32(m.claimsAt), device.U32(m.tilesAt+st.at/sumprover.EqsTile), device.U64(st.at), device.U64(w.Len()))
	} else if err = w.Zero(s.q); err == nil {
		err = s.weigh(w.Host(), st)
	}
	if err == nil && s.hooks.weight != nil {
		err = edit(s.q, w, func(w []m31.QM31) { s.hooks.weight(s, st.home, w) })
	}
	return sumprover.Ext(w), err
}

// weigh adds the weight of a stack to w on the host.
func (s *session) weigh(w []m31.QM31, st *stackLayout) error {
	scratch := s.scratch.Host()
	for _, c := range st.claims {
		low, high := c.eq.of(scratch, c.vars)
		part := w[c.at-st.at:]
		if err := s.q.Parallel(len(high), max(1, 4096/len(low)), func(lo, hi int) {
			for h := lo; h < hi; h++ {
				m31.MulAddQM31(part[h*len(low):(h+1)*len(low)], low, high[h])
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// combine leaves the values that the weights give.
func (s *session) combine() error {
	m := &s.layout.merge
	if !s.q.OnHost() {
		return s.blocks(ClaimsSource, "zkml_combine", len(m.stacks), s.ext.Arg(), s.key.desc.Arg(), device.U32(m.stacksAt), device.U32(s.gamma))
	}
	ext := s.ext.Host()
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
