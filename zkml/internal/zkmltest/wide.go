package zkmltest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Wide is a program of random operations of every kind, with several inputs,
// one of them of tokens, and several outputs.
func Wide(seed uint64) *Case {
	m := &maker{Builder: graph.NewBuilder(fmt.Sprintf("wide %d", seed)), rng: rand.New(rand.NewPCG(seed, 19))}
	pick := func() []int {
		shape := make([]int, m.rng.IntN(4))
		for a := range shape {
			shape[a] = 1 + m.rng.IntN(5)
		}
		return shape
	}
	var x []int32
	var all []graph.TensorID
	for i := range 1 + m.rng.IntN(2) {
		shape := pick()
		all = append(all, m.Input(fmt.Sprintf("x%d", i), shape, -128, 127, 1))
		x = append(x, m.values(graph.Elements(shape), 127)...)
	}
	if m.rng.IntN(2) == 0 {
		rows, width := 1+m.rng.IntN(9), 1+m.rng.IntN(5)
		shape := pick()
		tokens := m.Input("tokens", shape, 0, int64(rows-1), 1)
		for range graph.Elements(shape) {
			x = append(x, int32(m.rng.IntN(rows)))
		}
		w := m.Param("table", []int{rows, width}, m.values(rows*width, 100), 1)
		all = append(all, m.Embed("embedded", tokens, w, 1))
		if m.rng.IntN(2) == 0 {
			all = append(all, tokens)
		}
	}
	for i := range 2 + m.rng.IntN(7) {
		from := all[m.rng.IntN(len(all))]
		if m.rng.IntN(2) == 0 {
			from = all[len(all)-1]
		}
		all = append(all, m.wideStep(fmt.Sprintf("t%d", i), from, all))
	}
	// Inputs cannot be outputs; nothing else may be left over.
	var outputs []graph.TensorID
	used := map[graph.TensorID]bool{}
	for id := range m.used() {
		used[id] = true
	}
	for _, id := range all {
		if k := m.Tensor(id).Kind; (!used[id] || m.rng.IntN(6) == 0) && k != graph.Input && k != graph.Param && !slices.Contains(outputs, id) {
			outputs = append(outputs, id)
		}
		if m.Tensor(id).Kind == graph.Input && !used[id] {
			outputs = append(outputs, m.Linear(fmt.Sprintf("double%d", id), []graph.Term{{Coef: 2, T: id}}, 1, 1))
		}
	}
	m.rng.Shuffle(len(outputs), func(i, j int) { outputs[i], outputs[j] = outputs[j], outputs[i] })
	p, w, err := m.BuildAll(outputs, nil)
	if err != nil {
		panic(fmt.Sprintf("zkmltest: wide %d: %v", seed, err))
	}
	return &Case{Name: p.Name, Program: p, Weights: w, X: x}
}

// small requantises x to at most bits bits.
func (m *maker) small(name string, x graph.TensorID, bits int) graph.TensorID {
	t := m.Tensor(x)
	if t.Lo >= -1<<(bits-1) && t.Hi < 1<<(bits-1) {
		return x
	}
	shift := uint8(0)
	for graph.LookupBits(t.Lo, t.Hi, shift) > 6 && shift < graph.MaxShift {
		shift++
	}
	y := make([]int32, 1<<graph.LookupBits(t.Lo, t.Hi, shift))
	for i := range y {
		y[i] = int32(m.rng.IntN(1<<bits) - 1<<(bits-1))
	}
	return m.note(m.Lookup(name+".small", x, shift, m.Table(name, uint8(graph.Log2(len(y))), y), 1), x)
}

// note remembers that operands are used.
func (m *maker) note(out graph.TensorID, operands ...graph.TensorID) graph.TensorID {
	if m.uses == nil {
		m.uses = map[graph.TensorID]bool{}
	}
	for _, id := range operands {
		m.uses[id] = true
	}
	return out
}

func (m *maker) used() map[graph.TensorID]bool { return m.uses }

func (m *maker) wideStep(name string, x graph.TensorID, all []graph.TensorID) graph.TensorID {
	if t := m.Tensor(x); graph.Elements(t.Shape) > 100 && len(t.Shape) > 0 {
		return m.sum(name, x)
	}
	switch m.rng.IntN(9) {
	case 0:
		return m.sum(name, x)
	case 1, 2:
		return m.product(name, m.small(name, x, 8), all)
	case 3:
		return m.pairUp(name, x, all)
	case 4:
		return m.threshold(name, m.small(name, x, 8))
	case 5, 6:
		return m.rearrange(name, x)
	case 7:
		return m.spread(name, x)
	}
	return m.note(m.Reshape(name, x, m.factors(graph.Elements(m.Tensor(x).Shape))), x)
}

// sum leaves some axes of x, in any order.
func (m *maker) sum(name string, x graph.TensorID) graph.TensorID {
	n := len(m.Tensor(x).Shape)
	labels := letters[:n]
	out := ""
	for _, i := range m.rng.Perm(n)[:m.rng.IntN(n+1)] {
		out += labels[i : i+1]
	}
	return m.note(m.Einsum(name, labels+"->"+out, x, graph.None, 1), x)
}

const letters = "abcdefghijklmnop"

