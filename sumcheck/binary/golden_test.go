package binary_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/sumcheck/binary/binarytest"
)

func elements(t *testing.T, list ...string) []gf2.Element {
	t.Helper()
	var out []gf2.Element
	for _, text := range list {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(b)
		out = append(out, gf2.FromBytes([gf2.Size]byte(b)))
	}
	return out
}

// Proofs of a script that shares no code with this implementation: the naive prover makes
// the same bytes, and the verifier accepts them and ends in the same state.
func TestGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Kind                string
		N, D                int
		Z                   []string
		Value, Proof, After string
		Ext                 [][]string
		Bits                [][]uint32
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 16 {
		t.Errorf("%d cases, want 16 or more", len(cases))
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s-d%d-n%d", c.Kind, c.D, c.N), func(t *testing.T) {
			kind, err := binary.ParseKind(c.Kind)
			if err != nil {
				t.Fatal(err)
			}
			in := &binarytest.Instance{Claim: binary.Claim{Shape: binary.Shape{Vars: c.N, Degree: c.D, Kind: kind},
				Value: elements(t, c.Value)[0], Z: elements(t, c.Z...)}, Bits: c.Bits}
			for _, table := range c.Ext {
				in.Ext = append(in.Ext, elements(t, table...))
			}
			if in.Sum() != in.Claim.Value {
				t.Fatalf("the sum is %v, want %v", in.Sum(), in.Claim.Value)
			}
			want, err := hex.DecodeString(c.Proof)
			if err != nil {
				t.Fatal(err)
			}
			got, err := in.Claim.AppendProof(nil, binarytest.Prove(newTranscript(), in, binarytest.Cheat{}))
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("proof %x, want %x (%v)", got, want, err)
			}
			proof, err := binary.DecodeProof(in.Claim.Shape, want)
			if err != nil {
				t.Fatal(err)
			}
			tr := newTranscript()
			if _, err := binary.Verify(tr, in.Claim, proof); err != nil {
				t.Fatal(err)
			}
			if after := elements(t, c.After)[0]; tr.Challenge() != after {
				t.Error("the transcript ends in another state")
			}
		})
	}
}
