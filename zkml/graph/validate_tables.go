package graph

import (
	"fmt"
	"slices"
)

func (p *Program) inferPair(op Pair) ([]result, error) {
	a, b := p.Tensor(op.A), p.Tensor(op.B)
	if a.Kind == Param && b.Kind == Param {
		return nil, fmt.Errorf("%q and %q are parameters; one must be computed", a.Name, b.Name)
	}
	if !slices.Equal(a.Shape, b.Shape) {
		return nil, fmt.Errorf("%q has shape %v, but %q has shape %v", a.Name, a.Shape, b.Name, b.Shape)
	}
	t, err := p.lookedUp(op.Table, Binary)
	if err != nil {
		return nil, err
	}
	bits := [2]uint8{t.Bits, t.Bits2}
	for i, x := range [2]*Tensor{a, b} {
		if !x.bounds().within(bits[i]) {
			return nil, fmt.Errorf("%q in [%d, %d] can leave the %d bits that the table %q has for it", x.Name, x.Lo, x.Hi, bits[i], t.Name)
		}
	}
	return []result{{Column, slices.Clone(a.Shape), interval{t.YLo, t.YHi}}}, nil
}

func (p *Program) inferThreshold(op Threshold) ([]result, error) {
	x := p.Tensor(op.X)
	if x.Kind == Param {
		return nil, fmt.Errorf("%q is a parameter; lookups are of computed tensors", x.Name)
	}
	t, err := p.lookedUp(op.Table, Steps)
	if err != nil {
		return nil, err
	}
	if x.bounds().magnitude() > t.Limit {
		return nil, fmt.Errorf("%q in [%d, %d] can leave the table %q, whose limit is %d", x.Name, x.Lo, x.Hi, t.Name, t.Limit)
	}
	channels := 1
	if op.Axis != -1 {
		if op.Axis < 0 || op.Axis >= len(x.Shape) {
			return nil, fmt.Errorf("axis %d of %q, which has shape %v", op.Axis, x.Name, x.Shape)
		}
		channels = x.Shape[op.Axis]
	}
	if t.Channels != channels {
		return nil, fmt.Errorf("table %q has %d channels, axis %d of %q has %d", t.Name, t.Channels, op.Axis, x.Name, channels)
	}
	results := []result{{Column, slices.Clone(x.Shape), interval{t.YLo, t.YHi}}}
	for range 2 { // of D, then of E
		for _, bits := range LimbBits {
			results = append(results, result{Column, slices.Clone(x.Shape), interval{0, 1<<bits - 1}})
		}
	}
	return results, nil
}

func (p *Program) inferEmbed(op Embed) ([]result, error) {
	x, w := p.Tensor(op.Tokens), p.Tensor(op.W)
	if w.Kind != Param || len(w.Shape) != 2 {
		return nil, fmt.Errorf("the table %q is a %s of shape %v, expected a parameter of rank 2", w.Name, w.Kind, w.Shape)
	}
	if x.Kind != Input || x.Lo < 0 || x.Hi >= int64(w.Shape[0]) {
		return nil, fmt.Errorf("the tokens %q are a tensor of kind %s in [%d, %d], expected an input in [0, %d]", x.Name, x.Kind, x.Lo, x.Hi, w.Shape[0]-1)
	}
	return []result{{Virtual, append(slices.Clone(x.Shape), w.Shape[1]), w.bounds()}}, nil
}
