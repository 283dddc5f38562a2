package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/quant"
)

// The report says what a layer loses, in text, as JSON and as a page with a bar for each tensor.
func TestCalibrationReport(t *testing.T) {
	in, temp := severalFiles(t), t.TempDir()
	page := filepath.Join(temp, "r.html")
	args := []string{"calibrate", in("m.onnx"), "--const", "mask=1", "--data", in("x.json"), "-o", filepath.Join(temp, "m.zkcal"), "--html", page, "--force"}
	if out := must(t, args...); !strings.Contains(out, "SNR, dB") || !strings.Contains(out, "scores") {
		t.Errorf("calibrate printed %s", out)
	}
	layers := object(t, must(t, append(args, "--json")...))["report"].(map[string]any)["layers"].([]any)
	text := string(readBytes(t, page))
	if n := strings.Count(text, "fill-opacity"); n != len(layers) || n < 2 {
		t.Errorf("%d bars for %d layers", n, len(layers))
	}
	if !strings.Contains(text, "Signal and noise") || strings.Contains(text, "http") {
		t.Error("the page has no picture, or refers to the network")
	}
}

// A layer without error has no ratio, and a name cannot bring markup into the page.
func TestReportPage(t *testing.T) {
	r := &quant.Report{Samples: 1, Layers: []quant.Layer{{Name: "<b>", SNR: 999}, {Name: "poor", SNR: 12, Saturated: 0.5}}, Advice: "more <bits>"}
	page, err := reportPage("m.onnx", nil, r)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	if strings.Contains(text, "<b>") || strings.Contains(text, "<bits>") || !strings.Contains(text, ">exact<") || !strings.Contains(text, "#c0392b") || !strings.Contains(text, "50.00") {
		t.Errorf("the page is %s", text)
	}
}

// A gate that is not met writes nothing, says what was found, and is exit code 1; it is about the samples of --check.
func TestCalibrationGate(t *testing.T) {
	in, temp := severalFiles(t), t.TempDir()
	out := filepath.Join(temp, "m.zkcal")
	args := []string{"calibrate", in("m.onnx"), "--const", "mask=1", "--data", in("x.json"), "-o", out}
	r := run(t, append(args, "--min-snr", "200")...)
	if r.code != ExitRejected || !strings.Contains(r.err, "expected 200.0 dB") || !strings.Contains(r.err, "most is lost at tensor") || !strings.Contains(r.out, "SNR, dB") {
		t.Errorf("code %d, %s", r.code, r.err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a calibration was written")
	}
	for _, bad := range [][]string{{"--min-agreement", "101"}, {"--min-cosine", "NaN"}, {"--min-snr", "-1"}} {
		if r := run(t, append(args, bad...)...); r.code != ExitUsage {
			t.Errorf("%v: code %d", bad, r.code)
		}
	}
	got := object(t, must(t, append(args, "--check", in("x.json"), "--min-cosine", "0.5", "--json")...))["report"].(map[string]any)
	if got["min_cosine"].(float64) < 0.5 || got["snr_db"].(float64) <= 0 {
		t.Errorf("report %v", got)
	}
}

// Weights of 8 bits with scales by channels go from calibration to a verified proof, and the report and the calibration say which products have them.
func TestWeightScales(t *testing.T) {
	in, temp := severalFiles(t), t.TempDir()
	out := func(name string) string { return filepath.Join(temp, name) }
	calibrate := []string{"calibrate", in("m.onnx"), "--const", "mask=1", "--data", in("x.json"), "-o", out("m.zkcal"), "--weight-bits", "8", "--activation-bits", "12", "--output-bits", "16", "--input-bits", "12", "--force"}
	if r := run(t, append(calibrate, "--weight-scales", "row")...); r.code != ExitUsage || !strings.Contains(r.err, "expected tensor or channel") {
		t.Errorf("code %d, %s", r.code, r.err)
	}
	if text := must(t, append(calibrate, "--weight-scales", "tensor")...); strings.Contains(text, "scales of their own") {
		t.Errorf("calibrate printed %s", text)
	}
	text := must(t, calibrate...)
	if !strings.Contains(text, "tensors with weights have scales of their own") || !strings.Contains(text, " 1..") {
		t.Errorf("calibrate printed %s", text)
	}
	if text := must(t, "inspect", out("m.zkcal")); !strings.Contains(text, "channel") || !strings.Contains(text, "8 bits") {
		t.Errorf("inspect printed %s", text)
	}
	must(t, "setup", in("m.onnx"), "--const", "mask=1", "--calibration", out("m.zkcal"), "-o", out("m"))
	must(t, "prove", "--key", out("m.pk"), "--input", in("x.json"), "-o", out("x.proof"))
	must(t, "verify", "--key", out("m.vk"), "--input", in("x.json"), "--output", out("x.out.json"), out("x.proof"))
}
