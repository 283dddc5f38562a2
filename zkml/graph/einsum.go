package graph

import (
	"fmt"
	"slices"
	"strings"
)

// Roles sorts the labels of an Einsum by the lists that they are in. Batch, Rows and Sum are in A's order of axes, Columns in B's.
type Roles struct {
	Batch   []uint8 // in A, B and Out
	Rows    []uint8 // in A and Out
	Columns []uint8 // in B and Out
	Sum     []uint8 // not in Out
}

// Roles returns the roles of the operation's labels.
func (o Einsum) Roles() Roles {
	var r Roles
	for _, l := range o.AL {
		switch {
		case !slices.Contains(o.OL, l):
			r.Sum = append(r.Sum, l)
		case slices.Contains(o.BL, l):
			r.Batch = append(r.Batch, l)
		default:
			r.Rows = append(r.Rows, l)
		}
	}
	for _, l := range o.BL {
		if !slices.Contains(o.AL, l) {
			r.Columns = append(r.Columns, l)
		}
	}
	return r
}

// Offsets returns, for every assignment of the labels within their extents (the last label fastest), the place it stands for in a row-major
// tensor whose axes have these labels and lengths. Labels that the tensor does not have do not matter.
func Offsets(labels []uint8, extent func(uint8) int, axes []uint8, lengths []int) []int {
	offsets := []int{0}
	for _, l := range labels {
		step, n := 0, extent(l)
		if a := slices.Index(axes, l); a >= 0 {
			step = Elements(lengths[a+1:])
		}
		next := make([]int, 0, len(offsets)*n)
		for _, o := range offsets {
			for i := range n {
				next = append(next, o+i*step)
			}
		}
		offsets = next
	}
	return offsets
}

// Extents returns the real extent of each label.
func (p *Program) Extents(o Einsum) map[uint8]int {
	extents := map[uint8]int{}
	for i, l := range o.AL {
		extents[l] = p.Tensor(o.A).Shape[i]
	}
	for i, l := range o.BL {
		extents[l] = p.Tensor(o.B).Shape[i]
	}
	return extents
}

// ParseEinsum reads labels from letters: "bik,kj->bij" or "bik->bi".
func ParseEinsum(formula string) (al, bl, ol []uint8, err error) {
	in, out, ok := strings.Cut(formula, "->")
	a, b, _ := strings.Cut(in, ",")
	if !ok {
		return nil, nil, nil, fmt.Errorf("einsum %q has no arrow", formula)
	}
	read := func(s string) []uint8 {
		if s == "" {
			return nil
		}
		labels := make([]uint8, len(s))
		for i := range len(s) {
			if labels[i] = s[i] - 'a'; labels[i] >= MaxLabels && err == nil {
				err = fmt.Errorf("einsum %q: %q is not a letter from a to z", formula, s[i])
			}
		}
		return labels
	}
	return read(a), read(b), read(out), err
}

// letters shows labels as letters.
func letters(labels []uint8) string {
	b := make([]byte, len(labels))
	for i, l := range labels {
		b[i] = 'a' + l
	}
	return string(b)
}

// Formula shows the operation's labels as ParseEinsum reads them.
func (o Einsum) Formula() string {
	if o.B == None {
		return letters(o.AL) + "->" + letters(o.OL)
	}
	return letters(o.AL) + "," + letters(o.BL) + "->" + letters(o.OL)
}

func (p *Program) inferEinsum(op Einsum) ([]result, error) {
	a := p.Tensor(op.A)
	if err := axisLabels(a, op.AL); err != nil {
		return nil, err
	}
	params := a.Kind == Param
	var b *Tensor
	switch {
	case op.B != None:
		b = p.Tensor(op.B)
		if err := axisLabels(b, op.BL); err != nil {
			return nil, err
		}
		params = params && b.Kind == Param
	case len(op.BL) > 0:
		return nil, fmt.Errorf("labels %v of a second operand that there is not", op.BL)
	}
	if params {
		return nil, fmt.Errorf("%q is a parameter and no operand is computed", a.Name)
	}
	for i, l := range op.BL {
		if k := slices.Index(op.AL, l); k >= 0 && a.Shape[k] != b.Shape[i] {
			return nil, fmt.Errorf("label %c is %d in %q and %d in %q", 'a'+l, a.Shape[k], a.Name, b.Shape[i], b.Name)
		}
	}
	if err := distinct(op.OL); err != nil {
		return nil, fmt.Errorf("the result: %w", err)
	}
	extents := p.Extents(op)
	shape := make([]int, len(op.OL))
	for i, l := range op.OL {
		n, ok := extents[l]
		if !ok {
			return nil, fmt.Errorf("label %c of the result is in no operand", 'a'+l)
		}
		shape[i] = n
	}
	count := 1
	for l, n := range extents {
		if slices.Contains(op.OL, l) {
			continue
		}
		if b != nil && !(slices.Contains(op.AL, l) && slices.Contains(op.BL, l)) {
			return nil, fmt.Errorf("label %c is summed but in one operand only", 'a'+l)
		}
		count *= n // of one operand's elements, so at most 2^28
	}
	return []result{{Virtual, shape, einsumBounds(a, b, slices.Equal(op.AL, op.BL) && op.A == op.B, count)}}, nil
}

// einsumBounds is the range of a sum of count products, or entries of a if b is nil. Factors that are one entry give a square.
func einsumBounds(a, b *Tensor, square bool, count int) interval {
	product := a.bounds()
	if b != nil {
		product = product.times(b.bounds())
	}
	if square {
		product.lo = 0
		if a.Lo > 0 || a.Hi < 0 {
			product.lo = min(a.Lo*a.Lo, a.Hi*a.Hi)
		}
	}
	return product.repeated(count)
}

// axisLabels checks that every axis of a tensor has one label.
func axisLabels(t *Tensor, labels []uint8) error {
	if len(labels) != len(t.Shape) {
		return fmt.Errorf("%d labels for %q of shape %v", len(labels), t.Name, t.Shape)
	}
	if err := distinct(labels); err != nil {
		return fmt.Errorf("%q: %w", t.Name, err)
	}
	return nil
}

func distinct(labels []uint8) error {
	for i, l := range labels {
		if l >= MaxLabels {
			return fmt.Errorf("label %d, expected less than %d", l, MaxLabels)
		}
		if slices.Contains(labels[:i], l) {
			return fmt.Errorf("label %c occurs twice", 'a'+l)
		}
	}
	return nil
}
