package quant

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// ErrMismatch is wrapped when a calibration does not belong to the model it is used with.
var ErrMismatch = errors.New("the calibration belongs to another model")

// Build makes the integer program and its weights. The result depends on the ONNX file and the calibration alone, to the last byte.
func Build(m *onnx.Model, c *Calibration) (*graph.Program, *graph.Weights, error) {
	b, err := newBuild(m, c)
	if err != nil {
		return nil, nil, err
	}
	return b.program, b.weights, nil
}

// build is a program together with how it came about.
type build struct {
	*lowering
	program *graph.Program
	weights *graph.Weights
}

func newBuild(m *onnx.Model, c *Calibration) (*build, error) {
	if err := c.match(m); err != nil {
		return nil, err
	}
	o := c.Settings.options()
	stages := slices.Concat(c.Inputs, c.Stages)
	next := 0
	l, err := newLowering(prepare(m), &o, func(name string, v int, f *form, _ demand) (Stage, error) {
		if next == len(stages) {
			return Stage{}, fmt.Errorf("%w (it has no tensor %s)", ErrMismatch, onnx.Quote(name))
		}
		st := stages[next]
		next++
		switch {
		case st.Name != name:
			return st, fmt.Errorf("%w (tensor %s instead of %s)", ErrMismatch, onnx.Quote(st.Name), onnx.Quote(name))
		case f == nil && !st.Exact:
			return st, fmt.Errorf("calibration: tensor %s has a shift or a table, which a given tensor cannot have", onnx.Quote(name))
		case f == nil && st.Channels:
			return st, fmt.Errorf("calibration: tensor %s has scales by channels, which a given tensor cannot have", onnx.Quote(name))
		case f != nil && st.Exact && (st.Lo != 0 || st.Hi != 0):
			return st, fmt.Errorf("calibration: tensor %s is marked exact but has codes", onnx.Quote(name))
		}
		return st, nil
	})
	if err != nil {
		return nil, err
	}
	if err := l.lower(); err != nil {
		return nil, err
	}
	if next != len(stages) {
		return nil, fmt.Errorf("%w (tensor %s is not in this one)", ErrMismatch, onnx.Quote(stages[next].Name))
	}
	program, weights, err := l.build(slices.Clone(c.Labels))
	if err != nil {
		return nil, err
	}
	return &build{l, program, weights}, nil
}

// match checks that the calibration was made for this model.
func (c *Calibration) match(m *onnx.Model) error {
	if err := c.validate(); err != nil {
		return err
	}
	if !maps.Equal(c.Dims, m.Dims) {
		return fmt.Errorf("%w or to other dimensions (%v, the model was read with %v)", ErrMismatch, c.Dims, m.Dims)
	}
	if !c.Choices.Equal(&m.Choices) {
		return fmt.Errorf("%w or to other choices (%s, the model was read with %s)", ErrMismatch, &c.Choices, &m.Choices)
	}
	if c.Model != m.SHA256 {
		return fmt.Errorf("%w (ONNX file with SHA-256 %.8x..., this one has %.8x...)", ErrMismatch, c.Model, m.SHA256)
	}
	if len(c.Inputs) != len(m.Inputs) {
		return fmt.Errorf("%w (%d inputs instead of %d)", ErrMismatch, len(c.Inputs), len(m.Inputs))
	}
	return nil
}
