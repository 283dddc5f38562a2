// Package zkmltest makes small random programs for the tests of package zkml
// and its prover.
package zkmltest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Case is a program with weights and an input.
type Case struct {
	Name    string
	Program *graph.Program
	Weights *graph.Weights
	X       []int32
}

// Output is what the program makes of the input.
func (c *Case) Output() []int32 {
	y, err := graph.Output(c.Program, c.Weights, c.X)
	if err != nil {
		panic(err)
	}
	return y
}

type maker struct {
	*graph.Builder
	rng  *rand.Rand
	uses map[graph.TensorID]bool // what Wide has used
}

func (m *maker) values(n, bound int) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = int32(m.rng.IntN(2*bound+1) - bound)
	}
	return v
}

// activation requantises x by shift bits and applies a random table whose
// values are within [-127, 127] (relu: those of max(0, q) saturated).
func (m *maker) activation(name string, x graph.TensorID, shift uint8, relu bool) graph.TensorID {
	t := m.Tensor(x)
	bits := graph.LookupBits(t.Lo, t.Hi, shift)
	y := make([]int32, 1<<bits)
	for i := range y {
		q := i - len(y)/2
		if relu {
			y[i] = int32(min(max(q, 0), 127))
		} else {
			y[i] = int32((q*7 + m.rng.IntN(5)) % 120)
		}
	}
	return m.Lookup(name, x, shift, m.Table(name, uint8(bits), y), 1)
}

func build(name string, seed uint64, input []int, body func(m *maker, x graph.TensorID) graph.TensorID) *Case {
	m := &maker{Builder: graph.NewBuilder(name), rng: rand.New(rand.NewPCG(seed, 7))}
	x := m.Input("x", input, -128, 127, 1)
	out := body(m, x)
	p, w, err := m.Build(out, graph.Post{Kind: graph.PostNone, Axis: -1}, nil)
	if err != nil {
		panic(fmt.Sprintf("zkmltest: %s: %v", name, err))
	}
	return &Case{Name: name, Program: p, Weights: w, X: m.values(graph.Elements(input), 127)}
}

func (m *maker) dense(name string, x graph.TensorID, in, out int, trans bool) graph.TensorID {
	shape := []int{in, out}
	if trans {
		shape = []int{out, in}
	}
	w := m.Param(name+".w", shape, m.values(in*out, 15), 1)
	h := m.MatMul(name+".matmul", x, w, trans, 1)
	b := m.Param(name+".b", []int{out}, m.values(out, 5000), 1)
	return m.Linear(name+".bias", []graph.Term{{Coef: 1, T: h}, {Coef: 1, T: b}}, 3, 1)
}

// MLP is a multi-layer perceptron on batch rows of widths[0] values.
func MLP(seed uint64, batch int, widths ...int) *Case {
	name := fmt.Sprintf("mlp %d x %v", batch, widths)
	return build(name, seed, []int{batch, widths[0]}, func(m *maker, x graph.TensorID) graph.TensorID {
		for i, n := range widths[1:] {
			h := m.dense(fmt.Sprintf("layer%d", i), x, widths[i], n, i%2 == 1)
			last := i == len(widths)-2
			x = m.activation(fmt.Sprintf("act%d", i), h, uint8(7+i%3), !last)
		}
		return x
	})
}

// Residual adds a scaled skip connection around a layer, looks the same
// accumulator up twice, and requantises the sum without a shift.
func Residual(seed uint64, batch, n int) *Case {
	return build(fmt.Sprintf("residual %d x %d", batch, n), seed, []int{batch, n}, func(m *maker, x graph.TensorID) graph.TensorID {
		h := m.dense("inner", x, n, n, false)
		a := m.activation("a", h, 9, true)
		b := m.activation("b", h, 9, false)
		sum := m.Linear("sum", []graph.Term{{Coef: 3, T: a}, {Coef: -2, T: x}, {Coef: 5, T: b}, {Coef: 1, T: a}}, -17, 1)
		scaled := m.Linear("scaled", []graph.Term{{Coef: 2, T: sum}, {Coef: 1, T: x}}, 0, 1)
		return m.activation("out", scaled, 0, false)
	})
}

