package quant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// run builds the composer's program with the given output and evaluates it on every input; results are real numbers.
func run(t *testing.T, c *composer, out codes, inputs ...[]int32) [][]float64 {
	t.Helper()
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	p, w, err := c.b.Build(out.id, graph.NoPost, nil)
	if err != nil {
		t.Fatal(err)
	}
	var results [][]float64
	for _, x := range inputs {
		y, err := graph.Output(p, w, x)
		if err != nil {
			t.Fatal(err)
		}
		padded, err := graph.RunPadded(p, w, x) // checks bounds in padding too
		if err != nil {
			t.Fatal(err)
		}
		real := graph.Unpad(p.Tensor(p.Outputs[0]).Shape, padded[p.Outputs[0]])
		r := make([]float64, len(y))
		for i, v := range y {
			if real[i] != v {
				t.Fatalf("element %d is %d, padded %d", i, v, real[i])
			}
			r[i] = float64(v) * out.scale
		}
		results = append(results, r)
	}
	return results
}

// rowsOf makes inputs of the given size within [lo, hi]: random ones, constant ones at both ends and at zero, one spike, alternating ends.
func rowsOf(rng *rand.Rand, n int, lo, hi int32) [][]int32 {
	fill := func(f func(i int) int32) []int32 {
		x := make([]int32, n)
		for i := range x {
			x[i] = f(i)
		}
		return x
	}
	return [][]int32{
		fill(func(int) int32 { return lo + rng.Int32N(hi-lo+1) }),
		fill(func(int) int32 { return int32(math.Round(rng.NormFloat64()*float64(hi)/16)) % hi }),
		fill(func(int) int32 { return lo }), fill(func(int) int32 { return hi }), fill(func(int) int32 { return 0 }),
		fill(func(i int) int32 {
			if i == n/2 {
				return hi
			}
			return lo
		}),
		fill(func(i int) int32 {
			if i%2 == 0 {
				return hi
			}
			return lo
		}),
	}
}

func TestMax(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 3, 5, 7, 33, 100} {
		for _, bits := range []int{2, 8, 9} {
			lo, hi := -int32(1)<<(bits-1), int32(1)<<(bits-1)-1
			c := newComposer("max", 16)
			x := codes{c.b.Input("x", []int{3, n, 2}, int64(lo), int64(hi), 0.5), 0.5}
			inputs := rowsOf(rng, 6*n, lo, hi)
			sum := c.b.Linear("twice", []graph.Term{{Coef: 2, T: c.max("m", x, 1).id}}, 0, 0.5)
			for k, y := range run(t, c, codes{sum, 0.5}, inputs...) {
				for r := range 3 {
					for j := range 2 {
						want := int32(math.MinInt32)
						for i := range n {
							want = max(want, inputs[k][(r*n+i)*2+j])
						}
						if got := y[2*r+j]; got != float64(want) {
							t.Fatalf("n=%d, %d bits, input %d: %g, expected %d", n, bits, k, got, want)
						}
					}
				}
			}
		}
	}
	c := newComposer("max", 16)
	x := codes{c.b.Input("x", []int{4}, -300, 300, 1), 1}
	if c.max("m", x, 0); c.Err() == nil {
		t.Error("a maximum of 10 bits was accepted")
	}
}

// TestArgMax wants the first or last of the greatest elements, many of which are equal.
func TestArgMax(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for _, n := range []int{1, 2, 3, 5, 7, 33, 100} {
		for _, hi := range []int32{1, 3, 32000} {
			for _, last := range []bool{false, true} {
				c := newComposer("argmax", 16)
				x := c.b.Input("x", []int{3, n, 2}, int64(-hi), int64(hi), 1)
				inputs := rowsOf(rng, 6*n, -hi, hi)
				for k, y := range run(t, c, codes{c.argMax("m", x, 1, last), 1}, inputs...) {
					for i, v := range graph.ArgMax(inputs[k], []int{3, n, 2}, 1, last) {
						if y[i] != v {
							t.Fatalf("n=%d, up to %d, last %t, input %d, row %d: %g, expected %g", n, hi, last, k, i, y[i], v)
						}
					}
				}
			}
		}
	}
	c := newComposer("argmax", 16)
	x := c.b.Input("x", []int{4}, -1<<20, 1<<20, 1)
	if c.argMax("m", x, 0, false); c.Err() == nil {
		t.Error("a comparison of 21 bits was accepted")
	}
}

// TestSoftmax compares rows with float softmax: of every length, on random, constant, saturated and one-hot rows, for coarse and fine scores.
func TestSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, n := range []int{1, 2, 3, 7, 33, 256, 1024} {
		for _, s := range []struct {
			bits  int
			scale float64
			limit float64
		}{{8, 1.0 / 8, 0.002}, {12, 1.0 / 64, 0.002}, {12, 1.0 / 300, 0.002}, {9, 0.05, 0.002}, {12, 0.05, 0.002}, {12, 0.2, 0.003}} {
			hi := int32(1)<<(s.bits-1) - 1
			c := newComposer("softmax", 16)
			x := codes{c.b.Input("x", []int{n}, int64(-hi), int64(hi), s.scale), s.scale}
			inputs := rowsOf(rng, n, -hi, hi)
			worst := 0.0
			for k, y := range run(t, c, c.softmax("s", x, int64(-hi), []int{0}, nil), inputs...) {
				want := softmaxOf(inputs[k], s.scale, nil)
				for i := range y {
					worst = max(worst, math.Abs(y[i]-want[i]))
				}
			}
			if worst > s.limit {
				t.Errorf("n=%d, %d bits of %g: error %.5f", n, s.bits, s.scale, worst)
			}
		}
	}
}

