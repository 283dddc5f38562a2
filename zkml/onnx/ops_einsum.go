package onnx

import (
	"slices"
	"strings"
)

// einsumOf translates the Einsum operator: operands are multiplied from left to right, each label is summed as soon as no later operand
// needs it.
func (t *translation) einsumOf() error {
	equation := strings.ReplaceAll(t.attrs.str("equation", ""), " ", "")
	left, right, explicit := strings.Cut(equation, "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(t.inputs) {
		return t.malformed("equation %s has %d operands, there are %d inputs", Quote(equation), len(terms), len(t.inputs))
	}
	labels := make([][]uint8, len(terms))
	dots := 0 // axes that an ellipsis stands for
	for k, term := range terms {
		if t.inputs[k] < 0 {
			return t.malformed("input %d is missing", k)
		}
		if err := t.real(k); err != nil {
			return err
		}
		if strings.Contains(term, "...") {
			dots = max(dots, len(t.value(k).Shape)-len(term)+3)
		}
	}
	for k, term := range terms {
		own, ok := einsumLabels(term, len(t.value(k).Shape), dots)
		if !ok {
			return t.malformed("equation %s does not fit input %d of shape %v", Quote(equation), k, t.value(k).Shape)
		}
		labels[k] = own
	}
	var out []uint8
	if explicit {
		var ok bool
		if out, ok = einsumLabels(right, -1, dots); !ok {
			return t.malformed("equation %s has a wrong right side", Quote(equation))
		}
	} else {
		out = implicitLabels(labels, dots)
	}
	ids := slices.Clone(t.inputs)
	// Axes of length 1 under an ellipsis repeat: drop them.
	full := map[uint8]int{}
	for k, own := range labels {
		for a, l := range own {
			full[l] = max(full[l], t.value(k).Shape[a])
		}
	}
	for k := range ids {
		ids[k], labels[k] = t.diagonal(ids[k], labels[k])
		if t.err != nil {
			return t.err
		}
		shape, own := []int{}, []uint8{}
		for a, l := range labels[k] {
			d := t.shape(ids[k])[a]
			if d == 1 && full[l] != 1 {
				continue
			}
			shape, own = append(shape, d), append(own, l)
		}
		ids[k], labels[k] = t.reshape(ids[k], shape), own
	}
	if t.err != nil {
		return t.err
	}
	return t.result(0, t.contractAll(ids, labels, out))
}

// diagonal takes the diagonal of axes that have the same label: the sum over one of them of the product with a unit matrix.
func (t *translation) diagonal(x int, labels []uint8) (int, []uint8) {
	for a, l := range labels {
		b := slices.Index(labels[:a], l)
		if b < 0 {
			continue
		}
		d := t.shape(x)[a]
		if t.shape(x)[b] != d {
			t.fail(t.malformed("two axes of lengths %d and %d have the same label", t.shape(x)[b], d))
			return -1, labels
		}
		if err := t.charge(d * d); err != nil {
			return t.fail(err), labels
		}
		unit := &Tensor{Shape: []int{d, d}, Real: make([]float32, d*d)}
		for i := range d {
			unit.Real[i*d+i] = 1
		}
		own := slices.Clone(labels)
		own[a] = 255 // no letter
		out := slices.Delete(slices.Clone(own), a, a+1)
		return t.diagonal(t.einsum([][]uint8{own, {l, 255}, out}, x, t.constTensor(unit)), out)
	}
	return x, labels
}

// einsumLabels turns letters into labels: an ellipsis into 0, 1, ..., of which the last ones count, letters into their codes. With rank
// -1 an ellipsis stands for all of them.
func einsumLabels(term string, rank, dots int) ([]uint8, bool) {
	before, after, ellipsis := strings.Cut(term, "...")
	n := 0
	if ellipsis {
		if n = dots; rank >= 0 {
			n = rank - len(before) - len(after)
		}
		if n < 0 {
			return nil, false
		}
	}
	out := []uint8{}
	letters := func(s string) bool {
		for _, c := range []byte(s) {
			if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
				return false
			}
			out = append(out, c)
		}
		return true
	}
	if !letters(before) {
		return nil, false
	}
	for i := dots - n; i < dots; i++ {
		out = append(out, uint8(i))
	}
	if !letters(after) {
		return nil, false
	}
	return out, rank < 0 || len(out) == rank
}

// implicitLabels are the ellipsis and the letters that occur once, in alphabetical order.
func implicitLabels(labels [][]uint8, dots int) []uint8 {
	count := map[uint8]int{}
	for _, own := range labels {
		for _, l := range own {
			count[l]++
		}
	}
	out := []uint8{}
	for i := range dots {
		out = append(out, uint8(i))
	}
	for l := uint8('A'); l <= 'z'; l++ {
		if count[l] == 1 {
			out = append(out, l)
		}
	}
	return out
}

// contractAll multiplies operands from left to right.
func (t *translation) contractAll(ids []int, labels [][]uint8, out []uint8) int {
	needed := func(l uint8, from int) bool {
		return slices.Contains(out, l) || slices.ContainsFunc(labels[from:], func(own []uint8) bool { return slices.Contains(own, l) })
	}
	// sum drops labels that only this operand has.
	sum := func(id int, own []uint8, other []uint8, from int) (int, []uint8) {
		var kept []uint8
		for _, l := range own {
			if slices.Contains(other, l) || needed(l, from) {
				kept = append(kept, l)
			}
		}
		if len(kept) == len(own) {
			return id, own
		}
		return t.einsum([][]uint8{own, kept}, id), kept
	}
	x, own := ids[0], labels[0]
	for k := 1; k < len(ids); k++ {
		var y int
		var other []uint8
		x, own = sum(x, own, labels[k], k+1)
		y, other = sum(ids[k], labels[k], own, k+1)
		next := []uint8{}
		for _, l := range slices.Concat(own, other) {
			if needed(l, k+1) && !slices.Contains(next, l) {
				next = append(next, l)
			}
		}
		if k == len(ids)-1 {
			next = out
		}
		x, own = t.einsum([][]uint8{own, other, next}, x, y), next
	}
	if len(ids) == 1 {
		x = t.einsum([][]uint8{own, out}, x)
	}
	return x
}
