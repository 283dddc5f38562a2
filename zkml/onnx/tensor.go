package onnx

import (
	"encoding/binary"
	"math"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// maxElements bounds every tensor of a model.
const maxElements = 1 << 28

// checkShape converts axis lengths and bounds their product. Axes of length zero are refused.
func checkShape(dims []int64, what string) ([]int, error) {
	if len(dims) > 8 {
		return nil, unsupported("%s has rank %d, expected at most 8", what, len(dims))
	}
	shape := make([]int, len(dims))
	n := int64(1)
	for i, d := range dims {
		if d < 0 {
			return nil, malformed("%s has an axis of length %d", what, d)
		}
		if d == 0 {
			return nil, unsupported("%s is empty (shape %v)", what, dims)
		}
		if d > maxElements || n*d > maxElements {
			return nil, unsupported("%s has more than 2^28 elements (shape %v)", what, dims)
		}
		n *= d
		shape[i] = int(d)
	}
	return shape, nil
}

// typeName names an element type for errors.
func typeName(t int32) string { return onnxpb.TensorProto_DataType(t).String() }

// isReal reports whether a type holds real numbers that this package reads.
func isReal(t int32) bool {
	switch onnxpb.TensorProto_DataType(t) {
	case onnxpb.TensorProto_FLOAT, onnxpb.TensorProto_DOUBLE, onnxpb.TensorProto_FLOAT16, onnxpb.TensorProto_BFLOAT16:
		return true
	}
	return false
}

// isInt reports whether a type holds integers that this package reads.
func isInt(t int32) bool {
	return t == int32(onnxpb.TensorProto_INT64) || t == int32(onnxpb.TensorProto_INT32)
}

// decodeTensor reads a constant. The number of stored elements must be the one that the shape implies, so memory is bounded by the
// file. NaN is refused everywhere.
func decodeTensor(t *onnxpb.TensorProto, what string) (*Tensor, error) {
	switch {
	case t == nil:
		return nil, malformed("%s is missing", what)
	case t.DataLocation != onnxpb.TensorProto_DEFAULT || len(t.ExternalData) > 0:
		return nil, unsupported("%s keeps its data in another file; save the model with all data inside", what)
	case len(t.Segment) > 0:
		return nil, unsupported("%s is stored in segments", what)
	case !isReal(t.DataType) && !isInt(t.DataType):
		return nil, unsupported("%s has type %s, expected FLOAT, DOUBLE, FLOAT16, BFLOAT16, INT64 or INT32", what, typeName(t.DataType))
	}
	shape, err := checkShape(t.Dims, what)
	if err != nil {
		return nil, err
	}
	out := &Tensor{Shape: shape}
	if len(t.RawData) > 0 {
		err = out.raw(t, what)
	} else {
		err = out.typed(t, what)
	}
	if err != nil {
		return nil, err
	}
	for i, v := range out.Real {
		if math.IsNaN(v) {
			return nil, unsupported("%s, element %d is NaN", what, i)
		}
	}
	return out, nil
}

// fieldCounts returns the number of elements in each typed field.
func fieldCounts(t *onnxpb.TensorProto) (floats, doubles, int32s, int64s, others int) {
	return len(t.FloatData), len(t.DoubleData), len(t.Int32Data), len(t.Int64Data), len(t.StringData) + len(t.Uint64Data)
}

// raw reads little-endian packed elements.
func (out *Tensor) raw(t *onnxpb.TensorProto, what string) error {
	if f, d, i, l, o := fieldCounts(t); f+d+i+l+o > 0 {
		return malformed("%s has both raw and typed data", what)
	}
	size := map[onnxpb.TensorProto_DataType]int{
		onnxpb.TensorProto_FLOAT: 4, onnxpb.TensorProto_DOUBLE: 8, onnxpb.TensorProto_FLOAT16: 2, onnxpb.TensorProto_BFLOAT16: 2,
		onnxpb.TensorProto_INT64: 8, onnxpb.TensorProto_INT32: 4,
	}[onnxpb.TensorProto_DataType(t.DataType)]
	n, data := elements(out.Shape), t.RawData
	if len(data) != n*size {
		return malformed("%s has %d bytes of data, expected %d for shape %v of %s", what, len(data), n*size, out.Shape, typeName(t.DataType))
	}
	if isInt(t.DataType) {
		out.Ints = make([]int64, n)
	} else {
		out.Real = make([]float64, n)
	}
	for i := range n {
		switch onnxpb.TensorProto_DataType(t.DataType) {
		case onnxpb.TensorProto_FLOAT:
			out.Real[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		case onnxpb.TensorProto_DOUBLE:
			out.Real[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		case onnxpb.TensorProto_FLOAT16:
			out.Real[i] = float16(binary.LittleEndian.Uint16(data[2*i:]))
		case onnxpb.TensorProto_BFLOAT16:
			out.Real[i] = bfloat16(binary.LittleEndian.Uint16(data[2*i:]))
		case onnxpb.TensorProto_INT64:
			out.Ints[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
		case onnxpb.TensorProto_INT32:
			out.Ints[i] = int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
		}
	}
	return nil
}

// typed reads elements from the field that belongs to the type; all other fields must be empty.
func (out *Tensor) typed(t *onnxpb.TensorProto, what string) error {
	floats, doubles, int32s, int64s, others := fieldCounts(t)
	var stored int
	switch onnxpb.TensorProto_DataType(t.DataType) {
	case onnxpb.TensorProto_FLOAT:
		stored = floats
		for _, v := range t.FloatData {
			out.Real = append(out.Real, float64(v))
		}
	case onnxpb.TensorProto_DOUBLE:
		stored, out.Real = doubles, append([]float64(nil), t.DoubleData...)
	case onnxpb.TensorProto_FLOAT16, onnxpb.TensorProto_BFLOAT16:
		stored = int32s
		for i, v := range t.Int32Data {
			if v < 0 || v > 0xffff {
				return malformed("%s, element %d: %d is no 16-bit pattern", what, i, v)
			}
			if t.DataType == int32(onnxpb.TensorProto_FLOAT16) {
				out.Real = append(out.Real, float16(uint16(v)))
			} else {
				out.Real = append(out.Real, bfloat16(uint16(v)))
			}
		}
	case onnxpb.TensorProto_INT64:
		stored, out.Ints = int64s, append([]int64(nil), t.Int64Data...)
	case onnxpb.TensorProto_INT32:
		stored = int32s
		for _, v := range t.Int32Data {
			out.Ints = append(out.Ints, int64(v))
		}
	}
	if n := elements(out.Shape); stored != n || floats+doubles+int32s+int64s+others != n {
		return malformed("%s has %d elements in the field for %s and %d in others, expected %d for shape %v", what, stored,
			typeName(t.DataType), floats+doubles+int32s+int64s+others-stored, n, out.Shape)
	}
	return nil
}

// bfloat16 is the upper half of a float32.
func bfloat16(b uint16) float64 { return float64(math.Float32frombits(uint32(b) << 16)) }

// float16 decodes IEEE 754 binary16.
func float16(b uint16) float64 {
	sign, exponent, mantissa := 1.0, int(b>>10&31), float64(b&1023)
	if b>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(mantissa, -24)
	case 31:
		if mantissa != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+mantissa, exponent-25)
}
