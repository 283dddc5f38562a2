package prover

import (
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
	code, err := zkml.EncodeProof(k.vk, x, y, p)
	if err != nil {
		t.Fatal(err)
	}
	return code
}
