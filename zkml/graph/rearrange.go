package graph

import (
	"fmt"
	"slices"
)

func (p *Program) inferRearrange(op Rearrange) ([]result, error) {
	x := p.Tensor(op.X)
	if x.Kind == Param {
		return nil, fmt.Errorf("%q is a parameter; rearrange it when the program is built", x.Name)
	}
	if len(op.Maps) != len(x.Shape) {
		return nil, fmt.Errorf("%d maps for the %d axes of %q", len(op.Maps), len(x.Shape), x.Name)
	}
	seen := make([]bool, len(x.Shape))
	bounds := x.bounds()
	var axes []int
	for _, m := range op.Maps {
		if m.Axis < 0 || m.Axis >= len(seen) || seen[m.Axis] {
			return nil, fmt.Errorf("a map of axis %d of %q, expected one for each of its %d axes", m.Axis, x.Name, len(seen))
		}
		seen[m.Axis] = true
		if err := m.validate(x.Shape[m.Axis]); err != nil {
			return nil, fmt.Errorf("axis %d of %q: %w", m.Axis, x.Name, err)
		}
		if len(m.Index) > 0 {
			bounds = bounds.withZero()
		}
		axes = append(axes, m.Shape...)
	}
	shape := slices.Clone(axes)
	if op.Perm != nil {
		if err := permutation(op.Perm, len(axes)); err != nil {
			return nil, err
		}
		for i, k := range op.Perm {
			shape[i] = axes[k]
		}
	}
	return []result{{Virtual, shape, bounds}}, nil
}

func (m *AxisMap) validate(extent int) error {
	if len(m.Index) == 0 {
		if len(m.Shape) != 1 || m.Shape[0] != extent {
			return fmt.Errorf("a map without an index has shape %v, expected [%d]", m.Shape, extent)
		}
		return nil
	}
	if err := validShape(m.Shape); err != nil {
		return err
	}
	if len(m.Index) != Elements(m.Shape) {
		return fmt.Errorf("%d entries, expected %d for shape %v", len(m.Index), Elements(m.Shape), m.Shape)
	}
	for e, i := range m.Index {
		if i < -1 || int(i) >= extent {
			return fmt.Errorf("entry %d is %d, expected -1 to %d", e, i, extent-1)
		}
	}
	return nil
}

// permutation checks that perm, of n axes, is a permutation and not the identity, which is nil.
func permutation(perm []int, n int) error {
	seen := make([]bool, n)
	for _, k := range perm {
		if k < 0 || k >= n || seen[k] {
			return fmt.Errorf("permutation %v, expected one of %d axes", perm, n)
		}
		seen[k] = true
	}
	if len(perm) != n || isIdentity(perm) {
		return fmt.Errorf("permutation %v, expected one of %d axes that is not the identity", perm, n)
	}
	return nil
}

func isIdentity(perm []int) bool {
	for i, k := range perm {
		if i != k {
			return false
		}
	}
	return true
}

// Move is one map of a Rearrange as places in memory: entry e of the map's axes, in row-major order, is at To[e] of the result and comes
// from From[e] of the operand, or is 0 if that is -1. Places add up over the maps; a map's 0 wins.
type Move struct{ From, To []int }

// Moves returns the maps' places in the real layout, or with padded in the padded one. x is the real shape of the operand.
func (o Rearrange) Moves(x []int, padded bool) []Move {
	extent := func(n int) int { return n }
	if padded {
		extent = Pow2
	}
	lengths := make([]int, len(x))
	for i, n := range x {
		lengths[i] = extent(n)
	}
	var axes []int // in the layout, before Perm
	for _, m := range o.Maps {
		for _, n := range m.Shape {
			axes = append(axes, extent(n))
		}
	}
	perm := o.Perm
	if perm == nil {
		perm = make([]int, len(axes))
		for i := range perm {
			perm[i] = i
		}
	}
	steps, step := make([]int, len(axes)), 1
	for i := len(perm) - 1; i >= 0; i-- {
		steps[perm[i]] = step
		step *= axes[perm[i]]
	}
	moves := make([]Move, len(o.Maps))
	for k, m := range o.Maps {
		group, unit := axes[:len(m.Shape)], Elements(lengths[m.Axis+1:])
		moves[k] = m.move(group, steps[:len(group)], unit)
		axes, steps = axes[len(group):], steps[len(group):]
	}
	return moves
}

// move returns the map's places, for axes of these lengths and steps in the result and an axis of that step in the operand.
func (m *AxisMap) move(lengths, steps []int, unit int) Move {
	n := Elements(lengths)
	v := Move{From: make([]int, n), To: make([]int, n)}
	for e := range n {
		real, scale, inside := 0, 1, true
		for a, rest := len(lengths)-1, e; a >= 0; a-- {
			i := rest % lengths[a]
			rest /= lengths[a]
			v.To[e] += i * steps[a]
			inside = inside && i < m.Shape[a]
			real += i * scale
			scale *= m.Shape[a]
		}
		switch {
		case len(m.Index) == 0:
			v.From[e] = e * unit // padding too
		case !inside || m.Index[real] < 0:
			v.From[e] = -1
		default:
			v.From[e] = int(m.Index[real]) * unit
		}
	}
	return v
}
