package models

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// array is a numpy array in row-major order.
type array struct {
	shape  []int
	values []float64
}

// rows splits along the first axis.
func (a *array) rows() [][]float64 {
	if a == nil || a.shape[0] == 0 {
		return nil
	}
	length := len(a.values) / a.shape[0]
	out := make([][]float64, a.shape[0])
	for i := range out {
		out[i] = a.values[i*length : (i+1)*length]
	}
	return out
}

var header = regexp.MustCompile(`^\{'descr': '([<|])([uif])([1248])', 'fortran_order': False, 'shape': \(([0-9, ]+)\), \} *\n$`)

// readArray reads one array of a .npz file: version 1 of the .npy format, which ends its text header at a multiple of 64 bytes.
func readArray(f *zip.File) (*array, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if len(data) < 10 || string(data[:8]) != "\x93NUMPY\x01\x00" {
		return nil, fmt.Errorf("no array in version 1 of numpy's format")
	}
	size := 10 + int(binary.LittleEndian.Uint16(data[8:]))
	if size > len(data) {
		return nil, fmt.Errorf("header of %d bytes, the file has %d", size, len(data))
	}
	m := header.FindSubmatch(data[10:size])
	if m == nil {
		return nil, fmt.Errorf("header %q is not understood", data[10:size])
	}
	a, n := &array{}, 1
	for d := range strings.SplitSeq(string(m[4]), ",") {
		if d = strings.TrimSpace(d); d == "" {
			continue
		}
		length, err := strconv.Atoi(d)
		if err != nil || length < 1 || n > len(data)/length {
			return nil, fmt.Errorf("axis of length %s, the file has %d bytes", d, len(data))
		}
		a.shape, n = append(a.shape, length), n*length
	}
	width := int(m[3][0] - '0')
	if len(data)-size != n*width {
		return nil, fmt.Errorf("%d bytes of elements, shape %v of %d bytes each takes %d", len(data)-size, a.shape, width, n*width)
	}
	element, err := decoder(m[2][0], width)
	if err != nil {
		return nil, err
	}
	a.values = make([]float64, n)
	for i := range a.values {
		a.values[i] = element(data[size+i*width:])
	}
	return a, nil
}

// decoder reads one little-endian element.
func decoder(kind byte, width int) (func([]byte) float64, error) {
	le := binary.LittleEndian
	switch string(kind) + strconv.Itoa(width) {
	case "u1":
		return func(b []byte) float64 { return float64(b[0]) }, nil
	case "i2":
		return func(b []byte) float64 { return float64(int16(le.Uint16(b))) }, nil
	case "f2":
		return func(b []byte) float64 { return half(le.Uint16(b)) }, nil
	case "f4":
		return func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }, nil
	}
	return nil, fmt.Errorf("elements of type %c%d are not understood", kind, width)
}

// half is the value of a finite IEEE number of 16 bits.
func half(b uint16) float64 {
	mantissa, exponent := float64(b&0x3ff), int(b>>10&31)
	v := math.Ldexp(mantissa, -24) // subnormal
	if exponent > 0 {
		v = math.Ldexp(1024+mantissa, exponent-25)
	}
	if b>>15 == 1 {
		return -v
	}
	return v
}
