package onnx

import (
	"math"
	"slices"
)

// rows walks the elements of a result in runs along which every operand either stands still or moves on by one.
type rows struct {
	length int     // of a run
	inner  []int   // for every operand 0 or 1: its step along a run
	dims   []int   // of the axes before
	steps  [][]int // for every operand: its step along each of dims
}

// newRows merges neighbouring axes wherever all operands allow it.
func newRows(shape []int, operands ...[]int) *rows {
	type axis struct {
		n     int
		steps []int
	}
	var axes []axis // innermost first
	next := slices.Repeat([]int{1}, len(operands))
	for a := len(shape) - 1; a >= 0; a-- {
		here := axis{shape[a], make([]int, len(operands))}
		for k, s := range operands {
			if own := a - len(shape) + len(s); own >= 0 && s[own] != 1 {
				here.steps[k] = next[k]
				next[k] *= s[own]
			}
		}
		if here.n == 1 {
			continue
		}
		if len(axes) > 0 {
			last := &axes[len(axes)-1]
			merge := true
			for k := range operands {
				merge = merge && here.steps[k] == last.steps[k]*last.n
			}
			if merge {
				last.n *= here.n
				continue
			}
		}
		axes = append(axes, here)
	}
	r := &rows{length: 1, inner: make([]int, len(operands)), steps: make([][]int, len(operands))}
	if len(axes) > 0 {
		r.length, r.inner = axes[0].n, axes[0].steps
		slices.Reverse(axes)
		axes = axes[:len(axes)-1]
	}
	for _, a := range axes {
		r.dims = append(r.dims, a.n)
		for k := range operands {
			r.steps[k] = append(r.steps[k], a.steps[k])
		}
	}
	return r
}

// each calls f(start, offsets) for every run, in parallel.
func (r *rows) each(f func(start int, offsets []int)) {
	parallel(elements(r.dims), max(1, (1<<13)/max(r.length, 1)), func(lo, hi int) {
		offsets := make([]int, len(r.steps))
		for i := lo; i < hi; i++ {
			rest := i
			clear(offsets)
			for a := len(r.dims) - 1; a >= 0; a-- {
				c := rest % r.dims[a]
				rest /= r.dims[a]
				for k := range offsets {
					offsets[k] += c * r.steps[k][a]
				}
			}
			f(i*r.length, offsets)
		}
	})
}

func evaluatePair(op Op, in []*Tensor, out *Tensor) {
	if out.Ints != nil {
		pairwise(op, in[0].Ints, in[1].Ints, out.Ints, newRows(out.Shape, in[0].Shape, in[1].Shape))
		return
	}
	pairwise(op, in[0].Real, in[1].Real, out.Real, newRows(out.Shape, in[0].Shape, in[1].Shape))
}

// pairwise computes in the elements' own type: for float32 that rounds once, as float64 followed by a rounding would.
func pairwise[T float32 | int64](op Op, a, b, out []T, r *rows) {
	p, q := r.inner[0], r.inner[1]
	r.each(func(start int, offsets []int) {
		x, y, z := a[offsets[0]:], b[offsets[1]:], out[start:start+r.length]
		switch op {
		case OpAdd:
			for i := range z {
				z[i] = x[i*p] + y[i*q]
			}
		case OpSub:
			for i := range z {
				z[i] = x[i*p] - y[i*q]
			}
		case OpMul:
			for i := range z {
				z[i] = x[i*p] * y[i*q]
			}
		case OpDiv:
			for i := range z {
				z[i] = x[i*p] / y[i*q]
			}
		case OpMin:
			for i := range z {
				z[i] = min(x[i*p], y[i*q])
			}
		case OpMax:
			for i := range z {
				z[i] = max(x[i*p], y[i*q])
			}
		}
	})
}

func evaluateUnary(a *Attr, x, out []float32) {
	f := functions[a.Func].at
	parallel(len(x), 1<<10, func(lo, hi int) {
		if a.Func == FuncRelu {
			for i := lo; i < hi; i++ {
				out[i] = max(x[i], 0)
			}
			return
		}
		for i := lo; i < hi; i++ {
			out[i] = float32(f(float64(x[i]), a.A, a.B))
		}
	})
}

func evaluateSelect(in []*Tensor, out *Tensor) {
	r := newRows(out.Shape, in[0].Shape, in[1].Shape, in[2].Shape)
	if out.Ints != nil {
		choose(in[0].Ints, in[2].Ints, out.Ints, in[1], r)
		return
	}
	choose(in[0].Real, in[2].Real, out.Real, in[1], r)
}

func choose[T float32 | int64](x, c, out []T, mask *Tensor, r *rows) {
	r.each(func(start int, offsets []int) {
		z := out[start : start+r.length]
		for i := range z {
			at := offsets[1] + i*r.inner[1]
			if mask.Ints != nil && mask.Ints[at] != 0 || mask.Real != nil && mask.Real[at] != 0 {
				z[i] = x[offsets[0]+i*r.inner[0]]
			} else {
				z[i] = c[offsets[2]+i*r.inner[2]]
			}
		}
	})
}

// perAxis calls f for runs of elements that share one of the scales.
func (a *Attr) perAxis(shape []int, f func(lo, hi int, scale float32, zero int64)) {
	if len(a.Scale) == 1 {
		parallel(elements(shape), 1<<12, func(lo, hi int) { f(lo, hi, a.Scale[0], a.Zero[0]) })
		return
	}
	run := elements(shape[a.Axis+1:])
	parallel(elements(shape[:a.Axis+1]), max(1, (1<<12)/max(run, 1)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c := i % len(a.Scale)
			f(i*run, (i+1)*run, a.Scale[c], a.Zero[c])
		}
	})
}

func evaluateQuantise(a *Attr, x *Tensor, out []int64) {
	a.perAxis(x.Shape, func(lo, hi int, scale float32, zero int64) {
		for i := lo; i < hi; i++ {
			var v float32
			if x.Ints != nil {
				v = float32(x.Ints[i]) * scale
			} else {
				v = x.Real[i] / scale
			}
			// Beyond 2^40 every integer type saturates; NaN cannot occur.
			r := math.RoundToEven(min(max(float64(v), -1<<40), 1<<40))
			out[i] = min(max(int64(r)+zero, a.Lo), a.Hi)
		}
	})
}

func evaluateDequantise(a *Attr, x *Tensor, out []float32) {
	a.perAxis(x.Shape, func(lo, hi int, scale float32, zero int64) {
		for i := lo; i < hi; i++ {
			out[i] = float32(x.Ints[i]-zero) * scale
		}
	})
}
