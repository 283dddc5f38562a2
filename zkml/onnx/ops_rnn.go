package onnx

import (
	"slices"
	"strings"
)

// recurrentTable holds the recurrent operators, which are unrolled.
var recurrentTable = map[string]operator{
	"RNN":  {3, 6, 2, (*translation).recurrent},
	"GRU":  {3, 6, 2, (*translation).recurrent},
	"LSTM": {3, 8, 3, (*translation).recurrent},
}

// maxSteps bounds how often a recurrent operator is unrolled.
const maxSteps = 1 << 12

// cell is one direction of a recurrent operator: per gate its weights and bias, and the functions.
type cell struct {
	t             *translation
	kind          string
	hidden        int
	input, state  []int // weights of each gate for x and for h
	bias          []int // sum of both biases, -1 if there is none; for a GRU with resetAfter without those of h for the last gate
	lateBias      int   // that one, or -1
	peephole      []int // LSTM: input, output, forget; nil if there is none
	functions     []func(int) int
	clip          float64
	resetAfter    bool // GRU: attribute linear_before_reset
	coupledForget bool // LSTM: attribute input_forget
}

// gates returns the number of gates, and how many activation functions a direction has.
func gates(kind string) (int, []string) {
	switch kind {
	case "LSTM":
		return 4, []string{"Sigmoid", "Tanh", "Tanh"}
	case "GRU":
		return 3, []string{"Sigmoid", "Tanh"}
	}
	return 1, []string{"Tanh"}
}

func (t *translation) recurrent() error {
	kind := t.proto.OpType
	swap := t.opset() >= 14 && t.attrs.flag("layout", false)
	direction := t.attrs.str("direction", "forward")
	directions := map[string]int{"forward": 1, "reverse": 1, "bidirectional": 2}[direction]
	if directions == 0 {
		return malformed("%s: attribute \"direction\" is %s", t.label, Quote(direction))
	}
	x := t.inputs[0]
	if shape := t.value(0).Shape; len(shape) != 3 {
		return malformed("%s: an input of shape %v, expected steps, batch and features", t.label, shape)
	}
	if swap {
		x = t.transpose(x, []int{1, 0, 2})
	}
	xs := t.shape(x)
	if len(xs) != 3 {
		return t.err
	}
	steps, batch := xs[0], xs[1]
	if steps > maxSteps {
		return t.unsupported("a sequence of %d steps, expected at most %d", steps, maxSteps)
	}
	if err := t.fullLength(steps, batch); err != nil {
		return err
	}
	cells, err := t.cells(directions, xs[2])
	if err != nil {
		return err
	}
	state := func(k, d, hidden int) (int, error) {
		if !t.present(k) {
			return -1, nil
		}
		v, want := t.inputs[k], []int{directions, batch, hidden}
		axis := 0
		if swap {
			want, axis = []int{batch, directions, hidden}, 1
		}
		if !slices.Equal(t.value(k).Shape, want) {
			return 0, malformed("%s: input %s has shape %v, expected %v", t.label, t.inputName(k), t.value(k).Shape, want)
		}
		return t.at(v, axis, d), nil
	}
	inputs := make([]int, steps)
	for s := range inputs {
		inputs[s] = t.at(x, 0, s)
	}
	all := make([][]int, directions) // by direction and step
	lastH, lastC := make([]int, directions), make([]int, directions)
	for d, c := range cells {
		h, err := state(5, d, c.hidden)
		if err != nil {
			return err
		}
		carry := -1
		if kind == "LSTM" {
			if carry, err = state(6, d, c.hidden); err != nil {
				return err
			}
		}
		all[d] = make([]int, steps)
		for i := range steps {
			s := i
			if direction == "reverse" || d == 1 {
				s = steps - 1 - i
			}
			h, carry = c.step(inputs[s], h, carry)
			all[d][s] = h
		}
		lastH[d], lastC[d] = h, carry
	}
	// Axes of a result: steps, directions, batch, hidden, or batch first.
	hidden := cells[0].hidden
	one, along, across := []int{1, 1, batch, hidden}, 0, 1
	if swap {
		one, along, across = []int{batch, 1, 1, hidden}, 1, 2
	}
	var outs []int
	for s := range steps {
		var parts []int
		for d := range directions {
			parts = append(parts, t.reshape(all[d][s], one))
		}
		outs = append(outs, t.concat(across, parts...))
	}
	t.output(0, func() int { return t.concat(along, outs...) })
	last := func(h []int) func() int {
		return func() int {
			shape, axis := []int{1, batch, hidden}, 0
			if swap {
				shape, axis = []int{batch, 1, hidden}, 1
			}
			var parts []int
			for _, v := range h {
				parts = append(parts, t.reshape(v, shape))
			}
			return t.concat(axis, parts...)
		}
	}
	t.output(1, last(lastH))
	t.output(2, last(lastC))
	return nil
}

