package cli

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// severalModel takes three tokens, four numbers and a mask, and answers scores for each token and a gate for each number.
func severalModel() []byte {
	f := onnxtest.New(17, "x", 1, 4)
	f.Proto.Graph.Input = append(f.Proto.Graph.Input, onnxtest.Info("tokens", onnxpb.TensorProto_INT64, 3), onnxtest.Info("mask", onnxpb.TensorProto_FLOAT, 1))
	rows := f.Node("Gather", []string{f.Random(1, "words", 1, 5, 4), "tokens"})
	gate := f.Node("Sigmoid", []string{"x"})
	sum := f.Node("Relu", []string{f.Node("Add", []string{rows, f.Node("Mul", []string{"x", "mask"})})})
	f.Node("Gemm", []string{sum, f.Random(2, "w", 1, 4, 2), f.Random(3, "b", 1, 2)})
	f.Last().Output[0] = "scores"
	return f.Output("scores").Output(gate).Bytes()
}

const severalInput = `{"tokens": [4, 0, 2], "x": [[0.5, -0.25, 1, 0.125]]}`

var several struct {
	once sync.Once
	dir  string
}

// severalFiles makes a folder with everything that follows from severalModel, once.
func severalFiles(t testing.TB) func(string) string {
	t.Helper()
	several.once.Do(func() {
		dir, err := os.MkdirTemp("", "zkwarp-cli-")
		if err != nil {
			t.Fatal(err)
		}
		several.dir = dir
		in := func(name string) string { return filepath.Join(dir, name) }
		writeFile(t, in("m.onnx"), severalModel())
		writeFile(t, in("x.json"), []byte(severalInput))
		must(t, "calibrate", in("m.onnx"), "--const", "mask=1", "--data", in("x.json"), "-o", in("m.zkcal"))
		must(t, "setup", in("m.onnx"), "--const", "mask=1", "--calibration", in("m.zkcal"), "-o", in("m"))
		must(t, "prove", "--key", in("m.pk"), "--input", in("x.json"), "-o", in("x.proof"))
	})
	if _, err := os.Stat(filepath.Join(several.dir, "x.proof")); err != nil {
		t.Fatal("the files of a model with several inputs could not be made")
	}
	return func(name string) string { return filepath.Join(several.dir, name) }
}

func npyOf(descr, shape string, body []byte) []byte {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", descr, shape)
	return append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head))), append([]byte(head), body...)...)
}

