// Package examples_test runs the examples, as they are and with gnark's import.
package examples_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	ours   = `"github.com/zkwarp/zkwarp/gnark/groth16"`
	theirs = `"github.com/consensys/gnark/backend/groth16"`
)

// run is what an example prints.
func run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"run"}, args...)...)
	cmd.Env = append(os.Environ(), "ZKWARP_DEVICE=cpu")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go run %v: %v\n%s", args, err, stderr.String())
	}
	_, line, ok := strings.Cut(string(out), "proved in ") // gnark logs to the same stream
	if !ok {
		t.Fatalf("go run %v: %s", args, out)
	}
	return line
}

func TestExamples(t *testing.T) {
	for name, args := range map[string][]string{"preimage": {"-secret", "7"}, "membership": {"-depth", "4", "-index", "11"}} {
		t.Run(name, func(t *testing.T) {
			path, err := filepath.Abs(filepath.Join(name, "main.go"))
			if err != nil {
				t.Fatal(err)
			}
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(source), "zkwarp/") != strings.Count(ours, "zkwarp/") {
				t.Error("more than one import is zkwarp's")
			}
			dir := t.TempDir()
			changed := filepath.Join(dir, "main.go")
			if err := os.WriteFile(changed, []byte(strings.Replace(string(source), ours, theirs, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644); err != nil {
				t.Fatal(err)
			}
			with := run(t, append([]string{"./" + name}, args...)...)
			without := run(t, append([]string{"-overlay", filepath.Join(dir, "overlay.json"), "./" + name}, args...)...)
			if with != without {
				t.Errorf("with zkwarp: %swith gnark: %s", with, without)
			}
		})
	}
}

// The contract that verifies proofs comes out as gnark's.
func TestSolidity(t *testing.T) {
	dir := t.TempDir()
	run(t, "./preimage", "-o", dir)
	contract, err := os.ReadFile(filepath.Join(dir, "preimage.sol"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(contract, []byte("function verifyProof(")) {
		t.Errorf("%d bytes without a verifyProof", len(contract))
	}
	if proof, err := os.ReadFile(filepath.Join(dir, "preimage.proof")); err != nil || len(proof) < 128 {
		t.Errorf("a proof of %d bytes, error %v", len(proof), err)
	}
}
