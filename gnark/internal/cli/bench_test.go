package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/bench"
)

func TestBench(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	tiny := []string{"bench", "groth16", "--case", "^bn254-2^10$", "--samples", "1"}
	code, out, errs := run(append(tiny, "--json", "--no-cpu", "--progress", "none")...)
	if code != ExitOK || errs != "" {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	var found struct {
		Rows     []bench.Row `json:"rows"`
		Recorded []string    `json:"recorded"`
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	metrics := map[string]bool{}
	for _, r := range found.Rows {
		metrics[r.Metric] = true
		if r.Suite != "groth16" || r.Case != "bn254-2^10" || r.Device != "cpu" || len(r.Samples) != 1 || !strings.HasPrefix(r.Command, "zkwarp-gnark bench groth16 --case") {
			t.Errorf("%+v", r)
		}
	}
	if !metrics["prove-ms"] || !metrics["verify-ms"] || metrics["cpu-prove-ms"] || len(found.Recorded) > 0 {
		t.Errorf("metrics %v, recorded %s", metrics, found.Recorded)
	}
	wants(t, ExitOK, "cpu-prove-ms", append(tiny, "--progress", "none")...)
	wants(t, ExitOK, "bn254-lenet-sparse", "bench", "list")
	wants(t, ExitOK, `"case": "imad"`, "bench", "list", "--json")

	wants(t, ExitUsage, "want one suite", "bench")
	wants(t, ExitUsage, "there are groth16, card", "bench", "m31")
	wants(t, ExitUsage, "no case for this device", "bench", "groth16", "--case", "2gpu")
	wants(t, ExitUsage, "--case", "bench", "groth16", "--case", "(")
	wants(t, ExitUsage, "--samples 0", "bench", "groth16", "--samples", "0")
	wants(t, ExitUsage, "--progress", "bench", "groth16", "--progress", "much")
	// The test binary carries no clean commit.
	wants(t, ExitUsage, "--record refused", append(tiny[:4:4], "--record", "--results", at("results"))...)
	wants(t, ExitUsage, "--output is missing", "bench", "report")
	wants(t, ExitInput, "no results in", "bench", "report", "-o", at("page"), "--results", at("results"))
	wants(t, ExitUsage, "no files", "bench", "merge")
	wants(t, ExitInput, "no such file", "bench", "merge", at("none"))

	for i := range found.Rows {
		r := &found.Rows[i]
		for range 4 {
			r.Samples = append(r.Samples, r.Value)
		}
		r.Commit = strings.Repeat("ab", 20)
	}
	rows, err := bench.Encode(found.Rows)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("rows"), rows, 0o644); err != nil {
		t.Fatal(err)
	}
	wants(t, ExitOK, "rows into "+at("results"), "bench", "merge", at("rows"), "--results", at("results"))
	wants(t, ExitOK, "rows drawn in", "bench", "report", "-o", at("page"), "--results", at("results"))
	wants(t, ExitUsage, "exists; --force", "bench", "report", "-o", at("page"), "--results", at("results"))
	if page, err := os.ReadFile(at("page")); err != nil || !strings.Contains(string(page), "bn254-2^10") {
		t.Errorf("the page: %v", err)
	}
	if err := os.WriteFile(at("rows"), rows[:len(rows)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	wants(t, ExitInput, "reading results", "bench", "merge", at("rows"), "--results", at("results"))
}

func TestBenchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var o, e strings.Builder
	if code := Main(ctx, []string{"bench", "groth16", "--case", "2^18$", "--device", "cpu"}, &o, &e); code != ExitInterrupted || o.String() != "" {
		t.Errorf("exit code %d, %s%s", code, o.String(), e.String())
	}
}
