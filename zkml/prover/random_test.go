package prover

import (
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestRandomPrograms proves programs that nobody thought of.
func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(24) {
		c := zkmltest.Random(seed)
		vk, pk, err := Setup(cpu(t), c.Program, c.Weights, &quick)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		r, err := Prove(cpu(t), pk, c.X, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if !slices.Equal(r.Y, c.Output()) {
			t.Fatalf("%s: proved %v, want %v", c.Name, r.Y, c.Output())
		}
		if err := zkml.Verify(vk, c.X, r.Y, r.Proof, nil); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
	}
}
