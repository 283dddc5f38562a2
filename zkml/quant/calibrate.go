// Package quant turns a float model into an integer program.
//
// Calibrate runs the model on samples, decides scales for every tensor that gets integers, and reports what the integers cost in accuracy.
// Build turns model and calibration into the program and its weights; it uses no arithmetic whose result could differ between machines, so
// the same two files give the same bytes everywhere.
//
// Activations are symmetric integers, of as few bits from 8 on as outputs allow. Weight scales are chosen so that a sum's scale is the result's scale
// times a power of two: requantisation is a shift and a table, never a multiplication. The table holds the activation function and the
// clamp. Softmax, norms, maxima and divisions are compositions of sums and tables. Integers of quantised files stay as they are.
// docs/onnx.md says how models map to programs.
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
	InputBits int // codes of real inputs: [0, 2^b-1] if no sample is negative, symmetric otherwise (8)
	// ActivationBits is the width of inner tensors' codes, sign included; 0 takes the least from 8 on with which the outputs have GoodSNR
	// on the first samples, or else the best (0).
	ActivationBits int
	WeightBits     int          // codes of weights, sign included; less where a sum would overflow (12)
	WeightScales   WeightScales // of a product (ChannelScales if WeightBits is below 12, otherwise TensorScales)
	OutputBits     int          // resolution of outputs over the values seen, sign included (10)
	TableBits      int          // log2 of the largest table that is used without need (16)
	// ResidualBits is the width of tensors that sums run through, from 8 to 16. 0 gives them what their readers ask for, unless a norm reads
	// rows that are small beside others: then as many as keep rowUnits units for the small ones. AsRead never widens them (0).
	ResidualBits int
	// Percentile is the share of values in percent that scales must cover without clamping (100). With Entropy, codes of up to 9 bits get
	// the scale that loses least information instead.
	Percentile float64
	Entropy    bool
	InputRange [2]float64 // range of a single real input where the samples do not show it (from the samples)
	// Given fixes the codes of inputs, by input, where another program has made them; the zero Format leaves an input to the samples.
	Given  []Format
	Taken  []Format // fixes those of outputs likewise, by output, where another program takes them
	Labels []string // names of the output classes
	// ExactOutput leaves the sum of a last linear layer as it is: no rounding and no lookup, at the price of outputs of up to 29 bits.
	// OutputBits then has no effect.
	ExactOutput bool
}

// AsRead as ResidualBits gives sums the width that their readers ask for, whatever rows they have.
const AsRead = -1

// GoodSNR is the ratio of signal to noise, in decibels, from which on outputs are good enough for no wider codes to be tried.
const GoodSNR = 25

// widths are the widths of activations that are tried, on the first widthSamples samples.
var widths = []int{8, 9, 10, 12}

const widthSamples = 8

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{InputBits: 8, WeightBits: 12, OutputBits: 10, TableBits: 16, Percentile: 100}
}

// Format says what the codes of a tensor can be and what they mean.
type Format struct {
	Lo, Hi int64
	Scale  float64 // real value of one unit
}

// valid checks a format of an input's codes.
func (f *Format) valid() error {
	if f.Lo > 0 || f.Hi < 0 || f.Lo <= -graph.BoundLimit || f.Hi >= graph.BoundLimit || !(f.Scale > 0) || math.IsInf(f.Scale, 0) {
		return fmt.Errorf("a format of codes in [%d, %d] of scale %g, expected bounds around 0 below 2^29 and a positive scale", f.Lo, f.Hi, f.Scale)
	}
	return nil
}

// ErrOption is wrapped by errors about Options that are out of range, or do not fit the model.
var ErrOption = errors.New("calibration")

