package groth16_test

import (
	"bytes"
	"crypto/rand"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	gnark "github.com/consensys/gnark/backend/groth16"
	gnark254 "github.com/consensys/gnark/backend/groth16/bn254"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/groth16/internal/bn254"
	"github.com/zkwarp/zkwarp/gnark/groth16/internal/resident"
)

// Devices that share a proof, of which some have no wires that others have, make gnark's own,
// twice from one solution.
func TestDevices(t *testing.T) {
	for _, c := range []struct {
		device, circuit string
		devices         []int
	}{{"simt", "commits", []int{3}}, {"cuda", "ranges", []int{1, 2, 4}}} {
		t.Run(c.device+"/"+c.circuit, func(t *testing.T) {
			d := devicetest.Open(t, c.device)
			r := setUp(t, ecc.BN254, named(t, c.circuit))
			var want []byte
			blind(t, func() {
				proof, err := gnark.Prove(r.ccs, r.pk, r.right)
				if err != nil {
					t.Fatal(err)
				}
				want = encode(t, proof)
			})
			config, err := backend.NewProverConfig()
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range c.devices {
				place, err := resident.NewPlace(slices.Repeat([]*device.Device{d}, n), 0)
				if err != nil {
					t.Fatal(err)
				}
				k, err := bn254.NewKey(r.pk.(*gnark254.ProvingKey), place)
				if err != nil {
					t.Fatal(err)
				}
				defer k.Close()
				blind(t, func() {
					solved, err := k.Solve(t.Context(), r.ccs, r.right, config)
					if err != nil {
						t.Fatal(err)
					}
					proof, err := k.Finish(t.Context(), solved, rand.Reader, true)
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(encode(t, proof), want) {
						t.Errorf("%d devices: the proof is not gnark's", n)
					}
					if proof, err = k.Finish(t.Context(), solved, seeded(), false); err != nil {
						t.Fatal(err)
					}
					if err := gnark.Verify(proof, r.vk, r.public); err != nil {
						t.Errorf("%d devices, again: %v", n, err)
					}
				})
			}
		})
	}
}
