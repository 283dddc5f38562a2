package graph

import "github.com/zkwarp/zkwarp/internal/parallel"

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
	p.adjacent = len(p.columnsB) > 1 && inRow(p.columnsB)
	p.rows = inRow(p.sumA) && inRow(p.sumB)
	batchA, batchB, batchOut := a.places(roles.Batch), b.places(roles.Batch), out.places(roles.Batch)
	// Rows are independent; a task has some thousand products.
	rows := len(p.rowsA)
	parallel.For(len(batchA)*rows, 1+1<<14/max(1, len(p.columnsB)*len(p.sumA)), func(lo, hi int) {
		acc := make([]int64, len(p.columnsB))
		for i := lo; i < hi; i++ {
			n, r := i/rows, i%rows
			p.row(batchA[n]+p.rowsA[r], batchB[n], batchOut[n]+p.rowsOut[r], acc)
		}
	})
}

// inRow says whether offsets are one after the other from 0 on.
func inRow(offsets []int) bool {
	for i, o := range offsets {
		if i != o {
			return false
		}
	}
	return true
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
	rows                                             bool // terms are next to each other in a and in b
}

// row computes the columns of one row. acc is as long as there are columns.
func (p *product) row(a, b, out int, acc []int64) {
	if p.rows && !p.adjacent {
		x := p.a[a : a+len(p.sumA)]
		for j, at := range p.columnsB {
			sum := int64(0)
			for k, w := range p.b[b+at : b+at+len(x)] {
				sum += int64(x[k]) * int64(w)
			}
			acc[j] = sum
		}
	} else {
		clear(acc)
		for k, at := range p.sumA {
			p.add(acc, int64(p.a[a+at]), b+p.sumB[k])
		}
	}
	for j, c := range p.columnsOut {
		p.out[out+c] = int32(acc[j])
	}
}

// add adds v times the columns' terms from a place in b on.
func (p *product) add(acc []int64, v int64, from int) {
	switch {
	case v == 0:
	case p.adjacent:
		for j, w := range p.b[from : from+len(acc)] {
			acc[j] += v * int64(w)
		}
	default:
		for j, c := range p.columnsB {
			acc[j] += v * int64(p.b[from+c])
		}
	}
}
