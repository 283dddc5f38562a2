package prover

import (
	"errors"
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
				before := q.Device().InUse()
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
				if now := q.Device().InUse(); now != before {
					t.Errorf("%d bytes of device memory are not given back", now-before)
				}
				return append(vk.Encode(), r.Proof...)
			})
		})
	}
}

// TestMemoryBudget runs out of memory at every allocation in turn; nothing may
// leak.
func TestMemoryBudget(t *testing.T) {
	k := mlp(t)
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		before := d.InUse()
		defer d.SetBudget(0)
		failed := 0
		for budget := int64(64); budget < 1<<22; budget += budget / 8 {
			d.SetBudget(before + budget)
			_, err := Prove(q, k.pk, k.X, nil)
			if err != nil {
				failed++
				if !errors.Is(err, device.ErrNoMemory) {
					t.Fatalf("budget %d: %v", budget, err)
				}
			}
			if now := d.InUse(); now != before {
				t.Fatalf("budget %d: %d bytes are not given back (%v)", budget, now-before, err)
			}
			if err == nil {
				break
			}
		}
		if failed < 10 {
			t.Errorf("only %d budgets were too small", failed)
		}
	})
}
