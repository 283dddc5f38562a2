package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// proveLayers sends each layer's evaluations and proves its batch of
// sum-checks.
func (s *session) proveLayers() error {
	for i := range s.layers {
		mark := len(s.owned)
		err := s.layer(&s.plan.Layers[i], &s.layers[i])
		s.release(mark)
		if err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return nil
}

func (s *session) layer(ly *plan.Layer, o *layerLayout) error {
	if err := s.run(&o.step); err != nil {
		return err
	}
	if err := s.send(ly.Sent, o.sent, device.Buffer[m31.QM31]{}); err != nil {
		return err
	}
	if len(ly.Instances) == 0 {
		return nil
	}
	if err := s.gather(ly, o); err != nil {
		return err
	}
	instances := make([]sumprover.Instance, len(ly.Instances))
	var bound []mleprover.Restriction
	for k := range ly.Instances {
		in := &ly.Instances[k]
		var err error
		if instances[k], err = s.instance(in, &o.instances[k], &bound); err != nil {
			return fmt.Errorf("%q: %w", in.Name, err)
		}
	}
	// All matrices of the layer together.
	if err := mleprover.Restrict(s.q, bound); err != nil {
		return err
	}
	shapes := ly.Shapes()
	n, d := sumcheck.Rounds(shapes), sumcheck.Degree(shapes)
	// The point is the layer's coordinates.
	return sumprover.Run(s.q, s.tr, instances, s.part(o.claims, len(shapes)), sumprover.Output{
		Rounds: s.part(o.rounds, n*d), Evals: s.part(o.evals, sumcheck.Evaluations(shapes)), Point: s.part(ly.First, n)})
}

// gather puts the batch's claimed values together.
func (s *session) gather(ly *plan.Layer, o *layerLayout) error {
	n := len(ly.Instances)
	if !s.q.OnHost() {
		return s.launch(ClaimsSource, "zkml_gather", n, s.ext.Arg(), s.key.desc.Arg(), device.U32(o.gather), device.U32(o.claims), device.U32(n))
	}
	ext := s.ext.Host()
	for k, from := range s.desc[o.gather : o.gather+n] {
		if ext[o.claims+k] = (m31.QM31{}); from != uint64(nowhere) {
			ext[o.claims+k] = ext[from]
		}
	}
	return nil
}

// instance is one sum-check's factors. Those of a product of matrices are there
// once the restrictions are done that are added to bound.
func (s *session) instance(in *plan.Instance, o *instanceLayout, bound *[]mleprover.Restriction) (out sumprover.Instance, err error) {
	out.Shape = in.Shape()
	if in.Kind == plan.Contract {
		out.Tables, err = s.contraction(in, o, bound)
		return out, err
	}
	var public sumprover.Table
	switch in.Kind {
	case plan.Rearrange, plan.Output:
		var t device.Buffer[m31.QM31]
		if t, err = alloc[m31.QM31](s, 1<<in.Vars); err != nil {
			return out, err
		}
		if in.Kind == plan.Output {
			err = s.outputWeight(t, o)
		} else {
			err = s.rearrangement(t, in, o)
		}
		if err == nil && s.hooks.instance != nil {
			err = edit(s.q, t, func(w []m31.QM31) { s.hooks.instance(s, in, w) })
		}
		public = sumprover.Ext(t)
	case plan.ZeroPadding:
		out.Point = s.part(o.point, in.Vars)
		public, err = s.paddingGuard(in, o)
	}
	out.Tables = []sumprover.Table{public, sumprover.Base(s.polys[s.plan.Evals[in.X].Poly])}
	return out, err
}

// rearrangement is the matrix of a reshape, its result bound to a point.
func (s *session) rearrangement(t device.Buffer[m31.QM31], in *plan.Instance, o *instanceLayout) error {
	if err := t.Zero(s.q); err != nil {
		return err
	}
	n := graph.Elements(in.From)
	vars := len(s.plan.Evals[in.Out].Point)
	if !s.q.OnHost() {
		return s.launch(ClaimsSource, "zkml_map", n, t.Arg(), s.scratch.Slice(o.public.low, s.scratch.Len()).Arg(), s.scratch.Slice(o.public.high, s.scratch.Len()).Arg(),
			device.U32(o.public.bits), s.axesArg(o.from), device.U32(o.from.n), s.axesArg(o.to), device.U32(o.to.n), device.U32(n))
	}
	low, high := o.public.of(s.scratch.Host(), vars)
	h := t.Host()
	return s.q.Parallel(n, 1<<12, func(lo, hi int) {
		for e := lo; e < hi; e++ {
			i := graph.PaddedIndex(in.To, e)
			h[graph.PaddedIndex(in.From, e)] = high[i>>o.public.bits].Mul(low[i&(len(low)-1)])
		}
	})
}

// outputWeight is eq(point, z) at the output's real elements, 0 elsewhere.
func (s *session) outputWeight(t device.Buffer[m31.QM31], o *instanceLayout) error {
	p := &s.plan.Polys[s.plan.OutputPoly]
	if !s.q.OnHost() {
		return s.launch(ClaimsSource, "zkml_output", t.Len(), t.Arg(), s.scratch.Slice(o.public.low, s.scratch.Len()).Arg(), s.scratch.Slice(o.public.high, s.scratch.Len()).Arg(),
			device.U32(o.public.bits), s.axesArg(o.from), device.U32(o.from.n), device.U32(t.Len()))
	}
	low, high := o.public.of(s.scratch.Host(), p.Vars)
	h := t.Host()
	return s.q.Parallel(len(h), 1<<12, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if h[i] = (m31.QM31{}); valid(i, p) {
				h[i] = high[i>>o.public.bits].Mul(low[i&(len(low)-1)])
			}
		}
	})
}

