package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/whir"
)

// merge proves that all claims on each stack follow from one: the batch of
// sums of the stack times a random combination of the claims' eq weights.
func (s *session) merge() error {
	shapes := s.plan.MergeShapes()
	if len(shapes) == 0 {
		return nil
	}
	g, err := s.challenges(1)
	if err != nil {
		return err
	}
	gamma := g[0]
	var instances []sumprover.Instance
	var values []m31.QM31
	for h := range s.plan.Stacks {
		st := &s.plan.Stacks[h]
		if len(st.Evals) == 0 {
			continue
		}
		claims, err := s.values.Claims(st)
		if err != nil {
			return err
		}
		weight, err := alloc[m31.QM31](s, 1<<st.Vars)
		if err != nil {
			return fmt.Errorf("weight of %s: %w", st.Home, err)
		}
		if err := weight.Zero(s.q); err != nil {
			return err
		}
		value, power := m31.QM31{}, m31.OneQM31()
		for i := range claims {
			c := &claims[i]
			offset := s.plan.Polys[c.Poly].Offset
			if err := s.addEq(weight.Slice(offset, offset+1<<len(c.Point)), c.Point, power); err != nil {
				return err
			}
			value = value.Add(power.Mul(c.Value))
			power = power.Mul(gamma)
		}
		if s.hooks.weight != nil {
			if err := edit(s.q, weight, func(w []m31.QM31) { s.hooks.weight(s, st.Home, w) }); err != nil {
				return err
			}
		}
		instances = append(instances, sumprover.Instance{Shape: shapes[len(instances)], Tables: []sumprover.Table{sumprover.Base(s.stacks[h]), sumprover.Ext(weight)}})
		values = append(values, value)
	}
	proof, res, err := sumprover.Prove(s.q, s.tr, instances, values)
	if err != nil {
		return err
	}
	s.proof.Merge = proof
	i := 0
	for h := range s.plan.Stacks {
		if st := &s.plan.Stacks[h]; len(st.Evals) > 0 {
			s.merged[h] = whir.M31Claim{Point: res.PointOf(st.Vars), Value: res.Evals[i][0]}
			i++
		}
	}
	return nil
}
