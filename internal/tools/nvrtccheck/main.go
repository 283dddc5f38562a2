// Command nvrtccheck compiles every kernel of the repository with NVRTC, which
// needs no GPU, and compares what the assembler says about registers with the
// committed table:
//
//	nvrtccheck           sm_80, sm_90 and sm_120; fails if a kernel spills more than before
//	nvrtccheck -more     sm_86 and sm_89 as well, and every group of points for all of them
//	nvrtccheck -update   writes the table anew; docs/kernels.md goes by it (go generate ./internal/kernels)
//	nvrtccheck -only field/
//	                     only the units whose names start so; with -update the table keeps the others' kernels
//
// NVRTC is the one that ZKWARP_NVRTC names, or else that a prover would use; its
// version must be the one of -nvrtc, since register allocation differs between
// compilers.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/device/nvrtc"
	"github.com/zkwarp/zkwarp/internal/kernels"
)

// tableArch is the architecture that the table is of.
const tableArch = "sm_90"

// usualArchs is how many architectures there are without -more.
const usualArchs = 3

func main() {
	more := flag.Bool("more", false, "compile for sm_86 and sm_89 too, and every group of points for all")
	update := flag.Bool("update", false, "write the table instead of comparing")
	path := flag.String("table", "internal/kernels/registers_sm90.json", "the table's `file`")
	only := flag.String("only", "", "compile only the units whose names start with `prefix`")
	version := flag.String("nvrtc", "13.0", "NVRTC `version` to insist on, \"\" for any")
	flag.Parse()
	archs := []string{"sm_80", tableArch, "sm_120"} // usualArchs of them
	if *more {
		archs = append(archs, "sm_86", "sm_89")
	}
	if err := run(os.Stdout, archs, *path, *version, *only, *update); err != nil {
		fmt.Fprintln(os.Stderr, "nvrtccheck:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, archs []string, path, version, only string, update bool) error {
	c, err := nvrtc.Find()
	if err != nil {
		return err
	}
	got := fmt.Sprintf("%d.%d", c.Major, c.Minor)
	if version != "" && got != version {
		return fmt.Errorf("%s is NVRTC %s, want %s", c.Path, got, version)
	}
	start := time.Now()
	sources := append(kernels.All(), kernels.Generated()...)
	if only != "" {
		if sources = named(sources, only); len(sources) == 0 {
			return fmt.Errorf("no unit's name starts with %q", only)
		}
	}
	table, err := compileAll(c, sources, archs)
	if err != nil {
		return err
	}
	table.Compiler = "NVRTC " + got
	fmt.Fprintf(w, "%d translation units, %d kernels, %v, compiled in %.1f s\n",
		len(sources), len(table.Kernels), archs, time.Since(start).Seconds())
	if update && only == "" {
		return table.write(path)
	}
	old, err := readTable(path)
	if err != nil {
		return err
	}
	if only != "" {
		if old.Compiler != table.Compiler {
			return fmt.Errorf("the table is of %s, this is %s", old.Compiler, table.Compiler)
		}
		table = old.with(table)
	}
	if update {
		return table.write(path)
	}
	return compare(w, old, table)
}

// named is the sources whose names start with prefix.
func named(sources []*kernel.Source, prefix string) []*kernel.Source {
	var out []*kernel.Source
	for _, s := range sources {
		if strings.HasPrefix(s.Name, prefix) {
			out = append(out, s)
		}
	}
	return out
}

// with is t with the kernels of part in place of its own.
func (t Table) with(part Table) Table {
	all := Table{Compiler: t.Compiler, Arch: t.Arch, Kernels: maps.Clone(t.Kernels)}
	maps.Copy(all.Kernels, part.Kernels)
	return all
}

// compileAll compiles all sources for all archs, and returns the usage of every
// kernel on tableArch.
func compileAll(c *nvrtc.Compiler, sources []*kernel.Source, archs []string) (Table, error) {
	type job struct {
		s    *kernel.Source
		arch string
	}
	jobs := make(chan job)
	table := Table{Arch: tableArch, Kernels: map[string]Usage{}}
	var mu sync.Mutex
	var errs []error
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for j := range jobs {
				used, err := compile(c, j.s, j.arch)
				mu.Lock()
				if err != nil {
					errs = append(errs, err)
				}
				if j.arch == tableArch {
					for name, u := range used {
						table.Kernels[name] = u
					}
				}
				mu.Unlock()
			}
		})
	}
	for _, s := range sources {
		for _, a := range archs {
			if a == tableArch || !repeats(s) || len(archs) > usualArchs {
				jobs <- job{s, a}
			}
		}
	}
	close(jobs)
	wg.Wait()
	return table, errors.Join(errs...)
}

