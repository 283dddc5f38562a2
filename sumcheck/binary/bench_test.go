package binary_test

import (
	"fmt"
	"testing"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
)

// A verifier's work for 28 variables. The proof is none: all checks but the last one are
// the same.
func BenchmarkVerify(b *testing.B) {
	for d := binary.MinDegree; d <= binary.MaxDegree; d++ {
		b.Run(fmt.Sprintf("d%d", d), func(b *testing.B) {
			c := binary.Claim{Shape: binary.Shape{Vars: 28, Degree: d}}
			proof := &binary.Proof{Evals: make([]gf2.Element, c.Evals())}
			for range c.Vars {
				m := make([]gf2.Element, c.Points())
				for k := range m {
					m[k] = gf2.Element{Lo: 0x9e3779b97f4a7c15 * uint64(k+1), Hi: 0x2545f4914f6cdd1d}
				}
				proof.Rounds = append(proof.Rounds, m)
			}
			for b.Loop() {
				if _, err := binary.Verify(newTranscript(), c, proof); err == nil {
					b.Fatal("a random proof verifies")
				}
			}
		})
	}
}
