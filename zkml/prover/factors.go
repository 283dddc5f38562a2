package prover

import (
	"fmt"
	"math/bits"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// factorJob makes one tensor factor of a sum-check: the tensor with those
// variables bound that are not the sum-check's,
//
//	out[z] = sum over f of eq[f] * of[keep(z) | free(f)]
//
// for z over vars variables and f over freeVars. keep and free move bits, see
// gather.
type factorJob struct {
	of             device.Buffer[m31.Element]
	keep, free     []uint64
	vars, freeVars int
	eq             int // eq of the bound variables' point, in scratch; -1 if there are none
	out            device.Buffer[m31.QM31]
}

// publicJob makes the public factor of a sum-check.
type publicJob struct {
	in  *plan.Instance
	o   *instanceLayout
	out device.Buffer[m31.QM31]
}

// factors are the tables of all sum-checks of a layer.
func (s *session) factors(ly *plan.Layer, o *layerLayout) ([]sumprover.Instance, error) {
	total := 0
	for k := range ly.Instances {
		total += o.instances[k].tables() << ly.Instances[k].Vars
	}
	all, err := alloc[m31.QM31](s, total)
	if err != nil {
		return nil, err
	}
	table := func(vars int) (t device.Buffer[m31.QM31]) {
		t, all = all.Slice(0, 1<<vars), all.Slice(1<<vars, all.Len())
		return t
	}
	out := make([]sumprover.Instance, len(ly.Instances))
	var tensors []factorJob
	var publics []publicJob
	for k := range ly.Instances {
		in, il := &ly.Instances[k], &o.instances[k]
		inst := sumprover.Instance{Shape: in.Shape()}
		if in.Eq {
			inst.Point = s.part(il.point, in.Vars)
		}
		switch {
		case in.Public != nil:
			t := table(in.Vars)
			publics = append(publics, publicJob{in, il, t})
			inst.Tables = append(inst.Tables, sumprover.Ext(t))
		case in.HasPublic():
			g, err := s.paddingGuard(in, il)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", in.Name, err)
			}
			inst.Tables = append(inst.Tables, g)
		}
		for i, id := range in.Tensors() {
			f, of := &il.factors[i], s.polys[s.plan.Evals[id].Poly]
			if f.whole {
				inst.Tables = append(inst.Tables, sumprover.Base(of))
				continue
			}
			t := table(in.Vars)
			tensors = append(tensors, factorJob{of: of, keep: f.keep, free: f.free, vars: in.Vars, freeVars: f.freeVars, eq: f.eq, out: t})
			inst.Tables = append(inst.Tables, sumprover.Ext(t))
		}
		out[k] = inst
	}
	if err := s.restrictFactors(tensors); err != nil {
		return nil, fmt.Errorf("factors: %w", err)
	}
	if err := s.publicFactors(publics); err != nil {
		return nil, fmt.Errorf("public factors: %w", err)
	}
	if s.hooks.instance != nil {
		for k := range out {
			if in := &ly.Instances[k]; in.Public != nil {
				if err := edit(s.q, out[k].Tables[0].Ext, func(w []m31.QM31) { s.hooks.instance(s, in, w, out[k].Tables[1:]) }); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

// restrictFactors makes tensor factors.
func (s *session) restrictFactors(jobs []factorJob) error {
	if len(jobs) == 0 {
		return nil
	}
	if !s.q.OnHost() {
		return restrictOnDevice(s.q, s.scratch, jobs, enoughBlocks)
	}
	for i := range jobs {
		if err := s.restrictOnHost(&jobs[i]); err != nil {
			return err
		}
	}
	return nil
}

// restrictOnHost goes through the tensor in its own order where the variables
// that stay are its first or its last ones, and by bits elsewhere.
func (s *session) restrictOnHost(j *factorJob) error {
	n, m := 1<<j.vars, 1<<j.freeVars
	weights := s.scratch.Slice(0, 0)
	if j.eq >= 0 {
		weights = s.scratch.Slice(j.eq, j.eq+m)
	}
	r := mleprover.Restriction{Words: j.of, Weights: weights, Out: j.out}
	switch {
	case j.eq >= 0 && shifts(j.keep, j.vars, 0) && shifts(j.free, j.freeVars, j.vars):
		r.Side, r.Rows, r.Cols = mleprover.Rows, m, n
		return mleprover.Restrict(s.q, []mleprover.Restriction{r})
	case j.eq >= 0 && shifts(j.free, j.freeVars, 0) && shifts(j.keep, j.vars, j.freeVars):
		r.Side, r.Rows, r.Cols = mleprover.Columns, n, m
		return mleprover.Restrict(s.q, []mleprover.Restriction{r})
	}
	of, w, out := j.of.Host(), weights.Host(), j.out.Host()
	// Neighbours in the tensor are mostly neighbours here too: kept, or bound.
	kept, bound := 1<<low(j.keep), 1<<low(j.free)
	return s.q.Parallel(n/kept, max(1, 1<<12/(m*kept)), func(lo, hi int) {
		for z := lo * kept; z < hi*kept; z += kept {
			at := gather(z, j.keep)
			sums := out[z : z+kept]
			switch clear(sums); {
			case j.eq < 0:
				for i := range sums {
					sums[i] = m31.Lift(of[at+i])
				}
			case kept > 1:
				for f := range m {
					m31.MulAddBase(sums, of[at|gather(f, j.free):], w[f])
				}
			default:
				for f := 0; f < m; f += bound {
					from := at | gather(f, j.free)
					sums[0] = sums[0].Add(m31.DotBase(of[from:from+bound], w[f:f+bound]))
				}
			}
		}
	})
}

// low is how many of the lowest bits segments leave where they are.
func low(segs []uint64) int {
	if len(segs) == 0 || segs[0] != 0 || segs[2] != 0 {
		return 0
	}
	return bits.Len64(segs[1])
}

// shifts says whether segments move all of an index's bits up by `by`.
func shifts(segs []uint64, vars, by int) bool {
	return vars == 0 || len(segs) == 3 && segs[0] == 0 && segs[1] == 1<<vars-1 && int(segs[2]) == by
}

// publicFactors makes public factors.
func (s *session) publicFactors(jobs []publicJob) error {
	if len(jobs) == 0 {
		return nil
	}
	if !s.q.OnHost() {
		return s.publicOnDevice(jobs)
	}
	for i := range jobs {
		if err := s.publicOnHost(&jobs[i]); err != nil {
			return err
		}
	}
	return nil
}

// publicOnHost multiplies the tables of the parts, the last one's index
// changing fastest.
func (s *session) publicOnHost(j *publicJob) error {
	inputs := make([][]m31.Element, len(s.polys))
	for _, i := range s.plan.InputPolys {
		inputs[i] = s.polys[i].Host()
	}
	out, scratch := j.out.Host(), s.scratch.Host()
	done := out[len(out)-1:]
	done[0] = m31.OneQM31()
	for k := len(j.in.Public) - 1; k >= 0; k-- {
		a := &j.in.Public[k]
		var eq []m31.QM31
		if at := j.o.axes[k].eq; at >= 0 {
			eq = scratch[at : at+1<<len(a.At)]
		}
		t := a.Table(eq, inputs)
		// The product so far is at the end, and stays its own last factor's part.
		next := out[len(out)-len(done)*len(t):]
		if err := s.q.Parallel(len(t)-1, max(1, 1<<12/len(done)), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				part := next[i*len(done) : (i+1)*len(done)]
				for x, v := range done {
					part[x] = v.Mul(t[i])
				}
			}
		}); err != nil {
			return err
		}
		for x, v := range done {
			done[x] = v.Mul(t[len(t)-1])
		}
		done = next
	}
	return nil
}

// paddingGuard is 1 in the padding of a parameter, 0 elsewhere.
func (s *session) paddingGuard(in *plan.Instance, o *instanceLayout) (sumprover.Table, error) {
	p := &s.plan.Polys[s.plan.Evals[in.Factors[0]].Poly]
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

// valid says whether index i of the padded layout is a real element.
func valid(i int, p *plan.Poly) bool {
	for a := len(p.Axes) - 1; a >= 0; a-- {
		if i&(1<<p.Axes[a]-1) >= p.Shape[a] {
			return false
		}
		i >>= p.Axes[a]
	}
	return true
}
