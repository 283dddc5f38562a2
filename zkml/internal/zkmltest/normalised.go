package zkmltest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Normalised takes the softmax and the layer norm of rows, of which no axis needs padding. Its tensors are called after what they are: top, exp,
// sum, reciprocal, product and probabilities; total, mean, centred, squares, root, scaled and normed.
func Normalised(seed uint64, rows, columns int) *Case {
	m := &maker{Builder: graph.NewBuilder("normalised"), rng: rand.New(rand.NewPCG(7, seed))}
	// function looks up f of x / 2^shift, rounded.
	function := func(name string, x graph.TensorID, shift uint8, f func(q float64) float64) graph.TensorID {
		t := m.Tensor(x)
		bits := graph.LookupBits(t.Lo, t.Hi, shift)
		y := make([]int32, 1<<bits)
		for i := range y {
			y[i] = int32(math.Round(f(float64(i - len(y)/2))))
		}
		return m.Lookup(name, x, shift, m.Table(name, uint8(bits), y), 1)
	}
	clamp := func(q float64) float64 { return max(-128, min(127, q)) }
	all := func(n int) graph.AxisMap { return graph.AxisMap{Axis: 0, Shape: []int{n}} }
	x := m.Input("x", []int{rows, columns}, -128, 127, 1)

	top := x
	for n := columns; n > 1; n /= 2 {
		half := func(name string, from int) graph.TensorID {
			index := make([]int32, n/2)
			for i := range index {
				index[i] = int32(from + i)
			}
			return m.Rearrange(fmt.Sprintf("%s%d", name, n), top, []graph.AxisMap{all(rows), {Axis: 1, Shape: []int{n / 2}, Index: index}}, nil)
		}
		a, b := half("low", 0), half("high", n/2)
		over := function(fmt.Sprint("over", n), m.Linear(fmt.Sprint("less", n), []graph.Term{{Coef: 1, T: a}, {Coef: -1, T: b}}, 0, 1), 0, func(q float64) float64 { return max(q, 0) })
		top = function(fmt.Sprint("top", n), m.Linear(fmt.Sprint("greater", n), []graph.Term{{Coef: 1, T: b}, {Coef: 1, T: over}}, 0, 1), 0, clamp)
	}
	distance := m.Linear("distance", []graph.Term{{Coef: 1, T: x}, {Coef: -1, T: top}}, 0, 1)
	exp := function("exp", distance, 0, func(q float64) float64 { return 255 * math.Exp(min(q, 0)/32) })
	sum := m.Einsum("sum", "rc->r", exp, graph.None, 1)
	reciprocal := function("reciprocal", sum, 2, func(q float64) float64 { // of at least 255, which the maximum gives
		if q < 1 {
			return 0
		}
		return 1 << 14 / max(q, 63)
	})
	product := m.Einsum("product", "rc,r->rc", exp, reciprocal, 1)
	probabilities := function("probabilities", product, 4, func(q float64) float64 { return max(0, min(255, q/16)) })

	total := m.Einsum("total", "rc->r", x, graph.None, 1)
	mean := function("mean", total, 0, func(q float64) float64 { return clamp(q / float64(columns)) })
	centred := m.Linear("centred", []graph.Term{{Coef: 1, T: x}, {Coef: -1, T: m.Reshape("column", mean, []int{rows, 1})}}, 0, 1)
	squares := m.Einsum("squares", "rc,rc->r", centred, centred, 1)
	root := function("root", squares, 8, func(q float64) float64 {
		if q < 1 {
			return 0
		}
		return 4096 / math.Sqrt(q)
	})
	scaled := m.Einsum("scaled", "rc,r->rc", centred, root, 1)
	normed := function("normed", scaled, 10, func(q float64) float64 { return clamp(q / 8) })

	p, w, err := m.BuildAll([]graph.TensorID{probabilities, normed}, nil)
	if err != nil {
		panic(fmt.Sprintf("zkmltest: %v", err))
	}
	return &Case{Name: p.Name, Program: p, Weights: w, X: m.values(rows*columns, 100)}
}
