package csfile

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend/cs"
)

// commitmentHint is what the prover puts in place of commitments.
var commitmentHint = solver.GetHintID(cs.Bsb22CommitmentComputePlaceholder)

// guard makes panics of hints errors: hints index their inputs, of which the file says how
// many there are, on goroutines of the solver.
func (s *system) guard(hints map[solver.HintID]int) []solver.Option {
	var options []solver.Option
	for id := range hints {
		f := solver.GetRegisteredHint(id)
		if f == nil || id == commitmentHint {
			continue // the solver's error, or the prover's own
		}
		name := solver.GetHintName(f)
		if slices.Contains(native, name) && s.MHintsDependencies[id] == name {
			continue // the solver does without the function
		}
		options = append(options, solver.OverrideHint(id, func(field *big.Int, inputs, outputs []*big.Int) (err error) {
			defer func() {
				if r := recover(); r != nil {
					err = fmt.Errorf("hint %s: %v", name, r)
				}
			}()
			return f(field, inputs, outputs)
		}))
	}
	return options
}