// withDefaults fills in defaults and checks ranges.
func (o Options) withDefaults() (Options, error) {
	d := DefaultOptions()
	for _, f := range []struct {
		name              string
		value             *int
		otherwise, lo, hi int
	}{
		{"input bits", &o.InputBits, d.InputBits, 2, 24},
		{"weight bits", &o.WeightBits, d.WeightBits, 2, 16},
		{"output bits", &o.OutputBits, d.OutputBits, 2, 16},
		{"table bits", &o.TableBits, d.TableBits, 12, graph.MaxTableBits},
	} {
		if *f.value == 0 {
			*f.value = f.otherwise
		}
		if *f.value < f.lo || *f.value > f.hi {
			return o, fmt.Errorf("%w: %s is %d, expected %d to %d", ErrOption, f.name, *f.value, f.lo, f.hi)
		}
	}
	if a := o.ActivationBits; a != 0 && (a < 2 || a > 12) {
		return o, fmt.Errorf("%w: activation bits is %d, expected 0 or 2 to 12", ErrOption, a)
	}
	switch o.WeightScales {
	case "":
		if o.WeightScales = TensorScales; o.WeightBits < alongBits {
			o.WeightScales = ChannelScales
		}
	case TensorScales, ChannelScales:
	default:
		return o, fmt.Errorf("%w: weight scales are %s, expected %s or %s", ErrOption, onnx.Quote(string(o.WeightScales)), TensorScales, ChannelScales)
	}
	if r := o.ResidualBits; r != 0 && r != AsRead && (r < 8 || r > 16) {
		return o, fmt.Errorf("%w: residual bits is %d, expected -1, 0 or 8 to 16", ErrOption, r)
	}
	if o.Percentile == 0 {
		o.Percentile = d.Percentile
	}
	if !(o.Percentile > 50 && o.Percentile <= 100) {
		return o, fmt.Errorf("%w: percentile is %g, expected more than 50 and at most 100", ErrOption, o.Percentile)
	}
	if r := o.InputRange; r != [2]float64{} && !(r[0] < r[1] && !math.IsInf(r[0], 0) && !math.IsInf(r[1], 0)) {
		return o, fmt.Errorf("%w: input range [%g, %g] is empty or infinite", ErrOption, r[0], r[1])
	}
	return o, nil
}

// checkLabels wants a name for each class, where the model's output shows how many there are.
func checkLabels(m *onnx.Model, labels []string) error {
	if len(labels) == 0 || len(m.Outputs) != 1 {
		return nil
	}
	output := m.Outputs[0]
	shape, axis := m.Values[output].Shape, len(m.Values[output].Shape)-1
	for i := range m.Nodes {
		n := &m.Nodes[i]
		switch {
		case n.Op == onnx.OpArgMax && n.Output == output:
			shape, axis = m.Values[n.Inputs[0]].Shape, n.Attr.Axis
		case n.Op == onnx.OpArgMax: // which class is known before the end
			return nil
		}
	}
	if axis < 0 || len(shape) > 2 || shape[axis] == len(labels) { // what has more axes is no list of scores
		return nil
	}
	return fmt.Errorf("%w: %d labels, expected %d, one for each class", ErrOption, len(labels), shape[axis])
}

// Calibration is everything that turns a model into one particular program.
type Calibration struct {
	Model    [32]byte       // SHA-256 of the ONNX file
	Dims     map[string]int // lengths of symbolic axes
	Choices  onnx.Choices   // what the importer was told beside them
	Samples  int            // how many inputs the ranges come from; informative
	Settings Settings
	Inputs   []Stage // Scale, Lo and Hi of the inputs; they are exact, without shift or table
	Stages   []Stage // in the order of the program
	Labels   []string
}

// Settings are the options that shape a program beside its scales.
type Settings struct {
	InputBits, ActivationBits, WeightBits, OutputBits, TableBits, ResidualBits int
	ExactOutput                                                                bool
}

func (o *Options) settings() Settings {
	return Settings{o.InputBits, o.ActivationBits, o.WeightBits, o.OutputBits, o.TableBits, o.ResidualBits, o.ExactOutput}
}

func (s *Settings) options() Options {
	return Options{InputBits: s.InputBits, ActivationBits: s.ActivationBits, WeightBits: s.WeightBits, OutputBits: s.OutputBits,
		TableBits: s.TableBits, ResidualBits: s.ResidualBits, ExactOutput: s.ExactOutput}
}

