package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestManyOutputs proves a program whose outputs are read on a queue of their own,
// beside the commitments: the proof is the CPU's, and outputs are told once, whole.
func TestManyOutputs(t *testing.T) {
	c := zkmltest.Product(3, 4, 3, manyOutputs/4, false)
	host := cpu(t)
	_, pk, err := Setup(host, c.Program, c.Weights, &quick)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Prove(host, pk, c.X, nil)
	if err != nil {
		t.Fatal(err)
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		if q.OnHost() {
			t.Skip("is what the others are compared with")
		}
		told, before := 0, q.Stats()
		r, err := Prove(q, pk, c.X, &Options{Output: func(y []int32) { told += len(y) }})
		if err != nil {
			t.Fatal(err)
		}
		if told != manyOutputs || len(r.Y) != manyOutputs {
			t.Errorf("%d outputs, %d told", len(r.Y), told)
		}
		if s := q.Stats().Since(before); s.BytesOut < 4*manyOutputs {
			t.Errorf("%d bytes were read", s.BytesOut)
		}
		if string(r.Proof) != string(want.Proof) {
			t.Error("the proof is not the CPU's")
		}
	})
}
