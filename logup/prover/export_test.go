package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/logup"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
)

// ProveSized is Prove with another share of the work for one block.
func ProveSized(q *device.Queue, tr *transcript.Transcript, n int, leaves Leaves, tailVars, blocks int) (*logup.Proof, *logup.Claim, error) {
	return prove(q, tr, n, leaves, sizes{tailVars, blocks})
}
