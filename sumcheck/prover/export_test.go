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