// output makes an output that the node has.
func (t *translation) output(k int, value func() int) {
	if k < len(t.proto.Output) && t.proto.Output[k] != "" {
		if err := t.result(k, value()); err != nil && t.err == nil {
			t.err = err
		}
	}
}

// at selects one index of an axis, which disappears.
func (t *translation) at(x, axis, i int) int {
	maps := keep(t.shape(x))
	if axis < len(maps) { // no axes: an earlier error
		maps[axis] = AxisMap{Axis: axis, Shape: []int{}, Index: []int32{int32(i)}}
	}
	return t.rearrange(x, maps, nil, 0)
}

// cut selects n elements of an axis.
func (t *translation) cut(x, axis, from, n int) int {
	index := make([]int32, n)
	for i := range index {
		index[i] = int32(from + i)
	}
	return t.pick(x, axis, index, 0)
}

// fullLength accepts sequence lengths that say that every sequence has all steps.
func (t *translation) fullLength(steps, batch int) error {
	if !t.present(4) {
		return nil
	}
	lens, err := t.constInts(4)
	if err != nil {
		return err
	}
	if len(lens) != batch {
		return malformed("%s: %d sequence lengths for a batch of %d", t.label, len(lens), batch)
	}
	for i, n := range lens {
		if n != int64(steps) {
			return t.unsupported("sequence %d has length %d, expected %d as the longest", i, n, steps)
		}
	}
	return nil
}

// cells reads attributes and weights of every direction.
func (t *translation) cells(directions, features int) ([]*cell, error) {
	kind := t.proto.OpType
	n, defaults := gates(kind)
	ws, rs := t.value(1).Shape, t.value(2).Shape
	if len(rs) != 3 || len(ws) != 3 {
		return nil, malformed("%s: weights of shape %v and %v, expected 3 axes", t.label, ws, rs)
	}
	h := rs[2]
	if !slices.Equal(ws, []int{directions, n * h, features}) || !slices.Equal(rs, []int{directions, n * h, h}) {
		return nil, malformed("%s: weights of shape %v and %v, expected %v and %v", t.label, ws, rs, []int{directions, n * h, features}, []int{directions, n * h, h})
	}
	if size := t.attrs.int("hidden_size", int64(h)); size != int64(h) {
		return nil, malformed("%s: attribute \"hidden_size\" is %d, the weights have %d", t.label, size, h)
	}
	clip := t.parameter("clip", 0)
	names := t.attrs.strs("activations")
	if names == nil {
		names = slices.Repeat(defaults, directions)
	}
	if len(names) != len(defaults)*directions {
		return nil, malformed("%s: %d activations, expected %d", t.label, len(names), len(defaults)*directions)
	}
	functions, err := t.activations(names)
	if err != nil {
		return nil, err
	}
	resetAfter := kind == "GRU" && t.attrs.flag("linear_before_reset", false)
	coupled := kind == "LSTM" && t.attrs.flag("input_forget", false)
	for k, want := range map[int][]int{3: {directions, 2 * n * h}, 7: {directions, 3 * h}} {
		if t.present(k) && !slices.Equal(t.value(k).Shape, want) {
			return nil, malformed("%s: input %s has shape %v, expected %v", t.label, t.inputName(k), t.value(k).Shape, want)
		}
	}
	var cells []*cell
	for d := range directions {
		c := &cell{t: t, kind: kind, hidden: h, clip: clip, resetAfter: resetAfter, coupledForget: coupled, lateBias: -1,
			functions: functions[d*len(defaults) : (d+1)*len(defaults)]}
		w, r := t.at(t.inputs[1], 0, d), t.at(t.inputs[2], 0, d)
		for g := range n {
			c.input = append(c.input, t.cut(w, 0, g*h, h))
			c.state = append(c.state, t.cut(r, 0, g*h, h))
			if !t.present(3) {
				c.bias = append(c.bias, -1)
				continue
			}
			b := t.at(t.inputs[3], 0, d)
			own, other := t.cut(b, 0, g*h, h), t.cut(b, 0, (n+g)*h, h)
			if resetAfter && g == 2 {
				c.bias, c.lateBias = append(c.bias, own), other
			} else {
				c.bias = append(c.bias, t.add(own, other))
			}
		}
		if t.present(7) {
			p := t.at(t.inputs[7], 0, d)
			c.peephole = []int{t.cut(p, 0, 0, h), t.cut(p, 0, h, h), t.cut(p, 0, 2*h, h)}
		}
		cells = append(cells, c)
	}
	return cells, nil
}

