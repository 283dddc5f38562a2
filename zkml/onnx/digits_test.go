package onnx_test

import (
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/examples/digits"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// TestDigits reads the shipped model and checks its float accuracy on the shipped test images.
func TestDigits(t *testing.T) {
	m, err := onnx.Parse(digits.Model, onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Values[m.Inputs[0]].Shape; !slices.Equal(got, []int{1, 1, 28, 28}) {
		t.Fatalf("input shape %v", got)
	}
	if m.Weights() != 784*128+128+128*10+10 {
		t.Fatalf("%d weights", m.Weights())
	}
	images, labels, err := digits.Test()
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i := range images {
		values, err := m.RunOne(images[i].Values())
		if err != nil {
			t.Fatal(err)
		}
		scores := values[m.Outputs[0]]
		if slices.Index(scores, slices.Max(scores)) == labels[i] {
			right++
		}
	}
	if accuracy := float64(right) / float64(len(images)); accuracy < 0.97 {
		t.Fatalf("float accuracy %.3f", accuracy)
	}
}
