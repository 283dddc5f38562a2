package groth16_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/solidity"

	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// From the same randomness the contract that verifies proofs, and a proof as it is called
// with, are gnark's to the byte; with commitments they are hashed as the contract does.
func TestSolidity(t *testing.T) {
	for _, name := range []string{"cubic", "open commits", "commits"} {
		t.Run(name, func(t *testing.T) {
			x := named(t, name)
			var ours, theirs *ready
			blind(t, func() { ours = setUp(t, ecc.BN254, x) })
			blind(t, func() {
				theirs = &ready{}
				var err error
				if theirs.pk, theirs.vk, err = gnark.Setup(ours.ccs); err != nil {
					t.Fatal(err)
				}
			})
			var contract, want bytes.Buffer
			if err := ours.vk.ExportSolidity(&contract, solidity.WithPragmaVersion("^0.8.20")); err != nil {
				t.Fatal(err)
			}
			if err := theirs.vk.ExportSolidity(&want, solidity.WithPragmaVersion("^0.8.20")); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(contract.Bytes(), want.Bytes()) || !bytes.Contains(contract.Bytes(), []byte("pragma solidity ^0.8.20")) {
				t.Errorf("a contract of %d bytes is not gnark's, of %d", contract.Len(), want.Len())
			}
			// The words of a call.
			call := func(p groth16.Proof) []byte {
				m, ok := p.(interface{ MarshalSolidity() []byte })
				if !ok {
					t.Fatalf("a proof of type %T", p)
				}
				return m.MarshalSolidity()
			}
			option := solidity.WithProverTargetSolidityVerifier(backend.GROTH16)
			var proof, other groth16.Proof
			blind(t, func() {
				p, err := groth16.NewProver(ours.pk, groth16.WithDevice("cpu"))
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				if proof, err = p.Prove(context.Background(), ours.ccs, ours.right, option); err != nil {
					t.Fatal(err)
				}
			})
			blind(t, func() {
				var err error
				if other, err = gnark.Prove(ours.ccs, theirs.pk, ours.right, option); err != nil {
					t.Fatal(err)
				}
			})
			if got, want := call(proof), call(other); !bytes.Equal(got, want) || len(got) < 8*32 {
				t.Errorf("%x is not gnark's call, %x", got, want)
			}
			if err := gnark.Verify(proof, ours.vk, ours.public, solidity.WithVerifierTargetSolidityVerifier(backend.GROTH16)); err != nil {
				t.Error(err)
			}
		})
	}
}
