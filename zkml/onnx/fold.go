package onnx

import (
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// This file evaluates on constants what has no primitive operation: integer arithmetic, comparisons, conversions.

// integerPairs are functions of two integers; an error says what they cannot do.
var integerPairs = map[string]func(a, b int64) (int64, error){
	"Add": func(a, b int64) (int64, error) { return a + b, nil },
	"Sub": func(a, b int64) (int64, error) { return a - b, nil },
	"Mul": func(a, b int64) (int64, error) { return a * b, nil },
	"Div": func(a, b int64) (int64, error) {
		if b == 0 {
			return 0, fmt.Errorf("%d is divided by zero", a)
		}
		return a / b, nil // towards zero
	},
	"Mod": func(a, b int64) (int64, error) {
		if b == 0 {
			return 0, fmt.Errorf("%d is divided by zero", a)
		}
		r := a % b
		if r != 0 && (r < 0) != (b < 0) {
			r += b // the sign of the divisor
		}
		return r, nil
	},
	"fmod": func(a, b int64) (int64, error) {
		if b == 0 {
			return 0, fmt.Errorf("%d is divided by zero", a)
		}
		return a % b, nil
	},
	"Pow": func(a, b int64) (int64, error) {
		if v := math.Pow(float64(a), float64(b)); math.Abs(v) < 1<<52 {
			return int64(v), nil
		}
		return 0, fmt.Errorf("%d to the power of %d is too large", a, b)
	},
	"And": func(a, b int64) (int64, error) { return a & b, nil },
	"Or":  func(a, b int64) (int64, error) { return a | b, nil },
	"Xor": func(a, b int64) (int64, error) { return a ^ b, nil },
}

// comparisons are functions of two real numbers, or of integers below 2^53.
var comparisons = map[string]func(a, b float64) bool{
	"Equal":          func(a, b float64) bool { return a == b },
	"Less":           func(a, b float64) bool { return a < b },
	"LessOrEqual":    func(a, b float64) bool { return a <= b },
	"Greater":        func(a, b float64) bool { return a > b },
	"GreaterOrEqual": func(a, b float64) bool { return a >= b },
}

// foldPair evaluates a function of two constants that broadcast; at stores the element of the result from the elements of the operands.
func (t *translation) foldPair(at func(i, a, b int) error, a, b *Tensor, shape []int) error {
	if err := t.charge(elements(shape)); err != nil {
		return err
	}
	if elements(shape) == 0 {
		return nil
	}
	r := newRows(shape, a.Shape, b.Shape)
	lines := elements(r.dims)
	for line := range lines {
		p, q, rest := 0, 0, line
		for d := len(r.dims) - 1; d >= 0; d-- {
			c := rest % r.dims[d]
			rest /= r.dims[d]
			p, q = p+c*r.steps[0][d], q+c*r.steps[1][d]
		}
		for i := range r.length {
			if err := at(line*r.length+i, p+i*r.inner[0], q+i*r.inner[1]); err != nil {
				return t.unsupported("evaluating it on constants: %w", err)
			}
		}
	}
	return nil
}

// operands returns two constant inputs and their common shape.
func (t *translation) operands() (a, b *Tensor, shape []int, err error) {
	a, b = t.im.m.Values[t.inputs[0]].Const, t.im.m.Values[t.inputs[1]].Const
	shape, ok := broadcast(a.Shape, b.Shape)
	if !ok {
		return nil, nil, nil, t.malformed("shapes %v and %v do not broadcast", a.Shape, b.Shape)
	}
	if err := checkSize(shape); err != nil {
		return nil, nil, nil, t.unsupported("a tensor with %w", err)
	}
	return a, b, shape, nil
}

func (t *translation) foldInts(f func(a, b int64) (int64, error)) error {
	a, b, shape, err := t.operands()
	if err != nil {
		return err
	}
	out := &Tensor{Shape: shape, Ints: make([]int64, elements(shape))}
	err = t.foldPair(func(i, p, q int) (err error) {
		out.Ints[i], err = f(a.Ints[p], b.Ints[q])
		return err
	}, a, b, shape)
	if err != nil {
		return err
	}
	return t.result(0, t.constTensor(out))
}

func (t *translation) foldReals(f func(a, b float64) float64) error {
	a, b, shape, err := t.operands()
	if err != nil {
		return err
	}
	out := &Tensor{Shape: shape, Real: make([]float32, elements(shape))}
	err = t.foldPair(func(i, p, q int) error {
		out.Real[i] = float32(f(a.At(p), b.At(q)))
		if !finite(out.Real[i]) {
			return fmt.Errorf("element %d is %g", i, out.Real[i])
		}
		return nil
	}, a, b, shape)
	if err != nil {
		return err
	}
	return t.result(0, t.constTensor(out))
}

func (t *translation) foldComparison(f func(a, b float64) bool) error {
	a, b, shape, err := t.operands()
	if err != nil {
		return err
	}
	out := &Tensor{Shape: shape, Ints: make([]int64, elements(shape))}
	err = t.foldPair(func(i, p, q int) error {
		if f(a.At(p), b.At(q)) {
			out.Ints[i] = 1
		}
		return nil
	}, a, b, shape)
	if err != nil {
		return err
	}
	return t.result(0, t.constTensor(out))
}

// convertConstant converts elements as ONNX does: towards zero from real numbers to integers, and to true unless zero.
func convertConstant(c *Tensor, to int32) (*Tensor, error) {
	out := &Tensor{Shape: c.Shape}
	if isReal(to) {
		if c.Real != nil {
			return c, nil
		}
		out.Real = make([]float32, len(c.Ints))
		for i, v := range c.Ints {
			out.Real[i] = float32(v)
		}
		return out, nil
	}
	b, _ := intRange(to)
	out.Ints = make([]int64, c.Len())
	for i := range out.Ints {
		var v int64
		switch {
		case to == int32(onnxpb.TensorProto_BOOL):
			if c.At(i) != 0 {
				v = 1
			}
		case c.Real != nil:
			x := math.Trunc(float64(c.Real[i]))
			if !(math.Abs(x) < 1<<63) {
				return nil, fmt.Errorf("element %d is %g, which does not fit %s", i, c.Real[i], typeName(to))
			}
			v = int64(x)
		default:
			v = c.Ints[i]
		}
		if v < b.lo || v > b.hi {
			return nil, fmt.Errorf("element %d is %d, which does not fit %s", i, v, typeName(to))
		}
		out.Ints[i] = v
	}
	return out, nil
}
