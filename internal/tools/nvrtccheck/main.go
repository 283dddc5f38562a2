// Command nvrtccheck compiles every kernel of the repository with NVRTC, which
// needs no GPU, and compares what the assembler says about registers with the
// committed table:
//
//	nvrtccheck           sm_80, sm_90 and sm_120; fails if a kernel spills more than before
//	nvrtccheck -more     sm_86 and sm_89 as well, and every group of points for all of them
//	nvrtccheck -changed  only the units that are not as they were when the table was written
//	nvrtccheck -quarter SEED
//	                     those, and of all other compilations a quarter that SEED picks
//	nvrtccheck -update   writes the table anew; docs/kernels.md goes by it (go generate ./internal/kernels)
//	nvrtccheck -update -changed
//	                     the same from the changed units' compilations and the table's other rows
//	nvrtccheck -only field/
//	                     only the units whose names start so; with -update the table keeps the others' kernels
//
// The table has a digest of every unit: of its text, the texts that it includes,
// the compiler and its options. A unit with the same digest gives the same result
// again, so that CI need not wait for it with every change. The quarter is there
// because a table can be edited by hand: four runs with different parts see all of it.
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
	"slices"
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

// options are the flags.
type options struct {
	more, changed, update          bool
	quarter, table, only, compiler string
}

func main() {
	var o options
	flag.BoolVar(&o.more, "more", false, "compile for sm_86 and sm_89 too, and every group of points for all")
	flag.BoolVar(&o.changed, "changed", false, "compile only units that differ from those that the table was made of")
	flag.StringVar(&o.quarter, "quarter", "", "compile those, and the quarter of all others that `seed` picks")
	flag.BoolVar(&o.update, "update", false, "write the table instead of comparing")
	flag.StringVar(&o.table, "table", "internal/kernels/registers_sm90.json", "the table's `file`")
	flag.StringVar(&o.only, "only", "", "compile only the units whose names start with `prefix`")
	flag.StringVar(&o.compiler, "nvrtc", "13.0", "NVRTC `version` to insist on, \"\" for any")
	flag.Parse()
	if err := run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "nvrtccheck:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, o options) error {
	c, err := nvrtc.Find()
	if err != nil {
		return err
	}
	got := fmt.Sprintf("%d.%d", c.Major, c.Minor)
	if o.compiler != "" && got != o.compiler {
		return fmt.Errorf("%s is NVRTC %s, want %s", c.Path, got, o.compiler)
	}
	start := time.Now()
	sources := append(kernels.All(), kernels.Generated()...)
	if o.only != "" {
		if sources = named(sources, o.only); len(sources) == 0 {
			return fmt.Errorf("no unit's name starts with %q", o.only)
		}
	}
	list := jobs(sources, o.more)
	all := len(list)
	some := o.changed || o.quarter != ""
	var old Table
	if some || o.only != "" || !o.update {
		if old, err = readTable(o.table); err != nil {
			return err
		}
	}
	if some {
		changed, err := old.changed(sources, c.String())
		if err != nil {
			return err
		}
		list = pick(list, changed, o.quarter)
		if n := len(changed); n > 0 {
			names := slices.Sorted(maps.Keys(changed))
			fmt.Fprintf(w, "%d units are not the table's (write it with -update -changed): %s\n", n, strings.Join(names[:min(n, 12)], ", "))
		}
	}
	table, err := compileAll(c, list)
	if err != nil {
		return err
	}
	table.Compiler = c.String()
	fmt.Fprintf(w, "%d translation units, %d of %d compilations, %d kernels for %s, in %.1f s\n",
		len(sources), len(list), all, len(table.Kernels), tableArch, time.Since(start).Seconds())
	for _, s := range sources {
		table.Units[s.Name] = digest(s, c.String())
		entries, err := s.Kernels()
		if err != nil {
			return err
		}
		for _, e := range entries { // those that were not compiled are as they were
			u, ok := old.Kernels[e.Name]
			if _, compiled := table.Kernels[e.Name]; !compiled && ok {
				table.Kernels[e.Name] = u
			}
		}
	}
	if o.only != "" {
		if old.Compiler != table.Compiler {
			return fmt.Errorf("the table is of %s, this is %s", old.Compiler, table.Compiler)
		}
		table = old.with(table)
	}
	if o.update {
		return table.write(o.table)
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
	all := Table{Compiler: t.Compiler, Arch: t.Arch, Units: maps.Clone(t.Units), Kernels: maps.Clone(t.Kernels)}
	if all.Units == nil {
		all.Units = map[string]string{}
	}
	maps.Copy(all.Units, part.Units)
	maps.Copy(all.Kernels, part.Kernels)
	return all
}

// compileAll does the jobs, and returns the usage of the kernels that were compiled
// for tableArch.
func compileAll(c *nvrtc.Compiler, list []job) (Table, error) {
	queue := make(chan job)
	table := Table{Arch: tableArch, Units: map[string]string{}, Kernels: map[string]Usage{}}
	var mu sync.Mutex
	var errs []error
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for j := range queue {
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
	for _, j := range list {
		queue <- j
	}
	close(queue)
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
	_, log, err := c.Compile(s, arch, verbose)
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
