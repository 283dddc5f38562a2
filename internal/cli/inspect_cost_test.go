package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// tableOf finds a table of inspect --json.
func tableOf(t *testing.T, view map[string]any, name string) [][]any {
	t.Helper()
	for _, x := range view["tables"].([]any) {
		if table := x.(map[string]any); table["name"] == name {
			var rows [][]any
			for _, r := range table["rows"].([]any) {
				rows = append(rows, r.([]any))
			}
			return rows
		}
	}
	t.Fatalf("inspect has no table %s", name)
	return nil
}

// What inspect says of a model before anything is made is what its key says afterwards.
func TestInspectCosts(t *testing.T) {
	in := severalFiles(t)
	facts := func(args ...string) map[string]string {
		out := map[string]string{}
		for _, f := range object(t, must(t, append(args, "--json")...))["facts"].([]any) {
			f := f.(map[string]any)
			out[f["name"].(string)] = fmt.Sprint(f["value"])
		}
		return out
	}
	exact := facts("inspect", in("m.onnx"), "--const", "mask=1", "--calibration", in("m.zkcal"))
	key := facts("inspect", in("m.vk"))
	guess := facts("inspect", in("m.onnx"), "--const", "mask=1")
	for _, name := range []string{"operations", "leaves", "sum-checks", "proof"} {
		if exact[name] == "" || exact[name] != key[name] {
			t.Errorf("%s: %q with the calibration, %q in the key", name, exact[name], key[name])
		}
		if guess[name] == "" {
			t.Errorf("no %s is estimated", name)
		}
	}
	if !strings.HasPrefix(exact["costs"], "exact") || !strings.HasPrefix(guess["costs"], "an estimate") {
		t.Errorf("costs are %q and %q", exact["costs"], guess["costs"])
	}
	view := object(t, must(t, "inspect", in("m.onnx"), "--json"))
	operators := tableOf(t, view, "operators")
	if len(operators) != 6 || operators[0][1].(float64) != 1 {
		t.Errorf("operators %v", operators)
	}
	for _, row := range tableOf(t, view, "estimates") {
		if row[1].(float64) <= 0 || row[2].(float64) <= 0 {
			t.Errorf("estimate %v", row)
		}
	}
	if rows := tableOf(t, view, "commitments"); len(rows) != 3 || rows[0][0] != "parameters" {
		t.Errorf("commitments %v", rows)
	}
	page := filepath.Join(t.TempDir(), "m.html")
	must(t, "inspect", in("m.onnx"), "--html", page)
	if text := string(readBytes(t, page)); !strings.Contains(text, "<svg") || !strings.Contains(text, "einsum") || strings.Contains(text, "http") {
		t.Error("the page has no picture of the program, or refers to the network")
	}
}

// A model that is large is not run without being asked for.
func TestInspectLarge(t *testing.T) {
	f := onnxtest.New(17, "x", 3000, 1000)
	w := f.Random(1, "w", 0.01, 1000, 1000)
	path := filepath.Join(t.TempDir(), "m.onnx")
	writeFile(t, path, f.Output(f.Node("MatMul", []string{"x", w})).Bytes())
	if out := must(t, "inspect", path); !strings.Contains(out, "not estimated") || !strings.Contains(out, "3 000 000 000 multiply-adds") || strings.Contains(out, "leaves") {
		t.Errorf("inspect says %s", out)
	}
}