// Rearranged reshapes where the padded layouts differ, and where they agree.
func Rearranged(seed uint64) *Case {
	return build("reshape", seed, []int{3, 10}, func(m *maker, x graph.TensorID) graph.TensorID {
		h := m.activation("h", m.dense("first", x, 10, 6, false), 6, true) // 3 x 6
		r := m.Reshape("moved", h, []int{2, 9})
		g := m.activation("g", m.dense("second", r, 9, 5, true), 8, false) // 2 x 5
		f := m.Reshape("flat", g, []int{1, 2, 5})
		return m.activation("out", m.Linear("twice", []graph.Term{{Coef: 2, T: f}}, 1, 1), 1, false)
	})
}

// Chain multiplies matrices without anything committed in between, adds a
// parameter that broadcasts over rows, and outputs a virtual tensor with
// padding.
func Chain(seed uint64) *Case {
	return build("chain", seed, []int{2, 3, 5}, func(m *maker, x graph.TensorID) graph.TensorID {
		a := m.activation("a", x, 2, false)
		h := m.MatMul("one", a, m.Param("w1", []int{5, 7}, m.values(35, 3), 1), false, 1)
		g := m.MatMul("two", h, m.Param("w2", []int{3, 7}, m.values(21, 3), 1), true, 1)
		c := m.Param("c", []int{3, 1}, m.values(3, 9000), 1)
		s := m.Linear("sum", []graph.Term{{Coef: 1, T: g}, {Coef: 2, T: c}}, 0, 1)
		t := m.MatMul("three", s, m.Param("w3", []int{3, 3}, m.values(9, 3), 1), false, 1)
		return m.Linear("out", []graph.Term{{Coef: 1, T: t}, {Coef: -1, T: s}}, 5, 1)
	})
}

// Twin adds two products of one tensor, so that two sum-checks end at the same
// evaluation.
func Twin(seed uint64) *Case {
	return build("twin", seed, []int{1, 6}, func(m *maker, x graph.TensorID) graph.TensorID {
		a := m.activation("a", x, 1, true)
		g := m.MatMul("left", a, m.Param("w1", []int{6, 4}, m.values(24, 7), 1), false, 1)
		h := m.MatMul("right", a, m.Param("w2", []int{4, 6}, m.values(24, 7), 1), true, 1)
		return m.activation("out", m.Linear("sum", []graph.Term{{Coef: 1, T: g}, {Coef: -3, T: h}}, 0, 1), 7, false)
	})
}

