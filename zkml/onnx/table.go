package onnx

import (
	"fmt"
	"slices"
)

// Table is a function of one or two integers, given by its values: entry (a - Lo[0]) * Size[1] + (b - Lo[1]).
type Table struct {
	Lo   []int64 // least value of every operand
	Size []int   // how many values it has
	Y    []int32
}

// maxTable bounds a table's entries.
const maxTable = 1 << 18

// tabulate makes the table of f over the bounds of one or two values.
func tabulate(of []*Value, f func(x []int64) int64) (*Table, error) {
	t := &Table{}
	entries := int64(1)
	for _, v := range of {
		n := v.Hi - v.Lo + 1
		if !v.Int || n < 1 || n > maxTable || entries*n > maxTable {
			return nil, fmt.Errorf("a table over tensor %s, whose elements lie between %d and %d, expected at most 2^18 entries", Quote(v.Name), v.Lo, v.Hi)
		}
		entries *= n
		t.Lo, t.Size = append(t.Lo, v.Lo), append(t.Size, int(n))
	}
	t.Y = make([]int32, entries)
	x := slices.Clone(t.Lo)
	for i := range t.Y {
		t.Y[i] = int32(f(x))
		for k := len(x) - 1; k >= 0; k-- {
			if x[k]++; x[k] < t.Lo[k]+int64(t.Size[k]) {
				break
			}
			x[k] = t.Lo[k]
		}
	}
	return t, nil
}

// at returns the entry of one or two integers within the bounds.
func (t *Table) at(a, b int64) int64 {
	i := int(a - t.Lo[0])
	if len(t.Lo) == 2 {
		i = i*t.Size[1] + int(b-t.Lo[1])
	}
	return int64(t.Y[i])
}

// table applies a function to the elements of one or two integer tensors. A constant of one element becomes part of the table.
func (t *translation) table(f func(x []int64) int64, ids ...int) int {
	if t.err != nil || slices.Contains(ids, -1) {
		return -1
	}
	var of []*Value
	var computed []int
	fixed := make([]int64, len(ids))
	place := make([]int, 0, len(ids))
	for k, id := range ids {
		v := &t.im.m.Values[id]
		if v.Const != nil && v.Int && v.Const.Len() == 1 && len(ids) > 1 {
			fixed[k] = v.Const.Ints[0]
			continue
		}
		of, computed, place = append(of, v), append(computed, id), append(place, k)
	}
	if len(computed) == 0 {
		return t.integer(f(fixed))
	}
	all := make([]int64, len(ids))
	table, err := tabulate(of, func(x []int64) int64 {
		copy(all, fixed)
		for i, k := range place {
			all[k] = x[i]
		}
		return f(all)
	})
	if err != nil {
		return t.fail(t.unsupported("%w", err))
	}
	y := t.emit(OpTable, Attr{Table: table}, computed...)
	for k, id := range ids { // a constant operand may have more axes than the other
		if v := &t.im.m.Values[id]; !slices.Contains(place, k) && len(v.Shape) > len(t.shape(y)) {
			y = t.reshape(y, append(slices.Repeat([]int{1}, len(v.Shape)-len(t.shape(y))), t.shape(y)...))
		}
	}
	return y
}

func (n *Node) inferTable(in []*Value) (Value, error) {
	t := n.Attr.Table
	if t == nil || len(in) != len(t.Lo) || len(in) != len(t.Size) || len(in) < 1 || len(in) > 2 || len(t.Y) != elements(t.Size) || len(t.Y) == 0 {
		return Value{}, fmt.Errorf("%d operands and a table that does not fit them", len(in))
	}
	v := Value{Shape: in[0].Shape}
	for k, x := range in {
		if !x.Int || x.Lo < t.Lo[k] || x.Hi >= t.Lo[k]+int64(t.Size[k]) {
			return v, fmt.Errorf("tensor %s has elements between %d and %d, the table %d entries from %d on", Quote(x.Name), x.Lo, x.Hi, t.Size[k], t.Lo[k])
		}
		shape, ok := broadcast(v.Shape, x.Shape)
		if !ok {
			return v, fmt.Errorf("shapes %v and %v do not broadcast", v.Shape, x.Shape)
		}
		v.Shape = shape
	}
	v.setWhole(true, bounds{int64(slices.Min(t.Y)), int64(slices.Max(t.Y))})
	return v, nil
}

func evaluateTable(t *Table, in []*Tensor, out *Tensor) {
	if len(in) == 1 {
		x := in[0].Ints
		parallel(len(x), 1<<12, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				out.Ints[i] = t.at(x[i], 0)
			}
		})
		return
	}
	r := newRows(out.Shape, in[0].Shape, in[1].Shape)
	r.each(func(start int, offsets []int) {
		z := out.Ints[start : start+r.length]
		for i := range z {
			z[i] = t.at(in[0].Ints[offsets[0]+i*r.inner[0]], in[1].Ints[offsets[1]+i*r.inner[1]])
		}
	})
}
