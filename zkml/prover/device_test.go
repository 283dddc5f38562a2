package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

func TestMain(m *testing.M) { devicetest.Main(m, Source) }

// TestSameBytes makes keys and proofs on every device.
func TestSameBytes(t *testing.T) {
	for _, c := range zkmltest.Cases() {
		if len(c.X) > 60 {
			continue // large enough shapes for a test device; TestProveAndVerify has more
		}
		t.Run(c.Name, func(t *testing.T) {
			devicetest.Same(t, func(t *testing.T, q *device.Queue) []byte {
				vk, pk, err := Setup(q, c.Program, c.Weights, &quick)
				if err != nil {
					t.Fatal(err)
				}
				r, err := Prove(q, pk, c.X, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := zkml.Verify(vk, c.X, r.Y, r.Proof, nil); err != nil {
					t.Fatal(err)
				}
				return append(vk.Encode(), r.Proof...)
			})
		})
	}
}
