package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// verifyArgs are the arguments that accept the shared proof, with replacements
// of some files.
func verifyArgs(dir string, replace map[string]string) []string {
	file := func(name string) string {
		if r, ok := replace[name]; ok {
			return r
		}
		return filepath.Join(dir, name)
	}
	return []string{"verify", "--key", file("m.vk"), "--input", file("x.json"), "--output", file("x.out.json"), file("x.proof")}
}

func TestVerify(t *testing.T) {
	dir := small(t)
	if out := must(t, verifyArgs(dir, nil)...); !strings.Contains(out, "accepted") {
		t.Errorf("verify printed %q", out)
	}
	got := object(t, must(t, append(verifyArgs(dir, nil), "--json")...))
	if got["verified"] != true || got["security_bits"].(float64) < 96 {
		t.Errorf("verify --json printed %v", got)
	}
}

// Another key, input, output or context is a rejection, exit code 1, with the
// name of the check.
func TestVerifyRejects(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	in := func(name string) string { return filepath.Join(temp, name) }

	var answer map[string]any
	if err := json.Unmarshal(readBytes(t, filepath.Join(dir, "x.out.json")), &answer); err != nil {
		t.Fatal(err)
	}
	data := answer["output_data"].([]any)[0].([]any)
	data[0] = data[0].(float64) + 1
	bare, err := json.Marshal(map[string]any{"output_data": answer["output_data"]})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, in("bare.json"), bare)
	full, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, in("full.json"), full)
	writeFile(t, in("other.json"), []byte(strings.Replace(smallInput, "0.125", "0.25", 1)))
	must(t, "setup", filepath.Join(dir, "m.onnx"), "--calibration", filepath.Join(dir, "m.zkcal"), "--security", "97", "-o", in("k"))
	for name, replace := range map[string]map[string]string{
		"output":          {"x.out.json": in("bare.json")},
		"derived values":  {"x.out.json": in("full.json")},
		"input":           {"x.json": in("other.json")},
		"key of 97 bits":  {"m.vk": in("k.vk")},
		"not the context": nil,
	} {
		args := append(verifyArgs(dir, replace), "--json")
		if replace == nil {
			args = append(args, "--context", "nonce")
		}
		r := run(t, args...)
		if r.code != ExitRejected {
			t.Errorf("another %s: exit %d: %s%s", name, r.code, r.out, r.err)
			continue
		}
		got := object(t, r.out)
		if got["verified"] != false || got["reason"] == "" {
			t.Errorf("another %s: %v", name, got)
		}
		oneErrorLine(t, r)
	}
}

func oneErrorLine(t testing.TB, r ran) {
	t.Helper()
	if !strings.HasPrefix(r.err, "zkwarp") || strings.Count(r.err, "\n") != 1 || !strings.HasSuffix(r.err, "\n") {
		t.Errorf("standard error is not one line of ours: %q", r.err)
	}
}

func TestContext(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	proof := filepath.Join(temp, "c.proof")
	must(t, "prove", "--key", filepath.Join(dir, "m.pk"), "--input", filepath.Join(dir, "x.json"), "--context", "nonce 7", "-o", proof)
	args := verifyArgs(dir, map[string]string{"x.proof": proof, "x.out.json": filepath.Join(temp, "c.out.json")})
	must(t, append(args, "--context", "nonce 7")...)
	if r := run(t, args...); r.code != ExitRejected {
		t.Errorf("without the context: exit %d", r.code)
	}
}

// Keys, calibration and proof are functions of their inputs.
func TestReproducible(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	in := func(name string) string { return filepath.Join(temp, name) }
	must(t, "calibrate", filepath.Join(dir, "m.onnx"), "--data", filepath.Join(dir, "x.json"), "--labels", "red,green,blue", "-o", in("m.zkcal"))
	must(t, "setup", filepath.Join(dir, "m.onnx"), "--calibration", in("m.zkcal"), "-o", in("m"))
	must(t, "prove", "--key", in("m.pk"), "--input", filepath.Join(dir, "x.json"), "-o", in("x.proof"))
	for _, name := range []string{"m.zkcal", "m.vk", "m.pk", "x.proof", "x.out.json"} {
		if !bytes.Equal(readBytes(t, in(name)), readBytes(t, filepath.Join(dir, name))) {
			t.Errorf("%s differs between two runs", name)
		}
	}
	if info, err := os.Stat(in("m.pk")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the prover's key is readable by others: %v, %v", info.Mode(), err)
	}
}

