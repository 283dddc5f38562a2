package cli

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/whir/whirfile"
)

// fieldFlags are the ways to name every scheme on the command line.
func fieldFlags() map[string][]string {
	out := map[string][]string{}
	for _, s := range whirfile.Schemes() {
		field := strings.TrimRight(s.Field, "45")
		args := []string{"--field", field, "--hash", s.Hash}
		if field != s.Field {
			args = append(args, "--extension", strings.TrimPrefix(s.Field, field))
		}
		out[s.Name()] = args
	}
	return out
}

// Every scheme commits, opens and verifies over files, with a claim of each kind
// that it has, and describes them.
func TestWHIRFiles(t *testing.T) {
	for name, flags := range fieldFlags() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, name) }
			commit := []string{"whir", "commit", "random:1", "random:2", "--vars", "6", "--claims", "2", "--bits", "80", "--fold-work", "4", "--query-work", "4", "--arity", "4", "--json", "-o", in("c")}
			open := []string{"whir", "open", in("c.whirkey"), "--point", "random:3", "--univariate", "5", "--json", "-o", in("c.proof"), "--bundle", in("c.bundle")}
			if strings.HasPrefix(name, "m31") {
				commit = append(commit[:3], commit[4:]...)
				open[5], open[6] = "--point", "0,1,0,1,1,7"
			}
			made := object(t, must(t, append(commit, flags...)...))
			if d := made["parameters"].(map[string]any); d["scheme"] != name || d["arity"] != 4.0 {
				t.Errorf("committed with %v", d)
			}
			got := object(t, must(t, open...))
			if got["claims"] != 2.0 || got["security_bits_min_round"].(float64) < 80 {
				t.Errorf("open printed %v", got)
			}
			for _, args := range [][]string{{in("c.bundle")}, {in("c.whir"), in("c.claims.json"), in("c.proof")}} {
				got := object(t, must(t, append([]string{"whir", "verify", "--json"}, args...)...))
				if got["verified"] != true || got["claims"] != 2.0 || got["sha256"] != made["sha256"] {
					t.Errorf("verify %v printed %v", args, got)
				}
			}
			for file, kind := range map[string]string{"c.whir": "commitment", "c.whirkey": "opening key", "c.proof": "opening proof", "c.claims.json": "claims", "c.bundle": "bundle"} {
				if got := object(t, must(t, "inspect", "--json", in(file))); got["kind"] != kind {
					t.Errorf("inspect says that %s is a %v, want %s", file, got["kind"], kind)
				}
			}
			if info, err := os.Stat(in("c.whirkey")); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("the key is readable by others: %v, %v", info.Mode(), err)
			}
		})
	}
}

// A key finds its table from wherever the folder of both is moved, and a table in
// the key or from standard input needs no file.
func TestWHIRTables(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, "a", name) }
	var raw []byte
	for i := range uint32(16) {
		raw = binary.LittleEndian.AppendUint32(raw, 1000+i)
	}
	writeFile(t, in("t.u32"), raw)
	must(t, "whir", "commit", in("t.u32"), "-o", in("file"))
	must(t, "whir", "commit", in("t.u32"), "--embed", "-o", in("embedded"))
	if r := runWith(t, nil, string(raw), "whir", "commit", "-", "-o", in("piped")); r.code != ExitOK {
		t.Fatalf("from standard input: %s", r.err)
	}
	if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	in = func(name string) string { return filepath.Join(dir, "b", name) }
	for _, name := range []string{"file", "embedded", "piped"} {
		must(t, "whir", "open", in(name+".whirkey"), "--point", "1,0,1,1", "-o", in(name+".proof"))
		claims, err := whirfile.DecodeClaims(readBytes(t, in(name+".claims.json")))
		if err != nil {
			t.Fatal(err)
		}
		if v := claims[0].Values[0]; v[0] != 1000+0b1011 {
			t.Errorf("%s: entry 1011 of the table is said to be %v", name, v)
		}
	}
	if err := os.Remove(in("t.u32")); err != nil {
		t.Fatal(err)
	}
	must(t, "whir", "open", in("embedded.whirkey"), "--point", "1,0,1,1", "-o", in("n.proof"))
	if r := run(t, "whir", "open", in("file.whirkey"), "--point", "1,0,1,1", "-o", in("m.proof")); r.code != ExitInput {
		t.Errorf("without its table: exit %d: %s", r.code, r.err)
	}
}

