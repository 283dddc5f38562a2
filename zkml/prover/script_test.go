package prover

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// scriptCase is what zkml/testdata/verify.py reads.
type scriptCase struct {
	Key     string  `json:"key"`
	Proof   string  `json:"proof"`
	X       []int32 `json:"x"`
	Y       []int32 `json:"y"`
	Context string  `json:"context"`
	Weights string  `json:"weights"`
	Reject  bool    `json:"reject"`
}

// TestByScript has proofs judged by a verifier in Python that was written from
// docs/protocol.md and shares no code with this implementation: what is
// accepted here is accepted there, and forgeries are refused by both.
func TestByScript(t *testing.T) {
	if only := os.Getenv("ZKWARP_TEST_DEVICES"); testing.Short() || only != "" && !strings.Contains(only, "cpu") {
		t.Skip("some seconds of Python, about proofs made on the CPU")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	programs := []*zkmltest.Case{
		zkmltest.MLP(1, 1, 7, 5, 3), zkmltest.Residual(5, 3, 7), zkmltest.Rearranged(2), zkmltest.Chain(3),
		zkmltest.Twin(4), zkmltest.Plain(5),
	}
	for _, seed := range []uint64{2, 3} {
		programs = append(programs, zkmltest.Odd(seed))
	}
	q, rng := cpu(t), rand.New(rand.NewPCG(1, 17))
	var cases []scriptCase
	for i, c := range programs {
		opts, options := quick, &zkml.Options{Context: bytes.Repeat([]byte{200}, i)}
		if i%4 == 1 {
			opts.Mode, options.Weights = zkml.PublicWeights, c.Weights
		}
		if i == 0 {
			opts = SetupOptions{} // the default parameters, with their work
		}
		vk, pk, err := Setup(q, c.Program, c.Weights, &opts)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		r, err := Prove(q, pk, c.X, &Options{Context: options.Context})
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		weights := []byte(nil)
		if options.Weights != nil {
			if weights, err = c.Weights.Encode(c.Program); err != nil {
				t.Fatal(err)
			}
		}
		add := func(what string, y []int32, proof, context []byte, reject bool) {
			t.Helper()
			o := &zkml.Options{Context: context, Weights: options.Weights}
			if err := zkml.Verify(vk, c.X, y, proof, o); (err != nil) != reject {
				t.Fatalf("%s, %s: %v", c.Name, what, err)
			}
			cases = append(cases, scriptCase{hex.EncodeToString(vk.Encode()), hex.EncodeToString(proof), c.X, y,
				hex.EncodeToString(context), hex.EncodeToString(weights), reject})
		}
		add("as it is", r.Y, r.Proof, options.Context, false)
		add("other context", r.Y, r.Proof, append(options.Context, 0), true)
		if i < 3 {
			bad := slices.Clone(r.Proof)
			bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
			add("changed bit", r.Y, bad, options.Context, true)
		}
		y, out := slices.Clone(r.Y), c.Program.Tensor(c.Program.Output)
		if y[0]++; int64(y[0]) > out.Hi {
			y[0] -= 2
		}
		if int64(y[0]) >= out.Lo {
			forged, err := zkml.EncodeProof(vk, c.X, y, decoded(t, vk, r.Proof))
			if err != nil {
				t.Fatal(err)
			}
			add("other output", y, forged, options.Context, true)
		}
	}
	data, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cases.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("..", "testdata", "verify.py"), path)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	said, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "as they should be") {
		t.Fatalf("%v\n%s", err, said)
	}
	t.Logf("%s", said)
}
