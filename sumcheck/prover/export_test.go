package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
)

// Limits of a plan, for tests that force paths which usually only large tables
// take.
type Limits struct{ Window, Tail, Units int }

// ProveWithin is Prove within other limits.
func ProveWithin(q *device.Queue, tr *transcript.Transcript, instances []Instance, values []m31.QM31, l Limits) (*sumcheck.Proof, *sumcheck.Result, error) {
	lim := usual(q)
	lim.window, lim.tail, lim.units = l.Window, l.Tail, l.Units
	return prove(q, tr, instances, values, lim)
}
