package onnx

import (
	"math"
	"slices"
)

// split returns the offsets of all elements along the given axes, and of all along the others: every element is a sum of one of each.
func split(shape, axes []int) (along, others []int) {
	along, others = []int{0}, []int{0}
	step := elements(shape)
	for a, d := range shape {
		if d == 0 {
			return nil, nil
		}
		step /= d
		list := &others
		if slices.Contains(axes, a) {
			list = &along
		}
		next := make([]int, 0, len(*list)*d)
		for _, o := range *list {
			for c := range d {
				next = append(next, o+c*step)
			}
		}
		*list = next
	}
	return along, others
}

// lanes calls f for every lane along the axes: its number and the offset of its first element. along are the offsets within it.
func lanes(shape, axes []int, f func(i, start int, along []int)) {
	along, others := split(shape, axes)
	parallel(len(others), max(1, (1<<12)/max(len(along), 1)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i, others[i], along)
		}
	})
}

func evaluateReduce(op Op, axes []int, x, out *Tensor) {
	lanes(x.Shape, axes, func(i, start int, along []int) {
		switch {
		case x.Ints != nil:
			v := x.Ints[start]
			for _, o := range along[1:] {
				if op == OpReduceSum {
					v += x.Ints[start+o]
				} else {
					v = max(v, x.Ints[start+o])
				}
			}
			out.Ints[i] = v
		case op == OpReduceSum:
			sum := 0.0
			for _, o := range along {
				sum += float64(x.Real[start+o])
			}
			out.Real[i] = float32(sum)
		default:
			v := x.Real[start]
			for _, o := range along[1:] {
				v = max(v, x.Real[start+o])
			}
			out.Real[i] = v
		}
	})
}

func evaluateSoftmax(axes []int, x *Tensor, out []float32) {
	lanes(x.Shape, axes, func(_, start int, along []int) {
		top := float32(math.Inf(-1))
		for _, o := range along {
			top = max(top, x.Real[start+o])
		}
		sum := 0.0
		e := make([]float64, len(along))
		for i, o := range along {
			e[i] = math.Exp(float64(x.Real[start+o]) - float64(top))
			sum += e[i]
		}
		for i, o := range along {
			out[start+o] = float32(e[i] / sum)
		}
	})
}

func evaluateNorm(a *Attr, x *Tensor, out []float32) {
	lanes(x.Shape, a.Axes, func(_, start int, along []int) {
		n := float64(len(along))
		mean := 0.0
		if a.Centre {
			for _, o := range along {
				mean += float64(x.Real[start+o])
			}
			mean /= n
		}
		square := 0.0
		for _, o := range along {
			d := float64(x.Real[start+o]) - mean
			square += float64(d * d)
		}
		root := math.Sqrt(square/n + a.Epsilon)
		for _, o := range along {
			out[start+o] = float32((float64(x.Real[start+o]) - mean) / root)
		}
	})
}

func evaluateArgMax(a *Attr, x *Tensor, out []int64) {
	lanes(x.Shape, []int{a.Axis}, func(i, start int, along []int) {
		if x.Ints != nil {
			out[i] = argMax(x.Ints[start:], along, a.Last)
		} else {
			out[i] = argMax(x.Real[start:], along, a.Last)
		}
	})
}

func argMax[T float32 | int64](x []T, along []int, last bool) int64 {
	best := 0
	for i, o := range along {
		if v, top := x[o], x[along[best]]; v > top || last && v == top {
			best = i
		}
	}
	return int64(best)
}