// Random is a chain of random operations: products, sums, lookups, reshapes,
// skip connections.
func Random(seed uint64) *Case {
	shapes := [][]int{{5}, {1, 3}, {3, 5}, {2, 3, 4}, {7, 1, 2}, {4, 8}}
	shape := shapes[seed%uint64(len(shapes))]
	return build(fmt.Sprintf("random %d", seed), seed, shape, func(m *maker, x graph.TensorID) graph.TensorID {
		all := []graph.TensorID{x}
		for step := range 4 + m.rng.IntN(4) {
			name := fmt.Sprintf("t%d", step)
			t := m.Tensor(x)
			wide := max(-t.Lo, t.Hi) > 2000
			switch op := m.rng.IntN(5); {
			case wide || op == 0:
				shift := uint8(0)
				for b := graph.LookupBits(t.Lo, t.Hi, shift); b > 7; b = graph.LookupBits(t.Lo, t.Hi, shift) {
					shift++
				}
				x = m.activation(name, x, shift, m.rng.IntN(2) == 0)
			case op == 1:
				k := t.Shape[len(t.Shape)-1]
				n := 1 + m.rng.IntN(7)
				trans := m.rng.IntN(2) == 0
				dims := []int{k, n}
				if trans {
					dims = []int{n, k}
				}
				x = m.MatMul(name, x, m.Param(name+".w", dims, m.values(k*n, 3), 1), trans, 1)
			case op == 2: // a parameter that broadcasts along some axes
				dims := append([]int(nil), t.Shape[m.rng.IntN(len(t.Shape)):]...)
				for i := range dims {
					if m.rng.IntN(3) == 0 {
						dims[i] = 1
					}
				}
				c := m.Param(name+".c", dims, m.values(graph.Elements(dims), 60), 1)
				x = m.Linear(name, []graph.Term{{Coef: int64(1 + m.rng.IntN(3)), T: x}, {Coef: -1, T: c}}, int64(m.rng.IntN(9)), 1)
			case op == 3: // split or merge axes
				n := graph.Elements(t.Shape)
				var divisors []int
				for d := 1; d <= n; d++ {
					if n%d == 0 {
						divisors = append(divisors, d)
					}
				}
				d := divisors[m.rng.IntN(len(divisors))]
				x = m.Reshape(name, x, []int{d, n / d})
			default: // a skip connection from an earlier tensor of the same shape
				var same []graph.TensorID
				for _, o := range all {
					if slices.Equal(m.Tensor(o).Shape, t.Shape) {
						same = append(same, o)
					}
				}
				o := same[m.rng.IntN(len(same))]
				x = m.Linear(name, []graph.Term{{Coef: 2, T: x}, {Coef: -1, T: o}}, -1, 1)
			}
			all = append(all, x)
		}
		return x
	})
}

// Tour meets most of what a proof can consist of: a residual of two products in
// a row without anything committed between them, a rearrangement, a reshape
// that is none, parameters of every way to check a range, and a padded output.
func Tour(seed uint64) *Case {
	return build("tour", seed, []int{3, 5}, func(m *maker, x graph.TensorID) graph.TensorID {
		a := m.activation("a", m.dense("first", x, 5, 6, true), 7, true)
		moved := m.Reshape("moved", a, []int{2, 9})
		g := m.MatMul("second", moved, m.Param("w2", []int{9, 5}, m.values(45, 3), 1), false, 1)
		h := m.MatMul("third", g, m.Param("w3", []int{5, 5}, m.values(25, 3), 1), true, 1)
		c := m.Param("c", []int{2, 1}, m.values(2, 9000), 1)
		sum := m.Linear("sum", []graph.Term{{Coef: 1, T: h}, {Coef: -2, T: g}, {Coef: 1, T: c}}, 9, 1)
		flat := m.Reshape("flat", sum, []int{2, 1, 5})
		return m.activation("out", flat, 10, false)
	})
}

// Plain has no lookups: nothing is committed but the parameters.
func Plain(seed uint64) *Case {
	return build("plain", seed, []int{4}, func(m *maker, x graph.TensorID) graph.TensorID {
		return m.MatMul("y", x, m.Param("w", []int{4, 4}, m.values(16, 100), 1), false, 1)
	})
}

// Cases are the programs that tests run over, smallest first.
func Cases() []*Case {
	return []*Case{
		MLP(1, 1, 1, 1), MLP(2, 1, 3, 5), MLP(3, 3, 5, 3, 1), Plain(4), Residual(5, 3, 7), Rearranged(6), Chain(7), Twin(10),
		Every(13), MLP(8, 1, 33, 7, 5), MLP(9, 3, 33, 100, 3),
	}
}

// Product is one matrix product, of an input of `rows` rows of k entries.
func Product(seed uint64, rows, k, n int, trans bool) *Case {
	return build(fmt.Sprintf("%d x %d x %d, transposed %t", rows, k, n, trans), seed, []int{rows, k}, func(m *maker, x graph.TensorID) graph.TensorID {
		shape := []int{k, n}
		if trans {
			shape = []int{n, k}
		}
		return m.MatMul("product", x, m.Param("w", shape, m.values(k*n, 127), 1), trans, 1)
	})
}
