package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
)

// hiddenParts is a folder with the small model in three parts of which everything is committed, made once for all tests. Tests must not change it.
var hiddenParts struct {
	once sync.Once
	dir  string
}

func hidden(t *testing.T) func(string) string {
	t.Helper()
	from := small(t)
	hiddenParts.once.Do(func() {
		dir := filepath.Join(from, "hidden")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		in := func(name string) string { return filepath.Join(dir, name) }
		must(t, "setup", filepath.Join(from, "m.onnx"), "--calibration", filepath.Join(from, "m.zkcal"), "--layers", "0:1,1:3,3:6", "--commit-boundaries",
			"--commit-input", "all", "--commit-output", "all", "-o", in("m"))
		must(t, "commit", "--key", in("m.vk"), "--input", filepath.Join(from, "x.json"), "-o", in("owner"))
		must(t, "prove", "--key", in("m.pk"), "--opening", in("owner.opening"), "--secret-output", in("mine.json"), "--keep-parts", "-o", in("x.proof"))
		hiddenParts.dir = dir
	})
	if hiddenParts.dir == "" {
		t.Fatal("the model in parts could not be made")
	}
	return func(name string) string { return filepath.Join(hiddenParts.dir, name) }
}

// openings are the files of a folder that end so, each of which is for its owner only.
func openings(t *testing.T, dir string) (list []string) {
	t.Helper()
	for _, name := range names(t, dir) {
		if strings.HasSuffix(name, openingSuffix) || name == seedFile {
			list = append(list, name)
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
	}
	return list
}

// TestCommittedParts follows a model in parts through all verbs whose input, boundaries and answer verifiers do not see.
func TestCommittedParts(t *testing.T) {
	in, temp, from := hidden(t), t.TempDir(), small(t)
	dir := filepath.Dir(in("m.vk"))
	want := []string{"m.pk", "m.vk", "mine.json", "owner.commitment", "owner.opening", "x.Gemm3.out.commitment", "x.Gemm3.out.opening", "x.proof", "x.proof.parts"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Fatalf("files %v, want %v", got, want)
	}
	if got := openings(t, dir); len(got) != 2 {
		t.Errorf("openings %v", got)
	}
	// Proofs of parts stay, as asked for; the secrets that they were made with do not.
	if got := names(t, in("x.proof.parts")); !slices.Equal(got, []string{"part-0001.part", "part-0002.part", "part-0003.part"}) {
		t.Errorf("parts %v", got)
	}
	if got, want := readBytes(t, in("mine.json")), readBytes(t, filepath.Join(from, "x.out.json")); !bytes.Equal(got, want) {
		t.Errorf("the answer is %s, of the whole model %s", got, want)
	}
	verify := func(args ...string) ran {
		return run(t, slices.Concat([]string{"verify", "--key", in("m.vk")}, args)...)
	}
	files := []string{"--commitment", in("owner.commitment"), "--commitment", in("x.Gemm3.out.commitment")}
	for _, proof := range []string{in("x.proof"), in("x.proof.parts")} {
		if r := verify(append(slices.Clone(files), proof)...); r.code != ExitOK || !strings.Contains(r.out, "3 parts") || !strings.Contains(r.out, "output Gemm3.out") {
			t.Errorf("verify %s: exit %d: %s%s", proof, r.code, r.out, r.err)
		}
	}
	if r := verify("--opening", in("owner.opening"), "--input", filepath.Join(from, "x.json"), "--opening", in("x.Gemm3.out.opening"), "--output", in("mine.json"), in("x.proof")); r.code != ExitOK {
		t.Errorf("verify with openings: exit %d: %s", r.code, r.err)
	}
	for name, want := range map[string][]string{
		"m.vk":                         {"x 1x4, ", "committed\n", "values at boundaries and ends"},
		"x.proof":                      {"roots"},
		"x.proof.parts/part-0002.part": {"\nroots of outputs  1\n"},
	} {
		text := must(t, "inspect", in(name))
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("inspect %s lacks %q:\n%s", name, w, text)
			}
		}
	}
	for name, want := range map[string]string{"owner.commitment": "input x or input x of part 1\n", "x.Gemm3.out.opening": "output Gemm3.out or output Gemm3.out of part 3\n"} {
		if text := must(t, "inspect", "--key", in("m.vk"), in(name)); !strings.Contains(text, want) {
			t.Errorf("inspect --key %s lacks %q:\n%s", name, want, text)
		}
	}
	if r := run(t, "inspect", "--key", in("m.vk"), filepath.Join(from, "x.proof")); r.code != ExitUsage || !strings.Contains(r.err, "of a model in parts") {
		t.Errorf("inspect of another proof: exit %d: %s", r.code, r.err)
	}
	// Another commitment to the same input, and a proof of parts of another run.
	must(t, "commit", "--key", in("m.pk"), "--input", filepath.Join(from, "x.json"), "-o", filepath.Join(temp, "again"))
	// An interrupted proof of another model in parts has left the opening of a boundary of that.
	if err := os.Mkdir(filepath.Join(temp, "y.proof.parts"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(temp, "y.proof.parts", "part-0001.other"+openingSuffix), readBytes(t, in("owner.opening")))
	must(t, "prove", "--key", in("m.pk"), "--input", filepath.Join(from, "x.json"), "--keep-parts", "-o", filepath.Join(temp, "y.proof"))
	if left := names(t, filepath.Join(temp, "y.proof.parts")); len(left) != 3 {
		t.Errorf("left beside the proof: %v", left)
	}
	own := func(k int) string { return partFile(in("x.proof.parts"), k, partSuffix) }
	other := func(k int) string { return partFile(filepath.Join(temp, "y.proof.parts"), k, partSuffix) }
	part, err := chunks.DecodePart(readBytes(t, own(1)))
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := chunks.DecodePart(readBytes(t, other(1)))
	if err != nil {
		t.Fatal(err)
	}
	part.Roots = foreign.Roots
	writeFile(t, filepath.Join(temp, "root.part"), part.Encode())
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{ExitRejected, zkml.CheckInputBind, []string{"--commitment", filepath.Join(temp, "again.commitment"), files[2], files[3], in("x.proof")}},
		{ExitRejected, zkml.CheckOutputBind, []string{files[0], files[1], "--commitment", filepath.Join(temp, "y.Gemm3.out.commitment"), in("x.proof")}},
		{ExitRejected, "part 2 of 3: zkml: rejected: " + zkml.CheckInputBind, append(slices.Clone(files), own(0), other(1), own(2))},
		{ExitRejected, "part 2 of 3: zkml: rejected: " + zkml.CheckOutputBind, append(slices.Clone(files), own(0), filepath.Join(temp, "root.part"), own(2))},
		{ExitUsage, "pass --commitment for output Gemm3.out", []string{files[0], files[1], in("x.proof")}},
		{ExitUsage, "all outputs are committed", append(slices.Clone(files), "--output", in("mine.json"), in("x.proof"))},
	} {
		if r := verify(c.args...); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("verify %v: exit %d, want %d: %s, want %q", c.args, r.code, c.code, r.err, c.want)
		}
	}
	// Parts that fit a budget do so with what is committed of them.
	got := object(t, must(t, "setup", filepath.Join(from, "m.onnx"), "--calibration", filepath.Join(from, "m.zkcal"), "--chunk-budget-gb", "0.0057", "--commit-boundaries", "--json", "-o", filepath.Join(temp, "b")))
	for _, p := range got["parts"].([]any) {
		if need := p.(map[string]any)["memory_bytes"].(float64); need > margin*5.7e6 || len(got["parts"].([]any)) < 2 {
			t.Errorf("a part needs %.0f bytes: %v", need, p)
		}
	}
	for want, args := range map[string][]string{
		"has committed": {"prove", "--key", in("m.pk"), "--opening", in("x.Gemm3.out.opening"), "-o", filepath.Join(temp, "n.proof")},
		"--commit-boundaries: the model is in one part": {"setup", filepath.Join(from, "m.onnx"), "--calibration", filepath.Join(from, "m.zkcal"), "--commit-boundaries", "-o", filepath.Join(temp, "n")},
		"--commit-output y: the model has":              {"setup", filepath.Join(from, "m.onnx"), "--calibration", filepath.Join(from, "m.zkcal"), "--parts", "2", "--commit-output", "y", "-o", filepath.Join(temp, "n")},
		"what is committed":                             {"setup", filepath.Join(from, "m.onnx"), "--calibration", filepath.Join(from, "m.zkcal"), "--layers", "0:1,1:3,3:6", "-o", filepath.Join(temp, "k")},
	} {
		if want == "what is committed" { // keys that are left from before
			if err := os.Mkdir(filepath.Join(temp, "k.pk"), 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, partFile(filepath.Join(temp, "k.pk"), 1, ".pk"), readBytes(t, partFile(in("m.pk"), 1, ".pk")))
		}
		if r := run(t, args...); r.code == ExitOK || !strings.Contains(r.err, want) {
			t.Errorf("%v: exit %d: %s, want %q", args, r.code, r.err, want)
		}
	}
}