// A model of which no program can be made is described, and the exit code says so; one that a made-up input does not suit is none of them.
func TestInspectRefused(t *testing.T) {
	temp := t.TempDir()
	in := func(name string) string { return filepath.Join(temp, name) }
	f := onnxtest.New(17, "x", 4, 2)
	wide := f.Node("Mul", []string{"x", f.Floats("huge", []float32{1e12}, 1)})
	writeFile(t, in("m.onnx"), f.Output(f.Node("Add", []string{wide, "x"})).Bytes())
	r := run(t, "inspect", in("m.onnx"), "--html", in("m.html"))
	if r.code != ExitUnsupported || !strings.Contains(r.err, `(Add)`) || !strings.Contains(r.err, "too unequal") || !strings.Contains(r.out, "operator of the file") {
		t.Errorf("unequal terms: exit %d: %s%s", r.code, r.err, r.out)
	}
	readBytes(t, in("m.html"))
	f = onnxtest.New(17, "x", 4, 2)
	writeFile(t, in("log.onnx"), f.Output(f.Node("Log", []string{"x"})).Bytes())
	if out := must(t, "inspect", in("log.onnx")); !strings.Contains(out, "an estimate") {
		t.Errorf("a logarithm: %s", out)
	}
	f = onnxtest.New(17, "x", 4, 2)
	negative := f.Node("Log", []string{f.Node("Sub", []string{"x", f.Floats("one", []float32{1}, 1)})})
	writeFile(t, in("none.onnx"), f.Output(negative).Bytes())
	if out := must(t, "inspect", in("none.onnx")); !strings.Contains(out, "not estimated: on a made-up input") || !strings.Contains(out, "(Log)") {
		t.Errorf("a logarithm of negative numbers: %s", out)
	}
	if r := run(t, "inspect", in("none.onnx"), "--estimate"); r.code != ExitInput {
		t.Errorf("an estimate asked for: exit %d: %s", r.code, r.err)
	}
}

// One proof covers a batch, whose samples are single inputs in a row; setup takes the length from the calibration.
func TestBatch(t *testing.T) {
	temp := t.TempDir()
	in := func(name string) string { return filepath.Join(temp, name) }
	f := onnxtest.New(17, "x", 0, 2)
	writeFile(t, in("m.onnx"), f.Output(f.Node("Gemm", []string{"x", f.Floats("w", []float32{1, 0, 0, 1, -1, 0.5}, 2, 3)})).Bytes())
	writeFile(t, in("six.npy"), npyOf("<f4", "6, 2", floatBytes(1, 0, 0, 1, -1, 0, 0, -1, 0.5, 0.5, 1, 1)))
	writeFile(t, in("x.json"), []byte(`{"x": [[1, 0], [0, 1], [-1, 1]]}`))
	got := object(t, must(t, "calibrate", in("m.onnx"), "--batch", "3", "--data", in("six.npy"), "-o", in("m.zkcal"), "--json"))
	if report := got["report"].(map[string]any); report["samples"].(float64) != 2 {
		t.Errorf("%v samples of three inputs in six", report["samples"])
	}
	must(t, "setup", in("m.onnx"), "--calibration", in("m.zkcal"), "-o", in("m"))
	answer := object(t, must(t, "prove", "--key", in("m.pk"), "--input", in("x.json"), "-o", in("x.proof"), "--json"))["answer"].(map[string]any)
	if got := fmt.Sprint(answer["answers"]); got != "[0 0 2]" {
		t.Errorf("answers %s of %v", got, answer)
	}
	must(t, "verify", "--key", in("m.vk"), "--input", in("x.json"), "--output", in("x.out.json"), in("x.proof"))
	writeFile(t, in("five.npy"), npyOf("<f4", "5, 2", make([]byte, 40)))
	if r := run(t, "calibrate", in("m.onnx"), "--batch", "3", "--data", in("five.npy"), "-o", in("n.zkcal")); r.code != ExitInput || !strings.Contains(r.err, "shape 5x2, the model takes 3x2") {
		t.Errorf("five inputs: exit %d: %s", r.code, r.err)
	}
	for args, want := range map[string]string{"--batch 0": "want 1 to", "--batch 2 --dim batch=2": "no input of model"} {
		r := run(t, append([]string{"calibrate", in("m.onnx"), "--data", in("six.npy"), "-o", in("n.zkcal")}, strings.Fields(args)...)...)
		if r.code != ExitUsage || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit %d: %s", args, r.code, r.err)
		}
	}
}