func TestPublicWeights(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	in := func(name string) string { return filepath.Join(temp, name) }
	model, cal := filepath.Join(dir, "m.onnx"), filepath.Join(dir, "m.zkcal")
	must(t, "setup", model, "--calibration", cal, "--public-weights", "-o", in("m"))
	must(t, "prove", "--key", in("m.pk"), "--input", filepath.Join(dir, "x.json"), "-o", in("x.proof"))
	args := verifyArgs(temp, map[string]string{"x.json": filepath.Join(dir, "x.json")})
	must(t, append(args, "--model", model, "--calibration", cal)...)
	if r := run(t, args...); r.code != ExitUsage {
		t.Errorf("without the weights: exit %d: %s", r.code, r.err)
	}
}

func TestMockAgrees(t *testing.T) {
	dir := small(t)
	model, cal, input := filepath.Join(dir, "m.onnx"), filepath.Join(dir, "m.zkcal"), filepath.Join(dir, "x.json")
	want := string(readBytes(t, filepath.Join(dir, "x.out.json")))
	if got := must(t, "mock", model, "--calibration", cal, "--input", input); got != want {
		t.Errorf("mock says %s, the proof is about %s", got, want)
	}
	if got := must(t, "mock", "--key", filepath.Join(dir, "m.pk"), "--input", input); got != want {
		t.Errorf("mock with the key says %s", got)
	}
	if got := object(t, must(t, "mock", "--key", filepath.Join(dir, "m.pk"), "--input", input, "--json")); !reflect.DeepEqual(got, object(t, want)) {
		t.Errorf("mock --json says %v", got)
	}
	file := filepath.Join(t.TempDir(), "y.json")
	got := object(t, must(t, "mock", "--key", filepath.Join(dir, "m.pk"), "--input", input, "--json", "-o", file))
	if text := string(readBytes(t, file)); text != want || !reflect.DeepEqual(got, object(t, want)) {
		t.Errorf("mock --json -o writes %s and says %v", text, got)
	}
}

func TestInspect(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	for name, want := range map[string]string{
		"m.onnx": "ONNX model", "m.zkcal": "calibration", "m.vk": "verifier's key", "m.pk": "prover's key", "x.proof": "proof",
		"x.out.json": "answer",
	} {
		path := filepath.Join(dir, name)
		if text := must(t, "inspect", path); !strings.HasPrefix(text, want) {
			t.Errorf("%s: %s", name, text)
		}
		if got := object(t, must(t, "inspect", path, "--json")); got["kind"] != want || got["sha256"] == "" {
			t.Errorf("%s: %v", name, got)
		}
	}
	page := filepath.Join(temp, "m.html")
	must(t, "inspect", filepath.Join(dir, "m.vk"), "--html", page)
	if text := string(readBytes(t, page)); !strings.Contains(text, "<svg") || strings.Contains(text, "http") {
		t.Error("the page has no picture, or refers to the network")
	}
}

// With the key a proof of any wrong length is told from a whole one.
func TestInspectProof(t *testing.T) {
	dir, cut := small(t), filepath.Join(t.TempDir(), "cut.proof")
	key, proof := filepath.Join(dir, "m.vk"), readBytes(t, filepath.Join(dir, "x.proof"))
	if text := must(t, "inspect", "--key", key, filepath.Join(dir, "x.proof")); !strings.Contains(text, "complete          yes") {
		t.Errorf("a whole proof: %s", text)
	}
	for i := range 50 {
		n := len(proof) * (50 - i) / 50 / 4 * 4
		n = min(n, len(proof)-4*(i+1))
		writeFile(t, cut, proof[:n])
		if r := run(t, "inspect", "--key", key, cut); r.code != ExitInput || !strings.Contains(r.err, "truncated") {
			t.Errorf("cut to %d of %d bytes: exit %d: %s", n, len(proof), r.code, r.err)
		}
	}
	writeFile(t, cut, append(proof, 0, 0, 0, 0))
	if r := run(t, "inspect", "--key", key, cut); r.code != ExitInput || !strings.Contains(r.err, "4 bytes too many") {
		t.Errorf("four bytes more: exit %d: %s", r.code, r.err)
	}
}

