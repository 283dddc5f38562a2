package plan

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
)

// Values are the challenge coordinates and the evaluations of one run of a
// plan, as far as they are known.
type Values struct {
	Plan   *Plan
	coords []m31.QM31
	have   int
	evals  []m31.QM31
	known  []bool
}

// NewValues starts a run.
func NewValues(p *Plan) *Values {
	return &Values{Plan: p, coords: make([]m31.QM31, p.Coords), evals: make([]m31.QM31, len(p.Evals)), known: make([]bool, len(p.Evals))}
}

// Draw sets the next coordinates.
func (v *Values) Draw(c []m31.QM31) error {
	if v.have+len(c) > len(v.coords) {
		return fmt.Errorf("plan: more challenge coordinates than planned")
	}
	v.have += copy(v.coords[v.have:], c)
	return nil
}

// Point is the coordinates of a point.
func (v *Values) Point(p Point) []m31.QM31 {
	out := make([]m31.QM31, len(p))
	for i, c := range p {
		out[i] = v.coords[c]
	}
	return out
}

// At is the point of an evaluation.
func (v *Values) At(id int) []m31.QM31 { return v.Point(v.Plan.Evals[id].Point) }

// Set records an evaluation. An evaluation that is known already must not
// change.
func (v *Values) Set(id int, x m31.QM31) error {
	if v.known[id] && v.evals[id] != x {
		e := v.Plan.Evals[id]
		return fmt.Errorf("two values for one evaluation of %q", v.Plan.Polys[e.Poly].Name)
	}
	v.evals[id], v.known[id] = x, true
	return nil
}

// Get is a recorded evaluation.
func (v *Values) Get(id int) (m31.QM31, error) {
	if !v.known[id] {
		return m31.QM31{}, fmt.Errorf("plan: evaluation %d is used before it is known", id)
	}
	return v.evals[id], nil
}

// Affine is a combination of recorded evaluations.
func (v *Values) Affine(a Affine) (m31.QM31, error) {
	sum := m31.Lift(a.Const)
	for _, t := range a.Terms {
		x, err := v.Get(t.Of)
		if err != nil {
			return sum, err
		}
		sum = sum.Add(x.MulBase(t.Coef))
	}
	return sum, nil
}

// Right is what a relation says that its evaluation is.
func (v *Values) Right(r *Relation) (m31.QM31, error) {
	x, err := v.Affine(Affine{Const: r.Const, Terms: r.Terms})
	if err != nil || !r.Choice {
		return x, err
	}
	c := v.coords[r.By]
	return one.Sub(x).Sub(c).Add(c.Mul(x).MulBase(2)), nil
}

// Complete is an error unless every coordinate and every evaluation is known.
func (v *Values) Complete() error {
	if v.have != len(v.coords) {
		return fmt.Errorf("plan: %d of %d coordinates drawn", v.have, len(v.coords))
	}
	for id, k := range v.known {
		if !k {
			return fmt.Errorf("plan: evaluation %d of %d is not known", id, len(v.known))
		}
	}
	return nil
}

// Claim is an evaluation of a block of a stack, as one of the stack.
type Claim struct {
	Poly  int
	Point []m31.QM31 // within the block
	Value m31.QM31
}

// Claims are what the opening of a stack must settle, in plan order.
func (v *Values) Claims(s *Stack) ([]Claim, error) {
	out := make([]Claim, len(s.Evals))
	for i, id := range s.Evals {
		x, err := v.Get(id)
		if err != nil {
			return nil, err
		}
		out[i] = Claim{Poly: v.Plan.Evals[id].Poly, Point: v.At(id), Value: x}
	}
	return out, nil
}

// Combine is sum_i gamma^i of the claims' values.
func Combine(claims []Claim, gamma m31.QM31) (sum m31.QM31) {
	for i := len(claims) - 1; i >= 0; i-- {
		sum = sum.Mul(gamma).Add(claims[i].Value)
	}
	return sum
}

// WeightEval is the extension at a point of the weight that combines the
// claims: sum_i gamma^i eq(point of claim i in the stack, at).
func (p *Plan) WeightEval(s *Stack, claims []Claim, gamma m31.QM31, at []m31.QM31) (sum m31.QM31) {
	for i := len(claims) - 1; i >= 0; i-- {
		sum = sum.Mul(gamma).Add(p.StackEq(s, &claims[i], at))
	}
	return sum
}

// StackPoint is the point at which the merging's batch leaves a stack of that many
// variables, first variable first. The batch binds the lowest bit of an index first.
func StackPoint(r *sumcheck.Result, vars int) []m31.QM31 {
	point := slices.Clone(r.PointOf(vars))
	slices.Reverse(point)
	return point
}
