package quant

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/wire"
)

const (
	calibrationMagic   = "ZKWCAL1\n"
	calibrationVersion = 1
	maxStages          = graph.MaxTensors
	maxDims            = 64
)

// validate checks the fields that Build computes with.
func (c *Calibration) validate() error {
	if len(c.Stages) > maxStages || len(c.Dims) > maxDims || len(c.Labels) > graph.MaxTensors {
		return fmt.Errorf("calibration: too many tensors, dimensions or labels")
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
	if c.Samples < 0 || c.Samples > math.MaxInt32 {
		return fmt.Errorf("calibration: %d samples", c.Samples)
	}
	if err := c.Input.validate(); err != nil {
		return err
	}
	if c.Input.Shift != 0 || c.Input.QScale != c.Input.Scale || c.Input.Exact {
		return fmt.Errorf("calibration: the input has a shift or no codes")
	}
	for i := range c.Stages {
		if err := c.Stages[i].validate(); err != nil {
			return err
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
	case !scale(s.Scale) || !scale(s.QScale):
		return fmt.Errorf("calibration: tensor %.40q has scales %g and %g", s.Name, s.Scale, s.QScale)
	case s.Exact && (s.Shift != 0 || s.QScale != s.Scale || s.Lo != 0 || s.Hi != 0):
		return fmt.Errorf("calibration: tensor %.40q is exact but has a shift, a second scale or codes", s.Name)
	case s.Exact:
	case s.Lo > 0 || s.Hi <= 0 || s.Lo <= -1<<17 || s.Hi >= 1<<17:
		return fmt.Errorf("calibration: tensor %.40q has codes [%d, %d]", s.Name, s.Lo, s.Hi)
	}
	return nil
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
	w.U32(uint32(c.Samples))
	writeStage(w, &c.Input)
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

func writeStage(w *wire.Writer, s *Stage) {
	w.String(s.Name)
	w.U8(s.Shift)
	w.F64(s.QScale)
	w.F64(s.Scale)
	w.I64(s.Lo)
	w.I64(s.Hi)
	w.Flag(s.Exact)
}

func readStage(r *wire.Reader) Stage {
	return Stage{
		Name: r.String("a tensor's name"), Shift: r.U8("a shift"), QScale: r.F64("a scale"), Scale: r.F64("a scale"),
		Lo: r.I64("the lowest code"), Hi: r.I64("the highest code"), Exact: r.Flag("the mark of an exact tensor"),
	}
}

// Decode reads a .zkcal file. It accepts exactly what Encode writes.
func Decode(data []byte) (*Calibration, error) {
	r := wire.NewReader(data, calibrationMagic, calibrationVersion, "calibration file")
	c := &Calibration{}
	copy(c.Model[:], r.Take(len(c.Model), "the model's digest"))
	n := r.Count(maxDims, 6, "dimensions")
	c.Dims = make(map[string]int, n)
	last := ""
	for i := range n {
		name := r.String("a dimension's name")
		if i > 0 && strings.Compare(name, last) <= 0 {
			r.Fail("dimensions are not in order")
		}
		last = name
		c.Dims[name] = int(r.U32("a dimension's length"))
	}
	c.Samples = int(r.U32("the number of samples"))
	c.Input = readStage(r)
	if n := r.Count(maxStages, 36, "tensors"); n > 0 {
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