// product multiplies x by a parameter, by itself or by another tensor, and
// sums over some of the axes that both have.
func (m *maker) product(name string, x graph.TensorID, all []graph.TensorID) graph.TensorID {
	shape := m.Tensor(x).Shape
	labels := letters[:len(shape)]
	var y graph.TensorID
	var other []int
	switch m.rng.IntN(3) {
	case 0: // a parameter that shares some axes
		shared := ""
		for _, i := range m.rng.Perm(len(shape))[:m.rng.IntN(len(shape)+1)] {
			shared, other = shared+labels[i:i+1], append(other, shape[i])
		}
		for range m.rng.IntN(2) {
			shared, other = shared+letters[len(shape)+len(other):][:1], append(other, 1+m.rng.IntN(4))
		}
		y = m.Param(name+".w", other, m.values(graph.Elements(other), 7), 1)
		return m.contract(name, x, y, labels, shared)
	case 1:
		y = x
	default:
		y = m.small(name+".b", all[m.rng.IntN(len(all))], 8)
	}
	other = m.Tensor(y).Shape
	own := ""
	for k, n := range other {
		label := letters[len(shape)+k:][:1]
		for _, i := range m.rng.Perm(len(shape)) {
			if l := labels[i : i+1]; shape[i] == n && !slices.Contains([]byte(own), l[0]) && m.rng.IntN(4) > 0 {
				label = l
				break
			}
		}
		own += label
	}
	return m.contract(name, x, y, labels, own)
}

// contract multiplies tensors whose axes have labels.
func (m *maker) contract(name string, x, y graph.TensorID, a, b string) graph.TensorID {
	var out []byte
	for i := range len(a) {
		if !slices.Contains([]byte(b), a[i]) || m.rng.IntN(2) == 0 {
			out = append(out, a[i])
		}
	}
	for i := range len(b) {
		if !slices.Contains([]byte(a), b[i]) {
			out = append(out, b[i])
		}
	}
	m.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return m.note(m.Einsum(name, a+","+b+"->"+string(out), x, y, 1), x, y)
}

// pairUp looks x up with a tensor of the same shape.
func (m *maker) pairUp(name string, x graph.TensorID, all []graph.TensorID) graph.TensorID {
	x = m.small(name+".a", x, 3)
	y := x
	for _, i := range m.rng.Perm(len(all)) {
		if slices.Equal(m.Tensor(all[i]).Shape, m.Tensor(x).Shape) {
			y = m.small(name+".b", all[i], 4)
			break
		}
	}
	v := make([]int32, 1<<(3+4))
	for i := range v {
		v[i] = int32(m.rng.IntN(200) - 100)
	}
	return m.note(m.Pair(name, x, y, m.PairTable(name, 3, 4, v), 1), x, y)
}

// threshold applies steps, some of which never occur, for each channel.
func (m *maker) threshold(name string, x graph.TensorID) graph.TensorID {
	t := m.Tensor(x)
	axis, channels := -1, 1
	if n := len(t.Shape); n > 0 && m.rng.IntN(3) > 0 {
		axis = m.rng.IntN(n)
		channels = t.Shape[axis]
	}
	limit := max(-t.Lo, t.Hi)
	values := 1 + m.rng.IntN(6)
	var lo []int32
	for range channels {
		th := []int32{int32(-limit)}
		for range values - 1 {
			th = append(th, int32(m.rng.Int64N(2*limit+2)-limit))
		}
		if values > 2 && m.rng.IntN(2) == 0 {
			th[1] = int32(-limit) // the first value never occurs
		}
		slices.Sort(th)
		lo = append(append(lo, th...), int32(limit+1))
	}
	table := m.StepsTable(name, channels, int64(m.rng.IntN(7)-3), limit, lo)
	return m.note(m.Threshold(name, x, axis, table, 1), x)
}

// rearrange maps some axes and permutes what results.
func (m *maker) rearrange(name string, x graph.TensorID) graph.TensorID {
	var maps []graph.AxisMap
	n := 0
	size := graph.Elements(m.Tensor(x).Shape)
	for _, a := range m.rng.Perm(len(m.Tensor(x).Shape)) {
		d := m.Tensor(x).Shape[a]
		am := graph.AxisMap{Axis: a, Shape: []int{d}}
		if m.rng.IntN(2) == 0 && size < 60 {
			am.Shape = am.Shape[:0]
			for range m.rng.IntN(3) {
				am.Shape = append(am.Shape, 1+m.rng.IntN(3))
			}
			am.Index = make([]int32, graph.Elements(am.Shape))
			for i := range am.Index {
				am.Index[i] = int32(m.rng.IntN(d+1) - 1)
			}
			size = size * len(am.Index) / d
		}
		n += len(am.Shape)
		maps = append(maps, am)
	}
	if n > graph.MaxRank {
		return m.sum(name, x)
	}
	return m.note(m.Rearrange(name, x, maps, m.rng.Perm(n)), x)
}

// spread adds x to a sum over some of its axes, which repeats along them.
func (m *maker) spread(name string, x graph.TensorID) graph.TensorID {
	shape := m.Tensor(x).Shape
	labels := letters[:len(shape)]
	kept, wide := "", slices.Clone(shape)
	for i := range shape {
		if m.rng.IntN(2) == 0 {
			wide[i] = 1
		} else {
			kept += labels[i : i+1]
		}
	}
	s := m.Einsum(name+".sum", labels+"->"+kept, x, graph.None, 1)
	s = m.Reshape(name+".wide", s, wide)
	if len(wide) > 0 && wide[0] == 1 && m.rng.IntN(2) == 0 {
		s = m.Reshape(name+".flat", s, wide[1:])
	}
	sum := m.Linear(name, []graph.Term{{Coef: -1, T: s}, {Coef: 3, T: x}}, 5, 1)
	return m.small(name, m.note(sum, x), 8)
}
