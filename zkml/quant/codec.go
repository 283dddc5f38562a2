package quant

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/wire"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

const (
	calibrationMagic   = "ZKWCAL1\n"
	calibrationVersion = 4
	maxStages          = graph.MaxTensors
	maxDims            = 64
	maxInputs          = 1 << 10
)

// validate checks the fields that Build computes with.
func (c *Calibration) validate() error {
	if len(c.Stages) > maxStages || len(c.Inputs) > maxInputs || len(c.Dims) > maxDims || len(c.Labels) > graph.MaxTensors {
		return fmt.Errorf("calibration: too many tensors, inputs, dimensions or labels")
	}
	for name, n := range c.Dims {
		if !graph.ValidName(name) || n < 1 || n > graph.MaxElements {
			return fmt.Errorf("calibration: dimension %.40q has length %d", name, n)
		}
	}
	for _, l := range c.Labels {
		if !graph.ValidName(l) {
			return fmt.Errorf("calibration: label %.40q is too long or not printable", l)
		}
	}
	if err := validChoices(&c.Choices); err != nil {
		return err
	}
	if c.Samples < 0 || c.Samples > math.MaxInt32 {
		return fmt.Errorf("calibration: %d samples", c.Samples)
	}
	if err := c.Settings.validate(); err != nil {
		return err
	}
	for i := range c.Inputs {
		if err := c.Inputs[i].validate(); err != nil {
			return err
		}
		if !c.Inputs[i].Exact {
			return fmt.Errorf("calibration: input %.40q has a shift or a table", c.Inputs[i].Name)
		}
	}
	for i := range c.Stages {
		if err := c.Stages[i].validate(); err != nil {
			return err
		}
	}
	return nil
}

func validChoices(c *onnx.Choices) error {
	if len(c.Fix) > maxInputs || len(c.Ranges) > maxInputs || len(c.Outputs) > maxInputs {
		return fmt.Errorf("calibration: %d fixed inputs, %d ranges and %d outputs are chosen, expected at most %d of each", len(c.Fix), len(c.Ranges), len(c.Outputs), maxInputs)
	}
	for name, v := range c.Fix {
		if !graph.ValidName(name) || math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("calibration: input %.40q is fixed to %g, expected a printable name and a finite number", name, v)
		}
	}
	for name, r := range c.Ranges {
		if !graph.ValidName(name) || r[0] >= r[1] {
			return fmt.Errorf("calibration: input %.40q has the range %d:%d, expected a printable name and low before high", name, r[0], r[1])
		}
	}
	for _, name := range c.Outputs {
		if !graph.ValidName(name) {
			return fmt.Errorf("calibration: chosen output %.40q is too long or not printable", name)
		}
	}
	return nil
}

// Limits of scales: far beyond any model, near enough that no product of two of them leaves the range of float64.
const minScale, maxScale = 1e-100, 1e100

func (s *Stage) validate() error {
	scale := func(v float64) bool { return v >= minScale && v <= maxScale }
	switch {
	case !graph.ValidName(s.Name):
		return fmt.Errorf("calibration: tensor name %.40q is too long or not printable", s.Name)
	case s.Shift > graph.MaxShift:
		return fmt.Errorf("calibration: tensor %.40q has shift %d, expected at most %d", s.Name, s.Shift, graph.MaxShift)
	case s.TableBits > graph.MaxTableBits || s.TableBits == 0 && !s.Exact:
		return fmt.Errorf("calibration: tensor %.40q has a table of %d bits, expected 1 to %d", s.Name, s.TableBits, graph.MaxTableBits)
	case s.Cut > 29:
		return fmt.Errorf("calibration: tensor %.40q is cut to %d bits, expected at most 29", s.Name, s.Cut)
	case !scale(s.Scale) || !scale(s.QScale):
		return fmt.Errorf("calibration: tensor %.40q has scales %g and %g", s.Name, s.Scale, s.QScale)
	case s.Exact && (s.Shift != 0 || s.TableBits != 0 || s.Cut != 0 || s.QScale != s.Scale):
		return fmt.Errorf("calibration: tensor %.40q is exact but has a shift, a table or a second scale", s.Name)
	case !s.Exact && (s.Lo <= -1<<(graph.MaxTableBits-1) || s.Hi >= 1<<(graph.MaxTableBits-1)):
		return fmt.Errorf("calibration: tensor %.40q has codes [%d, %d], expected less than 2^%d", s.Name, s.Lo, s.Hi, graph.MaxTableBits-1)
	case s.Lo > 0 || s.Hi < 0 || s.Hi == 0 && s.Lo == 0 && !s.Exact || s.Lo <= -graph.BoundLimit || s.Hi >= graph.BoundLimit:
		return fmt.Errorf("calibration: tensor %.40q has codes [%d, %d]", s.Name, s.Lo, s.Hi)
	}
	return nil
}

func (s *Settings) validate() error {
	o := s.options()
	got, err := o.withDefaults()
	if err == nil && (got.settings() != *s || o.ActivationBits == 0 || o.ResidualBits == AsRead) {
		err = errors.New("calibration: a setting is missing")
	}
	return err
}

