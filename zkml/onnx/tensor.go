package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
)

// maxElements bounds every tensor of a model.
const maxElements = 1 << 28

// checkShape converts axis lengths and bounds their product.
func checkShape(dims []int64, what string) ([]int, error) {
	shape := make([]int, len(dims))
	for i, d := range dims {
		if d < 0 {
			return nil, malformed("%s has an axis of length %d", what, d)
		}
		shape[i] = int(min(d, maxElements+1))
	}
	if err := checkSize(shape); err != nil {
		return nil, unsupported("%s has %w", what, err)
	}
	return shape, nil
}

// checkSize bounds rank and number of elements, of which there may be none.
func checkSize(shape []int) error {
	if len(shape) > maxRank {
		return fmt.Errorf("rank %d, expected at most %d", len(shape), maxRank)
	}
	n := 1
	for _, d := range shape {
		if d > maxElements || n*max(d, 1) > maxElements {
			return fmt.Errorf("more than 2^28 elements (shape %v)", shape)
		}
		n *= max(d, 1)
	}
	return nil
}

// maxRank bounds the axes of a tensor.
const maxRank = 16

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

// intRange returns the range of an integer type that this package reads.
func intRange(t int32) (bounds, bool) {
	switch onnxpb.TensorProto_DataType(t) {
	case onnxpb.TensorProto_BOOL:
		return bounds{0, 1}, true
	case onnxpb.TensorProto_INT4:
		return bounds{-8, 7}, true
	case onnxpb.TensorProto_UINT4:
		return bounds{0, 15}, true
	case onnxpb.TensorProto_INT8:
		return bounds{math.MinInt8, math.MaxInt8}, true
	case onnxpb.TensorProto_UINT8:
		return bounds{0, math.MaxUint8}, true
	case onnxpb.TensorProto_INT16:
		return bounds{math.MinInt16, math.MaxInt16}, true
	case onnxpb.TensorProto_UINT16:
		return bounds{0, math.MaxUint16}, true
	case onnxpb.TensorProto_INT32:
		return bounds{math.MinInt32, math.MaxInt32}, true
	case onnxpb.TensorProto_UINT32:
		return bounds{0, math.MaxUint32}, true
	case onnxpb.TensorProto_INT64:
		return bounds{math.MinInt64, math.MaxInt64}, true
	case onnxpb.TensorProto_UINT64:
		return bounds{0, math.MaxInt64}, true // larger numbers are refused
	}
	return bounds{}, false
}

// isInt reports whether a type holds integers that this package reads.
func isInt(t int32) bool {
	_, ok := intRange(t)
	return ok
}

// decodeTensor reads a constant. The number of stored elements must be the one that the shape implies, so memory is bounded by the
// file. NaN is refused everywhere.
func decodeTensor(t *onnxpb.TensorProto, what string, x *externals) (*Tensor, error) {
	switch {
	case t == nil:
		return nil, malformed("%s is missing", what)
	case len(t.Segment) > 0:
		return nil, unsupported("%s is stored in segments", what)
	case !isReal(t.DataType) && !isInt(t.DataType):
		return nil, unsupported("%s has type %s, expected FLOAT, DOUBLE, FLOAT16, BFLOAT16, BOOL or an integer type", what, typeName(t.DataType))
	}
	shape, err := checkShape(t.Dims, what)
	if err != nil {
		return nil, err
	}
	out := &Tensor{Shape: shape}
	f, d, i, l, o := fieldCounts(t)
	typed := f + d + i + l + o
	switch {
	case t.DataLocation == onnxpb.TensorProto_EXTERNAL:
		if len(t.RawData)+typed > 0 {
			return nil, malformed("%s has data both inside and in another file", what)
		}
		var data []byte
		if data, err = x.read(t, out.packedSize(t.DataType), what); err == nil {
			err = out.raw(data, t.DataType, what)
		}
	case t.DataLocation != onnxpb.TensorProto_DEFAULT || len(t.ExternalData) > 0:
		return nil, malformed("%s has external data at data location %d", what, t.DataLocation)
	case len(t.RawData) > 0 && typed > 0:
		return nil, malformed("%s has both raw and typed data", what)
	case len(t.RawData) > 0:
		err = out.raw(t.RawData, t.DataType, what)
	default:
		err = out.typed(t, what)
	}
	if err != nil {
		return nil, err
	}
	return out, out.checkElements(t.DataType, what)
}

