package graph

import (
	"fmt"
	"slices"
)

// op checks one operation: its inputs exist and are defined, its outputs are not, and the outputs have the kind, shape and bounds
// that follow from the inputs.
func (v *validator) op(op Op) error {
	if !known(op) {
		return fmt.Errorf("unknown operation type %T", op)
	}
	for _, id := range op.Inputs() {
		if !v.valid(id) {
			return fmt.Errorf("tensor %d does not exist", id)
		}
		if !v.defined[id] {
			return fmt.Errorf("tensor %q is used before it is defined", v.p.Tensor(id).Name)
		}
		v.used[id] = true
	}
	for _, id := range op.Outputs() {
		if !v.valid(id) {
			return fmt.Errorf("tensor %d does not exist", id)
		}
		if v.defined[id] {
			return fmt.Errorf("tensor %q is defined twice", v.p.Tensor(id).Name)
		}
		v.defined[id] = true
	}
	results, err := v.p.infer(op)
	if err != nil {
		return err
	}
	for i, id := range op.Outputs() {
		if err := results[i].match(v.p.Tensor(id)); err != nil {
			return err
		}
	}
	if _, ok := TableOf(op); ok { // remainders and limbs need no reader
		for _, id := range op.Outputs()[1:] {
			v.used[id] = true
		}
	}
	return nil
}

// result is what an operation says of an output.
type result struct {
	kind  Kind
	shape []int
	interval
}

func (r result) match(t *Tensor) error {
	switch {
	case t.Kind != r.kind:
		return fmt.Errorf("tensor %q has kind %s, expected %s", t.Name, t.Kind, r.kind)
	case !slices.Equal(t.Shape, r.shape):
		return fmt.Errorf("tensor %q has shape %v, expected %v", t.Name, t.Shape, r.shape)
	case t.bounds() != r.interval:
		return fmt.Errorf("tensor %q has bounds [%d, %d], expected [%d, %d]", t.Name, t.Lo, t.Hi, r.lo, r.hi)
	}
	return nil
}

// infer returns kind, shape and bounds of the outputs of an operation whose input ids are valid. For a Reshape the shape is the
// declared one, checked for its element count.
func (p *Program) infer(op Op) ([]result, error) {
	var results []result
	var err error
	switch op := op.(type) {
	case Linear:
		results, err = p.inferLinear(op)
	case Lookup:
		results, err = p.inferLookup(op)
	case Reshape:
		results, err = p.inferReshape(op)
	case Einsum:
		results, err = p.inferEinsum(op)
	case Pair:
		results, err = p.inferPair(op)
	case Threshold:
		results, err = p.inferThreshold(op)
	case Rearrange:
		results, err = p.inferRearrange(op)
	case Embed:
		results, err = p.inferEmbed(op)
	}
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		if !r.fits() {
			return nil, overflow(r.interval)
		}
		if err := validShape(r.shape); err != nil {
			return nil, err
		}
	}
	return results, nil
}

func (p *Program) inferLinear(op Linear) ([]result, error) {
	if len(op.Terms) == 0 || len(op.Terms) > MaxTerms {
		return nil, fmt.Errorf("%d terms, expected 1 to %d", len(op.Terms), MaxTerms)
	}
	if op.Const <= -BoundLimit || op.Const >= BoundLimit {
		return nil, fmt.Errorf("constant %d reaches 2^29", op.Const)
	}
	computed := false
	shape := []int{}
	for _, t := range op.Terms {
		x := p.Tensor(t.T)
		computed = computed || x.Kind != Param
		var ok bool
		if shape, ok = broadcast(shape, x.Shape); !ok {
			return nil, fmt.Errorf("%q of shape %v does not broadcast with the terms before it, to shape %v", x.Name, x.Shape, shape)
		}
	}
	if !computed {
		return nil, fmt.Errorf("all terms are parameters; at least one must be computed")
	}
	sum := interval{op.Const, op.Const}
	for i, t := range op.Terms {
		x := p.Tensor(t.T)
		if t.Coef == 0 || t.Coef <= -BoundLimit || t.Coef >= BoundLimit {
			return nil, fmt.Errorf("coefficient %d of term %d is zero or reaches 2^29", t.Coef, i)
		}
		// A summand is below 2^58, so checking after each one keeps the sum from overflowing.
		sum = sum.plus(x.bounds().scaled(t.Coef))
		if sum.magnitude() >= 1<<60 {
			return nil, overflow(sum)
		}
	}
	return []result{{Virtual, shape, sum}}, nil
}

// broadcast returns the least shape that both repeat to, aligned at the last axis; if there is none, a and false.
func broadcast(a, b []int) ([]int, bool) {
	n := max(len(a), len(b))
	shape := make([]int, n)
	for i := range shape {
		x, y := 1, 1
		if k := i - n + len(a); k >= 0 {
			x = a[k]
		}
		if k := i - n + len(b); k >= 0 {
			y = b[k]
		}
		if x != y && x != 1 && y != 1 {
			return a, false
		}
		shape[i] = max(x, y)
	}
	return shape, true
}

// lookedUp returns the table of an operation, which must be of a kind.
func (p *Program) lookedUp(table int, kind TableKind) (*Table, error) {
	if table < 0 || table >= len(p.Tables) {
		return nil, fmt.Errorf("table %d does not exist", table)
	}
	t := &p.Tables[table]
	if t.Kind != kind {
		return nil, fmt.Errorf("table %q is %s, expected %s", t.Name, t.Kind, kind)
	}
	return t, nil
}

func (p *Program) inferLookup(op Lookup) ([]result, error) {
	x := p.Tensor(op.X)
	if x.Kind == Param {
		return nil, fmt.Errorf("%q is a parameter; lookups are of computed tensors", x.Name)
	}
	table, err := p.lookedUp(op.Table, Unary)
	if err != nil {
		return nil, err
	}
	if op.Shift > MaxShift || int(op.Shift)+int(table.Bits) > MaxWindow {
		return nil, fmt.Errorf("shift %d with a table of %d bits, expected a shift of at most %d and a sum of at most %d", op.Shift, table.Bits, MaxShift, MaxWindow)
	}
	if !total(x.bounds(), op.Shift, int(table.Bits)) {
		return nil, fmt.Errorf("%q in [%d, %d], shifted by %d, can leave the table %q of %d bits", x.Name, x.Lo, x.Hi, op.Shift, table.Name, table.Bits)
	}
	if (op.Shift == 0) != (op.Rem == None) {
		return nil, fmt.Errorf("shift %d with remainder tensor %d: a remainder goes with a shift above 0", op.Shift, op.Rem)
	}
	results := []result{{Column, slices.Clone(x.Shape), interval{table.YLo, table.YHi}}}
	if op.Rem != None {
		results = append(results, result{Column, slices.Clone(x.Shape), interval{0, 1<<op.Shift - 1}})
	}
	return results, nil
}

func (p *Program) inferReshape(op Reshape) ([]result, error) {
	x := p.Tensor(op.X)
	if x.Kind == Param {
		return nil, fmt.Errorf("%q is a parameter; reshape it when the program is built", x.Name)
	}
	shape := p.Tensor(op.Out).Shape
	if Elements(shape) != Elements(x.Shape) {
		return nil, fmt.Errorf("%q of shape %v has %d elements, the new shape %v has %d", x.Name, x.Shape, Elements(x.Shape), shape, Elements(shape))
	}
	return []result{{Virtual, slices.Clone(shape), x.bounds().withZero()}}, nil
}