// TestCommittedPartsResume interrupts a proof when its first part is there: with it stay its openings and the seed of the salts, for their owner only,
// until the proof is whole.
func TestCommittedPartsResume(t *testing.T) {
	in := hidden(t)
	input := filepath.Join(small(t), "x.json")
	for try := range 20 {
		temp := t.TempDir()
		out := filepath.Join(temp, "x.proof")
		folder := out + ".parts"
		args := []string{"prove", "--key", in("m.pk"), "--input", input, "-o", out}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil {
				if _, err := os.Stat(partFile(folder, 0, partSuffix)); err == nil {
					cancel()
				}
				time.Sleep(time.Millisecond)
			}
		}()
		var errs bytes.Buffer
		code := Main(ctx, args, Streams{Out: &bytes.Buffer{}, Err: &errs, LookupEnv: func(name string) (string, bool) { return "cpu", name == "ZKWARP_DEVICE" }})
		cancel()
		if code == ExitOK && try < 19 {
			continue // it was over before
		}
		if left := names(t, temp); code != ExitInterrupted || !slices.Equal(left, []string{"x.proof.parts"}) {
			t.Fatalf("exit %d, left %v: %s", code, left, errs.String())
		}
		kept := 0
		for _, name := range names(t, folder) {
			if strings.HasSuffix(name, partSuffix) {
				kept++
			}
		}
		if secrets := openings(t, folder); len(secrets) < kept+1 || secrets[len(secrets)-1] != seedFile {
			t.Errorf("left of %d parts: %v", kept, secrets)
		}
		if got := object(t, must(t, append(args, "--json")...)); got["parts_kept"] != float64(kept) || got["parts_stale"] != nil {
			t.Errorf("%d parts were there: %v", kept, got)
		}
		if left := openings(t, temp); len(left) != 2 || len(names(t, temp)) != 5 {
			t.Errorf("left %v", names(t, temp))
		}
		must(t, "verify", "--key", in("m.vk"), "--commitment", filepath.Join(temp, "x.x.commitment"), "--commitment", filepath.Join(temp, "x.Gemm3.out.commitment"), out)
		return
	}
}

