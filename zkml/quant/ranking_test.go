package quant

import (
	"math"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

func TestSpearman(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{10, 20, 30, 35}, 1},
		{[]float64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, -1},
		{[]float64{1, 2, 3, 4, 5}, []float64{2, 1, 4, 3, 5}, 0.8},         // 1 - 6*4/(5*24)
		{[]float64{1, 2, 2, 3}, []float64{1, 2, 3, 4}, 0.948683298050514}, // ranks 0, 1.5, 1.5, 3
		{[]float64{1, 1, 1}, []float64{1, 2, 3}, 0},
	} {
		if got := spearman(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v, %v: %g, expected %g", c.a, c.b, got, c.want)
		}
	}
}

// TestRanking: five directions whose similarities the integers keep, and then those of two samples exchanged.
func TestRanking(t *testing.T) {
	var s similarities
	vector := func(degrees float64) (*onnx.Tensor, []int32) {
		x, y := math.Sincos(degrees / 180 * math.Pi)
		return &onnx.Tensor{Shape: []int{2}, Real: []float32{float32(x), float32(y)}}, []int32{int32(math.Round(1000 * x)), int32(math.Round(1000 * y))}
	}
	if s.ranking() != 0 {
		t.Error("a ranking of nothing")
	}
	s.add(&onnx.Tensor{Shape: []int{2}, Real: make([]float32, 2)}, make([]int32, 2)) // no direction
	for _, d := range []float64{0, 10, 25, 50, 100} {
		real, integer := vector(d)
		s.add(real, integer)
	}
	if got := s.ranking(); got != 1 {
		t.Errorf("ranking %g, expected 1", got)
	}
	s.integer[1], s.integer[5] = s.integer[5], s.integer[1]
	if got := s.ranking(); got > 0.7 {
		t.Errorf("ranking %g with two samples exchanged", got)
	}
}
