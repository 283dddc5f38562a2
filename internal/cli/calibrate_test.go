package cli

import (
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
