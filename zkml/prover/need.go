package prover

import (
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Memory estimates the bytes that a device must have for a proof: for what depends on the key alone, its weights and their codewords, and for
// the proof itself. It was compared with what proofs take on the emulator; what the CPU copies comes on top there. A proof that does not even have the memory of its tables fails at once.
func (pk *ProvingKey) Memory() (key, proof int64, err error) {
	l, err := pk.layout()
	if err != nil {
		return 0, 0, err
	}
	key, words, tree, merging := l.needs()
	opening := int64(0)
	for h, params := range pk.vk.Inference().Commitments {
		if params == nil {
			continue
		}
		commitment, open := whirprover.MemoryM31(params)
		if plan.Home(h) == plan.Parameters {
			key += commitment
		} else {
			words += commitment
		}
		opening = max(opening, open)
	}
	// Sum-checks of the merging have folded tables beside the weights.
	return key, words + max(tree, merging+merging/2, opening), nil
}
