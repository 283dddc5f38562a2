package onnx

import (
	"math"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/internal/real"
)

// TestExact compares every function's exact value with the one in float64.
func TestExact(t *testing.T) {
	for f := range numFuncs {
		checked := 0
		for _, x := range []float64{-30, -3.5, -2, -1, -0.7, -0.01, 0, 1e-9, 0.3, 0.5, 1, 1.5, 2.5, 4, 17} {
			a, b := 0.75, 0.25
			switch f {
			case FuncClip:
				a, b = -1.5, 2.25
			case FuncPow:
				a = 3
			}
			want := f.At(x, a, b)
			if math.IsNaN(want) || math.IsInf(want, 0) {
				continue
			}
			got, _ := f.Exact(real.Number(x), a, b).Float64()
			if math.Abs(got-want) > 1e-13*max(1, math.Abs(want)) {
				t.Errorf("%s(%g) is %g, in float64 %g", f, x, got, want)
			}
			checked++
		}
		if checked < 7 {
			t.Errorf("%s: %d values checked", f, checked)
		}
	}
}
