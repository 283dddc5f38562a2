package graph

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/mapped"
)

// NewWeights returns an empty set of weights for the program.
func NewWeights(p *Program) *Weights { return &Weights{Data: make([]Values, len(p.Tensors))} }

// Of returns the values of a Param, none for any other tensor.
func (w *Weights) Of(id TensorID) Values {
	if id < 0 || int(id) >= len(w.Data) {
		return Values{}
	}
	return w.Data[id]
}

// Count returns the number of values.
func (w *Weights) Count() int {
	n := 0
	for _, d := range w.Data {
		n += d.Len()
	}
	return n
}

// Bytes is the memory of the values.
func (w *Weights) Bytes() int64 {
	n := int64(0)
	for _, d := range w.Data {
		n += int64(len(d.data))
	}
	return n
}

// ValidateFor checks that there is one value, within bounds, for every element of every Param of the program, and nothing else.
func (w *Weights) ValidateFor(p *Program) error {
	return mapped.Guard(func() error { return w.validateFor(p) }) // values may be those of a mapped file
}

func (w *Weights) validateFor(p *Program) error {
	if len(w.Data) != len(p.Tensors) {
		return fmt.Errorf("weights cover %d tensors, the program has %d", len(w.Data), len(p.Tensors))
	}
	for i, data := range w.Data {
		t := &p.Tensors[i]
		if t.Kind != Param {
			if data.Given() {
				return fmt.Errorf("weights given for tensor %q of kind %s", t.Name, t.Kind)
			}
			continue
		}
		if err := data.check(t); err != nil {
			return fmt.Errorf("weights: %w", err)
		}
	}
	return nil
}