func TestSecurity(t *testing.T) {
	dir := small(t)
	for _, args := range [][]string{{"security", filepath.Join(dir, "m.vk")}, {"security", filepath.Join(dir, "m.pk")}} {
		got := object(t, must(t, append(args, "--json")...))
		if got["sum"].(float64) < 96 || got["min"].(float64) < got["sum"].(float64) || len(got["terms"].([]any)) < 20 {
			t.Errorf("%v: %v", args, got)
		}
	}
	got := object(t, must(t, "security", "--whir", "--vars", "18", "--lambda", "100", "--json"))
	if got["min"].(float64) < 100 || len(got["lines"].([]any)) < 5 {
		t.Errorf("security --whir: %v", got)
	}
}

func TestProveModel(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	got := object(t, must(t, "prove-model", "--model", filepath.Join(dir, "m.onnx"), "--input", filepath.Join(dir, "x.json"),
		"--chunk-budget-gb", "4", "-o", filepath.Join(temp, "p"), "--json"))
	if got["verified"] != true || got["device"] != "cpu" {
		t.Errorf("prove-model: %v", got)
	}
	must(t, "verify", "--key", filepath.Join(temp, "p.vk"), "--input", filepath.Join(dir, "x.json"),
		"--output", filepath.Join(temp, "p.out.json"), filepath.Join(temp, "p.proof"))
}

// Samples may come as a folder of files of any format.
func TestCalibrateFolder(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	samples := filepath.Join(temp, "samples")
	if err := os.Mkdir(samples, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(samples, "a.json"), []byte(smallInput))
	sheet := image.NewGray(image.Rect(0, 0, 6, 2))
	for i := range sheet.Pix {
		sheet.Pix[i] = uint8(20 * i)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, sheet); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(samples, "b.png"), b.Bytes())
	got := object(t, must(t, "calibrate", filepath.Join(dir, "m.onnx"), "--data", samples, "-o", filepath.Join(temp, "m.zkcal"), "--json"))
	if n := got["report"].(map[string]any)["samples"].(float64); n != 4 {
		t.Errorf("%v samples, want 1 + 3", n)
	}
}

