// Package tensorio reads the inputs and samples that people give to models:
// JSON, NumPy's .npy, and PNG pictures. All readers are strict, and take no
// more memory than the file justifies.
package tensorio

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Tensor is numbers in row-major order. Data holds the product of Shape.
type Tensor struct {
	Shape []int
	Data  []float64
}

// Format is a kind of file.
type Format int

// Formats that Read knows.
const (
	JSON Format = iota
	NPY
	PNG
	NPZ
)

// Detect tells a file's format by its first bytes.
func Detect(file []byte) Format {
	switch {
	case len(file) >= len(npyMagic) && string(file[:len(npyMagic)]) == npyMagic:
		return NPY
	case len(file) >= len(pngMagic) && string(file[:len(pngMagic)]) == pngMagic:
		return PNG
	case len(file) >= len(zipMagic) && string(file[:len(zipMagic)]) == zipMagic:
		return NPZ
	}
	return JSON
}

// Read decodes a file that holds one or more inputs of the given shape and
// returns them one after the other, each as values in row-major order.
//
// JSON: {"input_data": [input]}, where the one input is nested like its shape
// or flat. npy: an array of the shape (axes of length 1 may be missing), or
// flat, or with one more axis in front that counts inputs. An array of any
// shape will do where a flat one is asked for. PNG: for shapes
// that end in height and width, gray or colour planes scaled to 0..1; a
// picture some whole number of times as high and wide is a sheet of inputs,
// read row by row.
func Read(file []byte, shape []int) ([][]float64, error) {
	return read(file, shape, math.MaxInt)
}

// ReadOne is Read for files that must hold one input.
func ReadOne(file []byte, shape []int) ([]float64, error) {
	inputs, err := read(file, shape, 1)
	if err != nil {
		return nil, err
	}
	if len(inputs) != 1 {
		return nil, fmt.Errorf("holds %d inputs, want one", len(inputs))
	}
	return inputs[0], nil
}

func read(file []byte, shape []int, most int) ([][]float64, error) {
	switch Detect(file) {
	case NPY:
		t, err := ReadNPY(file)
		if err != nil {
			return nil, err
		}
		return split(t, shape)
	case PNG:
		return readPNG(file, shape, most)
	case NPZ:
		return nil, fmt.Errorf("an .npz archive has arrays under the names of inputs, and none of these is known here")
	}
	tensors, err := readObject(file, []Input{{listField, shape}})
	if err != nil {
		return nil, err
	}
	return [][]float64{tensors[0].Data}, nil
}

// split cuts an array into inputs of the given shape.
func split(t Tensor, shape []int) ([][]float64, error) {
	size := Elements(shape)
	if sameLayout(t.Shape, shape) {
		return [][]float64{t.Data}, nil
	}
	if len(t.Shape) >= 2 && sameLayout(t.Shape[1:], shape) {
		out := make([][]float64, t.Shape[0])
		for i := range out {
			out[i] = t.Data[i*size : (i+1)*size]
		}
		return out, nil
	}
	// An array of single inputs makes batches.
	if len(shape) >= 2 && shape[0] > 1 && len(t.Shape) >= 2 && t.Shape[0]%shape[0] == 0 && sameLayout(t.Shape[1:], shape[1:]) {
		return slices.Collect(slices.Chunk(t.Data, size)), nil
	}
	return nil, fmt.Errorf("the array has shape %s, the model takes %s", ShapeText(t.Shape), ShapeText(shape))
}

// sameLayout says whether an array of one shape can stand for an input of
// another: the same axes but for those of length 1, or one of them flat.
func sameLayout(got, want []int) bool {
	got, want = squeeze(got), squeeze(want)
	return slices.Equal(got, want) || (min(len(got), len(want)) <= 1 && Elements(got) == Elements(want))
}

func squeeze(shape []int) []int {
	return slices.DeleteFunc(slices.Clone(shape), func(n int) bool { return n == 1 })
}

// Elements is the product of a shape.
func Elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// ShapeText writes a shape as 1x28x28.
func ShapeText(shape []int) string {
	if len(shape) == 0 {
		return "scalar"
	}
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = fmt.Sprint(d)
	}
	return strings.Join(parts, "x")
}

// checkFinite refuses NaN and infinities.
func checkFinite(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("is %v, want a finite number", v)
	}
	return nil
}
