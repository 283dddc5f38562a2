package graph

import (
	"fmt"
	"math"
	"slices"
)

// Answer is what a model says, in real numbers: dequantised values, probabilities after a Softmax, or indices after an ArgMax.
type Answer struct {
	Kind   PostKind
	Shape  []int
	Values []float64 // for PostArgMax whole numbers
}

// Answer computes the program's last step in the clear from the public output.
func (p *Program) Answer(y []int32) (*Answer, error) {
	out := p.Tensor(p.Output)
	if err := checkValues(out, y); err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	a := &Answer{Kind: p.Post.Kind, Shape: slices.Clone(out.Shape)}
	switch p.Post.Kind {
	case PostArgMax:
		a.Values = ArgMax(y, out.Shape, p.Post.Axis, p.Post.Last)
		if p.Post.KeepDims {
			a.Shape[p.Post.Axis] = 1
		} else {
			a.Shape = slices.Delete(a.Shape, p.Post.Axis, p.Post.Axis+1)
		}
	default:
		a.Values = Dequantise(y, out.Scale)
		if p.Post.Kind == PostSoftmax {
			Softmax(a.Values, out.Shape, p.Post.Axis, p.Post.Span)
		}
	}
	return a, nil
}

// Dequantise returns the real values of integers.
func Dequantise(y []int32, scale float64) []float64 {
	v := make([]float64, len(y))
	for i, q := range y {
		v[i] = float64(q) * scale
	}
	return v
}

// lanes splits a shape around the axes [axis, axis+span): the axes together have n elements, stride apart, within blocks of n*stride.
func lanes(shape []int, axis, span int) (blocks, n, stride int) {
	return Elements(shape[:axis]), Elements(shape[axis : axis+span]), Elements(shape[axis+span:])
}

// Softmax replaces the values by their softmax over the axes [axis, axis+span).
func Softmax(v []float64, shape []int, axis, span int) {
	blocks, n, stride := lanes(shape, axis, span)
	for lane := range blocks * stride {
		start := lane/stride*n*stride + lane%stride
		top := math.Inf(-1)
		for i := range n {
			top = max(top, v[start+i*stride])
		}
		sum := 0.0
		for i := range n {
			e := math.Exp(v[start+i*stride] - top)
			v[start+i*stride] = e
			sum += e
		}
		for i := range n {
			v[start+i*stride] /= sum
		}
	}
}

// ArgMax returns the index of the greatest value along an axis, the first of equals or the last, in row-major order of the other axes.
func ArgMax[T int32 | float64](v []T, shape []int, axis int, last bool) []float64 {
	blocks, n, stride := lanes(shape, axis, 1)
	out := make([]float64, blocks*stride)
	for lane := range out {
		start := lane/stride*n*stride + lane%stride
		best := 0
		for i := range n {
			x, top := v[start+i*stride], v[start+best*stride]
			if x > top || last && x == top {
				best = i
			}
		}
		out[lane] = float64(best)
	}
	return out
}
