// Package digits carries a small handwriting model and real images for it, for
// demonstrations and tests: a 784-128-10 perceptron with ReLU trained by
// train.py, 200 images that it was not trained on, and 128 of its training
// images for calibration.
//
// The images come from MNIST; DATA.md gives their source and licence.
package digits

import (
	"bytes"
	_ "embed" // model and images
	"fmt"
	"image"
	"image/png"
	"sync"
)

// Side is the width and height of an image; Pixels is their product.
const (
	Side   = 28
	Pixels = Side * Side
)

// ModelName is the file name that Model goes by.
const ModelName = "digits-mlp.onnx"

// Model is the ONNX file. Its input "image" is [batch, 1, 28, 28] with values
// from 0 (paper) to 1 (ink), its output "scores" is [batch, 10].
//
//go:embed digits-mlp.onnx
var Model []byte

//go:embed test.png
var testSheet []byte

//go:embed test-labels.txt
var testLabels []byte

//go:embed calibration.png
var calibrationSheet []byte

// Image is one picture, row by row from the top.
type Image [Pixels]uint8

// Values is the image as the model's input: Pixels numbers from 0 to 1.
func (m *Image) Values() []float64 {
	out := make([]float64, Pixels)
	for i, p := range m {
		out[i] = float64(p) / 255
	}
	return out
}

// Gray is the image as a picture.
func (m *Image) Gray() *image.Gray {
	g := image.NewGray(image.Rect(0, 0, Side, Side))
	copy(g.Pix, m[:])
	return g
}

// Test returns the held-out images and their digits.
func Test() (images []Image, labels []int, err error) {
	images, err = testImages()
	if err != nil {
		return nil, nil, fmt.Errorf("digits: test sheet: %w", err)
	}
	for _, c := range testLabels {
		if c >= '0' && c <= '9' {
			labels = append(labels, int(c-'0'))
		}
	}
	if len(labels) != len(images) {
		return nil, nil, fmt.Errorf("digits: %d test labels for %d images", len(labels), len(images))
	}
	return images, labels, nil
}

// Calibration returns training images whose values show the ranges that occur
// inside the model.
func Calibration() ([]Image, error) {
	images, err := calibrationImages()
	if err != nil {
		return nil, fmt.Errorf("digits: calibration sheet: %w", err)
	}
	return images, nil
}

// Samples are the images of Calibration as inputs of the model: what
// calibrating it takes.
func Samples() ([][]float64, error) {
	images, err := Calibration()
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(images))
	for i := range images {
		out[i] = images[i].Values()
	}
	return out, nil
}

var (
	testImages        = sync.OnceValues(func() ([]Image, error) { return cut(testSheet) })
	calibrationImages = sync.OnceValues(func() ([]Image, error) { return cut(calibrationSheet) })
)

// cut decodes a sheet of images laid side by side, read row by row.
func cut(sheet []byte) ([]Image, error) {
	picture, err := png.Decode(bytes.NewReader(sheet))
	if err != nil {
		return nil, err
	}
	gray, ok := picture.(*image.Gray)
	if !ok {
		return nil, fmt.Errorf("the picture is not 8-bit gray")
	}
	size := gray.Bounds().Size()
	columns, rows := size.X/Side, size.Y/Side
	if size.X%Side != 0 || size.Y%Side != 0 {
		return nil, fmt.Errorf("%d x %d pixels are no whole number of images", size.X, size.Y)
	}
	out := make([]Image, columns*rows)
	for i := range out {
		for y := range Side {
			at := gray.PixOffset(i%columns*Side, i/columns*Side+y)
			copy(out[i][y*Side:], gray.Pix[at:at+Side])
		}
	}
	return out, nil
}
