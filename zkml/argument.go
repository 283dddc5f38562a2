package zkml

import (
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
	// claims; others are nil. In public-weights mode the parameters' is nil.
	Commitments [plan.Stacks]*whir.M31Params
}

// Labels of the two arguments; they separate the domains of the transcripts.
const (
	labelProgram = "zkwarp zkml inference 3"
	labelWeights = "zkwarp zkml weights 1"
)

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