func npzOf(t testing.TB, arrays map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range arrays {
		f, err := w.Create(name + ".npy")
		if err == nil {
			_, err = f.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func floatBytes(values ...float32) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

// The same inputs in every form give the same integers, so one proof is accepted with all of them.
func TestSeveralInputs(t *testing.T) {
	in, temp := severalFiles(t), t.TempDir()
	put := func(name string, data []byte) string {
		path := filepath.Join(temp, name)
		writeFile(t, path, data)
		return path
	}
	x := npyOf("<f4", "1, 4", floatBytes(0.5, -0.25, 1, 0.125))
	tokens := npyOf("|u1", "3,", []byte{4, 0, 2})
	for name, args := range map[string][]string{
		"by name":  {"--input", in("x.json")},
		"in order": {"--input", put("list.json", []byte(`{"input_data": [[0.5, -0.25, 1, 0.125], [4, 0, 2]]}`))},
		"npz":      {"--input", put("x.npz", npzOf(t, map[string][]byte{"x": x, "tokens": tokens}))},
		"files":    {"--input", "tokens=" + put("tokens.npy", tokens), "--input", "x=" + put("x.json", []byte(`{"input_data": [[0.5, -0.25, 1, 0.125]]}`))},
		"npy file": {"--input", "x=" + put("x.npy", x), "--input", "tokens=" + put("t=1.json", []byte(`{"tokens": [4, 0, 2]}`))},
	} {
		args = append([]string{"verify", "--key", in("m.vk"), "--output", in("x.out.json"), in("x.proof")}, args...)
		if r := run(t, args...); r.code != ExitOK || !strings.Contains(r.out, "accepted") {
			t.Errorf("%s: exit %d: %s%s", name, r.code, r.out, r.err)
		}
	}
	other := put("other.json", []byte(strings.Replace(severalInput, "[4, 0, 2]", "[4, 1, 2]", 1)))
	if r := run(t, "verify", "--key", in("m.vk"), "--input", other, "--output", in("x.out.json"), in("x.proof")); r.code != ExitRejected {
		t.Errorf("other tokens: exit %d: %s%s", r.code, r.out, r.err)
	}
}

// Samples come as one file for all inputs, or as one for each.
func TestSeveralSamples(t *testing.T) {
	in, temp := severalFiles(t), t.TempDir()
	path := func(name string) string { return filepath.Join(temp, name) }
	x := npyOf("<f4", "2, 1, 4", floatBytes(0.5, -0.25, 1, 0.125, -1, 1, 0, 0.75))
	tokens := npyOf("<i8", "2, 3", append(append(make([]byte, 0, 48), bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 3)...), bytes.Repeat([]byte{4, 0, 0, 0, 0, 0, 0, 0}, 3)...))
	writeFile(t, path("x.npy"), x)
	writeFile(t, path("tokens.npy"), tokens)
	writeFile(t, path("both.npz"), npzOf(t, map[string][]byte{"x": x, "tokens": tokens}))
	must(t, "calibrate", in("m.onnx"), "--const", "mask=1", "--data", "x="+path("x.npy"), "--data", "tokens="+path("tokens.npy"), "-o", path("a.zkcal"))
	must(t, "calibrate", in("m.onnx"), "--const", "mask=1", "--data", path("both.npz"), "-o", path("b.zkcal"))
	if a, b := readBytes(t, path("a.zkcal")), readBytes(t, path("b.zkcal")); !bytes.Equal(a, b) {
		t.Error("the same samples give different calibrations")
	}
	writeFile(t, path("one.npy"), npyOf("<f4", "1, 4", floatBytes(0, 0, 0, 0)))
	r := run(t, "calibrate", in("m.onnx"), "--const", "mask=1", "--data", "x="+path("one.npy"), "--data", "tokens="+path("tokens.npy"), "-o", path("c.zkcal"))
	if r.code != ExitInput || !strings.Contains(r.err, "2 samples of input tokens, but 1 of input x") {
		t.Errorf("different numbers of samples: exit %d: %s", r.code, r.err)
	}
}

// An answer of several outputs has each under its name, and is rejected where a derived field does not follow.
func TestSeveralOutputs(t *testing.T) {
	in, temp := severalFiles(t), t.TempDir()
	var answer map[string]any
	if err := json.Unmarshal(readBytes(t, in("x.out.json")), &answer); err != nil {
		t.Fatal(err)
	}
	outputs := answer["outputs"].([]any)
	if len(outputs) != 2 || outputs[0].(map[string]any)["name"] != "scores" || len(outputs[0].(map[string]any)["values"].([]any)) != 6 {
		t.Fatalf("outputs %v", outputs)
	}
	if out := must(t, "inspect", in("x.out.json")); !strings.Contains(out, "scores") {
		t.Errorf("inspect says %s", out)
	}
	good := string(readBytes(t, in("x.out.json")))
	for change, with := range map[string]string{
		`"name":"scores"`: `"name":"votes"`,
		`"shape":[3,2]`:   `"shape":[2,3]`,
		`"values":[`:      `"values":[7,`,
		`{"name":`:        `{"NAME":"no","name":`,
		`"kind":"none"`:   `"kind":"softmax"`,
		`"output_data"`:   `"answers":[1],"output_data"`,
	} {
		bad := strings.Replace(good, change, with, 1)
		if bad == good {
			t.Errorf("the answer has no %s", change)
		}
		writeFile(t, filepath.Join(temp, "bad.json"), []byte(bad))
		if r := run(t, "verify", "--key", in("m.vk"), "--input", in("x.json"), "--output", filepath.Join(temp, "bad.json"), in("x.proof")); r.code != ExitRejected {
			t.Errorf("%s: exit %d: %s%s", with, r.code, r.out, r.err)
		}
	}
}

// Each way to get inputs wrong says which input, and what it has to be.
func TestWrongInputs(t *testing.T) {
	in, temp := severalFiles(t), t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(temp, name)
		writeFile(t, path, []byte(text))
		return path
	}
	archive := npzOf(t, map[string][]byte{"x": npyOf("<f4", "1, 4", floatBytes(1, 2, 3, 4)), "tokens": npyOf("|u1", "3,", []byte{1, 2, 3})})
	damaged := bytes.Clone(archive)
	damaged[len(damaged)/4]++ // in what is packed
	x := put("x.json", `{"input_data": [[0, 0, 0, 0]]}`)
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{ExitUsage, []string{"x=" + x}, "--input lacks input tokens; the model takes x 1x4, tokens 3"},
		{ExitUsage, []string{"x=" + x, "x=" + x}, "--input names input x twice"},
		{ExitUsage, []string{"y=" + x}, "want one file, or NAME=FILE for each input of the model: x 1x4, tokens 3"},
		{ExitUsage, []string{"x="}, "no file is named"},
		{ExitUsage, []string{x, x}, "want one file, or NAME=FILE"},
		{ExitInput, []string{put("few.json", `{"x": [0, 0, 0, 0]}`)}, "input tokens is missing"},
		{ExitInput, []string{put("list.json", `{"input_data": [[0, 0, 0, 0]]}`)}, "input_data has 1 entries, but the model takes 2: x 1x4, tokens 3"},
		{ExitInput, []string{put("more.json", `{"input_data": [[0, 0, 0, 0], [1, 2, 3], [1]]}`)}, "more than 2 entries"},
		{ExitInput, []string{put("other.json", `{"x": [0, 0, 0, 0], "mask": [1]}`)}, `unknown field "mask", want input_data alone or the model's inputs: x 1x4, tokens 3`},
		{ExitInput, []string{put("twice.json", `{"x": [0, 0, 0, 0], "x": [0, 0, 0, 0]}`)}, "field x occurs twice"},
		{ExitInput, []string{put("mixed.json", `{"x": [0, 0, 0, 0], "input_data": []}`)}, "input_data alone"},
		{ExitInput, []string{put("shape.json", `{"x": [0, 0, 0], "tokens": [1, 2, 3]}`)}, "x has shape 3, the model takes 1x4"},
		{ExitInput, []string{put("ragged.json", `{"x": [[0, 0, 0, 0]], "tokens": [1, [2], 3]}`)}, "tokens[1] is an array"},
		{ExitInput, []string{put("half.json", `{"x": [0, 0, 0, 0], "tokens": [1, 2.5, 3]}`)}, "input tokens, element 1 is 2.5, want a whole number from 0 to 4"},
		{ExitInput, []string{put("range.json", `{"x": [0, 0, 0, 0], "tokens": [1, 5, 3]}`)}, `input "tokens", element 1 is 5, expected 0 to 4`},
		{ExitInput, []string{put("one.npy", string(npyOf("<f4", "1, 4", floatBytes(1, 2, 3, 4))))}, "holds one array, but the model takes 2 inputs (x 1x4, tokens 3)"},
		{ExitInput, []string{put("few.npz", string(npzOf(t, map[string][]byte{"x": npyOf("<f4", "1, 4", floatBytes(1, 2, 3, 4))})))}, "npz: array tokens is missing"},
		{ExitInput, []string{put("other.npz", string(npzOf(t, map[string][]byte{"y": npyOf("<f4", "1, 4", floatBytes(1, 2, 3, 4))})))}, "npz: array y is no input of the model"},
		{ExitInput, []string{put("shape.npz", string(npzOf(t, map[string][]byte{"x": npyOf("<f4", "3,", floatBytes(1, 2, 3))})))}, "npz: array x: the array has shape 3, the model takes 1x4"},
		{ExitInput, []string{put("cut.npz", string(archive[:len(archive)-5]))}, "npz: "},
		{ExitInput, []string{put("damaged.npz", string(damaged))}, "npz: "},
	} {
		args := []string{"prove", "--key", in("m.pk"), "-o", filepath.Join(temp, "n.proof")}
		for _, a := range c.args {
			args = append(args, "--input", a)
		}
		r := run(t, args...)
		if r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("--input %s: exit %d: %s does not say %q", strings.Join(c.args, " "), r.code, r.err, c.want)
		}
		oneErrorLine(t, r)
	}
	// What the importer was told is part of the model: the calibration has it, and other flags contradict it.
	must(t, "setup", in("m.onnx"), "--calibration", in("m.zkcal"), "-o", filepath.Join(temp, "k"))
	if got, want := readBytes(t, filepath.Join(temp, "k.vk")), readBytes(t, in("m.vk")); !bytes.Equal(got, want) {
		t.Error("setup without --const makes another key")
	}
	if out := must(t, "inspect", in("m.zkcal")); !strings.Contains(out, `"mask" fixed to 1`) {
		t.Errorf("inspect says %s", out)
	}
	for flags, want := range map[string]string{
		"--const mask=0.5":   "--const mask=0.5 contradicts calibration " + in("m.zkcal") + `, which has "mask" fixed to 1`,
		"--const x=1":        `--const x=1 contradicts calibration`,
		"--range tokens=0:3": `--range tokens=0:3 contradicts calibration`,
		"--select scores":    `--select scores contradicts calibration`,
	} {
		r := run(t, append([]string{"setup", in("m.onnx"), "--calibration", in("m.zkcal"), "-o", filepath.Join(temp, "n")}, strings.Fields(flags)...)...)
		if r.code != ExitUsage || !strings.Contains(r.err, want) {
			t.Errorf("setup %s: exit %d: %s", flags, r.code, r.err)
		}
	}
}