// Encode returns the canonical encoding of a calibration, the content of a .zkcal file.
func (c *Calibration) Encode() ([]byte, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	w := wire.NewWriter(calibrationMagic, calibrationVersion)
	w.B = append(w.B, c.Model[:]...)
	w.U32(uint32(len(c.Dims)))
	for _, name := range slices.Sorted(maps.Keys(c.Dims)) {
		w.String(name)
		w.U32(uint32(c.Dims[name]))
	}
	w.U32(uint32(len(c.Choices.Fix)))
	for _, name := range slices.Sorted(maps.Keys(c.Choices.Fix)) {
		w.String(name)
		w.F64(c.Choices.Fix[name])
	}
	w.U32(uint32(len(c.Choices.Ranges)))
	for _, name := range slices.Sorted(maps.Keys(c.Choices.Ranges)) {
		w.String(name)
		w.I64(c.Choices.Ranges[name][0])
		w.I64(c.Choices.Ranges[name][1])
	}
	w.U32(uint32(len(c.Choices.Outputs)))
	for _, name := range c.Choices.Outputs {
		w.String(name)
	}
	w.U32(uint32(c.Samples))
	for _, v := range c.Settings.fields() {
		w.U8(uint8(*v))
	}
	w.Flag(c.Settings.ExactOutput)
	w.U32(uint32(len(c.Inputs)))
	for i := range c.Inputs {
		writeStage(w, &c.Inputs[i])
	}
	w.U32(uint32(len(c.Stages)))
	for i := range c.Stages {
		writeStage(w, &c.Stages[i])
	}
	w.U32(uint32(len(c.Labels)))
	for _, l := range c.Labels {
		w.String(l)
	}
	return w.B, nil
}

// fields returns the numbers in the order of the file.
func (s *Settings) fields() []*int {
	return []*int{&s.InputBits, &s.ActivationBits, &s.WeightBits, &s.OutputBits, &s.TableBits, &s.ResidualBits}
}

// stageBytes is the least length of an encoded stage.
const stageBytes = 2 + 3 + 32 + 2

func writeStage(w *wire.Writer, s *Stage) {
	w.String(s.Name)
	w.U8(s.Shift)
	w.U8(s.TableBits)
	w.U8(s.Cut)
	w.F64(s.QScale)
	w.F64(s.Scale)
	w.I64(s.Lo)
	w.I64(s.Hi)
	w.Flag(s.Channels)
	w.Flag(s.Exact)
}

func readStage(r *wire.Reader) Stage {
	return Stage{
		Name: r.String("a tensor's name"), Shift: r.U8("a shift"), TableBits: r.U8("a table's bits"), Cut: r.U8("a cut"),
		QScale: r.F64("a scale"), Scale: r.F64("a scale"),
		Lo: r.I64("the lowest code"), Hi: r.I64("the highest code"), Channels: r.Flag("the mark of scales by channels"), Exact: r.Flag("the mark of an exact tensor"),
	}
}

// readMap reads values of so many bytes under names, which must be in order.
func readMap[V any](r *wire.Reader, most, size int, what string, value func() V) map[string]V {
	n := r.Count(most, 2+size, what)
	m := make(map[string]V, n)
	last := ""
	for i := range n {
		name := r.String("a name among the " + what)
		if i > 0 && strings.Compare(name, last) <= 0 {
			r.Fail("%s are not in order", what)
		}
		last = name
		m[name] = value()
	}
	return m
}

// Decode reads a .zkcal file. It accepts exactly what Encode writes.
func Decode(data []byte) (*Calibration, error) {
	r := wire.NewReader(data, calibrationMagic, calibrationVersion, "calibration file")
	c := &Calibration{}
	copy(c.Model[:], r.Take(len(c.Model), "the model's digest"))
	c.Dims = readMap(r, maxDims, 4, "dimensions", func() int { return int(r.U32("a dimension's length")) })
	c.Choices.Fix = readMap(r, maxInputs, 8, "fixed inputs", func() float64 { return r.F64("a fixed number") })
	c.Choices.Ranges = readMap(r, maxInputs, 16, "ranges", func() [2]int64 { return [2]int64{r.I64("a range's low end"), r.I64("a range's high end")} })
	for range r.Count(maxInputs, 2, "chosen outputs") {
		c.Choices.Outputs = append(c.Choices.Outputs, r.String("a chosen output's name"))
	}
	c.Samples = int(r.U32("the number of samples"))
	for _, v := range c.Settings.fields() {
		*v = int(r.U8("a setting"))
	}
	c.Settings.ExactOutput = r.Flag("the mark of an exact output")
	if n := r.Count(maxInputs, stageBytes, "inputs"); n > 0 {
		c.Inputs = make([]Stage, n)
	}
	for i := range c.Inputs {
		c.Inputs[i] = readStage(r)
	}
	if n := r.Count(maxStages, stageBytes, "tensors"); n > 0 {
		c.Stages = make([]Stage, n)
	}
	for i := range c.Stages {
		c.Stages[i] = readStage(r)
	}
	if n := r.Count(graph.MaxTensors, 2, "labels"); n > 0 {
		c.Labels = make([]string, n)
	}
	for i := range c.Labels {
		c.Labels[i] = r.String("a label")
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("reading a calibration: %w", err)
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("reading a calibration: %w: %w", wire.ErrFormat, err)
	}
	return c, nil
}
