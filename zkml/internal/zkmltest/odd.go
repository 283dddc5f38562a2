package zkmltest

import (
	"fmt"
	"math/rand/v2"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Odd is a program of random operations on small tensors of odd shapes:
// scalars, axes of length 1, tensors that are used again later or twice in one
// sum, parameters that broadcast along any axes, chains of reshapes, reshaped
// inputs, columns of one element. What comes out of the last operation is the
// output, so that it is of every kind that an output can be.
func Odd(seed uint64) *Case {
	rng := rand.New(rand.NewPCG(seed, 11))
	shape := make([]int, rng.IntN(4))
	for a := range shape {
		shape[a] = 1 + rng.IntN(5)
	}
	return build(fmt.Sprintf("odd %d", seed), seed, shape, func(m *maker, x graph.TensorID) graph.TensorID {
		m.rng = rng
		all := []graph.TensorID{x}
		for i := range 1 + rng.IntN(9) {
			x = m.oddStep(fmt.Sprintf("t%d", i), x, all)
			all = append(all, x)
		}
		return x
	})
}

// oddStep applies one random operation to x; others may be added to it.
func (m *maker) oddStep(name string, x graph.TensorID, others []graph.TensorID) graph.TensorID {
	t := m.Tensor(x)
	n := graph.Elements(t.Shape)
	const most = 1 << 12
	if max(t.Hi, -t.Lo) > most {
		shift := uint8(0)
		for shift < graph.MaxShift && graph.LookupBits(t.Lo, t.Hi, shift) > 6 {
			shift++
		}
		return m.activation(name, x, shift, m.rng.IntN(2) == 0)
	}
	switch m.rng.IntN(5) {
	case 0:
		return m.activation(name, x, uint8(m.rng.IntN(8)), m.rng.IntN(2) == 0)
	case 1:
		return m.Reshape(name, x, m.factors(n))
	case 2:
		if len(t.Shape) > 0 && n < 200 {
			k, out := t.Shape[len(t.Shape)-1], 1+m.rng.IntN(5)
			shape, trans := []int{k, out}, m.rng.IntN(2) == 0
			if trans {
				shape = []int{out, k}
			}
			return m.MatMul(name, x, m.Param(name+".w", shape, m.values(k*out, 5), 1), trans, 1)
		}
	}
	terms := []graph.Term{{Coef: 1 + m.rng.Int64N(3), T: x}}
	for _, o := range others {
		u := m.Tensor(o)
		if m.rng.IntN(2) == 0 || max(u.Hi, -u.Lo) > most || fmt.Sprint(u.Shape) != fmt.Sprint(t.Shape) {
			continue
		}
		terms = append(terms, graph.Term{Coef: 1 + m.rng.Int64N(5), T: o})
	}
	if m.rng.IntN(2) == 0 {
		shape := append([]int{}, t.Shape[m.rng.IntN(len(t.Shape)+1):]...)
		for a := range shape {
			if m.rng.IntN(2) == 0 {
				shape[a] = 1
			}
		}
		p := m.Param(name+".p", shape, m.values(graph.Elements(shape), 1<<m.rng.IntN(14)), 1)
		terms = append(terms, graph.Term{Coef: -2, T: p}, graph.Term{Coef: 1, T: p})
	}
	m.rng.Shuffle(len(terms), func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
	return m.Linear(name, terms, m.rng.Int64N(201)-100, 1)
}

// factors is a random shape of n elements.
func (m *maker) factors(n int) []int {
	var shape []int
	for len(shape) < 6 {
		d := 1 + m.rng.IntN(6)
		for n%d != 0 {
			d--
		}
		if n == 1 && m.rng.IntN(2) == 0 {
			break
		}
		shape = append(shape, d)
		n /= d
	}
	if n > 1 {
		shape = append(shape, n)
	}
	return shape
}
