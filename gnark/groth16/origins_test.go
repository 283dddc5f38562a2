package groth16_test

import (
	"bytes"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/groth16/bn254/mpcsetup"
	cs "github.com/consensys/gnark/constraint/bn254"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// Keys of gnark's ceremony, in which many take part, and its keys of random points for
// benchmarks are proved with as by gnark; of the first the proofs verify.
func TestOrigins(t *testing.T) {
	r := setUp(t, ecc.BN254, named(t, "commits"))
	ceremony := func() (groth16.ProvingKey, groth16.VerifyingKey) {
		n := ecc.NextPowerOfTwo(uint64(r.ccs.GetNbConstraints()))
		first := mpcsetup.NewPhase1(n)
		first.Contribute()
		commons := first.Seal([]byte("beacon"))
		var second mpcsetup.Phase2
		evaluations := second.Initialize(r.ccs.(*cs.R1CS), &commons)
		second.Contribute()
		return second.Seal(&commons, &evaluations, []byte("another"))
	}
	dummy := func() (groth16.ProvingKey, groth16.VerifyingKey) {
		pk, err := groth16.DummySetup(r.ccs)
		if err != nil {
			t.Fatal(err)
		}
		return pk, nil
	}
	for name, setup := range map[string]func() (groth16.ProvingKey, groth16.VerifyingKey){"ceremony": ceremony, "dummy": dummy} {
		pk, vk := setup()
		var want []byte
		blind(t, func() {
			proof, err := gnark.Prove(r.ccs, pk, r.right)
			if err != nil {
				t.Fatal(err)
			}
			want = encode(t, proof)
		})
		for _, dev := range []string{"cpu", "cuda"} {
			t.Run(name+"/"+dev, func(t *testing.T) {
				d := devicetest.Open(t, dev)
				options := []groth16.Option{groth16.WithDevice(d.Name())}
				if vk != nil {
					options = append(options, groth16.WithVerifyingKey(vk))
				}
				blind(t, func() {
					p, err := groth16.NewProver(pk, options...)
					if err != nil {
						t.Fatal(err)
					}
					defer p.Close()
					proof, err := p.Prove(t.Context(), r.ccs, r.right)
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(encode(t, proof), want) {
						t.Error("the proof is not gnark's")
					}
				})
			})
		}
	}
}
