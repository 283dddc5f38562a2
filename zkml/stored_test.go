package zkml

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
)

// stored reads the artefacts that package zkml/prover's tests keep fresh.
func stored(t testing.TB, artefact string) (vk *VerifyingKey, x, y []int32, proof []byte) {
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
	var statement struct{ X, Y []int32 }
	if err := json.Unmarshal(read("json"), &statement); err != nil {
		t.Fatal(err)
	}
	return vk, statement.X, statement.Y, read("proof")
}

// TestStoredProof verifies a proof made earlier, as any later verifier of this
// version must.
func TestStoredProof(t *testing.T) {
	for _, name := range []string{"residual", "tour", "every"} {
		t.Run(name, func(t *testing.T) { storedProof(t, name) })
	}
}

func storedProof(t *testing.T, name string) {
	vk, x, y, proof := stored(t, name)
	if err := Verify(vk, x, y, proof, nil); err != nil {
		t.Fatal(err)
	}
	y2 := slices.Clone(y)
	y2[0] ^= 1
	if err := Verify(vk, x, y2, proof, nil); FailedCheck(err) != CheckOutputBind {
		t.Errorf("another output: %v", err)
	}
	bad := slices.Clone(proof)
	bad[len(bad)/2] ^= 1
	if err := Verify(vk, x, y, bad, nil); FailedCheck(err) == "" {
		t.Errorf("a damaged proof: %v", err)
	}
}

// TestWrappedValues gives a value that has the residue of the right one.
func TestWrappedValues(t *testing.T) {
	vk, x, y, proof := stored(t, "residual")
	wrapped := slices.Clone(x)
	if wrapped[0] > 0 {
		wrapped[0] -= m31.P
	} else {
		wrapped[0] += m31.P
	}
	if err := Verify(vk, wrapped, y, proof, nil); FailedCheck(err) != CheckInput {
		t.Errorf("an input with the same residue: %v", err)
	}
}

// FuzzDecodeStored feeds the decoders of a light build.
func FuzzDecodeStored(f *testing.F) {
	vk, _, _, proof := stored(f, "residual")
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
