package prover

import (
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Lists of segments of an einsumLayout. Indices of the batch, of rows (labels
// that the first operand shares with the result alone) and of columns (likewise
// the second) become places in the three tensors; indices of the result become
// places in the operands.
const (
	outBatch = iota
	outRows
	outColumns
	aBatch
	aRows
	bBatch
	bColumns
	aOut
	bOut
	einsumLists
)

// einsumLayout is an Einsum over the padded layout. Every label of the result
// has a power of two of indices, so that places are made of an index's bits;
// sums run over real extents: term k is at offset outer[k / inner] + (k %
// inner) * step in each operand.
type einsumLayout struct {
	a, b, out            graph.TensorID // in the order that suits kernels; a is None if there is one operand
	batch, rows, columns int            // how many indices, padded
	k, inner             int            // terms of a sum, those of its innermost label
	stepA, stepB         int
	outerA, outerB       []int
	lists                [einsumLists][]uint64

	outer int // place of the offsets
	lanes int // threads that make an entry in a run, or 0 for a block
	at    int // of the descriptor of a launch of its own
}

// maxOuter is the most offsets that are listed before the longest label is made
// the innermost one.
const maxOuter = 1 << 14

// sumLabel is a summed label, or several in a row that are as good as one.
type sumLabel struct{ n, stepA, stepB int }

func (l *layout) einsum(p *graph.Program, op graph.Einsum) *einsumLayout {
	extents := p.Extents(op)
	// Columns are what is written in a row; one operand is the second.
	if n := len(op.OL); op.B == graph.None || n > 0 && !slices.Contains(op.BL, op.OL[n-1]) {
		op.A, op.B, op.AL, op.BL = op.B, op.A, op.BL, op.AL
	}
	roles := op.Roles()
	if op.A == graph.None {
		for _, label := range op.BL {
			if !slices.Contains(op.OL, label) {
				roles.Sum = append(roles.Sum, label)
			}
		}
		roles.Columns = op.OL
	}
	vars := map[uint8]int{}
	for label, n := range extents {
		vars[label] = graph.Log2(n)
	}
	count := func(labels []uint8) int {
		n := 0
		for _, x := range labels {
			n += vars[x]
		}
		return 1 << n
	}
	e := &einsumLayout{a: op.A, b: op.B, out: op.Out, batch: count(roles.Batch), rows: count(roles.Rows), columns: count(roles.Columns)}
	for i, to := range [][2][]uint8{
		outBatch: {roles.Batch, op.OL}, outRows: {roles.Rows, op.OL}, outColumns: {roles.Columns, op.OL},
		aBatch: {roles.Batch, op.AL}, aRows: {roles.Rows, op.AL},
		bBatch: {roles.Batch, op.BL}, bColumns: {roles.Columns, op.BL},
		aOut: {op.OL, op.AL}, bOut: {op.OL, op.BL},
	} {
		e.lists[i] = labelSegments(to[0], to[1], vars)
	}
	e.sums(roles.Sum, op, extents, vars)
	e.describe(l)
	return e
}

// labelSegments turns an index of some labels, the last one lowest, into a place
// in a tensor that has some of them among its axes.
func labelSegments(labels, axes []uint8, vars map[uint8]int) []uint64 {
	begin, at := map[uint8]int{}, 0
	for i := len(axes) - 1; i >= 0; i-- {
		begin[axes[i]] = at
		at += vars[axes[i]]
	}
	segs, from := []uint64{}, 0
	for i := len(labels) - 1; i >= 0; i-- {
		if to, ok := begin[labels[i]]; ok {
			segs = segment(segs, from, to, vars[labels[i]])
		}
		from += vars[labels[i]]
	}
	return segs
}

// sums finds the terms' offsets.
func (e *einsumLayout) sums(labels []uint8, op graph.Einsum, extents, vars map[uint8]int) {
	step := func(axes []uint8, label uint8) int {
		n := slices.Index(axes, label)
		if n < 0 {
			return 0
		}
		bits := 0
		for _, x := range axes[n+1:] {
			bits += vars[x]
		}
		return 1 << bits
	}
	e.k = 1
	var terms []sumLabel
	for _, label := range labels {
		t := sumLabel{extents[label], step(op.AL, label), step(op.BL, label)}
		e.k *= t.n
		if n := len(terms); n > 0 && terms[n-1].stepA == t.n*t.stepA && terms[n-1].stepB == t.n*t.stepB {
			t.n *= terms[n-1].n
			terms = terms[:n-1]
		}
		if t.n > 1 {
			terms = append(terms, t)
		}
	}
	inner := sumLabel{n: 1}
	if n := len(terms); n > 0 {
		longest := n - 1
		if e.k/terms[longest].n > maxOuter {
			for i, t := range terms {
				if t.n > terms[longest].n {
					longest = i
				}
			}
		}
		inner = terms[longest]
		terms = slices.Delete(terms, longest, longest+1)
	}
	e.inner, e.stepA, e.stepB = inner.n, inner.stepA, inner.stepB
	e.outerA, e.outerB = []int{0}, []int{0}
	for _, t := range terms {
		var a, b []int
		for i := range e.outerA {
			for j := range t.n {
				a, b = append(a, e.outerA[i]+j*t.stepA), append(b, e.outerB[i]+j*t.stepB)
			}
		}
		e.outerA, e.outerB = a, b
	}
}

// describe writes the offsets and, for a launch of its own, struct einsum of zkml.cu.
func (e *einsumLayout) describe(l *layout) {
	e.outer = len(l.desc)
	for i, a := range e.outerA {
		l.desc.add(uint64(a) | uint64(e.outerB[i])<<32)
	}
	if e.kernel() == inRun {
		return
	}
	var lists words
	for _, segs := range e.lists {
		lists.add(uint64(l.desc.add(segs...)), uint64(len(segs)/3))
	}
	e.at = l.desc.add(uint64(e.k), uint64(e.inner), uint64(e.stepA), uint64(e.stepB), uint64(e.outer), uint64(e.rows), uint64(e.columns))
	l.desc.add(lists...)
}