func softmaxOf(x []int32, scale float64, keep func(i int) bool) []float64 {
	top, sum := math.Inf(-1), 0.0
	y := make([]float64, len(x))
	for i, v := range x {
		if keep == nil || keep(i) {
			top = max(top, float64(v)*scale)
		}
	}
	for i, v := range x {
		if keep == nil || keep(i) {
			y[i] = math.Exp(float64(v)*scale - top)
			sum += y[i]
		}
	}
	for i := range y {
		y[i] /= sum
	}
	return y
}

// TestCausalSoftmax masks scores that are far above those that count. The first row has one valid entry, the last row none: it is uniform.
func TestCausalSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, n := range []int{1, 3, 16, 65} {
		m := &mask{shape: []int{1, n + 1, n}}
		for i := range n + 1 {
			for j := range n {
				m.keep = append(m.keep, j <= i && i < n)
			}
		}
		const heads, scale, hi = 3, 1.0 / 100, 2047
		c := newComposer("softmax", 16)
		x := codes{c.b.Input("x", []int{heads, n + 1, n}, -hi, hi, scale), scale}
		inputs := rowsOf(rng, heads*(n+1)*n, -hi, hi)
		high := make([]int32, heads*(n+1)*n) // masked scores greatest
		for i := range high {
			if high[i] = -hi + rng.Int32N(20); !m.keep[i%len(m.keep)] {
				high[i] = hi
			}
		}
		inputs = append(inputs, high)
		for k, y := range run(t, c, c.softmax("s", x, c.floorOf(x), []int{2}, m), inputs...) {
			for r := range heads * (n + 1) {
				i := r % (n + 1)
				want := softmaxOf(inputs[k][r*n:(r+1)*n], scale, func(j int) bool { return j <= i && i < n })
				for j := range n {
					if i == n {
						want[j] = 1 / float64(n)
					}
					if got := y[r*n+j]; math.Abs(got-want[j]) > 0.002 || (j > i && i < n && got != 0) {
						t.Fatalf("n=%d, input %d, row %d, column %d: %.4f, expected %.4f", n, k, i, j, got, want[j])
					}
				}
			}
		}
	}
}

// TestSoftmaxAxes takes softmax along a first axis and over two axes together.
func TestSoftmaxAxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for _, axes := range [][]int{{0}, {1, 2}, {0, 2}} {
		shape := []int{5, 3, 6}
		c := newComposer("softmax", 16)
		const scale, hi = 1.0 / 16, 127
		x := codes{c.b.Input("x", shape, -hi, hi, scale), scale}
		inputs := rowsOf(rng, 90, -hi, hi)
		for k, y := range run(t, c, c.softmax("s", x, -hi, axes, nil), inputs...) {
			for i := range y {
				same := func(j int) bool { // j is in i's row
					for a, step := 2, 1; a >= 0; a-- {
						in := false
						for _, b := range axes {
							in = in || a == b
						}
						if !in && i/step%shape[a] != j/step%shape[a] {
							return false
						}
						step *= shape[a]
					}
					return true
				}
				if want := softmaxOf(inputs[k], scale, same)[i]; math.Abs(y[i]-want) > 0.002 {
					t.Fatalf("axes %v, input %d, element %d: %.4f, expected %.4f", axes, k, i, y[i], want)
				}
			}
		}
	}
}

// TestNorm compares rows of many lengths and sizes with the float norm.
func TestNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, n := range []int{1, 2, 3, 7, 33, 100, 768, 1024} {
		for _, bits := range []int{8, 12, 16} {
			for _, centre := range []bool{true, false} {
				hi := int32(1)<<(bits-1) - 1
				scale := 8 / float64(hi)
				const epsilon = 1e-5
				c := newComposer("norm", 16)
				x := codes{c.b.Input("x", []int{2, n}, int64(-hi), int64(hi), scale), scale}
				inputs := rowsOf(rng, 2*n, -hi, hi)
				for _, size := range []float64{0.3, 0.05, 0.02} {
					row := make([]int32, 2*n)
					for i := range row {
						row[i] = int32(math.Round(min(max(rng.NormFloat64()*float64(hi)*size, -float64(hi)), float64(hi))))
					}
					inputs = append(inputs, row)
				}
				for k, y := range run(t, c, c.norm("s", x, []int{1}, epsilon, centre, nil), inputs...) {
					for r := range 2 {
						want, deviation := normOf(inputs[k][r*n:(r+1)*n], scale, epsilon, centre)
						noise, power := 0.0, 1e-9
						for i := range want {
							noise += (y[r*n+i] - want[i]) * (y[r*n+i] - want[i])
							power += want[i] * want[i]
						}
						// Half a unit of the mean's rounding, against the row's own size.
						limit := 0.02 + 0.8/max(deviation/scale, 0.5)
						if e := math.Sqrt(noise / power); e > limit && power > 1e-3 {
							t.Errorf("n=%d, %d bits, centre %t, input %d: relative error %.4f, expected %.4f (deviation %.2f units)", n, bits, centre, k, e, limit, deviation/scale)
						}
					}
				}
			}
		}
	}
}

