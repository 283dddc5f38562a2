package quant

import (
	"errors"
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// Report says what integers cost in accuracy, measured on samples against the float model.
type Report struct {
	Samples int     `json:"samples"`
	Layers  []Layer `json:"layers"`
	// Agreement is the share of rows (along an output's last axis, before a Softmax or ArgMax) whose greatest element has the same
	// position in the integer output as in the float output. It is 1 when rows have one element.
	Agreement float64 `json:"argmax_agreement"`
	Rows      int     `json:"rows"`
	// MaxError and MeanError are those of the outputs, in real units, over all samples.
	MaxError  float64 `json:"max_error"`
	MeanError float64 `json:"mean_error"`
	// SNR is the outputs' ratio of signal to error in decibels, that of the worst output; 999 when there is no error.
	SNR float64 `json:"snr_db"`
	// Cosine and MinCosine are the mean and the least cosine of the angle between the float output and the integer one, of an output of
	// one sample as a whole; outputs that are zero are left out.
	Cosine    float64 `json:"cosine"`
	MinCosine float64 `json:"min_cosine"`
	// Ranking is Spearman's correlation between the similarities (cosines of the first output) of all pairs of samples by the model and by
	// the integer program: whether embeddings find the same neighbours. It is 0 where there are fewer than four samples, or too large ones.
	Ranking float64 `json:"similarity_ranking,omitempty"`
	// Dynamic counts quantisations whose scale the model computes from the data and the program fixes.
	Dynamic int `json:"dynamic_scales_fixed"`
	// Advice says what would help the worst layer; empty when none is bad.
	Advice string `json:"advice,omitempty"`
}

// Layer is the report of one tensor that was given integers. Errors are in the tensor's real units.
type Layer struct {
	Name       string  `json:"name"`
	Node       string  `json:"node"`
	Op         string  `json:"op"`
	Elements   int     `json:"elements"`
	Scale      float64 `json:"scale"`
	Shift      int     `json:"shift"`
	TableBits  int     `json:"table_bits"`
	Cut        int     `json:"cut,omitempty"` // the sum is limited to that many bits first
	WeightBits int     `json:"weight_bits"`   // widest weights; 0 without any
	// ChannelScales is the greatest multiple of the sum's scale that the weights of a channel have; 0 where all weights have one scale.
	ChannelScales int64   `json:"channel_scales,omitempty"`
	Accumulator   int64   `json:"accumulator_bound"`
	MaxError      float64 `json:"max_error"`
	MeanError     float64 `json:"mean_error"`
	SNR           float64 `json:"snr_db"` // signal over error; 999 when there is no error
	Saturated     float64 `json:"saturated"`
}

// Compare runs the float model and the calibrated program on inputs and reports their differences. Inputs that the program cannot take are an
// error.
func Compare(m *onnx.Model, c *Calibration, samples [][]float64) (*Report, error) {
	b, err := newBuild(m, c)
	if err != nil {
		return nil, err
	}
	r := &Report{Samples: len(samples), Dynamic: len(m.Dynamic)}
	of := map[int][]*errorSum{} // by value
	var sums []*errorSum
	for i := range b.stages {
		s := &b.stages[i]
		if s.node == nil {
			continue
		}
		r.Layers = append(r.Layers, b.layer(s))
		e := &errorSum{tensor: b.program.Tensor(s.id), id: s.id, stage: s}
		sums = append(sums, e)
		of[s.v] = append(of[s.v], e)
	}
	outputs := map[int]*errorSum{}
	for i, v := range b.outputs {
		outputs[v] = &errorSum{tensor: b.program.Tensor(b.program.Outputs[i]), id: b.program.Outputs[i]}
	}
	agree, angles := 0, 0
	var pairs similarities
	if n := elements(b.m.Values[b.outputs[0]].Shape); len(samples) >= 4 && len(samples) <= 1<<10 && n*len(samples) <= 1<<25 {
		pairs.first = b.outputs[0]
	} else {
		pairs.first = -1
	}
	r.MinCosine = 1
	for i, x := range samples {
		q, err := QuantizeInput(b.program, x)
		if err != nil {
			return nil, fmt.Errorf("sample %d: %w", i, err)
		}
		integer, err := graph.Run(b.program, b.weights, q)
		if err != nil {
			return nil, fmt.Errorf("sample %d: %w", i, err)
		}
		inputs, err := split(b.m, x)
		if err == nil {
			err = b.m.Visit(inputs, func(id int, t *onnx.Tensor) error {
				for _, s := range of[id] {
					s.add(t, integer[s.id])
				}
				if o := outputs[id]; o != nil {
					o.add(t, integer[o.id])
					rows, same := compareRows(t, integer[o.id], o.tensor.Shape)
					r.Rows, agree = r.Rows+rows, agree+same
					if id == pairs.first {
						pairs.add(t, integer[o.id])
					}
					if c, ok := cosine(t, integer[o.id]); ok {
						r.Cosine, r.MinCosine, angles = r.Cosine+c, min(r.MinCosine, c), angles+1
					}
				}
				return nil
			})
		}
		if err != nil {
			return nil, fmt.Errorf("sample %d: %w", i, err)
		}
	}
	r.Ranking = pairs.ranking()
	for j := range sums {
		sums[j].finish(&r.Layers[j])
	}
	if r.Rows > 0 {
		r.Agreement = float64(agree) / float64(r.Rows)
	}
	if r.Cosine /= float64(max(angles, 1)); angles == 0 {
		r.Cosine = 1
	}
	n, sum := 0, 0.0
	r.SNR = exactSNR
	for _, v := range b.outputs {
		o := outputs[v]
		r.SNR = min(r.SNR, o.ratio())
		r.MaxError = max(r.MaxError, o.largest)
		sum += o.sum
		n += o.n
	}
	if n > 0 {
		r.MeanError = sum / float64(n)
	}
	r.advise(&c.Settings)
	return r, nil
}

// layer describes a stage of the built program.
func (b *build) layer(s *staged) Layer {
	y := b.program.Tensor(s.id)
	return Layer{
		Name: s.Name, Node: clean(s.node.Name), Op: s.node.Origin, Elements: y.Len(), Scale: y.Scale, Shift: int(s.Shift),
		TableBits: int(s.TableBits), Cut: int(s.Cut), WeightBits: b.weightBits[s.sum], ChannelScales: b.channelScales[s.sum], Accumulator: s.bound,
	}
}

// errorSum accumulates the error of one tensor.
type errorSum struct {
	id                         graph.TensorID
	tensor                     *graph.Tensor
	stage                      *staged
	n, saturated               int
	largest, sum, noise, power float64
}

func (s *errorSum) add(real *onnx.Tensor, integer []int32) {
	for i := range min(real.Len(), len(integer)) {
		v := real.At(i)
		if math.Abs(v) >= hiddenValue {
			continue
		}
		e := math.Abs(float64(integer[i])*s.tensor.Scale - v)
		s.largest = max(s.largest, e)
		s.sum += e
		s.noise += e * e
		s.power += v * v
		if st := s.stage; st != nil && !st.Exact {
			if code := v / st.Scale; code > float64(st.Hi)+0.5 || code < float64(st.Lo)-0.5 {
				s.saturated++
			}
		}
		s.n++
	}
}

func (s *errorSum) finish(l *Layer) {
	l.MaxError = s.largest
	if s.n > 0 {
		l.MeanError = s.sum / float64(s.n)
		l.Saturated = float64(s.saturated) / float64(s.n)
	}
	l.SNR = s.ratio()
}

// exactSNR is the ratio of what has no error.
const exactSNR = 999

// ratio is the signal-to-noise ratio in decibels.
func (s *errorSum) ratio() float64 {
	switch {
	case s.noise == 0:
		return exactSNR
	case s.power > 0:
		return 10 * math.Log10(s.power/s.noise)
	}
	return 0
}

// cosine is that of the angle between two vectors, unless one is zero.
func cosine(real *onnx.Tensor, integer []int32) (float64, bool) {
	var ab, aa, bb float64
	for i := range min(real.Len(), len(integer)) {
		a, b := real.At(i), float64(integer[i])
		if math.Abs(a) >= hiddenValue {
			continue
		}
		ab, aa, bb = ab+a*b, aa+a*a, bb+b*b
	}
	if aa == 0 || bb == 0 {
		return 0, false
	}
	return min(ab/math.Sqrt(aa)/math.Sqrt(bb), 1), true
}

// poorSNR is the signal-to-noise ratio, in decibels, below which a layer deserves advice: an error of a tenth of the signal.
const poorSNR = 20

// cleanSNR is a ratio that counts as no loss, in decibels.
const cleanSNR = 60.0

// worst is the layer where the most signal is lost, not one of those after it: of all, or of those below a ratio; -1 if there is none.
func (r *Report) worst(below float64) int {
	worst, before, drop := -1, cleanSNR, 0.0
	for i := range r.Layers {
		l := &r.Layers[i]
		if l.SNR < below {
			if d := before - l.SNR; worst < 0 || d > drop {
				worst, drop = i, d
			}
		}
		before = min(before, l.SNR)
	}
	return worst
}

// Gate is what a report must show at least. Zero values ask for nothing.
type Gate struct {
	Agreement float64 // share of rows, from 0 to 1
	Cosine    float64 // least cosine of any sample
	SNR       float64 // of the outputs, in decibels
}

// ErrGate is wrapped when an integer program is not as good as a gate asks for.
var ErrGate = errors.New("the integer program is not good enough")

// Check compares a report with a gate. The error names what was found and asked for, the tensor where most of the signal is lost, and what
// would help it.
func (r *Report) Check(g Gate) error {
	var what string
	switch {
	case r.Agreement < g.Agreement:
		what = fmt.Sprintf("its largest score is the model's in %.2f %% of %d rows, expected %.2f %%", 100*r.Agreement, r.Rows, 100*g.Agreement)
	case r.MinCosine < g.Cosine:
		what = fmt.Sprintf("the least cosine between its outputs and the model's is %.4f in %d samples, expected %.4f", r.MinCosine, r.Samples, g.Cosine)
	case r.SNR < g.SNR:
		what = fmt.Sprintf("its outputs have %.1f dB of signal over noise, expected %.1f dB", r.SNR, g.SNR)
	default:
		return nil
	}
	switch i := r.worst(math.Inf(1)); {
	case r.Advice != "":
		what += "; " + r.Advice
	case i >= 0:
		what += fmt.Sprintf("; most is lost at tensor %s (%s), which has %.1f dB", onnx.Quote(r.Layers[i].Name), r.Layers[i].Op, r.Layers[i].SNR)
	}
	return fmt.Errorf("%w: %s", ErrGate, what)
}

// advise names the layer that loses most and an option that would help it.
func (r *Report) advise(s *Settings) {
	worst := r.worst(poorSNR)
	if worst < 0 {
		return
	}
	l := &r.Layers[worst]
	what := fmt.Sprintf("tensor %s (%s) has %.1f dB: ", onnx.Quote(l.Name), l.Op, l.SNR)
	switch {
	case l.Saturated > 0.01:
		what += fmt.Sprintf("%.1f %% of its values are clamped; cover more of them (a higher percentile)", 100*l.Saturated)
	case l.WeightBits > 0 && l.WeightBits < 8:
		what += fmt.Sprintf("its weights have %d bits because its sum is long; fewer activation bits leave them more", l.WeightBits)
	case l.WeightBits > 0 && l.ChannelScales == 0 && s.WeightBits < alongBits:
		what += fmt.Sprintf("its weights have one scale and %d bits; give channels scales of their own (weight scales %s)", l.WeightBits, ChannelScales)
	case l.Op == "Add" && s.ResidualBits == 0:
		what += "sums run through it; give them more bits (residual bits 16)"
	case l.Cut > 0 && s.TableBits < graph.MaxTableBits:
		what += fmt.Sprintf("its sum is too wide for its table; allow tables of %d bits", graph.MaxTableBits)
	default:
		what += fmt.Sprintf("its codes are too coarse; raise activation bits above %d", s.ActivationBits)
	}
	r.Advice = what
}

// compareRows counts rows along the last axis and those with their greatest element at the same position.
func compareRows(real *onnx.Tensor, integer []int32, shape []int) (rows, same int) {
	if len(shape) == 0 {
		return 1, 1
	}
	last := len(shape) - 1
	a := graph.ArgMax(real.Float64s(), shape, last, false)
	b := graph.ArgMax(integer, shape, last, false)
	for i := range a {
		if a[i] == b[i] {
			same++
		}
	}
	return len(a), same
}

// QuantizeInput converts the inputs' elements to the program's input codes, as graph.Program's method of that name does.
func QuantizeInput(p *graph.Program, x []float64) ([]int32, error) { return p.QuantizeInput(x) }
