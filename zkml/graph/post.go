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

// Answer computes the program's last step in the clear from the public output; if there are several, the answer is the first one's.
func (p *Program) Answer(y []int32) (*Answer, error) {
	all, err := p.Answers(y)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Answers computes what each output says.
func (p *Program) Answers(y []int32) ([]*Answer, error) {
	if err := p.CheckOutput(y); err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	all := make([]*Answer, len(p.Outputs))
	for i, part := range p.SplitOutput(y) {
		all[i] = p.Post.answer(p.Tensor(p.Outputs[i]), part)
	}
	return all, nil
}

func (post Post) answer(out *Tensor, y []int32) *Answer {
	a := &Answer{Kind: post.Kind, Shape: slices.Clone(out.Shape)}
	switch post.Kind {
	case PostArgMax:
		a.Values = ArgMax(y, out.Shape, post.Axis, post.Last)
		if post.KeepDims {
			a.Shape[post.Axis] = 1
		} else {
			a.Shape = slices.Delete(a.Shape, post.Axis, post.Axis+1)
		}
	default:
		a.Values = Dequantise(y, out.Scale)
		if post.Kind == PostSoftmax {
			Softmax(a.Values, out.Shape, post.Axis, post.Span)
		}
	}
	return a
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