// A single output can be chosen, and everything happens in one go.
func TestProveModelSelect(t *testing.T) {
	in, temp := severalFiles(t), t.TempDir()
	got := object(t, must(t, "prove-model", "--model", in("m.onnx"), "--const", "mask=0.5", "--select", "scores", "--input", in("x.json"),
		"-o", filepath.Join(temp, "p"), "--json"))
	answer := got["answer"].(map[string]any)
	if got["verified"] != true || len(answer["values"].([]any)) != 6 || len(answer["answers"].([]any)) != 3 || answer["outputs"] != nil {
		t.Errorf("prove-model --json printed %v", got)
	}
	must(t, "verify", "--key", filepath.Join(temp, "p.vk"), "--input", in("x.json"), "--output", filepath.Join(temp, "p.out.json"), filepath.Join(temp, "p.proof"))
}

// Pictures of a folder, in the order of their names, make the samples and the input of a model that takes a batch; the answer lists each.
func TestPictureBatch(t *testing.T) {
	temp := t.TempDir()
	in := func(name string) string { return filepath.Join(temp, name) }
	f := onnxtest.New(17, "x", 0, 1, 2, 2)
	conv := f.Node("Conv", []string{"x", f.Floats("w", []float32{1, 0, 0, 0, 0, 1, 0, 0}, 2, 1, 2, 2)})
	writeFile(t, in("m.onnx"), f.Output(f.Node("Flatten", []string{conv})).Bytes())
	for name, pix := range map[string][]uint8{"a": {255, 0, 9, 9}, "b": {0, 255, 9, 9}, "c": {200, 100, 9, 9}} {
		var b bytes.Buffer
		if err := png.Encode(&b, &image.Gray{Pix: pix, Stride: 2, Rect: image.Rect(0, 0, 2, 2)}); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(in("d"), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(in("d"), name+".png"), b.Bytes())
	}
	f = onnxtest.New(17, "x", 0, 1, 2, 2) // whose key takes lists
	flat := f.Node("Flatten", []string{"x"})
	writeFile(t, in("flat.onnx"), f.Output(f.Node("MatMul", []string{flat, f.Floats("w", []float32{1, 0, 0, 1, 0, 0, 0, 0}, 4, 2)})).Bytes())
	for _, m := range []string{"m", "flat"} {
		must(t, "calibrate", in(m+".onnx"), "--batch", "3", "--data", in("d"), "-o", in(m+".zkcal"))
		must(t, "setup", in(m+".onnx"), "--calibration", in(m+".zkcal"), "-o", in(m))
		answer := object(t, must(t, "prove", "--key", in(m+".pk"), "--input", in("d"), "-o", in(m+".proof"), "--json"))["answer"].(map[string]any)
		if got := fmt.Sprint(answer["answers"]); got != "[0 1 0]" {
			t.Errorf("%s: answers %s of %v", m, got, answer)
		}
		must(t, "verify", "--key", in(m+".vk"), "--input", in("d"), "--output", in(m+".out.json"), in(m+".proof"))
	}
	// A proof of another key is called that, whatever its answer looks like.
	if r := run(t, "verify", "--key", in("flat.vk"), "--input", in("d"), "--output", in("m.out.json"), in("m.proof")); r.code != ExitRejected || !strings.Contains(r.err, "key digest") {
		t.Errorf("another key: exit %d: %s", r.code, r.err)
	}
	r := run(t, "calibrate", in("m.onnx"), "--batch", "2", "--data", in("d"), "-o", in("n.zkcal"))
	if r.code != ExitInput || !strings.Contains(r.err, "3 images in 3 files, the model takes batches of 2") {
		t.Errorf("batches of two: exit %d: %s", r.code, r.err)
	}
	// One batch is wanted: a sheet that makes more is refused by its header, for its pixels are cut off.
	var sheet bytes.Buffer
	if err := png.Encode(&sheet, image.NewGray(image.Rect(0, 0, 6, 2))); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(in("d"), "e.png"), sheet.Bytes()[:40])
	r = run(t, "prove", "--key", in("m.pk"), "--input", in("d"), "-o", in("e.proof"))
	if r.code != ExitInput || !strings.Contains(r.err, "e.png: png: holds 3 inputs, want at most 0") {
		t.Errorf("a sheet too many: exit %d: %s", r.code, r.err)
	}
}
