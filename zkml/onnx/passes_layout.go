package onnx

import "slices"

// Rules for shapes and orders of axes.

// reshapeRule skips the shape between two reshapes.
func (r *rewriter) reshapeRule(n *Node) bool {
	if n.Op != OpReshape {
		return false
	}
	before := r.nodeOf(n.Inputs[0], OpReshape)
	if before == nil {
		return false
	}
	n.Inputs = []int{before.Inputs[0]}
	return true
}

// regroupRule undoes a merging of axes that is taken back behind a permutation, as exporters write to transpose the last two axes of a
// batch: the permutation is done with all axes.
func (r *rewriter) regroupRule(n *Node) bool {
	if n.Op != OpReshape {
		return false
	}
	turn := r.nodeOf(n.Inputs[0], OpRearrange)
	if turn == nil {
		return false
	}
	order, ok := turn.order()
	merge := r.nodeOf(turn.Inputs[0], OpReshape)
	if !ok || merge == nil {
		return false
	}
	from := r.shape(merge.Inputs[0])
	groups, ok := merged(from, r.shape(merge.Output))
	if !ok {
		return false
	}
	perm, shape := []int{}, []int{}
	for _, axis := range order {
		for _, a := range groups[axis] {
			perm, shape = append(perm, a), append(shape, from[a])
		}
	}
	if !slices.Equal(shape, n.Attr.Shape) {
		return false
	}
	return n.replace(OpRearrange, Attr{Maps: keep(from), Perm: perm}, merge.Inputs[0])
}

// merged returns which neighbouring axes became which axis of another shape.
func merged(from, to []int) (groups [][]int, ok bool) {
	a := 0
	for i, d := range to {
		var group []int
		for n := 1; a < len(from) && (n < d || n == d && (from[a] == 1 && n != 1 || len(group) == 0 && d == from[a])); a++ {
			n *= from[a]
			group = append(group, a)
		}
		n := 1
		for _, g := range group {
			n *= from[g]
		}
		if n != d {
			return nil, false
		}
		if i == len(to)-1 {
			for ; a < len(from) && from[a] == 1; a++ {
				group = append(group, a)
			}
		}
		groups = append(groups, group)
	}
	return groups, a == len(from)
}

// order returns the permutation that a rearrangement is: axis i of the result is axis order[i] of the operand. ok is false if it maps
// axes.
func (n *Node) order() (order []int, ok bool) {
	if n.Op != OpRearrange {
		return nil, false
	}
	order = make([]int, len(n.Attr.Maps))
	for i, m := range n.Attr.Maps {
		if m.Index != nil {
			return nil, false
		}
		order[i] = m.Axis
	}
	if n.Attr.Perm != nil {
		order = permuted(order, n.Attr.Perm)
	}
	return order, true
}

// functionRule moves a permutation behind a function of single elements, where an Einsum may take it up.
func (r *rewriter) functionRule(n *Node) bool {
	k := 0
	switch n.Op {
	case OpUnary:
	case OpAdd, OpSub, OpMul, OpDiv, OpMin, OpMax:
		if c := r.m.Values[n.Inputs[0]].Const; c != nil {
			k = 1
		}
		if c := r.m.Values[n.Inputs[1-k]].Const; c == nil || c.Len() != 1 {
			return false
		}
	default:
		return false
	}
	before := r.node(n.Inputs[k])
	if before == nil || !slices.Equal(r.shape(n.Inputs[k]), r.shape(n.Output)) {
		return false
	}
	if _, ok := before.order(); !ok {
		return false
	}
	inputs := slices.Clone(n.Inputs)
	inputs[k] = before.Inputs[0]
	x := r.emit(n, n.Op, n.Attr, inputs...)
	if x < 0 || len(r.shape(x)) != len(r.shape(n.Output)) {
		return false
	}
	return n.replace(OpRearrange, before.Attr, x)
}

// operandRule lets an Einsum read an operand before its axes were permuted.
func (r *rewriter) operandRule(n *Node) bool {
	if n.Op != OpEinsum {
		return false
	}
	changed := false
	for k := 0; k < len(n.Inputs); {
		from, order, ok := r.unturned(n.Inputs[k])
		if !ok {
			k++
			continue
		}
		labels := make([]uint8, len(order))
		for i, axis := range order {
			labels[axis] = n.Attr.Labels[k][i]
		}
		n.Attr.Labels = slices.Clone(n.Attr.Labels)
		n.Attr.Labels[k] = labels
		n.Inputs[k] = from
		changed = true
	}
	if changed {
		n.Attr.Labels = renamed(n.Attr.Labels)
	}
	return changed
}

// unturned returns the value that another one is with its axes permuted. A constant counts only where something else reads the original
// too, as an embedding does whose table is the last layer's weight: then the program holds it once.
func (r *rewriter) unturned(id int) (from int, order []int, ok bool) {
	if n := r.node(id); n != nil {
		order, ok = n.order()
		return n.Inputs[0], order, ok
	}
	t, ok := r.m.turned[id]
	if !ok || len(r.uses[t.from]) == 0 && len(r.uses[r.resolve(t.from)]) == 0 {
		return 0, nil, false
	}
	return r.resolve(t.from), t.order, true
}

// resultRule lets an Einsum write its result in the order that a permutation, its only reader, would give it.
func (r *rewriter) resultRule(n *Node) bool {
	order, ok := n.order()
	if !ok {
		return false
	}
	before := r.nodeOf(n.Inputs[0], OpEinsum)
	if before == nil || len(r.uses[n.Inputs[0]]) != 1 {
		return false
	}
	labels := slices.Clone(before.Attr.Labels)
	last := len(labels) - 1
	out := make([]uint8, len(order))
	for i, axis := range order {
		out[i] = labels[last][axis]
	}
	labels[last] = out
	return n.replace(OpEinsum, Attr{Labels: labels}, before.Inputs...)
}
