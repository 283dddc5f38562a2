package bench

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/whir"
)

// The grid is that of the published one and what it lacks, and every cell has
// parameters that reach the level.
func TestGridCells(t *testing.T) {
	cells := gridCells()
	if len(cells) != 46 || len(appleMS) != 34 {
		t.Fatalf("%d cells, %d with a figure", len(cells), len(appleMS))
	}
	e := &Env{Queue: devicetest.Queue(t, devicetest.Open(t, "cpu"))}
	seen := map[cell]bool{}
	for i, c := range cells {
		if seen[c] {
			t.Errorf("%v twice", c)
		}
		seen[c] = true
		if i%5 != 0 {
			continue
		}
		p, err := c.params(e.options(whir.GoalProve))
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		if r := p.Security(); r.Min < whirLambda {
			t.Errorf("%v has %v bits", c, r.Min)
		}
		config := p.Config()
		if config.Vars != c.vars || config.LogInvRate != c.rate || slices.ContainsFunc(config.Rounds, func(r whir.Round) bool { return r.Fold != c.fold }) {
			t.Errorf("%v has parameters %v", c, p)
		}
	}
}

func TestGridSummary(t *testing.T) {
	row := func(name, metric string, samples ...float64) Row {
		return Row{Suite: "whir", Case: name, Metric: metric, Samples: samples, Launches: map[string]int64{"a": 1, name: 2}}
	}
	rows := []Row{
		row("grid-n20-f4-r1", "prove-ms", 28.1, 14.05), // as fast, twice as fast
		row("grid-n20-f4-r1", "verify-ms", 1, 1),
		row("grid-n24-f6-r1", "prove-ms", 333.7/4, 333.7/8),
		row("grid-n24-f6-r3", "prove-ms", 7, 7), // no figure
		row("grid-n8-f3-r1", "prove-ms", 7, 7),  // no cell
		row("babybear4-n24-best", "prove-ms", 7, 7),
	}
	found, err := gridSummary(rows)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || found[0].Metric != "cells" || !slices.Equal(found[0].Samples, []float64{3, 3}) {
		t.Fatalf("cells: %+v", found)
	}
	if s := found[1].Samples; len(s) != 2 || s[0] < 2.499 || s[0] > 2.501 || s[1] < 4.999 || s[1] > 5.001 {
		t.Errorf("speed-ups %v, want the medians 2.5 and 5", s)
	}
	if l := gridLaunches(rows); l["a"] != 4 || l["grid-n20-f4-r1"] != 2 {
		t.Errorf("launches %v", l)
	}
	if _, err := gridSummary(nil); err == nil {
		t.Error("a summary of nothing")
	}
}

// The value that statements are made of is that of a fold by every coordinate.
func TestEvaluate(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, vars := range []int{0, 1, 5, 8} {
		table := make([]babybear.Element, 1<<vars)
		fill(r, table, 1)
		point := make([]babybear.E4, vars)
		fill(r, point, 4)
		want := make([]babybear.E4, len(table))
		for i, f := range table {
			want[i] = babybear.LiftE4(f)
		}
		for _, z := range point {
			half := len(want) / 2
			for i := range half {
				want[i] = want[i].Add(z.Mul(want[half+i].Sub(want[i])))
			}
			want = want[:half]
		}
		if got := evaluate(babybear.LiftE4, babybear.E4.MulBase, table, point); got != want[0] {
			t.Errorf("%d variables: %v, want %v", vars, got, want[0])
		}
	}
}

// Every kernel of a proof has a stage.
func TestStages(t *testing.T) {
	for kernel, want := range map[string]string{
		"merkle_leaves_babybear": "hashing", "ntt_rows_babybear": "ntt", "whir_round_babybear4": "sumcheck", "whir_add_weights_babybear4": "constraints",
		"whir_point_sums_m31": "constraints", "transcript_grind_warps_m31": "grinding", "transcript_step_m31": "transcript", "unknown": "other",
	} {
		if got := stageOf(kernel); got != want {
			t.Errorf("%s is of %s, want %s", kernel, got, want)
		}
	}
	s := stages{}
	s.Trace(device.Event{Category: device.TraceKernel, Name: "ntt_rows_m31", Duration: 5})
	s.Trace(device.Event{Category: device.TraceWait, Name: "ntt_rows_m31", Duration: 7})
	if len(s) != 1 || s["ntt"] != 5 {
		t.Errorf("collected %v", s)
	}
}

func TestReference(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p3.json")
	e := &Env{Ctx: t.Context(), Queue: devicetest.Queue(t, devicetest.Open(t, "cpu")), Rand: rand.New(rand.NewPCG(1, 1)), Samples: 5}
	for text, want := range map[string]string{
		`{`: "JSON",
		`{"vars": 10, "fold": 3, "rate": 1, "rounds": 4, "queries": [1, 2, 3, 4], "prove_ms": [1, 1, 1, 1, 1]}`:                            "4 rounds",
		`{"vars": 10, "fold": 3, "rate": 1, "rounds": 2, "queries": [1, 2], "prove_ms": [1]}`:                                              "at least 5",
		`{"version": "0", "vars": 10, "fold": 3, "rate": 1, "rounds": 2, "query_work": 8, "queries": [1, 2], "prove_ms": [2, 2, 2, 2, 2]}`: "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(referenceVariable, path)
		found, err := referenceCase(e)
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want an error that says %q", text, err, want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if ratio, ours := found[0].Samples, found[1].Samples; found[0].Metric != "p3-whir-ratio" || found[1].Metric != "cpu-ms" || ratio[4] != ours[4]/2 {
			t.Errorf("found %+v", found[:2])
		}
	}
	t.Setenv(referenceVariable, "")
	if _, err := referenceCase(e); err == nil {
		t.Error("a ratio to nothing")
	}
}