// Calibrate chooses the formats of an integer program for the model from samples, each the elements of the model's inputs one after the other
// in row-major order, and compares the program with the model on them.
func Calibrate(m *onnx.Model, samples [][]float64, opts Options) (*Calibration, *Report, error) {
	o, err := opts.withDefaults()
	if err == nil {
		err = checkLabels(m, o.Labels)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(samples) == 0 {
		return nil, nil, errors.New("calibration: no samples")
	}
	p := prepare(m)
	seen, err := observe(p, samples, &o)
	if err != nil {
		return nil, nil, err
	}
	switch o.ResidualBits {
	case 0:
		o.ResidualBits = residualBits(p, seen)
	case AsRead:
		o.ResidualBits = 0
	}
	if o.ActivationBits != 0 {
		return calibrate(m, p, len(samples), samples, seen, o)
	}
	var best *Calibration
	var report *Report
	few := samples[:min(widthSamples, len(samples))]
	for _, bits := range widths {
		o.ActivationBits = bits
		c, r, err := calibrate(m, p, len(samples), few, seen, o)
		if err != nil {
			if best == nil {
				return nil, nil, err
			}
			continue // too wide for something
		}
		if best == nil || r.SNR > report.SNR {
			best, report = c, r
		}
		if report.SNR >= GoodSNR {
			break
		}
	}
	if len(few) < len(samples) {
		if report, err = Compare(m, best, samples); err != nil {
			return nil, nil, err
		}
	}
	return best, report, nil
}

// calibrate is Calibrate with all widths given. p is the model as it is lowered, seen what was observed of its values on so many samples; the
// report is about others.
func calibrate(m, p *onnx.Model, count int, samples [][]float64, seen []sight, o Options) (*Calibration, *Report, error) {
	l, err := newLowering(p, &o, nil)
	if err != nil {
		return nil, nil, err
	}
	l.seen = seen
	l.decide = func(name string, v int, f *form, d demand) (Stage, error) {
		if f == nil {
			return l.chooseGiven(name, v, d, seen)
		}
		d.out, d.base = seen[v].at(d.bits), observed{reach: 1}
		if d.bits >= scoreBits && !d.final {
			d.out.reach *= headroom
		}
		if f.base >= 0 {
			d.base = seen[f.base].at(functionWidth)
		}
		if i := slices.Index(l.m.Outputs, v); i >= 0 && i < len(o.Taken) && o.Taken[i] != (Format{}) {
			t := o.Taken[i]
			if err := t.valid(); err != nil {
				return Stage{}, fmt.Errorf("calibration: output %s: %w", onnx.Quote(name), err)
			}
			d.final, d.exact, d.scale, d.lo, d.hi = false, false, t.Scale, t.Lo, t.Hi
		}
		st, err := l.choose(name, f, d)
		if err != nil {
			return st, fmt.Errorf("calibration: %w: %w", onnx.ErrUnsupported, err)
		}
		return st, nil
	}
	if err := l.lower(); err != nil {
		if !errors.Is(err, onnx.ErrUnsupported) {
			err = fmt.Errorf("calibration: %w: %w", onnx.ErrUnsupported, err)
		}
		return nil, nil, err
	}
	c := &Calibration{Model: m.SHA256, Dims: maps.Clone(m.Dims), Choices: m.Choices, Samples: count,
		Settings: o.settings(), Labels: slices.Clone(o.Labels)}
	c.take(l, true)
	report, err := Compare(m, c, samples)
	if err != nil { // where tables that are shared have results of their own: share clamps only
		c.take(l, false)
		report, err = Compare(m, c, samples)
	}
	if err != nil {
		return nil, nil, err
	}
	return c, report, nil
}

// headroom is what wide codes keep beyond the values seen: they can afford it, and clamps before a softmax or a norm hurt.
const headroom = 1.25

// functionWidth asks for the whole range seen.
const functionWidth = 99

// take takes the stages of a lowering. Stages whose tables compute the same share one table, as large as the largest of them needs and the
// others' shifts allow; clamps have the same results in every size.
func (c *Calibration) take(l *lowering, all bool) {
	widest := map[string]int{}
	shared := func(s *staged) bool { return s.key != "" && (all || isClamp(s.key)) }
	for i := range l.stages {
		if s := &l.stages[i]; shared(s) {
			widest[s.key] = max(widest[s.key], int(s.TableBits))
		}
	}
	c.Inputs, c.Stages = nil, nil
	for i := range l.stages {
		s := l.stages[i]
		if shared(&s) {
			if bits := widest[s.key]; bits+int(s.Shift) <= graph.MaxWindow {
				s.TableBits = uint8(bits)
			}
		}
		if i < len(l.m.Inputs) {
			c.Inputs = append(c.Inputs, s.Stage)
		} else {
			c.Stages = append(c.Stages, s.Stage)
		}
	}
}

// chooseGiven gives codes to inputs, and to constants that are looked up by an input.
func (l *lowering) chooseGiven(name string, v int, d demand, seen []sight) (Stage, error) {
	st := Stage{Name: name, Exact: true}
	value := &l.m.Values[v]
	switch {
	case !slices.Contains(l.m.Inputs, v): // an embedding
		top := int64(1)<<(d.bits-1) - 1
		if !(d.out.reach > 0) {
			d.out.reach = 1
		}
		st.Scale = d.out.reach / float64(top)
		st.QScale = st.Scale
		return st, nil
	case value.Int:
		st.Lo, st.Hi, st.Scale, st.QScale = min(value.Lo, 0), max(value.Hi, 0), 1, 1
		if rows := l.rowsOf(v); rows > 0 {
			st.Lo, st.Hi = 0, rows-1
		}
		if st.Lo <= -graph.BoundLimit || st.Hi >= graph.BoundLimit {
			return st, fmt.Errorf("calibration: %w: input %s has integers in [%d, %d], expected less than 2^29", onnx.ErrUnsupported, onnx.Quote(value.Name), st.Lo, st.Hi)
		}
		return st, nil
	}
	if i := slices.Index(l.m.Inputs, v); i < len(l.o.Given) && l.o.Given[i] != (Format{}) {
		f := l.o.Given[i]
		st.Lo, st.Hi, st.Scale, st.QScale = f.Lo, f.Hi, f.Scale, f.Scale
		if err := f.valid(); err != nil {
			return st, fmt.Errorf("calibration: input %s: %w", onnx.Quote(value.Name), err)
		}
		return st, nil
	}
	s := seen[v].all
	if r := l.o.InputRange; r != [2]float64{} && len(l.m.Inputs) == 1 {
		s = observed{max(math.Abs(r[0]), math.Abs(r[1])), r[0] < 0}
	}
	if !(s.reach > 0) {
		s.reach = 1
	}
	// All codes of the width where the input is never negative, symmetric ones otherwise.
	st.Lo, st.Hi = 0, int64(1)<<l.o.InputBits-1
	if s.signed {
		st.Hi = int64(1)<<(l.o.InputBits-1) - 1
		st.Lo = -st.Hi
	}
	st.Scale = s.reach / float64(st.Hi)
	if l.reachesJump(v) { // so that numbers such as 1/2, where functions jump, are codes
		_, e := math.Frexp(s.reach / float64(st.Hi+1))
		for st.Scale = math.Ldexp(1, e-1); float64(float64(st.Hi)*st.Scale) < s.reach; st.Scale *= 2 {
		}
	}
	st.QScale = st.Scale
	return st, nil
}

// jumps are the functions that are no stand-in for themselves where their operand is rounded.
var jumps = []onnx.Func{onnx.FuncRound, onnx.FuncFloor, onnx.FuncCeil, onnx.FuncSign, onnx.FuncThresholdedRelu, onnx.FuncPositive, onnx.FuncZero}

// reachesJump reports whether a function that jumps reads a value, or a sum with it, or what is only moved or negated.
func (l *lowering) reachesJump(v int) bool {
	reached := map[int]bool{v: true}
	for i := range l.m.Nodes {
		n := &l.m.Nodes[i]
		if !slices.ContainsFunc(n.Inputs, func(id int) bool { return reached[id] }) {
			continue
		}
		switch n.Op {
		case onnx.OpUnary:
			if slices.Contains(jumps, n.Attr.Func) {
				return true
			}
			reached[n.Output] = n.Attr.Func == onnx.FuncNeg || n.Attr.Func == onnx.FuncAbs
		case onnx.OpReshape, onnx.OpRearrange, onnx.OpConcat, onnx.OpSelect, onnx.OpAdd, onnx.OpSub:
			reached[n.Output] = true
		}
	}
	return false
}

// rowsOf returns the rows of the table that an input selects from, or 0.
func (l *lowering) rowsOf(v int) int64 {
	for i := range l.m.Nodes {
		n := &l.m.Nodes[i]
		if n.Op == onnx.OpEmbed && l.values[n.Inputs[0]].input && (n.Inputs[0] == v || l.aliasOf(n.Inputs[0]) == v) {
			return int64(l.constant(n.Inputs[1]).Shape[0])
		}
	}
	return 0
}

// aliasOf returns the model's input that a value is under another shape.
func (l *lowering) aliasOf(v int) int {
	for n := l.values[v].node; n != nil && n.Op == onnx.OpReshape; n = l.values[v].node {
		v = n.Inputs[0]
	}
	return v
}
