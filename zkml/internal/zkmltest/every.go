package zkmltest

import (
	"math/rand/v2"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Every has every operation and every kind of sum-check, with two inputs and
// three outputs: attention over embedded tokens, a convolution with thresholds
// for each channel, pairs, and what is left over. Axes of three entries are
// summed where padding is not zero.
func Every(seed uint64) *Case {
	m := &maker{Builder: graph.NewBuilder("every"), rng: rand.New(rand.NewPCG(seed, 23))}
	const tokens, rows, width = 3, 5, 6
	t := m.Input("tokens", []int{tokens}, 0, rows-1, 1)
	picture := m.Input("picture", []int{5, 3}, -128, 127, 1)
	x := make([]int32, 0, tokens+15)
	for range tokens {
		x = append(x, int32(m.rng.IntN(rows)))
	}
	x = append(x, m.values(15, 127)...)
	heads := m.attention(t, rows, width)
	bins, outer := m.convolution(picture)
	p, w, err := m.BuildAll([]graph.TensorID{heads, outer, bins}, nil)
	if err != nil {
		panic("zkmltest: every: " + err.Error())
	}
	return &Case{Name: p.Name, Program: p, Weights: w, X: x}
}

// attention of two heads: every row of the result depends on every token.
func (m *maker) attention(tokens graph.TensorID, rows, width int) graph.TensorID {
	table := m.Param("embedding", []int{rows, width}, m.values(rows*width, 100), 1)
	e := m.Embed("embedded", tokens, table, 1)
	project := func(name string) graph.TensorID {
		w := m.Param(name+".w", []int{width, 4}, m.values(width*4, 20), 1)
		h := m.Einsum(name+".project", "td,dk->tk", e, w, 1)
		return m.Reshape(name+".heads", m.lift(name, h, 9), []int{3, 2, 2})
	}
	q, k, v := project("q"), project("k"), project("v")
	scores := m.Einsum("scores", "ihd,jhd->hij", q, k, 1)
	p := m.lift("p", scores, 7)
	s := m.Einsum("mixed", "hij,jhd->ihd", p, v, 1)
	turned := m.Transpose("turned", m.activation("heads", s, 10, false), []int{1, 0, 2})
	return m.Linear("attention", []graph.Term{{Coef: 3, T: turned}}, -1, 1)
}

// lift is an activation that is not zero at zero, so that padding is not.
func (m *maker) lift(name string, x graph.TensorID, shift uint8) graph.TensorID {
	t := m.Tensor(x)
	bits := graph.LookupBits(t.Lo, t.Hi, shift)
	y := make([]int32, 1<<bits)
	for i := range y {
		y[i] = int32(50 + i*i%41)
	}
	return m.Lookup(name, x, shift, m.Table(name, uint8(bits), y), 1)
}

// convolution of three channels over windows of three with a border of zeros,
// then thresholds, pairs, a square, a product, sums and an outer product.
func (m *maker) convolution(x graph.TensorID) (bins, outer graph.TensorID) {
	windows := graph.AxisMap{Axis: 0, Shape: []int{3, 3}, Index: []int32{-1, 0, 1, 1, 2, 3, 3, 4, -1}}
	taken := m.Rearrange("windows", x, []graph.AxisMap{windows, {Axis: 1, Shape: []int{3}}}, nil)
	w := m.Param("kernel", []int{3, 3, 3}, m.values(27, 30), 1)
	c := m.Einsum("conv", "ukc,kco->uo", taken, w, 1)
	t := m.Tensor(c)
	limit := max(-t.Lo, t.Hi)
	var lo []int32
	for ch := range 3 {
		// The first value never occurs in channel 1, nor the last in channel 2.
		steps := []int32{int32(-limit), -1000, -300 * int32(ch), 900, 2000, int32(limit + 1)}
		switch ch {
		case 1:
			steps[1] = int32(-limit)
		case 2:
			steps[4] = int32(limit + 1)
		}
		lo = append(lo, steps...)
	}
	bins = m.Threshold("bins", c, 1, m.StepsTable("steps", 3, -1, limit, lo), 1)
	all := m.Threshold("clipped", c, -1, m.StepsTable("clip", 1, 0, limit, []int32{int32(-limit), 0, 500, 1500, int32(limit + 1)}), 1)
	v := make([]int32, 1<<6)
	for i := range v {
		v[i] = int32(m.rng.IntN(100) - 40)
	}
	y := m.Pair("paired", bins, all, m.PairTable("pairs", 3, 3, v), 1)
	square := m.Einsum("square", "uo,uo->uo", y, y, 1)
	product := m.Einsum("product", "uo,ou->uo", m.small("squared", square, 4), bins, 1)
	sum := m.Einsum("sum", "uo->u", product, graph.None, 1)
	spread := m.Linear("spread", []graph.Term{{Coef: 1, T: m.Reshape("column", sum, []int{3, 1})}, {Coef: -2, T: y}}, 7, 1)
	moved := m.Reshape("moved", m.small("spread", spread, 5), []int{1, 9})
	ends := m.Rearrange("ends", moved, []graph.AxisMap{{Axis: 1, Shape: []int{2}, Index: []int32{8, 0}}, {Axis: 0, Index: []int32{0}}}, nil)
	return bins, m.Einsum("outer", "a,b->ba", ends, ends, 1)
}

// Tokens embeds inputs that a key can have committed: the same ones by tables of
// several sizes, by some twice, with padding and without, ones of two values, of
// one value, and one token alone. One input is read by more than embeddings.
func Tokens(seed uint64) *Case {
	m := &maker{Builder: graph.NewBuilder("tokens"), rng: rand.New(rand.NewPCG(seed, 31))}
	var x []int32
	input := func(name string, shape []int, values int) graph.TensorID {
		for range graph.Elements(shape) {
			x = append(x, int32(m.rng.IntN(values)))
		}
		return m.Input(name, shape, 0, int64(values-1), 1)
	}
	embed := func(name string, tokens graph.TensorID, rows int) graph.TensorID {
		return m.Embed(name, tokens, m.Param(name+".w", []int{rows, 2}, m.values(2*rows, 100), 1), 1)
	}
	ids := input("ids", []int{2, 3}, 37)
	kinds := input("kinds", []int{4}, 2)
	zeros := input("zeros", []int{3}, 1)
	single := input("single", nil, 5)
	words := embed("words", ids, 37)
	sum := m.Linear("sum", []graph.Term{{Coef: 1, T: words}, {Coef: 2, T: embed("coarse", ids, 100)}, {Coef: -1, T: words},
		{Coef: 3, T: m.Reshape("column", ids, []int{2, 3, 1})}, {Coef: 1, T: embed("none", zeros, 1)}}, 1, 1)
	again := m.Einsum("again", "abc,dc->abd", m.small("sum", sum, 8), embed("styles", kinds, 2), 1)
	alone := m.Linear("alone", []graph.Term{{Coef: 1, T: embed("first", single, 5)}, {Coef: 5, T: single}}, 0, 1)
	p, w, err := m.BuildAll([]graph.TensorID{again, alone, embed("more", ids, 64)}, nil)
	if err != nil {
		panic("zkmltest: tokens: " + err.Error())
	}
	return &Case{Name: p.Name, Program: p, Weights: w, X: x}
}

// Secret has inputs and outputs of every kind that a key can have committed: an
// input that is checked in limbs, ones that are looked up in one window and in
// two, padded and not, a public one, and outputs with padding and without.
func Secret(seed uint64) *Case {
	m := &maker{Builder: graph.NewBuilder("secret"), rng: rand.New(rand.NewPCG(seed, 29))}
	wide := m.Input("wide", []int{3, 5}, -100000, 70001, 1)
	row := m.Input("row", []int{5}, -128, 127, 1)
	square := m.Input("square", []int{2, 4}, 0, 200, 1)
	open := m.Input("open", []int{5}, -128, 127, 1)
	sum := m.Linear("sum", []graph.Term{{Coef: 1, T: m.activation("narrow", wide, 9, false)}, {Coef: 1, T: row}}, 0, 1)
	padded := m.Linear("padded", []graph.Term{{Coef: 2, T: sum}, {Coef: -1, T: open}}, 3, 1)
	full := m.lift("full", m.dense("map", square, 4, 4, false), 7)
	plain := m.Linear("plain", []graph.Term{{Coef: 1, T: full}, {Coef: -3, T: square}}, 1, 1)
	p, w, err := m.BuildAll([]graph.TensorID{padded, full, plain}, nil)
	if err != nil {
		panic("zkmltest: secret: " + err.Error())
	}
	x := m.values(15, 70000)
	x[1], x[2] = -100000, 70001
	x = append(x, m.values(5, 127)...)
	for range 8 {
		x = append(x, int32(m.rng.IntN(201)))
	}
	return &Case{Name: p.Name, Program: p, Weights: w, X: append(x, m.values(5, 127)...)}
}
