package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	logupprover "github.com/zkwarp/zkwarp/logup/prover"
	"github.com/zkwarp/zkwarp/mle"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

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
