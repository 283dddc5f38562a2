package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCore(t *testing.T) {
	list := core()
	if len(list) < 3 {
		t.Fatalf("%d units", len(list))
	}
	for _, s := range list {
		if !strings.Contains(s.Name, "/prover/") || strings.HasPrefix(s.Name, "bench/") {
			t.Errorf("%s is not a prover's", s.Name)
		}
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	index := filepath.Join(dir, "index.json")
	if err := os.WriteFile(index, []byte(`{"Units":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	err := run(dir, "", true)
	if err == nil || !strings.Contains(err.Error(), core()[0].Name) {
		t.Errorf("an empty store passes the check: %v", err)
	}
	// Without NVRTC a generation leaves everything as it is.
	if err := run(dir, "", false); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(index); err != nil || string(b) != `{"Units":{}}` {
		t.Errorf("%s, %v", b, err)
	}
	if err := run(dir, "/nonexistent/libnvrtc.so.12", false); err == nil {
		t.Error("generated without NVRTC")
	}
}

// What the repository carries was made from its present sources: without that, a
// machine without NVRTC refuses the units as stale, and no test on the CPU would notice.
func TestFresh(t *testing.T) {
	if err := run("../../ptx/data", "", true); err != nil {
		t.Error(err)
	}
}

// TestGenerate needs the pinned NVRTC.
func TestGenerate(t *testing.T) {
	library := os.Getenv(env)
	if library == "" {
		t.Skip(env + " is not set")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old.ptx.gz"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, library, false); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, "", true); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "old.ptx.gz")); err == nil {
		t.Error("a file of no unit stays")
	}
}

func TestPackIsStable(t *testing.T) {
	a, err := pack([]byte(strings.Repeat("mov.u32 %r1, %r2;\n", 100) + "\x00"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := pack([]byte(strings.Repeat("mov.u32 %r1, %r2;\n", 100)))
	if err != nil || !bytes.Equal(a, b) || len(a) > 200 {
		t.Errorf("%d and %d bytes, %v", len(a), len(b), err)
	}
}

func TestCallNumbers(t *testing.T) {
	in := "\t{ // callseq 12, 0\n\tret;\n\t} // callseq 12\n\t// other\n"
	if got, want := string(callNumbers.ReplaceAll([]byte(in), nil)), "\t{\n\tret;\n\t}\n\t// other\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
