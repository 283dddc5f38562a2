package bench

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
)

const gridPrefix = "grid-"

func (c cell) suffix() string { return fmt.Sprintf("n%d-f%d-r%d", c.vars, c.fold, c.rate) }

func (c cell) name() string { return gridPrefix + c.suffix() }

// params are the fastest of the schedules with the cell's fold and first rate, by
// the chooser's model: how far the domains shrink and how large the last table is
// are free.
func (c cell) params(o whir.Options) (*whir.Params, error) {
	var best *whir.Params
	var last error
	for rounds := 1; rounds*c.fold <= c.vars; rounds++ {
		if c.vars-rounds*c.fold > 8 {
			continue
		}
		for first := 1; first <= c.fold; first++ {
			for then := 1; then <= c.fold; then++ {
				s := whir.Schedule{LogInvRate: c.rate, Folds: slices.Repeat([]int{c.fold}, rounds)}
				if rounds > 1 {
					s.Shrinks = append([]int{first}, slices.Repeat([]int{then}, rounds-2)...)
				}
				p, err := whir.Complete(whir.SpecBabyBear4(whir.Poseidon2), c.vars, s, o)
				if err != nil {
					last = err
				} else if best == nil || p.PredictOn(o.Machine).Prove < best.PredictOn(o.Machine).Prove {
					best = p
				}
			}
		}
	}
	if best == nil {
		return nil, fmt.Errorf("cell %s: %w", c.suffix(), last)
	}
	return best, nil
}

// opened is a table for the cell.
func (c cell) opened(e *Env) (*opened, error) {
	params, err := c.params(e.options(whir.GoalSpeed))
	if err != nil {
		return nil, err
	}
	return newOpened(e.Rand, whirprover.BabyBear4(whir.Poseidon2), transcript.BabyBear4(), params), nil
}

func gridCase(c cell) func(*Env) ([]Measurement, error) {
	return func(e *Env) ([]Measurement, error) {
		o, err := c.opened(e)
		if err != nil {
			return nil, err
		}
		out, err := e.whole(o)
		if err != nil {
			return nil, err
		}
		if e.Queue.OnHost() {
			out[0].Metric = "cpu-ms"
		} else if ms, ok := appleMS[c]; ok {
			out[0].Note += fmt.Sprintf("; %.3g times Apple's %g ms", ms/Median(out[0].Samples), ms)
		}
		return out, nil
	}
}

// gridSummary is the number of cells that were measured on a device, and the median
// of what they are faster than Apple's where that has a figure.
func gridSummary(rows []Row) ([]Measurement, error) {
	measured := map[string][]float64{}
	samples := 0
	for _, r := range rows {
		if r.Suite == "whir" && strings.HasPrefix(r.Case, gridPrefix) && (r.Metric == "prove-ms" || r.Metric == "cpu-ms") {
			measured[r.Case] = r.Samples
			samples = max(samples, len(r.Samples))
		}
	}
	all, cells, faster := 0, 0, make([][]float64, samples)
	for _, c := range gridCells() {
		all++
		s, ok := measured[c.name()]
		if !ok {
			continue
		}
		cells++
		if ms, ok := appleMS[c]; ok {
			for i, v := range s {
				faster[i] = append(faster[i], ms/v)
			}
		}
	}
	if cells == 0 {
		return nil, errors.New("no cell was measured in this run")
	}
	out := []Measurement{Constant("cells", "cells", float64(cells), fmt.Sprintf("of %d, proven and verified", all), "", samples)}
	if n := len(faster[0]); n > 0 {
		m := Measurement{Metric: "median-speedup", Unit: "x", Note: fmt.Sprintf("over the %d cells of %d with a figure", n, len(appleMS))}
		for _, f := range faster {
			m.Samples = append(m.Samples, Median(f))
		}
		out = append(out, m)
	}
	return out, nil
}

// gridLaunches is the launches of all cells together.
func gridLaunches(rows []Row) map[string]int64 {
	out, seen := map[string]int64{}, map[string]bool{}
	for _, r := range rows {
		if strings.HasPrefix(r.Case, gridPrefix) && !seen[r.Case] {
			seen[r.Case] = true
			for _, name := range slices.Sorted(maps.Keys(r.Launches)) {
				out[name] += r.Launches[name]
			}
		}
	}
	return out
}
