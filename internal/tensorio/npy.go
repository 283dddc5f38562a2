package tensorio

import (
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

const npyMagic = "\x93NUMPY"

// maxRank bounds the axes of an array.
const maxRank = 16

// The header is a Python literal; NumPy writes it in exactly this form.
var npyHeader = regexp.MustCompile(`^\{'descr': '([^']*)', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \}[ ]*\n$`)

type npyType struct {
	size int
	read func([]byte) float64
}

var npyTypes = map[string]npyType{
	"<f4": {4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }},
	"<f8": {8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }},
	"|u1": {1, func(b []byte) float64 { return float64(b[0]) }},
	"|i1": {1, func(b []byte) float64 { return float64(int8(b[0])) }},
	"<u2": {2, func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) }},
	"<i2": {2, func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }},
	"<u4": {4, func(b []byte) float64 { return float64(binary.LittleEndian.Uint32(b)) }},
	"<i4": {4, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) }},
	"<u8": {8, func(b []byte) float64 { return float64(binary.LittleEndian.Uint64(b)) }},
	"<i8": {8, func(b []byte) float64 { return float64(int64(binary.LittleEndian.Uint64(b))) }},
}

// ReadNPY decodes a .npy file (format version 1, 2 or 3) of little-endian
// floats or integers in C order. The file must be exactly as long as its
// header says, and hold finite numbers.
func ReadNPY(file []byte) (Tensor, error) {
	if len(file) < 10 || string(file[:6]) != npyMagic {
		return Tensor{}, fmt.Errorf("npy: not a .npy file")
	}
	var start int
	switch major := file[6]; {
	case major == 1 && file[7] == 0:
		start = 10 + int(binary.LittleEndian.Uint16(file[8:]))
	case (major == 2 || major == 3) && file[7] == 0 && len(file) >= 12:
		n := binary.LittleEndian.Uint32(file[8:])
		if int64(n) > int64(len(file)) {
			return Tensor{}, fmt.Errorf("npy: header of %d bytes in a file of %d", n, len(file))
		}
		start = 12 + int(n)
	default:
		return Tensor{}, fmt.Errorf("npy: format version %d.%d, want 1.0, 2.0 or 3.0", file[6], file[7])
	}
	if start > len(file) {
		return Tensor{}, fmt.Errorf("npy: header ends at byte %d of a file of %d", start, len(file))
	}
	headStart := 10
	if file[6] != 1 {
		headStart = 12
	}
	m := npyHeader.FindSubmatch(file[headStart:start])
	if m == nil {
		return Tensor{}, fmt.Errorf("npy: the header is not {'descr': ..., 'fortran_order': ..., 'shape': ...}")
	}
	dtype, ok := npyTypes[string(m[1])]
	if !ok {
		return Tensor{}, fmt.Errorf("npy: descr %q, want a little-endian float32, float64 or integer type", m[1])
	}
	shape, err := npyShape(string(m[3]))
	if err != nil {
		return Tensor{}, err
	}
	if string(m[2]) == "True" && len(squeeze(shape)) > 1 {
		return Tensor{}, fmt.Errorf("npy: fortran_order is True, want C order (numpy.ascontiguousarray)")
	}
	body := file[start:]
	n := int64(1)
	for _, d := range shape {
		if d > 0 && n > int64(len(body))/int64(d) {
			return Tensor{}, fmt.Errorf("npy: shape %s needs more than the file's %d bytes of data", ShapeText(shape), len(body))
		}
		n *= int64(d)
	}
	if n == 0 {
		return Tensor{}, fmt.Errorf("npy: shape %s has no elements", ShapeText(shape))
	}
	if n*int64(dtype.size) != int64(len(body)) {
		return Tensor{}, fmt.Errorf("npy: shape %s of %s needs %d bytes of data, the file has %d", ShapeText(shape), m[1], n*int64(dtype.size), len(body))
	}
	t := Tensor{Shape: shape, Data: make([]float64, n)}
	for i := range t.Data {
		t.Data[i] = dtype.read(body[i*dtype.size:])
		if err := checkFinite(t.Data[i]); err != nil {
			return Tensor{}, fmt.Errorf("npy: element %d %w", i, err)
		}
	}
	return t, nil
}

// npyShape parses "3, 28, 28", "784," or "".
func npyShape(text string) ([]int, error) {
	shape := []int{}
	if strings.TrimSpace(text) == "" {
		return shape, nil
	}
	parts := strings.Split(text, ",")
	if last := len(parts) - 1; strings.TrimSpace(parts[last]) == "" {
		parts = parts[:last]
	}
	if len(parts) > maxRank {
		return nil, fmt.Errorf("npy: %d axes, at most %d", len(parts), maxRank)
	}
	for _, p := range parts {
		d, err := strconv.ParseInt(strings.TrimSpace(p), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("npy: shape (%s): bad axis %q", text, p)
		}
		shape = append(shape, int(d))
	}
	return shape, nil
}
