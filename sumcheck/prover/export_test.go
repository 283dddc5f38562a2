package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
)

// Limits of a plan, for tests that force paths which usually only large tables
// take.
type Limits struct{ Window, Tail, Units, Linear int }

// ProveWithin is Prove within other limits.
func ProveWithin(q *device.Queue, tr *transcript.Transcript, instances []Instance, values []m31.QM31, l Limits) (*sumcheck.Proof, *sumcheck.Result, error) {
	lim := usual(q)
	lim.window, lim.tail, lim.units = l.Window, l.Tail, l.Units
	if l.Linear > 0 {
		lim.linear = l.Linear
	}
	return prove(q, tr, instances, values, lim)
}

// Tuning is what kernels of expressions are made to, for measurements.
type Tuning struct {
	Lazy        bool
	First, Next int
	Fused       bool
	PerUnit     int
}

// Tune makes the kernels of an expression that has not been used yet.
func Tune(e *sumcheck.Expr, t Tuning) {
	e.Attached(exprKey{}, func() any {
		return writeKernels(e, func(*sumcheck.Expr, int) exprTuning { return exprTuning{t.Lazy, t.First, t.Next, t.Fused, t.PerUnit} })
	})
}

// StacksOf is NewStacks with 2^high rows; high is chosen if it is negative.
func StacksOf(stacks []Stack, high int) (*Stacks, error) { return newStacks(stacks, high) }

// ProveStacks is the plan's Run within other limits, as Prove returns it.
func ProveStacks(q *device.Queue, tr *transcript.Transcript, p *Stacks, desc device.Buffer[uint64], factors device.Buffer[m31.QM31],
	words []device.Buffer[m31.Element], values []m31.QM31, l Limits) (*sumcheck.Proof, *sumcheck.Result, error) {
	lim := usual(q)
	lim.window, lim.tail, lim.units = l.Window, l.Tail, l.Units
	shapes := p.Shapes()
	n, e := sumcheck.Rounds(shapes), sumcheck.Evaluations(shapes)
	all, err := device.Alloc[m31.QM31](q, 3*n+e+len(values))
	if err != nil {
		return nil, nil, err
	}
	defer all.Free()
	claimed := all.Slice(3*n+e, all.Len())
	if err := claimed.CopyFrom(q, values); err != nil {
		return nil, nil, err
	}
	out := Output{Rounds: all.Slice(0, 2*n), Evals: all.Slice(2*n, 2*n+e), Point: all.Slice(2*n+e, 3*n+e)}
	if err := p.run(q, tr, desc, factors, words, claimed, out, lim); err != nil {
		return nil, nil, err
	}
	host, err := all.Read(q)
	if err != nil {
		return nil, nil, err
	}
	proof := &sumcheck.Proof{Rounds: host[: 2*n : 2*n], Evals: host[2*n : 2*n+e : 2*n+e]}
	return proof, sumcheck.NewResult(shapes, host[2*n+e:3*n+e], proof.Evals), nil
}
