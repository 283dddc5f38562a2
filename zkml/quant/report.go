package quant

import (
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// Report says what integers cost in accuracy, measured on samples against the float model.
type Report struct {
	Samples int     `json:"samples"`
	Layers  []Layer `json:"layers"`
	// Agreement is the share of rows (along the output's last axis, before a Softmax or ArgMax) whose greatest element has the same
	// position in the integer output as in the float output. It is 1 when rows have one element.
	Agreement float64 `json:"argmax_agreement"`
	Rows      int     `json:"rows"`
}

// Layer is the report of one requantised tensor. Errors are in the tensor's real units.
type Layer struct {
	Name        string  `json:"name"`
	Node        string  `json:"node"`
	Op          string  `json:"op"`
	Elements    int     `json:"elements"`
	Scale       float64 `json:"scale"`
	Shift       int     `json:"shift"`
	TableBits   int     `json:"table_bits"`
	WeightBits  int     `json:"weight_bits"` // widest weight matrix; 0 without one
	Accumulator int64   `json:"accumulator_bound"`
	MaxError    float64 `json:"max_error"`
	MeanError   float64 `json:"mean_error"`
	SNR         float64 `json:"snr_db"` // signal over error; 999 when there is no error
	Saturated   float64 `json:"saturated"`
}

// Compare runs the float model and the calibrated program on inputs and reports their differences. Inputs that the program cannot take
// are an error.
func Compare(m *onnx.Model, c *Calibration, samples [][]float64) (*Report, error) {
	b, err := newBuild(m, c)
	if err != nil {
		return nil, err
	}
	r := &Report{Samples: len(samples)}
	var sums []errorSum
	for i := range b.plan.steps {
		if t := &b.plan.steps[i]; t.stage != nil {
			r.Layers = append(r.Layers, b.layer(t))
			sums = append(sums, errorSum{value: t.out, tensor: b.program.Tensor(b.tensors[t.out]), id: b.tensors[t.out], limit: &c.Stages[len(sums)]})
		}
	}
	agree := 0
	for i, x := range samples {
		real, err := m.RunOne(x)
		if err != nil {
			return nil, fmt.Errorf("sample %d: %w", i, err)
		}
		q, err := QuantizeInput(b.program, x)
		if err != nil {
			return nil, fmt.Errorf("sample %d: %w", i, err)
		}
		integer, err := graph.Run(b.program, b.weights, q)
		if err != nil {
			return nil, fmt.Errorf("sample %d: %w", i, err)
		}
		for j := range sums {
			sums[j].add(real[sums[j].value], integer[sums[j].id])
		}
		rows, same := compareRows(real[b.plan.output], integer[b.program.Outputs[0]], b.program.Tensor(b.program.Outputs[0]).Shape)
		r.Rows, agree = r.Rows+rows, agree+same
	}
	for j := range sums {
		sums[j].finish(&r.Layers[j])
	}
	if r.Rows > 0 {
		r.Agreement = float64(agree) / float64(r.Rows)
	}
	return r, nil
}

// layer describes a stage of the built program.
func (b *build) layer(t *step) Layer {
	l := Layer{Name: clean(b.plan.model.Values[t.out].Name), Node: clean(t.node), Op: t.op, WeightBits: b.widths[t.out]}
	y := b.program.Tensor(b.tensors[t.out])
	l.Elements, l.Scale, l.Accumulator = y.Len(), y.Scale, max(y.Hi, -y.Lo)
	for _, op := range b.program.Ops {
		lookup, ok := op.(graph.Lookup)
		if !ok || lookup.Y != b.tensors[t.out] {
			continue
		}
		x := b.program.Tensor(lookup.X)
		l.Shift = int(lookup.Shift)
		l.TableBits = int(b.program.Tables[lookup.Table].Bits)
		l.Accumulator = max(x.Hi, -x.Lo)
	}
	return l
}

// errorSum accumulates the error of one tensor.
type errorSum struct {
	value                      int
	id                         graph.TensorID
	tensor                     *graph.Tensor
	limit                      *Stage
	n, saturated               int
	largest, sum, noise, power float64
}

func (s *errorSum) add(real []float64, integer []int32) {
	for i, v := range real {
		e := math.Abs(float64(integer[i])*s.tensor.Scale - v)
		s.largest = max(s.largest, e)
		s.sum += e
		s.noise += e * e
		s.power += v * v
		if code := v / s.tensor.Scale; !s.limit.Exact && (code > float64(s.limit.Hi)+0.5 || code < float64(s.limit.Lo)-0.5) {
			s.saturated++
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
	switch {
	case s.noise == 0:
		l.SNR = 999
	case s.power > 0:
		l.SNR = 10 * math.Log10(s.power/s.noise)
	}
}

// compareRows counts rows along the last axis and those with their greatest element at the same position.
func compareRows(real []float64, integer []int32, shape []int) (rows, same int) {
	if len(shape) == 0 {
		return 1, 1
	}
	last := len(shape) - 1
	a := graph.ArgMax(real, shape, last, false)
	b := graph.ArgMax(integer, shape, last, false)
	for i := range a {
		if a[i] == b[i] {
			same++
		}
	}
	return len(a), same
}

// QuantizeInput converts real inputs (row-major) to the program's input codes, rounding to nearest. It refuses a wrong count, NaN and
// infinities, and values outside the calibrated range, naming the element.
func QuantizeInput(p *graph.Program, x []float64) ([]int32, error) {
	in := p.Tensor(p.Inputs[0])
	if len(x) != in.Len() {
		return nil, fmt.Errorf("input %q: %d values, expected %d for shape %v", in.Name, len(x), in.Len(), in.Shape)
	}
	q := make([]int32, len(x))
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("input %q, element %d is %g, expected a finite number", in.Name, i, v)
		}
		code := math.Round(v / in.Scale)
		if code < float64(in.Lo) || code > float64(in.Hi) {
			return nil, fmt.Errorf("input %q, element %d is %g, expected %.6g to %.6g (the calibrated range)", in.Name, i, v,
				float64(in.Lo)*in.Scale, float64(in.Hi)*in.Scale)
		}
		q[i] = int32(code)
	}
	return q, nil
}
