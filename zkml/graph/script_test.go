package graph

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadByScript has the decoder and the rules of zkml/testdata/program.py, which were written from the documentation, read programs
// with every operation, and refuse bytes that DecodeProgram refuses.
func TestReadByScript(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no python3")
		}
		t.Skip("no python3")
	}
	dir := t.TempDir()
	var all [][]byte
	for _, build := range []func(testing.TB) (*Program, *Weights, []int32){sample, composed} {
		p, _, _ := build(t)
		code, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, code)
	}
	good := len(all)
	code := all[1]
	for i := 0; len(all) < 300 && i < 8*len(code); i += 7 {
		bad := append([]byte{}, code...)
		bad[i/8] ^= 1 << (i % 8)
		// The last step, names and scales have rules that the script does not need.
		if _, err := DecodeProgram(bad); err != nil && !strings.Contains(err.Error(), "scale") && !strings.Contains(err.Error(), "printable") {
			all = append(all, bad)
		}
	}
	for i, code := range all {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d", i)), code, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const script = `
import os, sys
sys.path.insert(0, "../testdata")
from program import Program
for name in sorted(os.listdir(sys.argv[1])):
    try:
        p = Program(open(os.path.join(sys.argv[1], name), "rb").read())
        print(p.digest.hex())
    except (ValueError, UnicodeDecodeError, IndexError) as e:
        print("refused:", e)
`
	cmd := exec.CommandContext(t.Context(), python, "-c", script, dir)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(all) || len(all) < 100 {
		t.Fatalf("%d lines for %d programs", len(lines), len(all))
	}
	for i, line := range lines {
		if refused := strings.HasPrefix(line, "refused"); refused != (i >= good) {
			_, err := DecodeProgram(all[i])
			t.Errorf("program %d: the script says %q, Go says %v", i, line, err)
		}
	}
}
