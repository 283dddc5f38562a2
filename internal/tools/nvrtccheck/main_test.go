package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device/kernel"
)

const sample = `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
ptxas         .     16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers, 2048 bytes smem, 368 bytes cmem[0]
ptxas info    : Compile time = 5.827 ms
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 30 registers, used 0 barriers
ptxas info    : Function properties for helper
ptxas         .     32 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads
`

func TestParse(t *testing.T) {
	got := parse(sample)
	if len(got) != 2 || got["first"] != (Usage{128, 16, 8, 12, 2048}) || got["second"] != (Usage{30, 32, 4, 0, 0}) {
		t.Fatalf("%+v", got)
	}
}

func TestCompare(t *testing.T) {
	table := func(u map[string]Usage) Table { return Table{"NVRTC 13.0", "sm_90", u} }
	old := table(map[string]Usage{"a": {40, 0, 0, 0, 0}, "b": {255, 64, 10, 20, 0}})
	for _, c := range []struct {
		name      string
		now       Table
		fails     bool
		mentioned string
	}{
		{"same", old, false, ""},
		{"more registers", table(map[string]Usage{"a": {50, 0, 0, 0, 0}, "b": {255, 64, 10, 20, 0}}), false, "50 registers"},
		{"fewer spills", table(map[string]Usage{"a": {40, 0, 0, 0, 0}, "b": {255, 64, 10, 16, 0}}), false, "b:"},
		{"spills begin", table(map[string]Usage{"a": {40, 8, 4, 4, 0}, "b": {255, 64, 10, 20, 0}}), true, "a spills more"},
		{"spills grow", table(map[string]Usage{"a": {40, 0, 0, 0, 0}, "b": {255, 64, 10, 24, 0}}), true, "b spills more"},
		{"a new one that spills", table(map[string]Usage{"a": {40, 0, 0, 0, 0}, "b": {255, 64, 10, 20, 0}, "c": {9, 8, 8, 8, 0}}), true, "new kernel c"},
		{"a new one", table(map[string]Usage{"a": {40, 0, 0, 0, 0}, "b": {255, 64, 10, 20, 0}, "c": {9, 0, 0, 0, 0}}), false, "c: new"},
		{"one gone", table(map[string]Usage{"a": {40, 0, 0, 0, 0}}), false, "b: gone"},
		{"another compiler", Table{"NVRTC 12.9", "sm_90", old.Kernels}, true, "NVRTC 12.9"},
	} {
		var w strings.Builder
		err := compare(&w, old, c.now)
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
		text := w.String()
		if err != nil {
			text += err.Error()
		}
		if !strings.Contains(text, c.mentioned) || c.mentioned == "" && text != "" {
			t.Errorf("%s: %q", c.name, text)
		}
	}
	both := old.with(table(map[string]Usage{"b": {7, 0, 0, 0, 0}, "c": {9, 0, 0, 0, 0}}))
	if len(both.Kernels) != 3 || both.Kernels["a"].Registers != 40 || both.Kernels["b"].Registers != 7 || old.Kernels["b"].Registers != 255 {
		t.Errorf("a part in place of the table's own: %v", both)
	}
	path := filepath.Join(t.TempDir(), "table.json")
	if err := old.write(path); err != nil {
		t.Fatal(err)
	}
	back, err := readTable(path)
	if err != nil || back.Compiler != old.Compiler || len(back.Kernels) != 2 || back.Kernels["b"] != old.Kernels["b"] {
		t.Fatalf("%+v, %v", back, err)
	}
}

func TestNamed(t *testing.T) {
	sources := []*kernel.Source{{Name: "field/a.cu"}, {Name: "whir/field/b.cu"}, {Name: "field/c.cu"}}
	if got := named(sources, "field/"); len(got) != 2 || got[1].Name != "field/c.cu" {
		t.Errorf("%d sources", len(got))
	}
}

// One unit of every text that a program uses is compiled for all architectures.
func TestRepeats(t *testing.T) {
	for name, want := range map[string]bool{
		"msm/internal/bucket/accumulate.bn254_g1.cu":    false,
		"msm/internal/bucket/accumulate.bls12381_g1.cu": true,
		"msm/internal/scatter/bins.cu":                  false,
		"bench/accumulate_steps.bn254_g1.cu":            true,
		"bench/products.bn254.cu":                       true,
		"bench/card.cu":                                 false,
	} {
		if got := repeats(&kernel.Source{Name: name}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