// activations reads the functions of all directions and gates; parameters are consumed in order by the functions that have them.
func (t *translation) activations(names []string) ([]func(int) int, error) {
	alphas, betas := t.attrs.floats("activation_alpha"), t.attrs.floats("activation_beta")
	next := func(list *[]float64, otherwise float64) float64 {
		if len(*list) == 0 {
			return otherwise
		}
		v := (*list)[0]
		*list = (*list)[1:]
		return v
	}
	var out []func(int) int
	for _, name := range names {
		var f func(int) int
		switch strings.ToLower(name) {
		case "relu":
			f = func(x int) int { return t.unary(FuncRelu, x) }
		case "tanh":
			f = func(x int) int { return t.unary(FuncTanh, x) }
		case "sigmoid":
			f = func(x int) int { return t.unary(FuncSigmoid, x) }
		case "softsign":
			f = func(x int) int { return t.unary(FuncSoftsign, x) }
		case "softplus":
			f = func(x int) int { return t.unary(FuncSoftplus, x) }
		case "leakyrelu":
			a := next(&alphas, 0.01)
			f = func(x int) int { return t.unary(FuncLeakyRelu, x, a) }
		case "thresholdedrelu":
			a := next(&alphas, 1)
			f = func(x int) int { return t.unary(FuncThresholdedRelu, x, a) }
		case "elu":
			a := next(&alphas, 1)
			f = func(x int) int { return t.unary(FuncElu, x, a) }
		case "hardsigmoid":
			a, b := next(&alphas, 0.2), next(&betas, 0.5)
			f = func(x int) int { return t.unary(FuncHardSigmoid, x, a, b) }
		case "affine":
			a, b := next(&alphas, 1), next(&betas, 0)
			f = func(x int) int { return t.add(t.mul(x, t.scalar(a)), t.scalar(b)) }
		case "scaledtanh":
			a, b := next(&alphas, 1), next(&betas, 1)
			f = func(x int) int { return t.mul(t.unary(FuncTanh, t.mul(x, t.scalar(b))), t.scalar(a)) }
		default:
			return nil, t.unsupported("activation %s", Quote(name))
		}
		out = append(out, f)
	}
	if len(alphas)+len(betas) > 0 {
		return nil, malformed("%s: %d parameters of activations that none of them has", t.label, len(alphas)+len(betas))
	}
	return out, nil
}

// times is x * w^T.
func (c *cell) times(x, w int) int { return c.t.einsum([][]uint8{{0, 1}, {2, 1}, {0, 2}}, x, w) }

// gate is f(x W^T + h R^T + p . carry + b); h, carry and p may be absent (-1).
func (c *cell) gate(g int, f func(int) int, x, h, peephole, carry int) int {
	sum := c.times(x, c.input[g])
	if h >= 0 {
		sum = c.t.add(sum, c.times(h, c.state[g]))
	}
	if peephole >= 0 && carry >= 0 {
		sum = c.t.add(sum, c.t.mul(carry, peephole))
	}
	return c.activate(f, c.plus(sum, c.bias[g]))
}

func (c *cell) plus(x, bias int) int {
	if bias < 0 {
		return x
	}
	return c.t.add(x, bias)
}

func (c *cell) activate(f func(int) int, x int) int {
	if c.clip > 0 {
		x = c.t.unary(FuncClip, x, -c.clip, c.clip)
	}
	return f(x)
}

// step computes the next hidden state and, for an LSTM, the next carry. Absent states (-1) are zero.
func (c *cell) step(x, h, carry int) (int, int) {
	t := c.t
	switch c.kind {
	case "LSTM":
		p := []int{-1, -1, -1}
		if c.peephole != nil {
			p = c.peephole
		}
		in := c.gate(0, c.functions[0], x, h, p[0], carry)
		next := t.mul(in, c.gate(3, c.functions[1], x, h, -1, -1))
		if carry >= 0 {
			var forget int
			if c.coupledForget {
				forget = t.sub(t.scalar(1), in)
			} else {
				forget = c.gate(2, c.functions[0], x, h, p[2], carry)
			}
			next = t.add(t.mul(forget, carry), next)
		}
		out := c.gate(1, c.functions[0], x, h, p[1], next)
		return t.mul(out, c.functions[2](next)), next
	case "GRU":
		update := c.gate(0, c.functions[0], x, h, -1, -1)
		sum := c.times(x, c.input[2])
		switch {
		case c.resetAfter && (h >= 0 || c.lateBias >= 0):
			reset := c.gate(1, c.functions[0], x, h, -1, -1)
			inner := c.lateBias
			if h >= 0 {
				inner = c.plus(c.times(h, c.state[2]), c.lateBias)
			}
			sum = t.add(sum, t.mul(reset, inner))
		case !c.resetAfter && h >= 0:
			reset := c.gate(1, c.functions[0], x, h, -1, -1)
			sum = t.add(sum, c.times(t.mul(reset, h), c.state[2]))
		}
		fresh := c.activate(c.functions[1], c.plus(sum, c.bias[2]))
		if h < 0 {
			return t.mul(t.sub(t.scalar(1), update), fresh), -1
		}
		return t.add(t.mul(t.sub(t.scalar(1), update), fresh), t.mul(update, h)), -1
	}
	return c.gate(0, c.functions[0], x, h, -1, -1), -1
}
