package groth16_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	gnark "github.com/consensys/gnark/backend/groth16"
	gnark254 "github.com/consensys/gnark/backend/groth16/bn254"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// With a verifying key no wrong part of a proof passes, whichever query it is of that a device
// sums wrongly, as its points are: the CPU makes the proof, from the same randomness, and the
// log has the fault and the device.
func TestFaults(t *testing.T) {
	d := devicetest.Open(t, "simt")
	r := setUp(t, ecc.BN254, named(t, "closed"))
	pk := r.pk.(*gnark254.ProvingKey)
	var want []byte
	blind(t, func() {
		proof, err := gnark.Prove(r.ccs, pk, r.right)
		if err != nil {
			t.Fatal(err)
		}
		want = encode(t, proof)
	})
	for name, spoil := range map[string]func(){ // there and back
		"A": func() { pk.G1.A[0].Neg(&pk.G1.A[0]) },
		"K": func() { pk.G1.K[0].Neg(&pk.G1.K[0]) },
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			spoil()
			p, err := groth16.NewProver(pk, groth16.WithDevice(d.Name()), groth16.WithVerifyingKey(r.vk), groth16.WithRandom(seeded()),
				groth16.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			spoil()
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			proof, err := p.Prove(context.Background(), r.ccs, r.right)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(encode(t, proof), want) {
				t.Error("the proof is not that of the CPU")
			}
			if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "level=ERROR") ||
				!strings.Contains(log.String(), "wrong=true") || !strings.Contains(log.String(), "device="+d.Name()) {
				t.Errorf("%d lines: %s", n, log.String())
			}
		})
	}
}

// A key whose β is not the same in both groups, which is none of gnark's, has no proofs whose B
// is: that is no fault of the device.
func TestUnrelatedKey(t *testing.T) {
	d := devicetest.Open(t, "simt")
	r := setUp(t, ecc.BN254, named(t, "closed"))
	pk := copied(r.pk)
	pk.G2.Beta.Neg(&pk.G2.Beta)
	var log bytes.Buffer
	p, err := groth16.NewProver(pk, groth16.WithDevice(d.Name()), groth16.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Prove(context.Background(), r.ccs, r.right); err != nil || log.Len() > 0 {
		t.Errorf("error %v, log %q", err, log.String())
	}
}
