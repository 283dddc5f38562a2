package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/internal/kernels"
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
	table := func(u map[string]Usage) Table {
		return Table{Compiler: "NVRTC 13.0", Arch: "sm_90", Units: map[string]string{"u.cu": "00"}, Kernels: u}
	}
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
		{"another compiler", Table{Compiler: "NVRTC 12.9", Arch: "sm_90", Kernels: old.Kernels}, true, "NVRTC 12.9"},
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
	part := table(map[string]Usage{"b": {7, 0, 0, 0, 0}, "c": {9, 0, 0, 0, 0}})
	part.Units = map[string]string{"v.cu": "11"}
	both := old.with(part)
	if len(both.Kernels) != 3 || both.Kernels["a"].Registers != 40 || both.Kernels["b"].Registers != 7 || old.Kernels["b"].Registers != 255 {
		t.Errorf("a part in place of the table's own: %v", both)
	}
	if len(both.Units) != 2 || both.Units["u.cu"] != "00" || both.Units["v.cu"] != "11" || len(old.Units) != 1 {
		t.Errorf("digests of a part beside the table's own: %v", both.Units)
	}
	path := filepath.Join(t.TempDir(), "table.json")
	if err := old.write(path); err != nil {
		t.Fatal(err)
	}
	back, err := readTable(path)
	if err != nil || back.Compiler != old.Compiler || len(back.Kernels) != 2 || back.Kernels["b"] != old.Kernels["b"] || back.Units["u.cu"] != "00" {
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

func TestPick(t *testing.T) {
	sources := append(kernels.All(), kernels.Generated()...)
	list := jobs(sources, false)
	names := map[string]bool{}
	for _, s := range sources {
		if names[s.Name] {
			t.Errorf("two units are called %s", s.Name) // the table could not tell them apart
		}
		names[s.Name] = true
	}

	if got := pick(list, nil, ""); len(got) != 0 {
		t.Errorf("%d jobs though nothing changed", len(got))
	}
	changed := map[string]bool{"whir/fold.bn254.cu": true}
	changed[list[0].s.Name], changed[list[len(list)-1].s.Name] = true, true
	seen := map[job]int{}
	for i, parted := 0, map[job]bool{}; len(parted) < parts; i++ { // seeds until each part had its turn
		if i > 1000 {
			t.Fatal("seeds do not reach all parts")
		}
		got := pick(list, changed, fmt.Sprint(i))
		var rest []job
		for _, j := range got {
			if !changed[j.s.Name] {
				rest = append(rest, j)
			}
		}
		if parted[rest[0]] {
			continue
		}
		parted[rest[0]] = true
		if n := len(got); n < len(list)/parts || n > len(list)/parts+10 {
			t.Errorf("a part of %d of %d jobs", n, len(list))
		}
		for _, j := range got {
			seen[j]++
		}
	}
	for _, j := range list {
		want := 1
		if changed[j.s.Name] {
			want = parts // in every part
		}
		if seen[j] != want {
			t.Errorf("%s for %s is in %d of %d parts, want %d", j.s.Name, j.arch, seen[j], parts, want)
		}
	}
}

// A unit is the table's while nothing that its compilations read is another.
func TestChanged(t *testing.T) {
	header := &kernel.Source{Name: "h.cuh", Text: "#define N 1\n"}
	unit := func(name, text string, h *kernel.Source) *kernel.Source {
		return &kernel.Source{Name: name, Text: text, Headers: []*kernel.Source{h}}
	}
	const text = "extern \"C\" __global__ void first(u32 n) {}\n"
	s := unit("a.cu", text, header)
	table := Table{Units: map[string]string{"a.cu": digest(s, "NVRTC 13.0")}, Kernels: map[string]Usage{"first": {Registers: 8}}}
	for _, c := range []struct {
		name     string
		s        *kernel.Source
		compiler string
		want     bool
	}{
		{"the same", unit("a.cu", text, &kernel.Source{Name: "h.cuh", Text: header.Text}), "NVRTC 13.0", false},
		{"another text", unit("a.cu", text+"\n", header), "NVRTC 13.0", true},
		{"another header", unit("a.cu", text, &kernel.Source{Name: "h.cuh", Text: "#define N 2\n"}), "NVRTC 13.0", true},
		{"another name", unit("b.cu", text, header), "NVRTC 13.0", true},
		{"another compiler", s, "NVRTC 13.1", true},
		{"a kernel that the table lacks", unit("a.cu", text+"extern \"C\" __global__ void second(u32 n) {}\n", header), "NVRTC 13.0", true},
	} {
		got, err := table.changed([]*kernel.Source{c.s}, c.compiler)
		if err != nil {
			t.Fatal(err)
		}
		if got[c.s.Name] != c.want {
			t.Errorf("%s: changed is %v", c.name, got)
		}
	}
	delete(table.Kernels, "first")
	if got, err := table.changed([]*kernel.Source{s}, "NVRTC 13.0"); err != nil || !got["a.cu"] {
		t.Errorf("without the kernel's row: %v, %v", got, err)
	}
}
