package prover

import (
	"bytes"
	"encoding/json"
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

// TestStoredArtefacts makes the stored key and proof again, on every device.
func TestStoredArtefacts(t *testing.T) {
	k := residual(t)
	r := k.prove(t, hooks{})
	statement, err := json.Marshal(map[string][]int32{"x": k.X, "y": r.Y})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("ZKWARP_UPDATE") != "" {
		for name, data := range map[string][]byte{"residual.vk": k.vk.Encode(), "residual.proof": r.Proof, "residual.json": append(statement, '\n')} {
			if err := os.WriteFile(filepath.Join(stored, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(stored, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if !bytes.Equal(read("residual.vk"), k.vk.Encode()) {
		t.Error("setup no longer makes the stored key")
	}
	vk, err := zkml.DecodeVerifyingKey(read("residual.vk"))
	if err != nil {
		t.Fatal(err)
	}
	pk, err := NewProvingKey(vk, k.Weights)
	if err != nil {
		t.Fatal(err)
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		r, err := Prove(q, pk, k.X, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(r.Proof, read("residual.proof")) {
			t.Error("the stored proof is no longer what the prover makes: a change of the protocol needs a new version")
		}
	})
}