// checkElements refuses NaN and integers outside their type.
func (out *Tensor) checkElements(kind int32, what string) error {
	for i, v := range out.Real {
		if v != v {
			return unsupported("%s, element %d is NaN", what, i)
		}
	}
	if b, ok := intRange(kind); ok {
		for i, v := range out.Ints {
			if v < b.lo || v > b.hi {
				return malformed("%s, element %d is %d, which does not fit %s", what, i, v, typeName(kind))
			}
		}
	}
	return nil
}

// fieldCounts returns the number of elements in each typed field.
func fieldCounts(t *onnxpb.TensorProto) (floats, doubles, int32s, int64s, others int) {
	return len(t.FloatData), len(t.DoubleData), len(t.Int32Data), len(t.Int64Data), len(t.StringData) + len(t.Uint64Data)
}

// elementBits is the size of an element in packed form.
func elementBits(kind int32) int {
	switch onnxpb.TensorProto_DataType(kind) {
	case onnxpb.TensorProto_INT4, onnxpb.TensorProto_UINT4:
		return 4
	case onnxpb.TensorProto_BOOL, onnxpb.TensorProto_INT8, onnxpb.TensorProto_UINT8:
		return 8
	case onnxpb.TensorProto_FLOAT16, onnxpb.TensorProto_BFLOAT16, onnxpb.TensorProto_INT16, onnxpb.TensorProto_UINT16:
		return 16
	case onnxpb.TensorProto_FLOAT, onnxpb.TensorProto_INT32, onnxpb.TensorProto_UINT32:
		return 32
	}
	return 64
}

// packedSize is the number of bytes of the elements in packed form.
func (out *Tensor) packedSize(kind int32) int64 {
	return (int64(elements(out.Shape))*int64(elementBits(kind)) + 7) / 8
}

// raw reads little-endian packed elements.
func (out *Tensor) raw(data []byte, kind int32, what string) error {
	n := elements(out.Shape)
	if want := out.packedSize(kind); int64(len(data)) != want {
		return malformed("%s has %d bytes of data, expected %d for shape %v of %s", what, len(data), want, out.Shape, typeName(kind))
	}
	if isInt(kind) {
		out.Ints = make([]int64, n)
	} else {
		out.Real = make([]float32, n)
	}
	le := binary.LittleEndian
	decode := map[onnxpb.TensorProto_DataType]func(i int){
		onnxpb.TensorProto_FLOAT:    func(i int) { out.Real[i] = math.Float32frombits(le.Uint32(data[4*i:])) },
		onnxpb.TensorProto_DOUBLE:   func(i int) { out.Real[i] = float32(math.Float64frombits(le.Uint64(data[8*i:]))) },
		onnxpb.TensorProto_FLOAT16:  func(i int) { out.Real[i] = float16(le.Uint16(data[2*i:])) },
		onnxpb.TensorProto_BFLOAT16: func(i int) { out.Real[i] = bfloat16(le.Uint16(data[2*i:])) },
		onnxpb.TensorProto_BOOL:     func(i int) { out.Ints[i] = int64(data[i]) },
		onnxpb.TensorProto_UINT8:    func(i int) { out.Ints[i] = int64(data[i]) },
		onnxpb.TensorProto_INT8:     func(i int) { out.Ints[i] = int64(int8(data[i])) },
		onnxpb.TensorProto_UINT16:   func(i int) { out.Ints[i] = int64(le.Uint16(data[2*i:])) },
		onnxpb.TensorProto_INT16:    func(i int) { out.Ints[i] = int64(int16(le.Uint16(data[2*i:]))) },
		onnxpb.TensorProto_UINT32:   func(i int) { out.Ints[i] = int64(le.Uint32(data[4*i:])) },
		onnxpb.TensorProto_INT32:    func(i int) { out.Ints[i] = int64(int32(le.Uint32(data[4*i:]))) },
		onnxpb.TensorProto_UINT64:   func(i int) { out.Ints[i] = int64(le.Uint64(data[8*i:])) },
		onnxpb.TensorProto_INT64:    func(i int) { out.Ints[i] = int64(le.Uint64(data[8*i:])) },
		onnxpb.TensorProto_UINT4:    func(i int) { out.Ints[i] = int64(data[i/2] >> (4 * (i % 2)) & 15) },
		onnxpb.TensorProto_INT4:     func(i int) { out.Ints[i] = int64(int8(data[i/2]>>(4*(i%2))<<4) >> 4) },
	}[onnxpb.TensorProto_DataType(kind)]
	parallel(n, 1<<16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			decode(i)
		}
	})
	return nil
}

