package onnx

import (
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

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
