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

// batchVars is the size of instance i of a batch whose largest has most
// variables: one each of the six largest sizes, the rest nine sizes in turn,
// nine to seventeen below the largest.
func batchVars(i, most int) int {
	if i < 6 {
		return most - i
	}
	return max(0, most-9-i%9)
}

// batchCase proves many product sum-checks of mixed sizes as one batch under
// shared challenges. Instances read overlapping parts of two tables.
func batchCase(count, most int) func(*Env) ([]Measurement, error) {
	return func(e *Env) ([]Measurement, error) {
		q := e.Queue
		a, b := e.elements(1<<most), e.elements(1<<most)
		left, err := device.Upload(q, a)
		if err != nil {
			return nil, err
		}
		defer left.Free()
		right, err := device.Upload(q, b)
		if err != nil {
			return nil, err
		}
		defer right.Free()
		var instances []sumprover.Instance
		var claims []sumcheck.Claim
		var values []m31.QM31
		var starts []int
		for i := range count {
			n := 1 << batchVars(i, most)
			at := e.Rand.IntN(1<<most - n + 1)
			value := m31.Lift(m31.Dot(a[at:at+n], b[at:at+n]))
			shape := sumcheck.Product(batchVars(i, most), 2)
			instances = append(instances, sumprover.Instance{Shape: shape,
				Tables: []sumprover.Table{sumprover.Base(left.Slice(at, at+n)), sumprover.Base(right.Slice(at, at+n))}})
			claims = append(claims, sumcheck.Claim{Shape: shape, Value: value})
			values, starts = append(values, value), append(starts, at)
		}
		var proof *sumcheck.Proof
		var launches int64
		peak := WatchMemory(q.Device())
		m, err := e.Time("ms", 1, nil, func() error {
			before := q.Stats().Launches
			tr, err := transprover.New(q, transcript.TagSumcheck)
			if err != nil {
				return err
			}
			defer tr.Free()
			proof, _, err = sumprover.Prove(q, tr, instances, values)
			launches = q.Stats().Launches - before
			return err
		})
		held := peak()
		if err != nil {
			return nil, err
		}
		r, err := sumcheck.Verify(transcript.New(transcript.TagSumcheck), claims, proof)
		if err != nil {
			return nil, err
		}
		for i := 0; i < count; i = i*2 + 1 { // some of every kind
			n := 1 << claims[i].Vars
			point := r.PointOf(claims[i].Vars)
			if mle.EvaluateBase(a[starts[i]:starts[i]+n], point) != r.Evals[i][0] || mle.EvaluateBase(b[starts[i]:starts[i]+n], point) != r.Evals[i][1] {
				return nil, fmt.Errorf("instance %d: a final evaluation is false", i)
			}
		}
		m.Note = fmt.Sprintf("%d products of two base tables, the largest of 2^%d", count, claims[0].Vars)
		constant := func(metric, unit string, v float64) Measurement {
			c := Measurement{Metric: metric, Unit: unit}
			for range m.Samples {
				c.Samples = append(c.Samples, v)
			}
			return c
		}
		out := []Measurement{m, constant("peak-gib", "GiB", float64(held)/(1<<30))}
		if !q.OnHost() {
			out = append(out, constant("launches", "launches", float64(launches)))
		}
		return out, nil
	}
}
