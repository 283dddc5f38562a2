// Package examples_test runs the examples, as they are and with gnark's import.
package examples_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/gnark/internal/cli"
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

// changed is the lines in which two texts of as many lines differ, as a diff has them.
func changed(t *testing.T, from, to string) []string {
	t.Helper()
	var texts [2][]string
	for i, path := range []string{from, to} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = strings.Split(string(b), "\n")
	}
	if len(texts[0]) != len(texts[1]) {
		t.Fatalf("%s has %d lines and %s %d", from, len(texts[0]), to, len(texts[1]))
	}
	var out []string
	for i, line := range texts[0] {
		if line != texts[1][i] {
			out = append(out, "-"+line, "+"+texts[1][i])
		}
	}
	return out
}

// A program of gnark's and one of zkwarp's differ in the import, as the documents say.
func TestDifference(t *testing.T) {
	got := changed(t, filepath.Join("membership", "gnark", "main.go"), filepath.Join("membership", "main.go"))
	want := []string{"-\t" + theirs, "+\t" + ours}
	if !slices.Equal(got, want) {
		t.Errorf("the difference is %q, want %q", got, want)
	}
	for _, page := range []string{"README.md", filepath.Join("..", "README.md")} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "```diff\n"+strings.Join(want, "\n")+"\n```") {
			t.Errorf("%s does not show the difference", page)
		}
	}
}

// Both print the same.
func TestExamples(t *testing.T) {
	for name, c := range map[string]struct{ with, without, args []string }{
		"membership": {[]string{"./membership"}, []string{"./membership/gnark"}, []string{"-depth", "4", "-index", "11"}},
		"preimage":   {[]string{"./preimage"}, []string{"-overlay", overlay(t, filepath.Join("preimage", "main.go")), "./preimage"}, []string{"-secret", "7"}},
	} {
		t.Run(name, func(t *testing.T) {
			with, without := run(t, append(c.with, c.args...)...), run(t, append(c.without, c.args...)...)
			if with != without {
				t.Errorf("with zkwarp: %swith gnark: %s", with, without)
			}
		})
	}
}

// overlay is a file for go run's -overlay that gives a program gnark's import.
func overlay(t *testing.T, program string) string {
	t.Helper()
	path, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(source), "zkwarp/") != strings.Count(ours, "zkwarp/") {
		t.Errorf("%s: more than one import is zkwarp's", program)
	}
	dir := t.TempDir()
	changed := filepath.Join(dir, "main.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(source), ours, theirs, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, replace, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// The contract that verifies proofs comes out as gnark's, and the command line does with the files what README.md
// says.
func TestFiles(t *testing.T) {
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

	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	verbs := ""
	for line := range strings.Lines(string(page)) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "go run ./cmd/zkwarp-gnark ")
		if !ok {
			continue
		}
		args := strings.Fields(strings.ReplaceAll(command, "out/", dir+string(filepath.Separator)))
		verbs += args[0] + " "
		zkwarp(t, args...)
	}
	if verbs != "key prove verify " {
		t.Errorf("README.md has the verbs %s", verbs)
	}
	at := func(name string) string { return filepath.Join(dir, "preimage."+name) }
	if says := zkwarp(t, "verify", "--curve", "bn254", "--vk", at("vk"), "--public", at("public"), at("proof")); says != "accepted\n" {
		t.Errorf("the example's own proof: %s", says)
	}
	if public, err := os.ReadFile(filepath.Join(dir, "x.public")); err != nil {
		t.Error(err)
	} else if same, err := os.ReadFile(at("public")); err != nil || !bytes.Equal(public, same) {
		t.Errorf("another public witness (%v)", err)
	}
}

// zkwarp is what zkwarp-gnark prints.
func zkwarp(t *testing.T, args ...string) string {
	t.Helper()
	t.Setenv("ZKWARP_DEVICE", "cpu")
	var out, errs bytes.Buffer
	if code := cli.Main(t.Context(), args, &out, &errs); code != cli.ExitOK {
		t.Errorf("zkwarp-gnark %v: exit code %d\n%s", args, code, errs.String())
	}
	return out.String()
}
