package zkmltest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ScriptCase is what zkml/testdata/verify.py reads: key, proof, context and
// weights in hex, the statement, and what to expect of it.
type ScriptCase struct {
	Key   string  `json:"key"`
	Proof string  `json:"proof"`
	X     []int32 `json:"x"`
	Y     []int32 `json:"y"`
	// Commitments are those of the statement, in hex.
	Commitments []string `json:"commitments"`
	Context     string   `json:"context"`
	Weights     string   `json:"weights"`
	Check       string   `json:"check"` // the failed check; empty if it is to be accepted
	Sum         float64  `json:"sum"`   // the union sum of the key's security report, bits
}

// Python returns the interpreter for the verifier in Python. Without one the
// test is skipped, except in continuous integration, and so it is in short runs
// and in those for devices other than the CPU.
func Python(t *testing.T) string {
	t.Helper()
	if only := os.Getenv("ZKWARP_TEST_DEVICES"); testing.Short() || only != "" && !strings.Contains(only, "cpu") {
		t.Skip("some seconds of Python, about proofs made on the CPU")
	}
	python, err := exec.LookPath("python3")
	if err == nil {
		return python
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no python3")
	}
	t.Skip("no python3")
	return ""
}

// Judge has the cases judged by the verifier in Python, which must name the
// same checks and compute the same sums. testdata is the path of its folder.
func Judge(t *testing.T, testdata string, cases []ScriptCase) {
	t.Helper()
	python := Python(t)
	data, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cases.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join(testdata, "verify.py"), path)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	said, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(said), fmt.Sprintf("%d cases as they should be", len(cases))) {
		t.Fatalf("%v\n%s", err, said)
	}
}
