package prover

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/zkml"
)

// stored is the folder of the artefacts that package zkml's tests verify. They
// change only with zkml.Version; ZKWARP_UPDATE=1 writes them anew.
const stored = "../testdata"

// statement is the third stored file. Sum is the union sum that the security
// report prints, for verifiers that are not this one.
type statement struct {
	X []int32 `json:"x"`
	Y []int32 `json:"y"`
	// Commitments of a statement that has some, in hex.
	Commitments []string `json:"commitments,omitempty"`
	Sum         float64  `json:"sum"`
}

// TestStoredArtefacts makes the stored keys and proofs again, on every device.
// The key of tour asks for work before its lookup challenges.
func TestStoredArtefacts(t *testing.T) {
	k := tour(t)
	s := k.vk.Settings()
	s.Inference.Work, s.Weights.Work = 6, 3
	vk, _ := rekey(t, k, s)
	t.Run("residual", func(t *testing.T) { testStored(t, residual(t), residual(t).vk) })
	t.Run("tour", func(t *testing.T) { testStored(t, k, vk) })
	t.Run("every", func(t *testing.T) { testStored(t, every(t), every(t).vk) })
	t.Run("secret", func(t *testing.T) { testStored(t, secret(t), secret(t).vk) })
}

func testStored(t *testing.T, k *keyed, vk *zkml.VerifyingKey) {
	name := t.Name()[len("TestStoredArtefacts/"):]
	pk, err := NewProvingKey(vk, k.Weights)
	if err != nil {
		t.Fatal(err)
	}
	options := &Options{Salts: salts(len(vk.Committed()))}
	if os.Getenv("ZKWARP_UPDATE") != "" {
		r, err := Prove(cpu(t), pk, k.X, options)
		if err != nil {
			t.Fatal(err)
		}
		st := statement{X: r.Statement.X, Y: r.Statement.Y, Sum: zkml.Security(vk).Sum}
		for i := range r.Statement.Commitments {
			st.Commitments = append(st.Commitments, hex.EncodeToString(r.Statement.Commitments[i].Encode()))
		}
		line, err := json.Marshal(st)
		if err != nil {
			t.Fatal(err)
		}
		for ext, data := range map[string][]byte{".vk": vk.Encode(), ".proof": r.Proof, ".json": append(line, '\n')} {
			if err := os.WriteFile(filepath.Join(stored, name+ext), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	read := func(ext string) []byte {
		data, err := os.ReadFile(filepath.Join(stored, name+ext))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if !bytes.Equal(read(".vk"), vk.Encode()) {
		t.Error("setup no longer makes the stored key")
	}
	var st statement
	if err := json.Unmarshal(read(".json"), &st); err != nil {
		t.Fatal(err)
	}
	if sum := zkml.Security(vk).Sum; math.Abs(sum-st.Sum) > 1e-9 {
		t.Errorf("the security report's sum is %v, stored is %v", sum, st.Sum)
	}
	decodedKey, err := zkml.DecodeVerifyingKey(read(".vk"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewProvingKey(decodedKey, k.Weights)
	if err != nil {
		t.Fatal(err)
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		r, err := Prove(q, again, k.X, options)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(r.Proof, read(".proof")) {
			t.Error("the stored proof is no longer what the prover makes: a change of the protocol needs a new version")
		}
	})
}
