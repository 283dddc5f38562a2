package prover

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
)

var update = flag.Bool("update", false, "write testdata/golden.json anew")

const golden = "../testdata/golden.json"

type goldenCase struct {
	Tag    m31.Element   `json:"tag"`
	Vars   int           `json:"vars"`
	Params []uint32      `json:"params"`
	Root   []m31.Element `json:"root"`
	Claims []goldenClaim `json:"claims"`
	Proof  string        `json:"proof"`
}

type goldenClaim struct {
	Point [][4]m31.Element `json:"point"`
	Value [4]m31.Element   `json:"value"`
}

// goldenCases proves fixed statements about fixed tables: one round, several
// with shrinks, samples and work, a single symbol.
func goldenCases(t *testing.T) []goldenCase {
	t.Helper()
	q := queue(t)
	var out []goldenCase
	for seed, tc := range []struct {
		vars   int
		claims int
		c      whir.Config
	}{
		{1, 1, kindM31().config(1, 1, whir.Round{Fold: 1, Queries: 4})},
		{6, 1, kindM31().config(5, 2, whir.Round{Fold: 3, Queries: 5, QueryWork: 3})},
		{9, 2, kindM31().config(8, 1, whir.Round{Fold: 3, Shrink: 2, Queries: 6, FoldWork: 2, QueryWork: 4},
			whir.Round{Fold: 2, Shrink: 1, Multiplicity: 3, Samples: 2, Queries: 5, FoldWork: 1},
			whir.Round{Fold: 2, Multiplicity: 4, Samples: 1, Queries: 4, QueryWork: 5})},
	} {
		s := newSource(uint64(seed))
		tc.c.Claims = 2 * tc.claims
		p, err := whir.NewM31Params(tc.vars, params(t, tc.c))
		if err != nil {
			t.Fatal(err)
		}
		table := many(1<<tc.vars, s.base)
		c, err := CommitM31(q, p, table)
		if err != nil {
			t.Fatal(err)
		}
		root := rootOf(t, c)
		g := goldenCase{Tag: transcript.TagWHIR, Vars: tc.vars, Root: root[:]}
		for enc := p.Inner().AppendBinary(nil); len(enc) > 0; enc = enc[4:] {
			g.Params = append(g.Params, binary.LittleEndian.Uint32(enc))
		}
		var claims []whir.M31Claim
		for range tc.claims {
			point := many(tc.vars, s.qm31)
			claim := whir.M31Claim{Point: point, Value: mle.EvaluateBase(table, point)}
			claims = append(claims, claim)
			gc := goldenClaim{Value: claim.Value.Words()}
			for _, x := range point {
				gc.Point = append(gc.Point, x.Words())
			}
			g.Claims = append(g.Claims, gc)
		}
		tr := transcript.New(transcript.TagWHIR)
		tr.Absorb(words(t, c))
		pf, err := OpenM31(q, tr, c, claims)
		if err != nil {
			t.Fatal(err)
		}
		o, err := whir.ReceiveM31(transcript.New(transcript.TagWHIR), p, root)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Verify(claims, pf); err != nil {
			t.Fatal(err)
		}
		enc, err := p.AppendProof(nil, pf)
		if err != nil {
			t.Fatal(err)
		}
		g.Proof = hex.EncodeToString(enc)
		out = append(out, g)
	}
	return out
}

// The prover's bytes stay as they are, and the script next to them, which has
// nothing in common with this implementation, accepts them.
func TestGolden(t *testing.T) {
	got := goldenCases(t)
	if *update {
		data, err := json.MarshalIndent(got, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var want []goldenCase
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("proofs differ from the golden file's (written anew with -update)")
	}
}

func TestGoldenByScript(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	cmd := exec.Command(python, filepath.Join("..", "testdata", "verify.py"))
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "8 proofs verified") {
		t.Fatalf("%v\n%s", err, out)
	}
}
