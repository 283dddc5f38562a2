package bench

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/transcript"
	transprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// matmulSide is the number of rows and columns of a matmul claim's product.
const matmulSide = 64

// matmulCase reduces a claim about a product of matrices to claims about its
// factors: both are restricted to the claim's point, then a sum-check runs over
// the inner dimension of 2^vars.
func matmulCase(e *Env, vars int) ([]Measurement, error) {
	q, depth := e.Queue, 1<<vars
	left, right := e.elements(matmulSide*depth), e.elements(depth*matmulSide)
	a, err := device.Upload(q, left)
	if err != nil {
		return nil, err
	}
	defer a.Free()
	b, err := device.Upload(q, right)
	if err != nil {
		return nil, err
	}
	defer b.Free()
	side := mle.Log(matmulSide)
	row, column := make([]m31.QM31, side), make([]m31.QM31, side)
	for i := range side {
		row[i], column[i] = e.extension(), e.extension()
	}
	rowEq, colEq := mle.EqTable(row), mle.EqTable(column)
	var value m31.QM31
	for k := range depth {
		var x, y m31.QM31
		for i := range matmulSide {
			x = x.Add(rowEq[i].MulBase(left[i*depth+k]))
			y = y.Add(colEq[i].MulBase(right[k*matmulSide+i]))
		}
		value = value.Add(x.Mul(y))
	}
	var buffers [4]device.Buffer[m31.QM31]
	for i, n := range []int{matmulSide, matmulSide, depth, depth} {
		if buffers[i], err = device.Alloc[m31.QM31](q, n); err != nil {
			return nil, err
		}
		defer buffers[i].Free()
	}
	in := sumprover.Instance{Shape: sumcheck.Product(vars, 2), Tables: []sumprover.Table{sumprover.Ext(buffers[2]), sumprover.Ext(buffers[3])}}
	var proof *sumcheck.Proof
	reduce := func() error {
		if err := mleprover.EqHost(q, buffers[0], row); err != nil {
			return err
		}
		if err := mleprover.EqHost(q, buffers[1], column); err != nil {
			return err
		}
		if err := mleprover.RestrictRows(q, buffers[2], a, matmulSide, depth, buffers[0]); err != nil {
			return err
		}
		if err := mleprover.RestrictCols(q, buffers[3], b, depth, matmulSide, buffers[1]); err != nil {
			return err
		}
		tr, err := transprover.New(q, transcript.TagSumcheck)
		if err != nil {
			return err
		}
		defer tr.Free()
		proof, _, err = sumprover.Prove(q, tr, []sumprover.Instance{in}, []m31.QM31{value})
		return err
	}
	m, err := e.Time("ms", 1, nil, reduce)
	if err != nil {
		return nil, err
	}
	r, err := sumcheck.Verify(transcript.New(transcript.TagSumcheck), []sumcheck.Claim{{Shape: in.Shape, Value: value}}, proof)
	if err != nil {
		return nil, err
	}
	if got := mle.EvaluateBase(left, append(append([]m31.QM31{}, row...), r.Point...)); got != r.Evals[0][0] {
		return nil, fmt.Errorf("the left factor evaluates to %v, the proof says %v", got, r.Evals[0][0])
	}
	if got := mle.EvaluateBase(right, append(append([]m31.QM31{}, r.Point...), column...)); got != r.Evals[0][1] {
		return nil, fmt.Errorf("the right factor evaluates to %v, the proof says %v", got, r.Evals[0][1])
	}
	m.Note = fmt.Sprintf("%d x %d by %d x %d", matmulSide, depth, depth, matmulSide)
	return []Measurement{m}, nil
}
