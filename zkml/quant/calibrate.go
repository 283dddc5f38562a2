// Package quant turns a float model into an integer program.
//
// Calibrate runs the model on samples, decides a scale and a shift for every requantised tensor, and reports what the integers cost in
// accuracy. Build turns model and calibration into the program and its weights; it uses no arithmetic whose result could differ
// between machines, so the same two files give the same bytes everywhere.
//
// Activations are symmetric integers (8 bits unless asked otherwise). Weight scales are chosen so that the accumulator's scale is the
// output's scale times a power of two: requantisation is a shift and a table, never a multiplication. The table holds the activation
// function and the clamp. docs/onnx.md says how models map to programs.
package quant

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// Options steer calibration. Zero values mean the defaults in parentheses.
type Options struct {
	InputBits      int        // codes of the input: [0, 2^b-1] if no sample is negative, symmetric otherwise (8)
	ActivationBits int        // codes of inner tensors, sign included (8)
	WeightBits     int        // codes of weights, sign included; less where an accumulator would overflow (10)
	OutputBits     int        // resolution of the output over the values seen, sign included (10)
	TableBits      int        // log2 of the largest table allowed (16)
	Percentile     float64    // share of values in percent that scales must cover without clamping (100)
	InputRange     [2]float64 // range of the input where the samples do not show it (from the samples)
	Labels         []string   // names of the output classes
	// ExactOutput leaves the accumulator of a last linear layer as it is: no rounding and no lookup, at the price of outputs of up to
	// 29 bits. OutputBits then has no effect.
	ExactOutput bool
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{InputBits: 8, ActivationBits: 8, WeightBits: 10, OutputBits: 10, TableBits: 16, Percentile: 100}
}

// withDefaults fills in defaults and checks ranges.
func (o Options) withDefaults() (Options, error) {
	d := DefaultOptions()
	for _, f := range []struct {
		name              string
		value             *int
		otherwise, lo, hi int
	}{
		{"input bits", &o.InputBits, d.InputBits, 2, 12},
		{"activation bits", &o.ActivationBits, d.ActivationBits, 2, 12},
		{"weight bits", &o.WeightBits, d.WeightBits, 2, 16},
		{"output bits", &o.OutputBits, d.OutputBits, 2, 16},
		{"table bits", &o.TableBits, d.TableBits, 2, graph.MaxTableBits},
	} {
		if *f.value == 0 {
			*f.value = f.otherwise
		}
		if *f.value < f.lo || *f.value > f.hi {
			return o, fmt.Errorf("calibration: %s is %d, expected %d to %d", f.name, *f.value, f.lo, f.hi)
		}
	}
	if o.Percentile == 0 {
		o.Percentile = d.Percentile
	}
	if !(o.Percentile > 50 && o.Percentile <= 100) {
		return o, fmt.Errorf("calibration: percentile is %g, expected more than 50 and at most 100", o.Percentile)
	}
	if r := o.InputRange; r != [2]float64{} && !(r[0] < r[1] && !math.IsInf(r[0], 0) && !math.IsInf(r[1], 0)) {
		return o, fmt.Errorf("calibration: input range [%g, %g] is empty or infinite", r[0], r[1])
	}
	return o, nil
}

// Calibration is everything that turns a model into one particular program.
type Calibration struct {
	Model   [32]byte       // SHA-256 of the ONNX file
	Dims    map[string]int // lengths of symbolic axes
	Samples int            // how many inputs the ranges come from; informative
	Input   Stage          // Scale, Lo and Hi of the input; Shift is 0 and QScale equals Scale
	Stages  []Stage        // in the order of the program
	Labels  []string
}