// paddingGuard is 1 in the padding of a parameter, 0 elsewhere.
func (s *session) paddingGuard(in *plan.Instance, o *instanceLayout) (sumprover.Table, error) {
	p := &s.plan.Polys[s.plan.Evals[in.X].Poly]
	t, err := alloc[m31.Element](s, 1<<in.Vars)
	if err != nil {
		return sumprover.Table{}, err
	}
	if !s.q.OnHost() {
		err = s.launch(ClaimsSource, "zkml_guard", t.Len(), t.Arg(), s.axesArg(o.from), device.U32(o.from.n), device.U32(t.Len()))
	} else {
		h := t.Host()
		err = s.q.Parallel(len(h), 1<<12, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				h[i] = 1
				if valid(i, p) {
					h[i] = 0
				}
			}
		})
	}
	if err == nil && s.hooks.guard != nil {
		err = edit(s.q, t, func(g []m31.Element) { s.hooks.guard(in, g) })
	}
	return sumprover.Base(t), err
}

// contraction is x~(i, .) and w~(., j) as tables over the contracted axis.
func (s *session) contraction(in *plan.Instance, o *instanceLayout, bound *[]mleprover.Restriction) ([]sumprover.Table, error) {
	x, w := s.plan.Evals[in.X], s.plan.Evals[in.W]
	k := 1 << in.Vars
	xt, err := s.restrict(s.polys[x.Poly], k, o.rows, mleprover.Rows, bound)
	if err != nil {
		return nil, err
	}
	side := mleprover.Columns
	if in.Trans {
		side = mleprover.Rows
	}
	wt, err := s.restrict(s.polys[w.Poly], k, o.cols, side, bound)
	return []sumprover.Table{xt, wt}, err
}

// restrict binds one side of a matrix to a point, of which a table of eq is at
// an element of scratch, and leaves k entries. A side of one entry, which has no
// table, leaves the matrix as it is.
func (s *session) restrict(m device.Buffer[m31.Element], k, eq int, side mleprover.Side, bound *[]mleprover.Restriction) (sumprover.Table, error) {
	if eq < 0 {
		return sumprover.Base(m), nil
	}
	n := m.Len() / k
	out, err := alloc[m31.QM31](s, k)
	if err != nil {
		return sumprover.Table{}, err
	}
	r := mleprover.Restriction{Words: m, Rows: n, Cols: k, Side: side, Weights: s.scratch.Slice(eq, eq+n), Out: out}
	if side == mleprover.Columns {
		r.Rows, r.Cols = k, n
	}
	*bound = append(*bound, r)
	return sumprover.Ext(out), nil
}
