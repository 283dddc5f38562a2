package zkml

import (
	"errors"
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/logup"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// statement is what the verifier knows of the polynomials of an argument.
type statement struct {
	oracle *whir.M31Oracle // the parameters' commitment, nil if there is none
	// committed are the commitments to tensors of the statement, in the plan's order.
	committed []*whir.M31Oracle
	// public are the real elements of inputs and outputs, by polynomial.
	public [][]int32
	// params is the stack of parameters, in public-weights mode.
	params []m31.Element
}

// check verifies a proof from the witness's commitment on. tr has absorbed the
// statement.
func (a *Argument) check(tr *transcript.Transcript, st *statement, p *Proof) error {
	r := &run{Argument: a, tr: tr, st: st, proof: p, values: plan.NewValues(a.Plan)}
	r.oracles = make([]*whir.M31Oracle, len(a.Plan.Stacks))
	r.oracles[plan.Parameters] = st.oracle
	copy(r.oracles[plan.FirstCommitted:], st.committed)
	for _, step := range []func() error{r.lookups, r.bind, r.layers, r.inputs, r.merge} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// run is one run of the verifier.
type run struct {
	*Argument
	tr     *transcript.Transcript
	st     *statement
	proof  *Proof
	values *plan.Values
	// oracles are the commitments as received.
	oracles []*whir.M31Oracle
}

// lookups: the commitments, the work, the challenges, the fractional sums, and
// the evaluations of the leaves.
func (r *run) lookups() error {
	for _, h := range r.sent() {
		o, err := whir.ReceiveM31(r.tr, r.Commitments[h], r.proof.Roots[h])
		if err != nil {
			return reject(CheckFormat, err)
		}
		r.oracles[h] = o
	}
	if len(r.Plan.Leaves) == 0 {
		return nil
	}
	if err := r.tr.CheckWork(r.Work, r.proof.Nonce); err != nil {
		return reject(CheckWork, mismatch(err))
	}
	alpha, beta := r.tr.Challenge(), r.tr.Challenge()
	claim, err := logup.Verify(r.tr, r.Plan.TreeVars, r.proof.Tree)
	switch {
	case errors.Is(err, logup.ErrNumerator):
		return reject(CheckNumerator, err)
	case errors.Is(err, logup.ErrDenominator):
		return reject(CheckDenominator, err)
	case err != nil:
		return reject(CheckTree, mismatch(err))
	}
	if err := r.values.Draw(claim.Point); err != nil {
		return err
	}
	if err := r.receive(r.Plan.LeafSent, r.proof.Leaves); err != nil {
		return err
	}
	num, den, err := r.values.LeafClaims(alpha, beta)
	if err != nil {
		return err
	}
	if num != claim.P {
		return reject(CheckLeafNum, nil)
	}
	if den != claim.Q {
		return reject(CheckLeafDen, errMismatch)
	}
	return nil
}

// errMismatch explains the first checks of a proof, which fail when prover and
// verifier do not have the same challenges. Header and key agree by then.
var errMismatch = errors.New("the proof does not match the statement: it is tied to another context, or it has been changed")

func mismatch(err error) error { return fmt.Errorf("%w (%w)", errMismatch, err) }

// receive absorbs evaluations that the prover sends.
func (r *run) receive(ids []int, sent []m31.QM31) error {
	if len(sent) != len(ids) {
		return rejectf(CheckFormat, "%d evaluations, want %d", len(sent), len(ids))
	}
	if len(ids) == 0 {
		return nil
	}
	r.tr.AbsorbExt(sent)
	for i, id := range ids {
		if err := r.values.Set(id, sent[i]); err != nil {
			return reject(CheckRelation, err)
		}
	}
	return nil
}

// bind draws the binding point; outputs, unless padded, are evaluated there.
func (r *run) bind() error {
	point := r.tr.Challenges(r.Plan.BindVars)
	if err := r.values.Draw(point); err != nil {
		return err
	}
	for i, id := range r.Plan.Given {
		if id < 0 {
			continue
		}
		y := r.stated(r.Plan.OutputPolys[i], r.values.At(id))
		if err := r.values.Set(id, y); err != nil {
			return reject(CheckOutputBind, err)
		}
	}
	return nil
}

// stated is the extension of an input or output as it was given.
func (r *run) stated(poly int, point []m31.QM31) m31.QM31 {
	return plan.Extension(r.Plan.Polys[poly].Shape, r.st.public[poly], point)
}

// layers checks the linear relations and reduces products, layer by layer.
func (r *run) layers() error {
	if len(r.proof.Layers) != len(r.Plan.Layers) {
		return rejectf(CheckFormat, "%d layers, want %d", len(r.proof.Layers), len(r.Plan.Layers))
	}
	for i := range r.Plan.Layers {
		if err := r.layer(&r.Plan.Layers[i], &r.proof.Layers[i]); err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return nil
}

func (r *run) layer(l *plan.Layer, p *LayerProof) error {
	if err := r.receive(l.Sent, p.Sent); err != nil {
		return err
	}
	for _, rel := range l.Relations {
		got, err := r.values.Get(rel.Out)
		if err != nil {
			return err
		}
		want, err := r.values.Right(&rel)
		if err != nil {
			return err
		}
		if got != want {
			return rejectf(r.blame(rel.Out, CheckRelation), "tensor %q", rel.Name)
		}
	}
	if len(l.Instances) == 0 {
		return nil
	}
	claims := make([]sumcheck.Claim, len(l.Instances))
	for i := range l.Instances {
		in := &l.Instances[i]
		c := sumcheck.Claim{Shape: in.Shape()}
		if in.Eq {
			c.Point = r.values.Point(in.At)
		}
		switch {
		case in.Kind == plan.Output && in.Out < 0:
			c.Value = r.stated(in.OutPoly, r.values.Point(in.At))
		case in.Kind == plan.ZeroPadding: // 0
		default:
			v, err := r.values.Get(in.Out)
			if err != nil {
				return err
			}
			c.Value = v
		}
		claims[i] = c
	}
	res, err := sumcheck.Verify(r.tr, claims, p.Batch)
	if err != nil {
		return reject(CheckSumcheck, err)
	}
	if err := r.values.Draw(res.Point); err != nil {
		return err
	}
	for i := range l.Instances {
		if err := r.factors(l, &l.Instances[i], res.Evals[i]); err != nil {
			return err
		}
	}
	return nil
}

// blame names the output binding where the value that disagrees is a public
// output itself, or the copy of a committed one.
func (r *run) blame(id int, check string) string {
	if c := r.Plan.CommittedAs(r.Plan.Polys[r.Plan.Evals[id].Poly].Home); c != nil && c.Output || slices.Contains(r.Plan.Given, id) {
		return CheckOutputBind
	}
	return check
}

// factors takes the final evaluations of one sum-check: public factors are
// recomputed, the others become claims.
func (r *run) factors(l *plan.Layer, in *plan.Instance, evals []m31.QM31) error {
	if in.HasPublic() {
		if r.values.PublicEval(in, r.st.public, r.values.Point(l.Bound(in))) != evals[0] {
			return rejectf(CheckPublicFactor, "of %q", in.Name)
		}
		evals = evals[1:]
	}
	for k, id := range in.Factors {
		if err := r.values.Set(id, evals[k]); err != nil {
			return reject(CheckSumcheck, err)
		}
	}
	return nil
}

// inputs compares every evaluation of an input with the input itself.
func (r *run) inputs() error {
	for _, id := range r.Plan.Inputs {
		v, err := r.values.Get(id)
		if err != nil {
			return err
		}
		if r.stated(r.Plan.Evals[id].Poly, r.values.At(id)) != v {
			return reject(CheckInputBind, nil)
		}
	}
	return r.values.Complete()
}

// merge turns all claims on each stack into one by a random combination and
// checks that one: against the commitment, or in public-weights mode against
// the parameters themselves.
func (r *run) merge() error {
	shapes := r.Plan.MergeShapes()
	if len(shapes) == 0 {
		return nil
	}
	gamma := r.tr.Challenge()
	var claims []sumcheck.Claim
	for _, h := range r.Plan.Order() {
		if s := &r.Plan.Stacks[h]; len(s.Evals) > 0 {
			list, err := r.values.Claims(s)
			if err != nil {
				return err
			}
			claims = append(claims, sumcheck.Claim{Shape: shapes[len(claims)], Value: plan.Combine(list, gamma)})
		}
	}
	res, err := sumcheck.Verify(r.tr, claims, r.proof.Merge)
	if err != nil {
		return reject(CheckMerge, err)
	}
	// The openings are checked once all challenges are known, side by side. What is
	// reported is the failure that comes first in the protocol.
	var rest []func() error
	failed := func() error {
		i := 0
		for _, h := range r.Plan.Order() {
			s := &r.Plan.Stacks[h]
			if len(s.Evals) == 0 {
				continue
			}
			at, evals := plan.StackPoint(res, s.Vars), res.Evals[i]
			i++
			list, err := r.values.Claims(s)
			if err != nil {
				return err
			}
			if r.Plan.WeightEval(s, list, gamma, at) != evals[1] {
				return rejectf(CheckMerge, "weight of %s", h)
			}
			finish, err := r.open(h, at, evals[0])
			if err != nil {
				return err
			}
			rest = append(rest, finish)
		}
		return nil
	}()
	errs := make([]error, len(rest))
	parallel.For(len(rest), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			errs[i] = rest[i]()
		}
	})
	for _, err := range append(errs, failed) {
		if err != nil {
			return err
		}
	}
	return nil
}

// open begins to check a stack's value at a point, and returns the rest of it.
func (r *run) open(h plan.Home, at []m31.QM31, value m31.QM31) (finish func() error, err error) {
	if o := r.oracles[h]; o != nil {
		if r.proof.Openings[h] == nil {
			return nil, rejectf(CheckFormat, "no opening of %s", h)
		}
		opening := o.Begin([]whir.M31Claim{{Point: at, Value: value}}, r.proof.Openings[h])
		return func() error {
			if err := opening(); err != nil {
				return reject(openingCheck(r.Plan, h), err)
			}
			return nil
		}, nil
	}
	if h != plan.Parameters || r.st.params == nil {
		return nil, fmt.Errorf("zkml: %s have claims but no commitment", h)
	}
	return func() error {
		if mle.EvaluateBase(r.st.params, at) != value {
			return reject(CheckOpenParams, nil)
		}
		return nil
	}, nil
}
