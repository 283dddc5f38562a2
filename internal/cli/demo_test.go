package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/examples/digits"
)

// The demo's object has the promised fields, its proof verifies by itself from
// the files it leaves, and a changed weight is rejected.
func TestDemo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	got := object(t, must(t, "demo", "--json", "--image", "40", "--out", dir, "--progress", "none"))
	for field, check := range map[string]func(any) bool{
		"device":                  func(v any) bool { return v == "cpu" },
		"verified":                func(v any) bool { return v == true },
		"tampered_rejected":       func(v any) bool { return v == true },
		"prove_ms":                positive,
		"verify_ms":               positive,
		"proof_bytes":             positive,
		"security_bits":           func(v any) bool { return v.(float64) >= 96 },
		"security_bits_min_round": func(v any) bool { return v.(float64) >= got["security_bits"].(float64) },
		"accuracy_float":          func(v any) bool { return v.(float64) >= 0.97 && v.(float64) <= 1 },
		"accuracy_integer":        func(v any) bool { return v.(float64) >= got["accuracy_float"].(float64)-0.003 },
	} {
		if v, ok := got[field]; !ok || !check(v) {
			t.Errorf("%s is %v", field, v)
		}
	}
	reasons := got["rejections"].(map[string]any)
	for _, name := range []string{"answer", "weight", "proof_byte"} {
		if s, _ := reasons[name].(string); s == "" || strings.HasSuffix(s, ": ") {
			t.Errorf("no reason for %s: %v", name, reasons)
		}
	}
	if details := got["details"].(map[string]any); details["label"] != 2.0 || details["answer"] != 2.0 {
		t.Errorf("details %v", details)
	}
	if !strings.HasPrefix(reasons["weight"].(string), "key digest") {
		t.Errorf("another weight was rejected by %v", reasons["weight"])
	}
	// What is in the header only tells what differs; the proof itself fails too.
	for _, name := range []string{"answer", "weight"} {
		if !strings.Contains(reasons[name].(string), "written over: lookups: tree") {
			t.Errorf("%s: the renamed proof was rejected by %v", name, reasons[name])
		}
	}
	proof := readBytes(t, filepath.Join(dir, "digits.proof"))
	if digest := sha256.Sum256(proof); got["proof_sha256"] != hex.EncodeToString(digest[:]) || got["proof_bytes"].(float64) != float64(len(proof)) {
		t.Error("the object is not about the proof that was left")
	}
	must(t, "verify", "--key", filepath.Join(dir, "digits.vk"), "--input", filepath.Join(dir, "input.json"),
		"--output", filepath.Join(dir, "output.json"), filepath.Join(dir, "digits.proof"))
}

func positive(v any) bool { return v.(float64) > 0 }

func TestBlocks(t *testing.T) {
	var m digits.Image
	for x := 4; x < 8; x++ {
		m[6*digits.Side+x] = 255
		m[9*digits.Side+x] = 255
	}
	m[7*digits.Side+4] = 255
	got := strings.Join(blocks(&m), "\n")
	if want := "    \u2588\u2580\u2580\u2580\n    \u2584\u2584\u2584\u2584"; got != want {
		t.Errorf("drew\n%s\nwant\n%s", got, want)
	}
}

func TestTexts(t *testing.T) {
	for got, want := range map[string]string{
		figures(0): "0", figures(0.0123): "0.0123", figures(1.234): "1.23", figures(12.34): "12.3", figures(1234): "1234", figures(9.996): "10.0",
		sizeText(512): "512 B", sizeText(1536): "1.50 KiB", sizeText(3 << 30): "3.00 GiB",
		grouped(0): "0", grouped(1234567): "1 234 567", grouped(-1234): "-1 234", grouped(999): "999",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDemoCounts: the counts are those of the proof alone, by kernel and in all.
func TestDemoCounts(t *testing.T) {
	if noEmulator() {
		t.Skip("no simt device")
	}
	got := object(t, must(t, "demo", "--json", "--device", "simt", "--progress", "none"))
	work := got["details"].(map[string]any)["work"].(map[string]any)
	sum := 0.0
	for _, n := range work["launches_by_kernel"].(map[string]any) {
		sum += n.(float64)
	}
	if sum == 0 || sum != work["launches"] {
		t.Errorf("%v launches, %v by kernel", work["launches"], sum)
	}
}
