package graph

// einsum sums in 64 bits: the bounds of the result hold for every partial sum.
func (m *machine) einsum(op Einsum) {
	roles := op.Roles()
	a := m.operand(op, op.A, op.AL)
	out := m.operand(op, op.Out, op.OL)
	result := make([]int32, Elements(out.shape))
	m.values[op.Out] = result
	if op.B == None {
		rows, from, sum := out.places(roles.Rows), a.places(roles.Rows), a.sum(roles.Sum)
		for i, at := range rows {
			acc := int64(0)
			for _, k := range sum {
				acc += int64(a.data[from[i]+k])
			}
			result[at] = int32(acc)
		}
		return
	}
	b := m.operand(op, op.B, op.BL)
	p := product{
		a: a.data, b: b.data, out: result,
		rowsA: a.places(roles.Rows), rowsOut: out.places(roles.Rows),
		columnsB: b.places(roles.Columns), columnsOut: out.places(roles.Columns),
		sumA: a.sum(roles.Sum), sumB: b.sum(roles.Sum),
	}
	p.acc = make([]int64, len(p.columnsB))
	p.adjacent = len(p.columnsB) > 1 && p.columnsB[len(p.columnsB)-1] == len(p.columnsB)-1
	batchA, batchB, batchOut := a.places(roles.Batch), b.places(roles.Batch), out.places(roles.Batch)
	for i := range batchA {
		p.run(batchA[i], batchB[i], batchOut[i])
	}
}

// operand is a tensor of an Einsum in the machine's layout.
type operand struct {
	data    []int32
	shape   []int // in the layout
	labels  []uint8
	real    map[uint8]int
	padding bool
}

func (m *machine) operand(op Einsum, id TensorID, labels []uint8) operand {
	return operand{m.values[id], m.shape(id), labels, m.p.Extents(op), m.padded}
}

// places are the offsets of labels that the result has, over the layout's extents.
func (o *operand) places(labels []uint8) []int {
	return Offsets(labels, func(l uint8) int {
		if o.padding {
			return Pow2(o.real[l])
		}
		return o.real[l]
	}, o.labels, o.shape)
}

// sum are the offsets of labels that are summed, over their real extents.
func (o *operand) sum(labels []uint8) []int {
	return Offsets(labels, func(l uint8) int { return o.real[l] }, o.labels, o.shape)
}

// product is an Einsum of two operands as offsets.
type product struct {
	a, b, out                                        []int32
	rowsA, rowsOut, columnsB, columnsOut, sumA, sumB []int
	adjacent                                         bool // columns are next to each other in b
	acc                                              []int64
}

// run does one assignment of the batch labels.
func (p *product) run(a, b, out int) {
	for i, row := range p.rowsA {
		clear(p.acc)
		for k, at := range p.sumA {
			v := int64(p.a[a+row+at])
			if v == 0 {
				continue
			}
			from := b + p.sumB[k]
			if p.adjacent {
				for j, w := range p.b[from : from+len(p.acc)] {
					p.acc[j] += v * int64(w)
				}
				continue
			}
			for j, c := range p.columnsB {
				p.acc[j] += v * int64(p.b[from+c])
			}
		}
		for j, c := range p.columnsOut {
			p.out[out+p.rowsOut[i]+c] = int32(p.acc[j])
		}
	}
}