// TestCommittedPieces proves pieces on their own whose boundary is committed: the opening goes from one prover to the next, never to a verifier.
func TestCommittedPieces(t *testing.T) {
	dir, from := t.TempDir(), small(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, layers := range map[string]string{"a": "0:3", "b": "3:6"} {
		must(t, "setup", filepath.Join(from, "m.onnx"), "--calibration", filepath.Join(from, "m.zkcal"), "--layers", layers, "--security", "97", "--commit-boundaries", "-o", at(name))
	}
	must(t, "link", at("a.vk"), at("b.vk"), "-o", at("ab.vk"))
	must(t, "prove", "--key", at("a.pk"), "--chain", at("ab.vk"), "--input", filepath.Join(from, "x.json"), "-o", at("a.part"))
	boundary := at("a.Sigmoid2.out.opening")
	if got := openings(t, dir); !slices.Equal(got, []string{filepath.Base(boundary)}) {
		t.Fatalf("openings %v", got)
	}
	must(t, "prove", "--key", at("b.pk"), "--chain", at("ab.vk"), "--opening", boundary, "-o", at("b.part"))
	if want, got := readBytes(t, filepath.Join(from, "x.out.json")), readBytes(t, at("b.out.json")); !bytes.Equal(got, want) {
		t.Errorf("the pieces say %s, the whole %s", got, want)
	}
	verify := []string{"verify", "--key", at("ab.vk"), "--input", filepath.Join(from, "x.json"), "--output", at("b.out.json"), at("a.part")}
	must(t, append(verify, at("b.part"))...)
	// The same values under another salt are another boundary.
	o := opening(t, boundary)
	o.Salt[0] ^= 1
	writeFile(t, at("salted.opening"), o.Encode())
	must(t, "prove", "--key", at("b.pk"), "--chain", at("ab.vk"), "--opening", at("salted.opening"), "-o", at("c.part"))
	if r := run(t, append(verify, at("c.part"))...); r.code != ExitRejected || !strings.Contains(r.err, "part 2 of 2: zkml: rejected: "+zkml.CheckInputBind) {
		t.Errorf("another salt: exit %d: %s", r.code, r.err)
	}
	// A piece whose boundary is public does not link.
	must(t, "setup", filepath.Join(from, "m.onnx"), "--calibration", filepath.Join(from, "m.zkcal"), "--layers", "3:6", "--security", "97", "-o", at("open"))
	if r := run(t, "link", at("a.vk"), at("open.vk"), "-o", at("n.vk")); r.code != ExitInput || !strings.Contains(r.err, "is public here and committed there") {
		t.Errorf("a public end: exit %d: %s", r.code, r.err)
	}
}
