package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// layers sends each layer's evaluations and proves its batch of sum-checks.
func (s *session) layers() error {
	for i := range s.plan.Layers {
		if err := s.layer(i); err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return nil
}

func (s *session) layer(i int) error {
	l := &s.plan.Layers[i]
	sent, err := s.send(l.Sent)
	if err != nil {
		return err
	}
	lp := zkml.LayerProof{Sent: sent}
	if len(l.Instances) > 0 {
		mark := len(s.owned)
		res, err := s.batch(l, &lp)
		for _, b := range s.owned[mark:] {
			b.Free()
		}
		s.owned = s.owned[:mark]
		if err != nil {
			return err
		}
		if err := s.conclude(l, res); err != nil {
			return err
		}
	}
	s.proof.Layers = append(s.proof.Layers, lp)
	return nil
}

// batch builds the factors of a layer's sum-checks and proves them.
func (s *session) batch(l *plan.Layer, lp *zkml.LayerProof) (*sumcheck.Result, error) {
	instances := make([]sumprover.Instance, len(l.Instances))
	values := make([]m31.QM31, len(l.Instances))
	for k := range l.Instances {
		in := &l.Instances[k]
		inst, v, err := s.instance(in)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", in.Name, err)
		}
		instances[k], values[k] = inst, v
	}
	proof, res, err := sumprover.Prove(s.q, s.tr, instances, values)
	if err != nil {
		return nil, err
	}
	lp.Batch = proof
	return res, nil
}

// conclude records the batch's point and evaluations.
func (s *session) conclude(l *plan.Layer, res *sumcheck.Result) error {
	if err := s.values.Draw(res.Point); err != nil {
		return err
	}
	for k := range l.Instances {
		in := &l.Instances[k]
		e := res.Evals[k]
		x := e[1]
		if in.Kind == plan.Contract {
			x = e[0]
			if err := s.values.Set(in.W, e[1]); err != nil {
				return err
			}
		}
		if err := s.values.Set(in.X, x); err != nil {
			return err
		}
	}
	return nil
}

// instance is one sum-check's factors and claimed value.
func (s *session) instance(in *plan.Instance) (out sumprover.Instance, value m31.QM31, err error) {
	out.Shape = in.Shape()
	if in.Out >= 0 {
		if value, err = s.values.Get(in.Out); err != nil {
			return out, value, err
		}
	}
	if in.Kind == plan.Contract {
		out.Tables, err = s.contraction(in)
		return out, value, err
	}
	var public sumprover.Table
	switch in.Kind {
	case plan.Rearrange:
		public, err = s.rearrangement(in)
	case plan.Output:
		point := s.values.Point(in.At)
		value = mle.EvaluateBase(s.y, point)
		public, err = s.outputWeight(in, point)
	case plan.ZeroPadding:
		if out.Point, err = upload(s, s.values.Point(in.At)); err != nil {
			return out, value, err
		}
		public, err = s.paddingGuard(in)
	}
	out.Tables = []sumprover.Table{public, sumprover.Base(s.polys[s.plan.Evals[in.X].Poly])}
	return out, value, err
}

// rearrangement is the matrix of a reshape, its result bound to a point.
func (s *session) rearrangement(in *plan.Instance) (sumprover.Table, error) {
	table := in.MapTable(s.values.At(in.Out))
	if s.hooks.instance != nil {
		s.hooks.instance(s, in, table)
	}
	b, err := upload(s, table)
	return sumprover.Ext(b), err
}

// outputWeight is eq(point, z) at the output's real elements, 0 elsewhere.
func (s *session) outputWeight(in *plan.Instance, point []m31.QM31) (sumprover.Table, error) {
	weight, err := alloc[m31.QM31](s, 1<<in.Vars)
	if err != nil {
		return sumprover.Table{}, err
	}
	if err := mleprover.EqHost(s.q, weight, point); err != nil {
		return sumprover.Table{}, err
	}
	if err := s.mask(weight, s.plan.Polys[s.plan.OutputPoly]); err != nil {
		return sumprover.Table{}, err
	}
	if s.hooks.instance != nil {
		err = edit(s.q, weight, func(w []m31.QM31) { s.hooks.instance(s, in, w) })
	}
	return sumprover.Ext(weight), err
}

// paddingGuard is 1 in the padding of a parameter, 0 elsewhere.
func (s *session) paddingGuard(in *plan.Instance) (sumprover.Table, error) {
	guard, err := alloc[m31.Element](s, 1<<in.Vars)
	if err != nil {
		return sumprover.Table{}, err
	}
	if err := s.guard(guard, s.plan.Polys[s.plan.Evals[in.X].Poly]); err != nil {
		return sumprover.Table{}, err
	}
	if s.hooks.guard != nil {
		err = edit(s.q, guard, func(g []m31.Element) { s.hooks.guard(in, g) })
	}
	return sumprover.Base(guard), err
}

// contraction is x~(i, .) and w~(., j) as tables over the contracted axis.
func (s *session) contraction(in *plan.Instance) ([]sumprover.Table, error) {
	x, w := s.plan.Evals[in.X], s.plan.Evals[in.W]
	k := 1 << in.Vars
	rows := x.Point[:len(x.Point)-in.Vars]
	xt, err := s.restrict(s.polys[x.Poly], 1<<len(rows), k, s.values.Point(rows), true)
	if err != nil {
		return nil, err
	}
	n := len(w.Point) - in.Vars
	var wt device.Buffer[m31.QM31]
	if in.Trans {
		wt, err = s.restrict(s.polys[w.Poly], 1<<n, k, s.values.Point(w.Point[:n]), true)
	} else {
		wt, err = s.restrict(s.polys[w.Poly], k, 1<<n, s.values.Point(w.Point[in.Vars:]), false)
	}
	if err != nil {
		return nil, err
	}
	return []sumprover.Table{sumprover.Ext(xt), sumprover.Ext(wt)}, nil
}

// restrict binds the rows (byRow) or the columns of a matrix to a point.
func (s *session) restrict(m device.Buffer[m31.Element], rows, cols int, point []m31.QM31, byRow bool) (device.Buffer[m31.QM31], error) {
	size := rows
	if byRow {
		size = cols
	}
	out, err := alloc[m31.QM31](s, size)
	if err != nil {
		return out, err
	}
	eq, err := alloc[m31.QM31](s, 1<<len(point))
	if err != nil {
		return out, err
	}
	if err := mleprover.EqHost(s.q, eq, point); err != nil {
		return out, err
	}
	if byRow {
		return out, mleprover.RestrictRows(s.q, out, m, rows, cols, eq)
	}
	return out, mleprover.RestrictCols(s.q, out, m, rows, cols, eq)
}
