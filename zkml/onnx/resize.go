package onnx

import (
	"fmt"
	"math"
)

// resizeAxis is one axis of a Resize: out positions from size elements. All arithmetic is in float32, as runtimes do it, because which
// element is nearest depends on it.
type resizeAxis struct {
	size, out  int
	scale      float32 // positions per element
	length     float32 // of the new axis: out, or not quite a whole number where a scale was given
	start, end float32 // region of tf_crop_and_resize, as shares of the axis
}

// source returns where position x lies on the old axis.
func (r resizeAxis) source(x int, mode string) (float32, error) {
	pos, size := float32(x), float32(r.size)
	half := float32(pos+0.5)/r.scale - 0.5
	switch mode {
	case "half_pixel":
		return half, nil
	case "half_pixel_symmetric":
		adjust := float32(r.out) / float32(r.scale*size)
		return float32(size/2*float32(1-adjust)) + half, nil
	case "pytorch_half_pixel":
		if r.out == 1 {
			return 0, nil
		}
		return half, nil
	case "align_corners":
		if r.out == 1 {
			return 0, nil
		}
		return float32(pos*(size-1)) / (r.length - 1), nil
	case "asymmetric":
		return pos / r.scale, nil
	case "tf_crop_and_resize":
		if r.out == 1 {
			return float32(0.5 * float32(r.start+r.end) * (size - 1)), nil
		}
		step := float32(float32(r.end-r.start)*(size-1)) / (r.length - 1)
		return float32(r.start*(size-1)) + float32(pos*step), nil
	}
	return 0, fmt.Errorf("attribute \"coordinate_transformation_mode\" is %s", Quote(mode))
}

// nearest maps every position to one element, or to -1 where tf_crop_and_resize looks outside the axis.
func (r resizeAxis) nearest(mode, rounding string) (AxisMap, error) {
	a := AxisMap{Shape: []int{r.out}, Index: make([]int32, r.out)}
	for x := range a.Index {
		from, err := r.source(x, mode)
		if err != nil {
			return a, err
		}
		if mode == "tf_crop_and_resize" && (from < 0 || from > float32(r.size-1)) {
			a.Index[x] = -1
			continue
		}
		f := float64(from)
		switch rounding {
		case "round_prefer_floor":
			f = math.Ceil(f - 0.5)
		case "round_prefer_ceil":
			f = math.Floor(f + 0.5)
		case "floor":
			f = math.Floor(f)
		case "ceil":
			f = math.Ceil(f)
		default:
			return a, fmt.Errorf("attribute \"nearest_mode\" is %s", Quote(rounding))
		}
		a.Index[x] = int32(min(max(f, 0), float64(r.size-1)))
	}
	return a, nil
}

// linear returns the matrix (out rows of size weights) of linear interpolation, and which positions look outside the axis.
func (r resizeAxis) linear(mode string) ([]float64, []bool, error) {
	w, outside := make([]float64, r.out*r.size), make([]bool, r.out)
	for x := range r.out {
		from, err := r.source(x, mode)
		if err != nil {
			return nil, nil, err
		}
		outside[x] = mode == "tf_crop_and_resize" && (from < 0 || from > float32(r.size-1))
		f := min(max(from, 0), float32(r.size-1))
		low := int(f)
		high := min(low+1, r.size-1)
		share := f - float32(low)
		w[x*r.size+low] += float64(1 - share)
		w[x*r.size+high] += float64(share)
	}
	return w, outside, nil
}
