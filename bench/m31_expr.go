package bench

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/transcript"
	transprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// exprCases are sum-checks of expressions, whose kernels are written and
// compiled as they are met (the cold figure has that in it).
func exprCases() []Case {
	var cases []Case
	for _, vars := range []int{20, 24} {
		cases = append(cases, Case{Suite: "m31", Name: fmt.Sprintf("sumcheck-expr-2^%d", vars), Large: vars > 20,
			About: "all rounds of eq*(a*b-c) over base tables, compiled at run time; and eq*a*b against the built-in product",
			Run:   func(e *Env) ([]Measurement, error) { return exprCase(e, vars) }})
	}
	return cases
}

func exprCase(e *Env, vars int) ([]Measurement, error) {
	gate, err := sumcheck.Compile("eq*(a*b-c)")
	if err != nil {
		return nil, err
	}
	product, err := sumcheck.Compile("eq*a*b")
	if err != nil {
		return nil, err
	}
	run, err := newSumchecks(e, vars, 3)
	if err != nil {
		return nil, err
	}
	defer run.free()
	ms, err := run.time("ms", gate.Shape(vars))
	if err != nil {
		return nil, err
	}
	own, err := run.time("ms-product", product.Shape(vars))
	if err != nil {
		return nil, err
	}
	builtIn, err := run.time("ms-built-in-product", sumcheck.EqProduct(vars, 2))
	if err != nil {
		return nil, err
	}
	ratio := Measurement{Metric: "product-over-built-in", Unit: "x"}
	for i := range own.Samples {
		ratio.Samples = append(ratio.Samples, own.Samples[i]/builtIn.Samples[i])
	}
	return []Measurement{ms, own, builtIn, ratio}, nil
}

// sumchecks proves claims over the first of some random base tables.
type sumchecks struct {
	*Env
	vars    int
	host    [][]m31.Element
	tables  []device.Buffer[m31.Element]
	point   []m31.QM31
	onPoint device.Buffer[m31.QM31]
}

func newSumchecks(e *Env, vars, count int) (*sumchecks, error) {
	s := &sumchecks{Env: e, vars: vars}
	for range count {
		s.host = append(s.host, e.elements(1<<vars))
		b, err := device.Upload(e.Queue, s.host[len(s.host)-1])
		s.tables = append(s.tables, b)
		if err != nil {
			s.free()
			return nil, err
		}
	}
	for range vars {
		s.point = append(s.point, e.extension())
	}
	var err error
	if s.onPoint, err = device.Upload(e.Queue, s.point); err != nil {
		s.free()
		return nil, err
	}
	return s, nil
}

func (s *sumchecks) free() {
	for _, b := range s.tables {
		b.Free()
	}
	s.onPoint.Free()
}

// sum is the true sum of a shape with eq.
func (s *sumchecks) sum(shape sumcheck.Shape) m31.QM31 {
	c := sumcheck.Claim{Shape: shape}
	eq := mle.EqTable(s.point)
	at := make([]m31.QM31, shape.Factors)
	var sum m31.ProductSum
	for x := range eq {
		for k := range at {
			at[k] = m31.Lift(s.host[k][x])
		}
		sum.Add(eq[x], c.Inner(at))
	}
	return sum.Value()
}

// time proves the shape's sum, verifies, and checks the final evaluations.
func (s *sumchecks) time(metric string, shape sumcheck.Shape) (Measurement, error) {
	in := sumprover.Instance{Shape: shape, Point: s.onPoint}
	for k := range shape.Factors {
		in.Tables = append(in.Tables, sumprover.Base(s.tables[k]))
	}
	values := []m31.QM31{s.sum(shape)}
	var proof *sumcheck.Proof
	m, err := s.Time(metric, 1, nil, func() error {
		tr, err := transprover.New(s.Queue, transcript.TagSumcheck)
		if err != nil {
			return err
		}
		defer tr.Free()
		proof, _, err = sumprover.Prove(s.Queue, tr, []sumprover.Instance{in}, values)
		return err
	})
	if err != nil {
		return m, err
	}
	r, err := sumcheck.Verify(transcript.New(transcript.TagSumcheck), []sumcheck.Claim{{Shape: shape, Value: values[0], Point: s.point}}, proof)
	if err != nil {
		return m, err
	}
	for k := range shape.Factors {
		if got := mle.EvaluateBase(s.host[k], r.PointOf(s.vars)); got != r.Evals[0][k] {
			return m, fmt.Errorf("factor %d evaluates to %v, the proof says %v", k, got, r.Evals[0][k])
		}
	}
	return m, nil
}