// A claims file from open, and one without values, say what to prove.
func TestWHIRClaimsFile(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	key := filepath.Join(dir, "w.whirkey")
	must(t, "whir", "open", key, "--claims", filepath.Join(dir, "w.claims.json"), "-o", filepath.Join(temp, "a.proof"))
	if string(readBytes(t, filepath.Join(temp, "a.proof"))) != string(readBytes(t, filepath.Join(dir, "w.proof"))) {
		t.Error("the same claims gave another proof")
	}
	bare := filepath.Join(temp, "bare.json")
	writeFile(t, bare, []byte(`{"format": "zkwarp whir claims 1", "claims": [{"kind": "eval", "point": [1, 0, 1, 0, [1, 2, 3, 4], 1, 1, 0]}]}`))
	r := run(t, "whir", "open", key, "--claims", bare, "-o", "-")
	if r.code != ExitOK {
		t.Fatal(r.err)
	}
	t.Cleanup(func() { os.Remove("claims.json") })
	proof := filepath.Join(temp, "b.proof")
	writeFile(t, proof, []byte(r.out))
	must(t, "whir", "verify", filepath.Join(dir, "w.whir"), "claims.json", proof)
	point := filepath.Join(temp, "point.txt")
	writeFile(t, point, []byte("1 0 1 0\n1:2:3:4, 1, 1, 0\n"))
	must(t, "whir", "open", key, "--point", "@"+point, "-o", filepath.Join(temp, "c.proof"))
	if string(readBytes(t, filepath.Join(temp, "c.proof"))) != r.out {
		t.Error("a point from a file gave another proof than from a claims file")
	}
}

// A rejection says so in JSON, with the name of the check.
func TestWHIRRejects(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	claims, err := whirfile.DecodeClaims(readBytes(t, filepath.Join(dir, "w.claims.json")))
	if err != nil {
		t.Fatal(err)
	}
	claims[0].Point[0][1] ^= 1
	other := filepath.Join(temp, "other.json")
	writeFile(t, other, whirfile.EncodeClaims(claims))
	r := run(t, "whir", "verify", "--json", filepath.Join(dir, "w.whir"), other, filepath.Join(dir, "w.proof"))
	if r.code != ExitRejected {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	if got := object(t, r.out); got["verified"] != false || got["check"] == "" || got["reason"] == "" {
		t.Errorf("printed %v", got)
	}
	oneErrorLine(t, r)
}

func TestWHIRPlan(t *testing.T) {
	out := must(t, "whir", "plan", "--vars", "20", "--folds", "6,5", "--rate", "1", "--shrinks", "3", "--optimise", "size")
	for _, want := range []string{"2^20 elements", "predicted", "round 1: shift", "bits-sum"} {
		if !strings.Contains(out, want) {
			t.Errorf("the plan lacks %q:\n%s", want, out)
		}
	}
	var got struct {
		Parameters whirfile.Description
		Predicted  struct {
			Bytes  int     `json:"proof_bytes"`
			Prove  float64 `json:"prove_ms"`
			Verify float64 `json:"verify_ms"`
		}
		Measured struct {
			Runs   int
			Commit float64 `json:"commit_ms"`
			Open   float64 `json:"open_ms"`
			Verify float64 `json:"verify_ms"`
			Bytes  int     `json:"proof_bytes"`
		}
	}
	if err := json.Unmarshal([]byte(must(t, "whir", "plan", "--vars", "10", "--bits", "90", "--measure", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	if p := got.Parameters; p.Vars != 10 || p.Min < 90 || len(p.Rounds) == 0 || len(p.Lines) == 0 {
		t.Errorf("planned %+v", p)
	}
	m := got.Measured
	if m.Runs < 1 || m.Commit <= 0 || m.Open <= 0 || m.Verify <= 0 {
		t.Errorf("measured %+v", m)
	}
	if p := got.Predicted; p.Prove <= 0 || p.Verify <= 0 || float64(m.Bytes) < 0.8*float64(p.Bytes) || float64(m.Bytes) > 1.2*float64(p.Bytes) {
		t.Errorf("predicted %+v, measured %+v", p, m)
	}
}

// Help names each default once, and a description of a commitment has the whole
// security table.
func TestWHIRTexts(t *testing.T) {
	if out := must(t, "whir", "plan", "--help"); strings.Contains(out, "(default -1)") || !strings.Contains(out, "(default 14, for a GPU 20)\n") {
		t.Errorf("help has other defaults of work:\n%s", out)
	}
	if out := must(t, "inspect", filepath.Join(small(t), "w.whir")); strings.Contains(out, "…") || !strings.Contains(out, "bits of work") {
		t.Errorf("notes are cut:\n%s", out)
	}
}

func TestDoctorDevice(t *testing.T) {
	if out := must(t, "doctor", "--device", "cpu"); !strings.Contains(out, "as --device says") {
		t.Errorf("doctor --device cpu printed %s", out)
	}
	if got := object(t, must(t, "doctor", "--device", "cpu", "--json")); got["device"] != "cpu" {
		t.Errorf("doctor --device cpu --json printed %v", got["device"])
	}
	r := run(t, "doctor", "--device", "cuda:99") // not there, whatever the machine
	if r.code != ExitDevice || !strings.Contains(r.out, "what --device auto takes") {
		t.Errorf("doctor --device cuda:99: exit %d: %s%s", r.code, r.out, r.err)
	}
	oneErrorLine(t, r)
}