// Calibrate chooses the formats of an integer program for the model from sample inputs, each row-major with as many elements as the
// model's input, and compares the program with the model on them.
func Calibrate(m *onnx.Model, samples [][]float64, opts Options) (*Calibration, *Report, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	if len(samples) == 0 {
		return nil, nil, errors.New("calibration: no samples")
	}
	p, err := newPlan(m)
	if err != nil {
		return nil, nil, err
	}
	seen, err := p.observe(samples, o.Percentile)
	if err != nil {
		return nil, nil, err
	}
	c := &Calibration{Model: m.SHA256, Dims: maps.Clone(m.Dims), Samples: len(samples), Labels: slices.Clone(o.Labels)}
	c.Input = chooseInput(&o, clean(m.Values[p.source].Name), seen[p.source])
	formats := p.formats(c)
	for i := range p.steps {
		t := &p.steps[i]
		if t.stage == nil {
			formats[t.out] = formats[t.from]
			continue
		}
		st, err := t.stage.choose(&o, formats, clean(m.Values[t.out].Name), seen[t.out], seen[t.stage.base])
		if err != nil {
			return nil, nil, fmt.Errorf("calibration: %w: node %s (%s): %w", onnx.ErrUnsupported, onnx.Quote(t.node), t.op, err)
		}
		c.Stages = append(c.Stages, st)
		formats[t.out] = st.format()
	}
	report, err := Compare(m, c, samples)
	if err != nil {
		return nil, nil, err
	}
	return c, report, nil
}

func (s *Stage) format() format { return format{s.Scale, s.Lo, s.Hi} }

// formats returns the formats of the input and its other shapes.
func (p *plan) formats(c *Calibration) map[int]format {
	f := map[int]format{p.source: c.Input.format()}
	for v := range p.alias {
		f[v] = c.Input.format()
	}
	return f
}

// chooseInput gives the input all codes of its width when it is never negative, symmetric ones otherwise.
func chooseInput(o *Options, name string, seen observed) Stage {
	if o.InputRange != [2]float64{} {
		seen = observed{max(math.Abs(o.InputRange[0]), math.Abs(o.InputRange[1])), o.InputRange[0] < 0}
	}
	if !(seen.reach > 0) {
		seen.reach = 1
	}
	st := Stage{Name: name, Lo: 0, Hi: int64(1)<<o.InputBits - 1}
	if seen.signed {
		st.Hi = int64(1)<<(o.InputBits-1) - 1
		st.Lo = -st.Hi
	}
	st.Scale = seen.reach / float64(st.Hi)
	st.QScale = st.Scale
	return st
}

// bins is the resolution of the histograms that percentiles are read from.
const bins = 1 << 13

// observe runs the model on all samples. With a percentile below 100 it runs twice: once for the ranges and once for histograms within
// them. The input's range is never cut.
func (p *plan) observe(samples [][]float64, percentile float64) ([]observed, error) {
	m := p.model
	seen := make([]observed, len(m.Values))
	each := func(visit func(id int, values []float64)) error {
		for i, x := range samples {
			values, err := m.RunOne(x)
			if err != nil {
				return fmt.Errorf("calibration sample %d: %w", i, err)
			}
			for id, v := range values {
				visit(id, v)
			}
		}
		return nil
	}
	err := each(func(id int, values []float64) {
		for _, v := range values {
			seen[id].reach = max(seen[id].reach, math.Abs(v))
			seen[id].signed = seen[id].signed || v < 0
		}
	})
	if err != nil || percentile == 100 {
		return seen, err
	}
	histograms := make([][]int, len(m.Values))
	totals := make([]int, len(m.Values))
	err = each(func(id int, values []float64) {
		if histograms[id] == nil {
			histograms[id] = make([]int, bins)
		}
		totals[id] += len(values)
		for _, v := range values {
			if seen[id].reach > 0 {
				histograms[id][min(int(math.Abs(v)/seen[id].reach*bins), bins-1)]++
			}
		}
	})
	for id, h := range histograms {
		if id == p.source || seen[id].reach == 0 || h == nil {
			continue
		}
		need := int(math.Ceil(float64(totals[id]) * percentile / 100))
		for bin, sum := 0, 0; bin < bins; bin++ {
			if sum += h[bin]; sum >= need {
				seen[id].reach *= float64(bin+1) / bins
				break
			}
		}
	}
	return seen, err
}
