package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/quant"
)

// TestDecoder proves a decoder from a folder with safetensors files, whose layers are calibrated one after the other.
func TestDecoder(t *testing.T) {
	if testing.Short() {
		t.Skip("proves a transformer")
	}
	dir, model := t.TempDir(), filepath.Join("..", "..", "zkml", "llm", "testdata", "qwen2")
	at := func(name string) string { return filepath.Join(dir, name) }
	writeFile(t, at("t.json"), []byte(`{"tokens": [7, 3]}`))
	writeFile(t, at("t.npy"), npyOf("<i8", "2,", []byte{7, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0}))
	if text := must(t, "inspect", model); !strings.Contains(text, "layers            0:2\n") || !strings.Contains(text, "family            qwen2\n") {
		t.Errorf("inspect: %s", text)
	}
	flags := []string{"--tokens", "2", "--last-token", "--table-bits", "12"}
	args := append([]string{"calibrate", model, "--data", at("t.json")}, flags...)
	must(t, append(args, "--layers", "0:1,1:2", "-o", at("m.zkcal"))...)
	if r := run(t, append(args, "--layers", "0:1,1:2", "-o", at("m.zkcal"))...); r.code != ExitUsage || !strings.Contains(r.err, "part-0001.zkcal exists") {
		t.Errorf("calibrate again: exit %d: %s", r.code, r.err)
	}
	must(t, "setup", model, "--calibration", at("m.zkcal"), "-o", at("m"))
	must(t, "prove", "--key", at("m.pk"), "--input", at("t.npy"), "-o", at("x.proof"))
	must(t, "verify", "--key", at("m.vk"), "--input", at("t.json"), "--output", at("x.out.json"), at("x.proof"))
	writeFile(t, at("other.json"), []byte(`{"tokens": [7, 4]}`))
	if r := run(t, "verify", "--key", at("m.vk"), "--input", at("other.json"), "--output", at("x.out.json"), at("x.proof")); r.code != ExitRejected || !strings.Contains(r.err, "part 1 of 2") {
		t.Errorf("other tokens: exit %d: %s", r.code, r.err)
	}
	// Nobody but the prover sees the prompt or what is between the layers.
	must(t, "setup", model, "--calibration", at("m.zkcal"), "--commit-boundaries", "--commit-input", "all", "-o", at("h"))
	must(t, "commit", "--key", at("h.vk"), "--input", at("t.json"), "-o", at("prompt"))
	must(t, "prove", "--key", at("h.pk"), "--opening", at("prompt.opening"), "-o", at("h.proof"))
	must(t, "verify", "--key", at("h.vk"), "--commitment", at("prompt.commitment"), "--output", at("h.out.json"), at("h.proof"))
	if !bytes.Equal(readBytes(t, at("h.out.json")), readBytes(t, at("x.out.json"))) {
		t.Error("another answer where the prompt is committed")
	}

	// The second layer by itself, after the key of the first, is the same piece.
	must(t, append(args, "--layers", "0:1", "-o", at("a.zkcal"))...)
	first := readBytes(t, partFile(at("m.zkcal"), 0, ".zkcal"))
	if !bytes.Equal(readBytes(t, at("a.zkcal")), first) {
		t.Error("the first layer by itself is calibrated otherwise")
	}
	must(t, "setup", model, "--calibration", at("a.zkcal"), "-o", at("a"))
	must(t, "mock", "--key", at("a.pk"), "--input", at("t.json"), "-o", at("a.out.json"))
	must(t, append([]string{"calibrate", model, "--data", at("a.out.json"), "--after", at("a.vk"), "--layers", "1:2", "-o", at("b.zkcal")}, flags...)...)
	if !bytes.Equal(readBytes(t, at("b.zkcal")), readBytes(t, partFile(at("m.zkcal"), 1, ".zkcal"))) {
		t.Error("the second layer by itself is calibrated otherwise")
	}
	c, err := quant.Decode(first)
	if err != nil {
		t.Fatal(err)
	}
	if l := decoderLayers(c); l == nil || *l != (layers{0, 1}) || c.Dims["tokens"] != 2 {
		t.Errorf("the calibration is of %v, %v", l, c.Dims)
	}

	// All layers in one calibration are cut where layers begin.
	must(t, append(args, "-o", at("whole.zkcal"))...)
	got := object(t, must(t, "setup", model, "--calibration", at("whole.zkcal"), "--layers", "0:1,1:2", "-o", at("w"), "--json"))
	if name := got["parts"].([]any)[1].(map[string]any)["name"]; name != `part 2 of 2 ("logits" from "hidden.1")` {
		t.Errorf("cut at %v", name)
	}
	os.Remove(partFile(at("m.zkcal"), 0, ".zkcal"))
	for i, c := range []struct {
		code int
		args string
		want string
	}{
		{ExitUsage, "calibrate % --data @/t.json -o @/n", "pass --tokens N"},
		{ExitUsage, "calibrate % --tokens 2 --dim a=1 --data @/t.json -o @/n", "are for ONNX files"},
		{ExitUsage, "calibrate % --tokens 2 --layers 1:3 --data @/t.json -o @/n", "has the layers 0:2"},
		{ExitUsage, "calibrate % --tokens 2 --layers 1:2,2:3 --data @/t.json -o @/n", "must begin at 0"},
		{ExitUsage, "calibrate % --tokens 2 --layers 0:1,0:2 --data @/t.json -o @/n", "does not begin where"},
		{ExitInput, "calibrate % --tokens 2 --layers 1:2 --after @/m.vk --data @/a.out.json -o @/n", "of a chain"},
		{ExitInput, "calibrate % --tokens 3 --data @/t.json -o @/n", "t.json"},
		{ExitInput, "calibrate @ --tokens 2 --data @/t.json -o @/n", "config.json"},
		{ExitUsage, "setup % --calibration @/whole.zkcal --layers 0:3 -o @/n", "the program has layers 0:2"},
		{ExitUsage, "setup % --calibration @/whole.zkcal --tokens 3 -o @/n", "whole.zkcal, which is of 2 tokens"},
		{ExitUsage, "setup % --calibration @/m.zkcal --layers 0:1,1:2 -o @/n", "have no say"},
		{ExitInput, "setup % --calibration @/m.zkcal -o @/n", "part-0001.zkcal is missing"},
		{ExitInput, "inspect @", "neither"},
	} {
		args := strings.Fields(strings.NewReplacer("%", model, "@", dir).Replace(c.args))
		if r := run(t, args...); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%d: %s: exit %d, want %d: %s, want %q in it", i, c.args, r.code, c.code, r.err, c.want)
		}
		if _, err := os.Stat(at("n")); err == nil {
			t.Fatalf("%s wrote a file", c.args)
		}
	}
}