func normOf(x []int32, scale, epsilon float64, centre bool) ([]float64, float64) {
	n := float64(len(x))
	mean, square := 0.0, 0.0
	for _, v := range x {
		mean += float64(v) * scale / n
	}
	if !centre {
		mean = 0
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)*scale - mean
		square += y[i] * y[i] / n
	}
	for i := range y {
		y[i] /= math.Sqrt(square + epsilon)
	}
	return y, math.Sqrt(square)
}

// TestNormAxes norms over a first axis and over two axes that are not neighbours.
func TestNormAxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for _, axes := range [][]int{{0}, {0, 2}, {1, 2}} {
		shape := []int{6, 3, 5}
		const hi, scale = 2047, 1.0 / 256
		c := newComposer("norm", 16)
		x := codes{c.b.Input("x", shape, -hi, hi, scale), scale}
		in := rowsOf(rng, 90, -hi, hi)[:2]
		for k, y := range run(t, c, c.norm("s", x, axes, 1e-5, true, nil), in...) {
			groups := map[string][]int{}
			for i := range y {
				key := ""
				for a, step := 2, 1; a >= 0; a-- {
					if i2 := i / step % shape[a]; !contains(axes, a) {
						key += fmt.Sprint(a, i2, ";")
					}
					step *= shape[a]
				}
				groups[key] = append(groups[key], i)
			}
			for _, g := range groups {
				row := make([]int32, len(g))
				for j, i := range g {
					row[j] = in[k][i]
				}
				want, _ := normOf(row, scale, 1e-5, true)
				for j, i := range g {
					if math.Abs(y[i]-want[j]) > 0.02 {
						t.Fatalf("axes %v, input %d, element %d: %.4f, expected %.4f", axes, k, i, y[i], want[j])
					}
				}
			}
		}
	}
}

func contains(s []int, v int) bool {
	for _, x := range s {
		if x == v {
			return true
		}
	}
	return false
}

// TestMaximum finds maxima of integers far wider than a table of pairs, exactly, along one axis or two.
func TestMaximum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, n := range []int{1, 3, 33} {
		for _, bits := range []int{8, 10, 14, 20, 24} {
			lo, hi := -int32(1)<<(bits-1), int32(1)<<(bits-1)-1
			c := newComposer("maximum", 16)
			x := codes{c.b.Input("x", []int{2, n, 2}, int64(lo), int64(hi), 0.5), 0.5}
			inputs := rowsOf(rng, 4*n, lo, hi)
			near := slices.Clone(inputs[0]) // neighbours, of which the least bits decide
			for i := range near {
				near[i] = hi/3 + int32(i%3)
			}
			inputs = append(inputs, near)
			sum := c.b.Linear("twice", []graph.Term{{Coef: 2, T: c.maximum("m", x, []int{1, 2}).id}}, 0, 0.5)
			for k, y := range run(t, c, codes{sum, 0.5}, inputs...) {
				for r := range 2 {
					if want := slices.Max(inputs[k][r*2*n : (r+1)*2*n]); y[r] != float64(want) {
						t.Fatalf("n=%d, %d bits, input %d: %g, expected %d", n, bits, k, y[r], want)
					}
				}
			}
		}
	}
}

// TestSoftmaxFarApart has rows whose scores differ from each other's by thousands, and within a row by little or by thousands.
func TestSoftmaxFarApart(t *testing.T) {
	const n, scale = 9, 1.0 / 200
	rng := rand.New(rand.NewPCG(1, 4))
	c := newComposer("softmax", 16)
	x := codes{c.b.Input("x", []int{3, n}, -1<<21, 1<<21, scale), scale}
	row := make([]int32, 3*n)
	for i := range row {
		row[i] = []int32{-1 << 21, 1 << 21, 0}[i/n] + []int32{1, -1, 1}[i/n]*rng.Int32N(1200)
	}
	row[2*n+4] = 1 << 20 // hides its whole row
	z := c.belowGreatest("s", x, []int{1})
	lo, _ := c.bounds(z.id)
	for _, y := range run(t, c, c.softmax("s", z, lo, []int{1}, nil), row) {
		for r := range 3 {
			for i, want := range softmaxOf(row[r*n:(r+1)*n], scale, nil) {
				if got := y[r*n+i]; math.Abs(got-want) > 0.003 {
					t.Errorf("row %d, element %d: %.5f, expected %.5f", r, i, got, want)
				}
			}
		}
	}
}