func TestStandardStreams(t *testing.T) {
	dir := small(t)
	r := runWith(t, nil, smallInput, "mock", "--key", filepath.Join(dir, "m.pk"), "--input", "-", "-o", "-")
	if r.code != ExitOK || r.out != string(readBytes(t, filepath.Join(dir, "x.out.json"))) {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	temp := t.TempDir()
	t.Chdir(temp)
	r = run(t, "prove", "--key", filepath.Join(dir, "m.pk"), "--input", filepath.Join(dir, "x.json"), "-o", "-")
	if r.code != ExitOK || r.out != string(readBytes(t, filepath.Join(dir, "x.proof"))) {
		t.Errorf("prove -o -: exit %d, %d bytes: %s", r.code, len(r.out), r.err)
	}
	r = runWith(t, nil, string(readBytes(t, filepath.Join(dir, "m.pk"))), "mock", "--key", "-", "--input", "-")
	if r.code != ExitUsage || r.out != "" {
		t.Errorf("standard input for two files: exit %d: %s%s", r.code, r.out, r.err)
	}
}

func TestEnvironment(t *testing.T) {
	r := runWith(t, map[string]string{"ZKWARP_JSON": "true"}, "", "version")
	if r.code != ExitOK || object(t, r.out)["go"] == "" {
		t.Errorf("ZKWARP_JSON: %+v", r)
	}
	if r := runWith(t, map[string]string{"ZKWARP_PROGRESS": "loud"}, "", "version"); r.code != ExitUsage {
		t.Errorf("ZKWARP_PROGRESS: %+v", r)
	}
	if r := runWith(t, map[string]string{"ZKWARP_PROGRESS": "loud"}, "", "version", "--progress", "none"); r.code != ExitOK {
		t.Errorf("the command line does not win: %+v", r)
	}
	if r := runWith(t, map[string]string{"ZKWARP_MEMORY_BUDGET": "lots"}, "", "version"); r.code != ExitUsage || !strings.Contains(r.err, "ZKWARP_MEMORY_BUDGET") {
		t.Errorf("ZKWARP_MEMORY_BUDGET: %+v", r)
	}
	t.Setenv("ZKWARP_GPU_THRESHOLD", "many") // which package device reads
	if r := runWith(t, nil, "", "version"); r.code != ExitUsage || !strings.Contains(r.err, `ZKWARP_GPU_THRESHOLD "many"`) {
		t.Errorf("ZKWARP_GPU_THRESHOLD: %+v", r)
	}
}

func TestTrace(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	path := filepath.Join(temp, "t.json")
	must(t, "prove", "--key", filepath.Join(dir, "m.pk"), "--input", filepath.Join(dir, "x.json"), "-o", filepath.Join(temp, "x.proof"), "--trace", path)
	var file struct {
		Events []map[string]any `json:"traceEvents"`
	}
	if err := json.Unmarshal(readBytes(t, path), &file); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range file.Events {
		seen[fmt.Sprint(e["name"])] = true
		if e["ph"] == "X" && (e["ts"].(float64) < 0 || e["pid"] == nil) {
			t.Errorf("event %v", e)
		}
	}
	for _, stage := range []string{"forward pass", "lookups", "openings"} {
		if !seen[stage] {
			t.Errorf("the trace lacks stage %q", stage)
		}
	}
}

func TestPlainProgress(t *testing.T) {
	dir, temp := small(t), t.TempDir()
	r := run(t, "prove", "--key", filepath.Join(dir, "m.pk"), "--input", filepath.Join(dir, "x.json"), "-o", filepath.Join(temp, "x.proof"), "--quiet")
	if r.code != ExitOK || r.out != "" || r.err != "" {
		t.Errorf("--quiet printed %q and %q", r.out, r.err)
	}
}

// Shells learn the choices of flags from the program.
func TestCompletion(t *testing.T) {
	for args, want := range map[string]string{
		"--device ":             "simt",
		"version --progress ":   "plain",
		"setup --optimize ":     "verify",
		"security --optimize ":  "size",
		"bench ":                "m31",
		"setup --commit-input ": "all",
		"pro":                   "prove-model",
	} {
		out := must(t, append([]string{"__complete"}, strings.Split(args, " ")...)...)
		if !strings.Contains("\n"+out, "\n"+want) {
			t.Errorf("zkwarp %s completes to %q, want %s among it", args, out, want)
		}
	}
}

// Every flag of every verb is in the documentation.
func TestFlagsDocumented(t *testing.T) {
	var pages []byte
	for _, name := range []string{"cli.md", "bench.md"} {
		pages = append(pages, readBytes(t, filepath.Join("..", "..", "docs", name))...)
	}
	for _, c := range allCommands(new(app).root()) {
		if c.HasParent() && c.Parent().Name() == "completion" { // cobra's own
			continue
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && !regexp.MustCompile("--"+f.Name+`\b`).Match(pages) {
				t.Errorf("%s: --%s is not in docs/cli.md", c.CommandPath(), f.Name)
			}
		})
	}
}

// The README's commands for the model that ships do what they say.
func TestReadme(t *testing.T) {
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(readBytes(t, filepath.Join(repository, "README.md")))
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		section string
		want    int
	}{{"model that ships:\n", 4}, {"## Keep an input to its owner\n", 4}, {"## A commitment by itself\n", 4}} { // the second goes on from the first
		section, want := c.section, c.want
		_, commands, ok := strings.Cut(readme, section)
		if !ok {
			t.Fatalf("README.md has no commands after %q", section)
		}
		commands, _, _ = strings.Cut(commands, "\n## ")
		var last string
		ran := 0
		for line := range strings.Lines(commands) {
			line, _, _ = strings.Cut(line, "#")
			args := strings.Fields(line)
			if len(args) == 0 || args[0] != "zkwarp" {
				continue
			}
			for i, a := range args {
				if strings.HasPrefix(a, "examples/") {
					args[i] = filepath.Join(repository, filepath.FromSlash(a))
				}
			}
			last = must(t, args[1:]...)
			ran++
		}
		if ran != want || !strings.Contains(last, "accepted") {
			t.Errorf("%d commands, the last of which says %q", ran, last)
		}
	}
}
