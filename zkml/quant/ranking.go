package quant

import (
	"cmp"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// similarities collects outputs of the model and of the integer program as vectors of length 1.
type similarities struct {
	first         int // the output's value, -1 for none
	real, integer [][]float32
}

func (s *similarities) add(real *onnx.Tensor, integer []int32) {
	a, b := make([]float32, real.Len()), make([]float32, real.Len())
	var aa, bb float64
	for i := range a {
		if v := real.At(i); math.Abs(v) < hiddenValue {
			a[i], b[i] = float32(v), float32(integer[i])
			aa, bb = aa+v*v, bb+float64(integer[i])*float64(integer[i])
		}
	}
	unit(a, aa)
	unit(b, bb)
	s.real, s.integer = append(s.real, a), append(s.integer, b)
}

// unit divides a vector by the root of its square; one without length stays zero.
func unit(v []float32, square float64) {
	if length := math.Sqrt(square); length > 0 {
		for i := range v {
			v[i] = float32(float64(v[i]) / length)
		}
	}
}

// ranking is Spearman's correlation of the similarities of all pairs, or 0.
func (s *similarities) ranking() float64 {
	if len(s.real) < 4 {
		return 0
	}
	return spearman(pairwiseCosines(s.real), pairwiseCosines(s.integer))
}

// pairwiseCosines returns the products of all pairs of vectors.
func pairwiseCosines(v [][]float32) []float64 {
	n := len(v)
	out := make([]float64, n*(n-1)/2)
	parallel.For(n, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range i {
				sum := 0.0
				for k, x := range v[i] {
					sum += float64(x) * float64(v[j][k])
				}
				out[i*(i-1)/2+j] = sum
			}
		}
	})
	return out
}

// spearman is the correlation of ranks; equal numbers share the mean of theirs. It is 0 where all numbers of one side are equal.
func spearman(a, b []float64) float64 {
	ra, rb := ranks(a), ranks(b)
	mean := float64(len(a)-1) / 2
	var ab, aa, bb float64
	for i := range ra {
		x, y := ra[i]-mean, rb[i]-mean
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

func ranks(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	out := make([]float64, len(v))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && v[order[j]] == v[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			out[order[k]] = float64(i+j-1) / 2
		}
		i = j
	}
	return out
}
