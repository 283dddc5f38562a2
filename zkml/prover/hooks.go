package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// hooks let the tests of this package cheat between the stages of a proof. The
// zero value changes nothing. Verifiers have nothing of the kind.
type hooks struct {
	params     func(p *plan.Plan, stack []m31.Element)         // at setup, before they are committed
	statement  func(s *session, x, y []int32) (x2, y2 []int32) // before it is absorbed
	digests    func(d zkml.Digests) zkml.Digests               // that are absorbed, and that the header has
	program    func(p *graph.Program) *graph.Program           // that the forward pass runs
	stated     func(s *session) error                          // before the statement's tensors are committed
	input      func(s *session) error                          // before the forward pass
	witness    func(s *session) error                          // after the forward pass
	counts     func(s *session) error                          // after multiplicities are counted
	leaves     func(num []m31.Element, den []m31.QM31)         // of the fractional-sum tree
	evaluation func(s *session, id int, v m31.QM31) m31.QM31   // before it is sent
	instance   publicHook                                      // once a sum-check has its factors
	guard      func(in *plan.Instance, table []m31.Element)    // the public factor of a zero-check
	// merge is the batch of the claim merging.
	merge func(s *session, claims device.Buffer[m31.QM31], out sumprover.Output) error
	open  func(s *session, h plan.Home, c whir.M31Claim) whir.M31Claim
	proof func(s *session, p *zkml.Proof) // before it is encoded
}

// publicHook changes a public factor over the extension; others are the
// sum-check's other factors.
type publicHook func(s *session, in *plan.Instance, public []m31.QM31, others []sumprover.Table)

// edit changes a buffer through the host.
func edit[T any](q *device.Queue, b device.Buffer[T], f func(v []T)) error {
	v, err := b.Read(q)
	if err != nil {
		return err
	}
	f(v)
	return b.CopyFrom(q, v)
}
