package prover

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml"
)

// TestStatement proves one statement under the transcript of another.
func TestStatement(t *testing.T) {
	for _, make := range allCases {
		k := make(t)
		t.Run(k.Name+"/input", func(t *testing.T) {
			x := slices.Clone(k.X)
			x[len(x)-1] ^= 1
			r := k.prove(t, hooks{statement: func(_ *session, _, y []int32) ([]int32, []int32) { return x, y }})
			rejected(t, zkml.Verify(k.vk, x, r.Y, r.Proof, nil), zkml.CheckInputBind)
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckInputBind)
			// An honest proof that only says that it is about x: the challenges
			// are others.
			r = k.prove(t, hooks{})
			rejected(t, zkml.Verify(k.vk, x, r.Y, relabel(t, k, r.Proof, x, r.Y), nil), zkml.CheckTree)
		})
		t.Run(k.Name+"/output", func(t *testing.T) {
			out := k.Program.Tensor(k.Program.Outputs[0])
			r := k.prove(t, hooks{statement: func(_ *session, x, y []int32) ([]int32, []int32) {
				if y[0]++; int64(y[0]) > out.Hi {
					y[0] -= 2
				}
				return x, y
			}})
			// A padded output is bound by a sum-check; one without padding is
			// an evaluation of a column, or the result of a linear relation.
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckSumcheck, zkml.CheckMerge)
			rejected(t, zkml.Verify(k.vk, k.X, k.Output(), r.Proof, nil), zkml.CheckOutputBind)
			rejected(t, zkml.Verify(k.vk, k.X, k.Output(), relabel(t, k, r.Proof, k.X, k.Output()), nil), zkml.CheckTree)
		})
	}
	k := mlp(t)
	r, err := Prove(cpu(t), k.pk, k.X, &Options{Context: []byte("first")})
	if err != nil {
		t.Fatal(err)
	}
	if err := zkml.Verify(k.vk, k.X, r.Y, r.Proof, &zkml.Options{Context: []byte("first")}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"", "second", "first\x00"} {
		err := zkml.Verify(k.vk, k.X, r.Y, r.Proof, &zkml.Options{Context: []byte(c)})
		rejected(t, err, zkml.CheckTree, zkml.CheckLeafDen)
		if !strings.Contains(err.Error(), "another context") {
			t.Errorf("the reason does not name the context: %v", err)
		}
	}
}

// TestForeignDigests proves what is true while transcript and header say, by
// their digests, that the proof is about an input or output that differs in one
// value. All challenges are then those of a verifier who was given that one.
func TestForeignDigests(t *testing.T) {
	for _, make := range allCases {
		k := make(t)
		t.Run(k.Name, func(t *testing.T) {
			y, rng := k.Output(), rand.New(rand.NewPCG(3, 4))
			for range 2 {
				x, _, ok := another(rng, k.Program, k.Program.Inputs, k.X)
				if !ok {
					t.Fatal("no input has a second value")
				}
				r := k.prove(t, hooks{digests: func(zkml.Digests) zkml.Digests { return zkml.DigestsOf(x, y) }})
				rejected(t, zkml.Verify(k.vk, x, y, r.Proof, nil), zkml.CheckInputBind, zkml.CheckPublicFactor)
				rejected(t, zkml.Verify(k.vk, k.X, y, relabel(t, k, r.Proof, k.X, y), nil), zkml.CheckTree)
			}
			other, _, ok := another(rng, k.Program, k.Program.Outputs, y)
			if !ok {
				t.Fatal("no output has a second value")
			}
			r := k.prove(t, hooks{digests: func(zkml.Digests) zkml.Digests { return zkml.DigestsOf(k.X, other) }})
			// What the prover shows of an output is the true one's, and what the
			// verifier evaluates is another's: a padded output fails in its
			// sum-check, one without padding as the result of a relation or, if
			// it is a column, as a claim on the witness.
			rejected(t, zkml.Verify(k.vk, k.X, other, r.Proof, nil), zkml.CheckOutputBind, zkml.CheckSumcheck, zkml.CheckMerge)
			rejected(t, zkml.Verify(k.vk, k.X, y, relabel(t, k, r.Proof, k.X, y), nil), zkml.CheckTree)
			// Inputs and outputs exchanged.
			r = k.prove(t, hooks{digests: func(d zkml.Digests) zkml.Digests { return zkml.Digests{Input: d.Output, Output: d.Input} }})
			rejected(t, zkml.Verify(k.vk, k.X, y, r.Proof, nil), zkml.CheckInputBind)
			rejected(t, zkml.Verify(k.vk, k.X, y, relabel(t, k, r.Proof, k.X, y), nil), zkml.CheckTree)
		})
	}
}

// relabel gives a proof the header of another statement.
func relabel(t *testing.T, k *keyed, proof []byte, x, y []int32) []byte {
	t.Helper()
	_, body, err := zkml.DecodeProofHeader(proof)
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.vk.Inference().DecodeProof(body)
	if err != nil {
		t.Fatal(err)
	}
	code, err := zkml.EncodeProof(k.vk, zkml.DigestsOf(x, y), p)
	if err != nil {
		t.Fatal(err)
	}
	return code
}
