package graph

import (
	"fmt"
	"sync/atomic"

	"github.com/zkwarp/zkwarp/internal/parallel"
)

// NewWeights returns an empty set of weights for the program.
func NewWeights(p *Program) *Weights { return &Weights{Data: make([][]int32, len(p.Tensors))} }

// Of returns the values of a Param, nil for any other tensor.
func (w *Weights) Of(id TensorID) []int32 {
	if id < 0 || int(id) >= len(w.Data) {
		return nil
	}
	return w.Data[id]
}

// Count returns the number of values.
func (w *Weights) Count() int {
	n := 0
	for _, d := range w.Data {
		n += len(d)
	}
	return n
}

// ValidateFor checks that there is one value, within bounds, for every element of every Param of the program, and nothing else.
func (w *Weights) ValidateFor(p *Program) error {
	if len(w.Data) != len(p.Tensors) {
		return fmt.Errorf("weights cover %d tensors, the program has %d", len(w.Data), len(p.Tensors))
	}
	for i, data := range w.Data {
		t := &p.Tensors[i]
		if t.Kind != Param {
			if data != nil {
				return fmt.Errorf("weights given for tensor %q of kind %s", t.Name, t.Kind)
			}
			continue
		}
		if err := checkValues(t, data); err != nil {
			return fmt.Errorf("weights: %w", err)
		}
	}
	return nil
}

// checkValues checks count and bounds of the real elements of a tensor.
func checkValues(t *Tensor, values []int32) error {
	if len(values) != t.Len() {
		return fmt.Errorf("tensor %q has %d values, expected %d for shape %v", t.Name, len(values), t.Len(), t.Shape)
	}
	var first atomic.Int64 // the first value that is outside
	first.Store(int64(len(values)))
	parallel.For(len(values), 1<<16, func(from, to int) {
		for i, v := range values[from:to] {
			if int64(v) < t.Lo || int64(v) > t.Hi {
				at := int64(from + i)
				for was := first.Load(); at < was && !first.CompareAndSwap(was, at); was = first.Load() {
				}
				return
			}
		}
	})
	if i := int(first.Load()); i < len(values) {
		return fmt.Errorf("tensor %q, element %d: %d is outside [%d, %d]", t.Name, i, values[i], t.Lo, t.Hi)
	}
	return nil
}
