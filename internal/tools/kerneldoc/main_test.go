package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/bench"
	"github.com/zkwarp/zkwarp/msm"
)

// Every figure is a case of the suite, and every kernel is one of a .cu file.
func TestRows(t *testing.T) {
	cases := map[string]bool{}
	for _, c := range bench.Cases() {
		cases[c.Suite+" "+c.Name] = true
	}
	listed := map[string]bool{}
	usage, err := readUsage("../../kernels/registers_sm90.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		for _, f := range r.cases {
			if !cases[f.in()+" "+f.bench] {
				t.Errorf("%s: no case %s", r.name, f.bench)
			}
		}
		found, err := r.expand(usage)
		if err != nil {
			t.Error(err)
		}
		for _, k := range found {
			if _, ok := usage[k]; !ok {
				t.Errorf("%s: no kernel %s", r.name, k)
			}
			listed[k] = true
		}
	}
	// Multi-scalar multiplication shows all of its kernels.
	for _, s := range msm.Sources() {
		entries, err := s.Kernels()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !listed[e.Name] && !strings.Contains(e.Name, "toy61") {
				t.Errorf("kernel %s is in no row", e.Name)
			}
		}
	}
}

func TestMeasured(t *testing.T) {
	results := []bench.Row{
		{Suite: "m31", Case: "a", Metric: "ms", Value: 2, Device: "cpu"},
		{Suite: "m31", Case: "a", Metric: "ms", Value: 4, Device: "cuda:0"},
		{Suite: "m31", Case: "a", Metric: "part", Value: 0.5, Device: "cuda:0"},
		{Suite: "card", Case: "copy", Metric: "tb/s", Value: 2, Device: "cuda:0"},
		{Suite: "m31", Case: "poseidon2-m31-w16", Metric: "gperm/s", Value: 5, Device: "cuda:0"},
	}
	for _, c := range []struct {
		f           figure
		time, share string
	}{
		{figure{bench: "a", time: "ms", share: "part"}, "4", "50 %"},
		{figure{bench: "a", time: "ms", share: "other"}, "4", "-"},
		{figure{bench: "a", time: "ms", bytes: 2e9}, "4", "25 %"},
		{figure{bench: "a", time: "ms", permutations: 18e6}, "4", "90 %"},
		{figure{bench: "a", time: "ms"}, "4", "-"},
		{figure{bench: "b", time: "ms", share: "part"}, unknown, "-"},
	} {
		if time, share := c.f.measured(results); time != c.time || share != c.share {
			t.Errorf("%+v: %s, %s; want %s, %s", c.f, time, share, c.time, c.share)
		}
	}
}

// The tool fills both tables in and leaves the rest of the page alone.
func TestRun(t *testing.T) {
	root := t.TempDir()
	for _, f := range []string{"bench/results/nvidia-h100-80gb-hbm3.json", "internal/kernels/registers_sm90.json", "docs/kernels.md"} {
		data, err := os.ReadFile("../../../" + f)
		if err != nil {
			t.Fatal(err)
		}
		if f == "docs/kernels.md" {
			data = regexp.MustCompile(`(?s)(written by kerneldoc -->\n).*?(<!-- end)`).ReplaceAll(data, []byte("${1}old\n${2}"))
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, f), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(root, "nvidia-h100-80gb-hbm3"); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/kernels.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Kernels", "| Poseidon2-Merkle over M31, levels |", "| `merkle_level2_m31` |", "<!-- end registers -->"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(string(page), "\nold\n") {
		t.Error("a table was not replaced")
	}
	if err := os.WriteFile(filepath.Join(root, "docs/kernels.md"), []byte("# Kernels\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(root, "nvidia-h100-80gb-hbm3"); err == nil {
		t.Error("a page without marks passes")
	}
	if err := run(root, "no-such-card"); err == nil {
		t.Error("no results pass")
	}
}

// A time that is not the case's only one is named.
func TestLabel(t *testing.T) {
	for _, c := range []struct {
		f    figure
		want string
	}{
		{figure{bench: "a", time: "ms"}, "a"},
		{figure{bench: "a", time: "plain-ms"}, "a plain-ms"},
	} {
		if got := c.f.label(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.f, got, c.want)
		}
	}
}
