// Command kerneldoc writes the tables of docs/kernels.md: operations by their
// usual names, the kernels that do them, what those move, how fast that was on
// the recorded card, and what the kernels take of a multiprocessor. It goes by
// rows.go, the results file of a card, and the table of registers.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zkwarp/zkwarp/bench"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/internal/kernels"
)

func main() {
	root := flag.String("root", ".", "the repository's `folder`")
	card := flag.String("card", "nvidia-h100-80gb-hbm3", "the results file's `name`")
	flag.Parse()
	if err := run(*root, *card); err != nil {
		fmt.Fprintln(os.Stderr, "kerneldoc:", err)
		os.Exit(1)
	}
}

func run(root, card string) error {
	data, err := os.ReadFile(filepath.Join(root, "bench", "results", card+".json"))
	if err != nil {
		return err
	}
	results, err := bench.Decode(data)
	if err != nil {
		return fmt.Errorf("%s: %w", card, err)
	}
	usage, err := readUsage(filepath.Join(root, "internal", "kernels", "registers_sm90.json"))
	if err != nil {
		return err
	}
	path := filepath.Join(root, "docs", "kernels.md")
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := replace(string(old), "operations", operations(rows, results))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	sizes, err := launched(results, kernels.All())
	if err != nil {
		return err
	}
	list, err := multiprocessor(rows, usage, sizes)
	if err != nil {
		return err
	}
	if text, err = replace(text, "registers", list); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if text == string(old) {
		return nil
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// usage is what a kernel takes, as nvrtccheck writes it.
type usage struct {
	Registers   int `json:"registers"`
	SpillStores int `json:"spill_stores"`
	SpillLoads  int `json:"spill_loads"`
	Shared      int `json:"shared"` // bytes a block, of fixed size
}

func readUsage(path string) (map[string]usage, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var t struct {
		Kernels map[string]usage `json:"kernels"`
	}
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t.Kernels, nil
}

// replace puts body between the two marks of a name.
func replace(text, name, body string) (string, error) {
	begin, end := "<!-- begin "+name+": written by kerneldoc -->\n", "<!-- end "+name+" -->\n"
	head, rest, ok := strings.Cut(text, begin)
	if !ok {
		return "", fmt.Errorf("the mark %q is missing", strings.TrimSpace(begin))
	}
	_, tail, ok := strings.Cut(rest, end)
	if !ok {
		return "", fmt.Errorf("the mark %q is missing", strings.TrimSpace(end))
	}
	return head + begin + body + end + tail, nil
}

const unknown = "not recorded"

// operations is the first table.
func operations(rows []row, results []bench.Row) string {
	var b strings.Builder
	b.WriteString("| operation | here | kernels | bytes an entry | measured, ms | of the limit |\n|---|---|---|---|---|---|\n")
	for _, r := range rows {
		var times, shares []string
		for _, f := range r.cases {
			time, share := f.measured(results)
			times, shares = append(times, f.label()+": "+time), append(shares, share)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.name, r.ours, "`"+strings.Join(r.kernels, "`, `")+"`", r.moved,
			strings.Join(times, "; "), strings.Join(shares, "; "))
	}
	return b.String()
}

// label is the figure's case, and its metric where that is not just ms.
func (f figure) label() string {
	if f.time == "ms" {
		return f.bench
	}
	return f.bench + " " + f.time
}

// in is the figure's suite.
func (f figure) in() string {
	if f.suite == "" {
		return "m31"
	}
	return f.suite
}

// measured is a figure's time and share of the limit, as text.
func (f figure) measured(results []bench.Row) (time, share string) {
	ms, ok := find(results, f.in(), f.bench, f.time)
	if !ok {
		return unknown, "-"
	}
	part, ok := 0.0, false
	switch {
	case f.share != "":
		part, ok = find(results, f.in(), f.bench, f.share)
	case f.bytes > 0:
		var rate float64
		rate, ok = find(results, "card", "copy", "tb/s")
		part = f.bytes / (ms * 1e9) / rate
	case f.permutations > 0:
		var rate float64
		rate, ok = find(results, "m31", "poseidon2-m31-w16", "gperm/s")
		part = f.permutations / (ms * 1e6) / rate
	}
	time, share = fmt.Sprintf("%.3g", ms), "-"
	if ok {
		share = fmt.Sprintf("%.0f %%", 100*part)
	}
	return time, share
}

func find(results []bench.Row, suite, name, metric string) (float64, bool) {
	for _, r := range results {
		if r.Suite == suite && r.Case == name && r.Metric == metric && strings.HasPrefix(r.Device, "cuda") {
			return r.Value, true
		}
	}
	return 0, false
}

// expand is a row's kernels, a * at a name's end standing for all variants but those of the
// tests' field.
func (r row) expand(usage map[string]usage) ([]string, error) {
	var out []string
	for _, k := range r.kernels {
		prefix, all := strings.CutSuffix(k, "*")
		if !all {
			out = append(out, k)
			continue
		}
		before := len(out)
		for name := range usage {
			if strings.HasPrefix(name, prefix) && !strings.Contains(name, "toy61") {
				out = append(out, name)
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("%s: no kernel %s", r.name, k)
		}
	}
	return out, nil
}

// multiprocessor is the second table: the kernels of the first, in alphabetical order.
func multiprocessor(rows []row, usage map[string]usage, sizes map[string]device.Block) (string, error) {
	var names []string
	for _, r := range rows {
		found, err := r.expand(usage)
		if err != nil {
			return "", err
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString("| kernel | registers | bytes spilled, stores and loads | threads | shared memory, bytes | blocks | warps |\n|---|---|---|---|---|---|---|\n")
	for _, n := range slices.Compact(names) {
		u, ok := usage[n]
		if !ok {
			return "", fmt.Errorf("kernel %s is not in the table of registers", n)
		}
		fmt.Fprintf(&b, "| `%s` | %d | %d | %s |\n", n, u.Registers, u.SpillStores+u.SpillLoads, occupancy(u, sizes[n]))
	}
	return b.String(), nil
}
