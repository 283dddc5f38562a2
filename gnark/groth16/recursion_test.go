package groth16_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/algebra/native/sw_bls12377"
	recursion "github.com/consensys/gnark/std/recursion/groth16"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/groth16"
)

type (
	innerProof   = recursion.Proof[sw_bls12377.G1Affine, sw_bls12377.G2Affine]
	innerKey     = recursion.VerifyingKey[sw_bls12377.G1Affine, sw_bls12377.G2Affine, sw_bls12377.GT]
	innerWitness = recursion.Witness[sw_bls12377.ScalarField]
)

// outer verifies a proof over BLS12-377 in a circuit over BW6-761.
type outer struct {
	Proof   innerProof
	Key     innerKey     `gnark:"-"`
	Witness innerWitness `gnark:",public"`
}

func (c *outer) Define(api frontend.API) error {
	v, err := recursion.NewVerifier[sw_bls12377.ScalarField, sw_bls12377.G1Affine, sw_bls12377.G2Affine, sw_bls12377.GT](api)
	if err != nil {
		return err
	}
	return v.AssertProof(c.Key, c.Proof, c.Witness)
}

// A proof of a proof, both on the device; the inner one with a hash that circuits can
// compute.
func TestRecursion(t *testing.T) {
	if os.Getenv("ZKWARP_TEST_DEVICES") == "" {
		t.Skip("takes half a minute on two cores; ZKWARP_TEST_DEVICES=cpu asks for it")
	}
	for _, dev := range []string{"cpu", "cuda"} {
		t.Run(dev, func(t *testing.T) {
			d := devicetest.Open(t, dev)
			for _, name := range []string{"cubic", "one commitment"} {
				t.Run(name, func(t *testing.T) {
					x := example{circuit: &hides{}, right: &hides{5, 6}, commitments: 1}
					if name == "cubic" {
						x = named(t, name)
					}
					r := setUp(t, ecc.BLS12_377, x)
					field := ecc.BW6_761.ScalarField()
					inner, err := groth16.NewProver(r.pk, groth16.WithDevice(d.Name()))
					if err != nil {
						t.Fatal(err)
					}
					defer inner.Close()
					proof, err := inner.Prove(t.Context(), r.ccs, r.right, recursion.GetNativeProverOptions(field, ecc.BLS12_377.ScalarField()))
					if err != nil {
						t.Fatal(err)
					}
					if err := groth16.Verify(proof, r.vk, r.public, recursion.GetNativeVerifierOptions(field, ecc.BLS12_377.ScalarField())); err != nil {
						t.Fatal(err)
					}
					must := func(err error) {
						t.Helper()
						if err != nil {
							t.Fatal(err)
						}
					}
					var assignment outer
					assignment.Proof, err = recursion.ValueOfProof[sw_bls12377.G1Affine, sw_bls12377.G2Affine](proof)
					must(err)
					assignment.Witness, err = recursion.ValueOfWitness[sw_bls12377.ScalarField](r.public)
					must(err)
					circuit := &outer{
						Proof:   recursion.PlaceholderProof[sw_bls12377.G1Affine, sw_bls12377.G2Affine](r.ccs),
						Witness: recursion.PlaceholderWitness[sw_bls12377.ScalarField](r.ccs),
					}
					circuit.Key, err = recursion.ValueOfVerifyingKey[sw_bls12377.G1Affine, sw_bls12377.G2Affine, sw_bls12377.GT](r.vk)
					must(err)
					wrong := assignment
					wrong.Proof.Krs = assignment.Proof.Ar
					o := setUp(t, ecc.BW6_761, example{circuit: circuit, right: &assignment, wrong: &wrong, commitments: 1})
					var want, got []byte
					blind(t, func() {
						proof, err := gnark.Prove(o.ccs, o.pk, o.right)
						must(err)
						want = encode(t, proof)
					})
					var p *groth16.Prover
					blind(t, func() {
						p, err = groth16.NewProver(o.pk, groth16.WithDevice(d.Name()), groth16.WithVerifyingKey(o.vk))
						must(err)
						proof, err := p.Prove(t.Context(), o.ccs, o.right)
						must(err)
						got = encode(t, proof)
					})
					defer p.Close()
					if !bytes.Equal(got, want) {
						t.Error("the proof is not gnark's")
					}
					if _, err := p.Prove(t.Context(), o.ccs, o.wrong); err == nil {
						t.Error("proves that a proof verifies that does not")
					}
				})
			}
		})
	}
}