// typed reads elements from the field that belongs to the type; all other fields must be empty.
func (out *Tensor) typed(t *onnxpb.TensorProto, what string) error {
	floats, doubles, int32s, int64s, others := fieldCounts(t)
	stored, n := int32s, elements(out.Shape)
	switch onnxpb.TensorProto_DataType(t.DataType) {
	case onnxpb.TensorProto_FLOAT:
		stored, out.Real = floats, append([]float32{}, t.FloatData...)
	case onnxpb.TensorProto_DOUBLE:
		stored, out.Real = doubles, make([]float32, doubles)
		for i, v := range t.DoubleData {
			out.Real[i] = float32(v)
		}
	case onnxpb.TensorProto_FLOAT16, onnxpb.TensorProto_BFLOAT16:
		out.Real = make([]float32, int32s)
		for i, v := range t.Int32Data {
			if v < 0 || v > 0xffff {
				return malformed("%s, element %d: %d is no 16-bit pattern", what, i, v)
			}
			if t.DataType == int32(onnxpb.TensorProto_FLOAT16) {
				out.Real[i] = float16(uint16(v))
			} else {
				out.Real[i] = bfloat16(uint16(v))
			}
		}
	case onnxpb.TensorProto_INT64:
		stored, out.Ints = int64s, append([]int64{}, t.Int64Data...)
	case onnxpb.TensorProto_UINT32, onnxpb.TensorProto_UINT64:
		stored, out.Ints, others = len(t.Uint64Data), make([]int64, len(t.Uint64Data)), len(t.StringData)+len(t.Uint64Data)
		for i, v := range t.Uint64Data {
			out.Ints[i] = int64(v)
		}
	case onnxpb.TensorProto_INT4, onnxpb.TensorProto_UINT4:
		packed := make([]byte, int32s) // two elements in each number
		for i, v := range t.Int32Data {
			packed[i] = byte(v)
		}
		if floats+doubles+int64s+others > 0 {
			return malformed("%s has elements outside the field for %s", what, typeName(t.DataType))
		}
		return out.raw(packed, t.DataType, what)
	default:
		out.Ints = make([]int64, int32s)
		for i, v := range t.Int32Data {
			out.Ints[i] = int64(v)
		}
	}
	if stored != n || floats+doubles+int32s+int64s+others != n {
		return malformed("%s has %d elements in the field for %s and %d in others, expected %d for shape %v", what, stored,
			typeName(t.DataType), floats+doubles+int32s+int64s+others-stored, n, out.Shape)
	}
	return nil
}

// bfloat16 is the upper half of a float32.
func bfloat16(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// float16 decodes IEEE 754 binary16.
func float16(b uint16) float32 {
	sign, exponent, mantissa := 1.0, int(b>>10&31), float64(b&1023)
	if b>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return float32(sign * math.Ldexp(mantissa, -24))
	case 31:
		if mantissa != 0 {
			return float32(math.NaN())
		}
		return float32(math.Inf(int(sign)))
	}
	return float32(sign * math.Ldexp(1024+mantissa, exponent-25))
}

// DecodeTensor reads a tensor as ONNX's test data store them.
func DecodeTensor(t *onnxpb.TensorProto) (*Tensor, error) {
	return decodeTensor(t, "the tensor", &externals{})
}
