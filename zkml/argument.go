package zkml

import (
	"fmt"

	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Argument is a plan with the parameters of its commitments: everything that
// the two sides of a proof have in common. A key has two, one for inferences
// and one for its weights.
type Argument struct {
	Label string
	Plan  *plan.Plan
	// Work is the bits of proof of work before the lookup challenges.
	Work int
	// Commitments has the parameters of each stack that is committed and has
	// claims, by home; others are nil. In public-weights mode the parameters' is
	// nil.
	Commitments []*whir.M31Params
}

// Labels of the two arguments; they separate the domains of the transcripts.
const (
	labelProgram = "zkwarp zkml inference 6"
	labelWeights = "zkwarp zkml weights 2"
)

// ReceiveStatement absorbs the commitments to a statement's tensors, whose roots
// are given in the plan's order, after the statement's digests. It returns them
// as the verifier opens them.
func (a *Argument) ReceiveStatement(tr *transcript.Transcript, roots []merkle.Digest) ([]*whir.M31Oracle, error) {
	if len(roots) != len(a.Plan.Committed) {
		return nil, fmt.Errorf("roots of %d commitments, want %d", len(roots), len(a.Plan.Committed))
	}
	out := make([]*whir.M31Oracle, len(roots))
	for i, root := range roots {
		o, err := whir.ReceiveM31(tr, a.Commitments[plan.FirstCommitted+plan.Home(i)], root)
		if err != nil {
			return nil, fmt.Errorf("commitment %d of the statement: %w", i, err)
		}
		out[i] = o
	}
	return out, nil
}

// Begin starts the transcript: label, key digest, and the commitment to the
// parameters, if there is one. It returns the commitment as the verifier opens
// it; provers need only the transcript.
func (a *Argument) Begin(key [32]byte, root merkle.Digest) (*transcript.Transcript, *whir.M31Oracle, error) {
	tr := transcript.New(transcript.TagZKML)
	tr.AbsorbBytes([]byte(a.Label))
	tr.AbsorbBytes(key[:])
	c := a.Commitments[plan.Parameters]
	if c == nil {
		return tr, nil, nil
	}
	o, err := whir.ReceiveM31(tr, c, root)
	return tr, o, err
}
