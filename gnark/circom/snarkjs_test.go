package circom_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/zkwarp/zkwarp/gnark/circom"
)

// snarkjs runs snarkjs's command line. It is in the folder that ZKWARP_SNARKJS names, of
//
//	npm ci --prefix FOLDER
//
// with testdata/snarkjs in it; without that the test is skipped, but not in CI.
func snarkjs(t *testing.T) func(args ...string) (string, error) {
	t.Helper()
	dir := os.Getenv("ZKWARP_SNARKJS")
	if dir == "" {
		if ci := os.Getenv("CI"); ci != "" && ci != "0" && ci != "false" {
			t.Fatal("ZKWARP_SNARKJS is not set")
		}
		t.Skip("ZKWARP_SNARKJS is not set")
	}
	cli := filepath.Join(dir, "node_modules", "snarkjs", "build", "cli.cjs")
	if _, err := os.Stat(cli); err != nil {
		t.Fatal(err)
	}
	return func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "node", append([]string{cli}, args...)...).CombinedOutput()
		return string(out), err
	}
}

// What we write snarkjs verifies, and it refuses it with another public signal.
func TestSnarkjsVerifies(t *testing.T) {
	run := snarkjs(t)
	for _, name := range []string{"chain_bn128", "chain_bls12381"} {
		t.Run(name, func(t *testing.T) {
			f := open(t, name)
			proof, err := circom.Prove(context.Background(), f.key, f.witness, circom.Options{Device: "cpu"})
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			path := func(name string) string { return filepath.Join(dir, name) }
			save := func(name string, write func(*bytes.Buffer) error) {
				var b bytes.Buffer
				if err := write(&b); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path(name), b.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			public := f.witness.Public(f.key.NumPublic())
			save("vk.json", func(b *bytes.Buffer) error { return circom.WriteJSON(b, *f.key.VerifyingKey()) })
			save("proof.json", func(b *bytes.Buffer) error { return circom.WriteJSON(b, proof) })
			save("public.json", func(b *bytes.Buffer) error { return circom.WriteJSON(b, public) })
			if out, err := run("groth16", "verify", path("vk.json"), path("public.json"), path("proof.json")); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			public[0][0] ^= 1
			save("public.json", func(b *bytes.Buffer) error { return circom.WriteJSON(b, public) })
			out, err := run("groth16", "verify", path("vk.json"), path("public.json"), path("proof.json"))
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !bytes.Contains([]byte(out), []byte("Invalid proof")) {
				t.Errorf("with another public signal: %v\n%s", err, out)
			}
		})
	}
}
