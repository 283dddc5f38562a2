package graph

func (m *machine) pair(op Pair) {
	table, a, b := &m.p.Tables[op.Table], m.values[op.A], m.values[op.B]
	y := make([]int32, len(a))
	for i := range y {
		y[i] = table.AtPair(int64(a[i]), int64(b[i]))
	}
	m.values[op.Y] = y
}

func (m *machine) threshold(op Threshold) {
	table, x, shape := &m.p.Tables[op.Table], m.values[op.X], m.shape(op.X)
	var out [5][]int32 // as in Outputs
	for k, id := range op.Outputs() {
		out[k] = make([]int32, len(x))
		m.values[id] = out[k]
	}
	channels, step := 1, 1
	if op.Axis >= 0 {
		channels, step = shape[op.Axis], Elements(shape[op.Axis+1:])
	}
	for i, v := range x {
		y, lo, hi := table.StepAt(i/step%channels, int64(v))
		d, e := v-lo, hi-1-v // below 2^30
		low := int32(1)<<LimbBits[0] - 1
		out[0][i] = y
		out[1][i], out[2][i] = d&low, d>>LimbBits[0]
		out[3][i], out[4][i] = e&low, e>>LimbBits[0]
	}
}

func (m *machine) embed(op Embed) {
	tokens, w := m.values[op.Tokens], m.values[op.W]
	width := m.shape(op.W)[1]
	out := make([]int32, len(tokens)*width)
	row := func(at, token int) { copy(out[at*width:(at+1)*width], w[token*width:(token+1)*width]) }
	if m.padded {
		shape := m.p.Tensor(op.Tokens).Shape
		for i := range Elements(shape) {
			at := PaddedIndex(shape, i)
			row(at, int(tokens[at]))
		}
	} else {
		for i, t := range tokens {
			row(i, int(t))
		}
	}
	m.values[op.Out] = out
}

func (m *machine) rearrange(op Rearrange) {
	x := m.values[op.X]
	out := make([]int32, Elements(m.shape(op.Out)))
	moves := op.Moves(m.p.Tensor(op.X).Shape, m.padded)
	// The last map is done in a row; the others choose where.
	var fill func(moves []Move, from, to int)
	fill = func(moves []Move, from, to int) {
		if len(moves) == 0 {
			out[to] = x[from]
			return
		}
		first, rest := moves[0], moves[1:]
		for e, f := range first.From {
			if f < 0 {
				continue // zeros
			}
			if len(rest) == 0 {
				out[to+first.To[e]] = x[from+f]
			} else {
				fill(rest, from+f, to+first.To[e])
			}
		}
	}
	fill(moves, 0, 0)
	m.values[op.Out] = out
}
