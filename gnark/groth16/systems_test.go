package groth16_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/zkwarp/zkwarp/gnark/internal/csfile"
)

// The command line's reader, which refuses constraint systems whose solving could end the
// program, takes all of these circuits but one.
func TestSystemsAreChecked(t *testing.T) {
	for _, x := range examples() {
		t.Run(x.name, func(t *testing.T) {
			ccs, err := frontend.Compile(ecc.BN254.ScalarField(), r1cs.NewBuilder, x.circuit)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if _, err := ccs.WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			internal, secret, public := ccs.GetNbVariables()
			got, _, err := csfile.Read(ecc.BN254, b.Bytes(), internal+secret+public)
			if x.name == "delegated" { // by GKR, whose instructions nobody checks
				if !errors.Is(err, csfile.ErrFormat) || !strings.Contains(err.Error(), "gkr") {
					t.Errorf("error %v, want one that names GKR", err)
				}
				got, err = csfile.Decode(ecc.BN254, b.Bytes())
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.GetNbConstraints() != ccs.GetNbConstraints() {
				t.Errorf("%d constraints of %d", got.GetNbConstraints(), ccs.GetNbConstraints())
			}
		})
	}
}
