package models

import (
	"bytes"
	"errors"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// TestProofs proves and verifies an inference of each network on its first held-out example, and compares the proof's bytes with those
// from a card where there is one. (The emulator would take minutes; the prover's own tests run all of its kernels there.)
func TestProofs(t *testing.T) {
	some(t, func(t *testing.T, n *Network, file *File) {
		if small := n.Name == "lstm" || n.Name == "mlp-250k"; testing.Short() && !small || file.By == "dynamo" && n.Name != "cnn-264k" {
			t.Skip("left to longer tests, or the same network as another file's")
		}
		m, s := read(t, n, file), set(t, n)
		p, w, err := quant.Build(m, calibrated(t, n, file, m, s))
		if err != nil {
			t.Fatal(err)
		}
		x, err := quant.QuantizeInput(p, s.Inputs[0])
		if err != nil {
			t.Fatal(err)
		}
		proof := func(t *testing.T, q *device.Queue) []byte {
			vk, pk, err := prover.Setup(q, p, w, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := prover.Prove(q, pk, x, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := zkml.Verify(vk, x, r.Y, r.Proof, nil); err != nil {
				t.Fatal(err)
			}
			other := append([]int32(nil), r.Y...)
			other[0]++
			if err := zkml.Verify(vk, x, other, r.Proof, nil); !errors.Is(err, zkml.ErrRejected) {
				t.Errorf("another output: %v", err)
			}
			if bits := zkml.Security(vk).Sum; bits < 96 {
				t.Errorf("%.2f bits", bits)
			}
			t.Logf("proof of %d bytes; %d of %d positions right", len(r.Proof), Right(reals(r.Y), s.Labels[0]), len(s.Labels[0]))
			return r.Proof
		}
		reference := proof(t, devicetest.Queue(t, devicetest.Open(t, "cpu")))
		t.Run("cuda", func(t *testing.T) {
			if got := proof(t, devicetest.Queue(t, devicetest.Open(t, "cuda"))); !bytes.Equal(got, reference) {
				t.Error("the card's proof differs from the CPU's")
			}
		})
	})
}
