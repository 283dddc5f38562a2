package graph

import (
	"fmt"
	"math"
)

// A statement about a program is a list of values x and a list of values y: the real elements of the inputs, one input after the other, and
// of the outputs.

// InputLen returns the length of x.
func (p *Program) InputLen() int { return p.Total(p.Inputs) }

// OutputLen returns the length of y.
func (p *Program) OutputLen() int { return p.Total(p.Outputs) }

// Total returns the number of real elements of some tensors together.
func (p *Program) Total(ids []TensorID) int {
	n := 0
	for _, id := range ids {
		n += p.Tensor(id).Len()
	}
	return n
}

// SplitInput returns the part of x for each input; x has InputLen values.
func (p *Program) SplitInput(x []int32) [][]int32 { return p.Split(p.Inputs, x) }

// SplitOutput returns the part of y for each output; y has OutputLen values.
func (p *Program) SplitOutput(y []int32) [][]int32 { return p.Split(p.Outputs, y) }

// Split returns the part of v for each of some tensors; v has their Total of values.
func (p *Program) Split(ids []TensorID, v []int32) [][]int32 {
	parts := make([][]int32, len(ids))
	for i, id := range ids {
		n := p.Tensor(id).Len()
		parts[i], v = v[:n:n], v[n:]
	}
	return parts
}

// CheckInput checks that x has one value within bounds for every element of the program's inputs.
func (p *Program) CheckInput(x []int32) error { return p.CheckValues(p.Inputs, x) }

// CheckOutput checks that y has one value within bounds for every element of the program's outputs.
func (p *Program) CheckOutput(y []int32) error { return p.CheckValues(p.Outputs, y) }

// CheckValues checks that v has one value within bounds for every real element of some tensors, one tensor after the other.
func (p *Program) CheckValues(ids []TensorID, v []int32) error {
	if len(ids) == 1 {
		return checkValues(p.Tensor(ids[0]), v)
	}
	if n := p.Total(ids); len(v) != n {
		return fmt.Errorf("%d values, expected %d for %d tensors", len(v), n, len(ids))
	}
	for i, part := range p.Split(ids, v) {
		if err := checkValues(p.Tensor(ids[i]), part); err != nil {
			return err
		}
	}
	return nil
}

// OutputOf gathers y from the real values of all tensors, as Run returns them.
func (p *Program) OutputOf(values [][]int32) []int32 {
	y := make([]int32, 0, p.OutputLen())
	for _, id := range p.Outputs {
		y = append(y, values[id]...)
	}
	return y
}

// QuantizeInput converts the inputs' elements (all inputs one after the other, row-major) to the program's input codes, rounding to nearest. It
// refuses a wrong count, NaN and infinities, and values outside the calibrated range, naming the element.
func (p *Program) QuantizeInput(x []float64) ([]int32, error) {
	if len(p.Inputs) > 1 && len(x) != p.InputLen() {
		return nil, fmt.Errorf("%d values, expected %d for the %d inputs", len(x), p.InputLen(), len(p.Inputs))
	}
	q := make([]int32, 0, len(x))
	for _, id := range p.Inputs {
		in := p.Tensor(id)
		n := in.Len()
		if len(p.Inputs) == 1 {
			n = len(x)
		}
		codes, err := quantise(in, x[:n])
		if err != nil {
			return nil, err
		}
		q, x = append(q, codes...), x[n:]
	}
	return q, nil
}

func quantise(in *Tensor, x []float64) ([]int32, error) {
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