// repeats says whether s has the text of another unit, for a wider field or another
// group of points. Such units take the compiler long, and what another architecture
// might refuse it refuses in the unit of BN254's G1 too: without -more they are
// compiled for tableArch only. So are the experiments of bench, which nothing but their
// own cases uses.
func repeats(s *kernel.Source) bool {
	if experiments.MatchString(s.Name) {
		return true
	}
	parts := strings.Split(path.Base(s.Name), ".")
	return len(parts) == 3 && wide.MatchString(parts[1])
}

var experiments = regexp.MustCompile(`^bench/(accumulate|products)`)

// wide are the variants of units for long fields, and those for points of BN254's G2.
var wide = regexp.MustCompile(`^(bls12|bw6|mnt4|bn254_g2)|381|753`)

// compile returns the usage of each kernel of s.
func compile(c *nvrtc.Compiler, s *kernel.Source, arch string) (map[string]Usage, error) {
	_, log, err := c.Compile(s, arch, "--ptxas-options=-v")
	if err != nil {
		return nil, err
	}
	used := parse(log)
	entries, err := s.Kernels()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if u, ok := used[e.Name]; !ok || u.Registers == 0 {
			return nil, fmt.Errorf("%s for %s: the log says nothing about kernel %s:\n%s", s.Name, arch, e.Name, log)
		}
	}
	if len(used) != len(entries) {
		return nil, fmt.Errorf("%s for %s: %d kernels in the source, %d compiled", s.Name, arch, len(entries), len(used))
	}
	return used, nil
}

func readTable(path string) (Table, error) {
	var t Table
	b, err := os.ReadFile(path)
	if err != nil {
		return t, fmt.Errorf("%w (make it with -update)", err)
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return t, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func (t Table) write(path string) error {
	b, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// compare fails where a kernel spills more than it did, or where the table and
// the sources have different kernels. Other changes it prints.
func compare(w io.Writer, old, now Table) error {
	if old.Compiler != now.Compiler || old.Arch != now.Arch {
		return fmt.Errorf("the table is of %s for %s, this is %s for %s", old.Compiler, old.Arch, now.Compiler, now.Arch)
	}
	names := map[string]bool{}
	for n := range old.Kernels {
		names[n] = true
	}
	for n := range now.Kernels {
		names[n] = true
	}
	sorted := make([]string, 0, len(names))
	for n := range names {
		sorted = append(sorted, n)
	}
	sort.Strings(sorted)
	var errs []error
	for _, n := range sorted {
		a, before := old.Kernels[n]
		b, after := now.Kernels[n]
		switch {
		case !before && b.Spill() > 0:
			errs = append(errs, fmt.Errorf("new kernel %s spills: %v", n, b))
		case !before:
			fmt.Fprintf(w, "%s: new: %v (add it with -update)\n", n, b)
		case !after:
			fmt.Fprintf(w, "%s: gone (drop it with -update)\n", n)
		case b.Spill() > a.Spill():
			errs = append(errs, fmt.Errorf("%s spills more: %v, was %v", n, b, a))
		case a != b:
			fmt.Fprintf(w, "%s: %v, was %v\n", n, b, a)
		}
	}
	return errors.Join(errs...)
}
