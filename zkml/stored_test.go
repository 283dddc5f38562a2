package zkml

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
)

// stored reads the artefacts that package zkml/prover's tests keep fresh.
func stored(t testing.TB, artefact string) (vk *VerifyingKey, s *Statement, proof []byte) {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile("testdata/" + artefact + "." + name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	vk, err := DecodeVerifyingKey(read("vk"))
	if err != nil {
		t.Fatal(err)
	}
	var statement struct {
		X, Y        []int32
		Commitments []string
	}
	if err := json.Unmarshal(read("json"), &statement); err != nil {
		t.Fatal(err)
	}
	s = &Statement{X: statement.X, Y: statement.Y}
	for _, code := range statement.Commitments {
		data, err := hex.DecodeString(code)
		if err != nil {
			t.Fatal(err)
		}
		c, err := DecodeCommitment(data)
		if err != nil {
			t.Fatal(err)
		}
		s.Commitments = append(s.Commitments, *c)
	}
	return vk, s, read("proof")
}

// clone is a copy of a statement that shares nothing with it.
func (s *Statement) clone() *Statement {
	return &Statement{X: slices.Clone(s.X), Y: slices.Clone(s.Y), Commitments: slices.Clone(s.Commitments)}
}

// TestStoredProof verifies a proof made earlier, as any later verifier of this
// version must.
func TestStoredProof(t *testing.T) {
	for _, name := range []string{"residual", "tour", "every", "secret"} {
		t.Run(name, func(t *testing.T) { storedProof(t, name) })
	}
}

func storedProof(t *testing.T, name string) {
	vk, s, proof := stored(t, name)
	if err := VerifyStatement(vk, s, proof, nil); err != nil {
		t.Fatal(err)
	}
	other := s.clone()
	other.Y[0] ^= 1
	if err := VerifyStatement(vk, other, proof, nil); FailedCheck(err) != CheckOutputBind {
		t.Errorf("another output: %v", err)
	}
	bad := slices.Clone(proof)
	bad[len(bad)/2] ^= 1
	if err := VerifyStatement(vk, s, bad, nil); FailedCheck(err) == "" {
		t.Errorf("a damaged proof: %v", err)
	}
}

// TestWrappedValues gives a value that has the residue of the right one.
func TestWrappedValues(t *testing.T) {
	vk, s, proof := stored(t, "residual")
	wrapped := slices.Clone(s.X)
	if wrapped[0] > 0 {
		wrapped[0] -= m31.P
	} else {
		wrapped[0] += m31.P
	}
	if err := Verify(vk, wrapped, s.Y, proof, nil); FailedCheck(err) != CheckInput {
		t.Errorf("an input with the same residue: %v", err)
	}
}

// FuzzDecodeStored feeds the decoders of a light build.
func FuzzDecodeStored(f *testing.F) {
	vk, _, proof := stored(f, "residual")
	_, body, err := DecodeProofHeader(proof)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add(body[:len(body)-1])
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := vk.Inference().DecodeProof(body)
		if err != nil {
			return
		}
		again, err := vk.Inference().AppendProof(nil, p)
		if err != nil || !slices.Equal(again, body) {
			t.Errorf("a proof has two encodings (%v)", err)
		}
	})
}
