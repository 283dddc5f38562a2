package graph

import "fmt"

// Run evaluates the program on the row-major values of its inputs, one input after the other, and returns the values of every tensor (indexed by TensorID, row-major,
// real shapes). It is the normative meaning of a program. It fails when the program or weights are invalid, or x has the wrong length
// or a value outside its bounds.
func Run(p *Program, w *Weights, x []int32) ([][]int32, error) { return run(p, w, x, false) }

// RunPadded is Run over the padded layout: every tensor has its padded shape, inputs and parameters are zero in padding, and each operation
// is evaluated on padding by the same rule as everywhere else. What is not element by element: an Einsum sums over real extents; a Reshape
// that is not free, an Embed and the mapped axes of a Rearrange leave zeros in padding; padding channels of a Threshold are channel 0. The
// real elements agree with Run; provers commit these tensors.
func RunPadded(p *Program, w *Weights, x []int32) ([][]int32, error) { return run(p, w, x, true) }

// Output returns just the values of the outputs, one after the other.
func Output(p *Program, w *Weights, x []int32) ([]int32, error) {
	values, err := Run(p, w, x)
	if err != nil {
		return nil, err
	}
	return p.OutputOf(values), nil
}

type machine struct {
	p      *Program
	padded bool
	values [][]int32
}

func run(p *Program, w *Weights, x []int32, padded bool) ([][]int32, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := w.ValidateFor(p); err != nil {
		return nil, err
	}
	if err := p.CheckInput(x); err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	m := &machine{p: p, padded: padded, values: make([][]int32, len(p.Tensors))}
	for i, part := range p.SplitInput(x) {
		m.values[p.Inputs[i]] = m.lay(p.Inputs[i], part)
	}
	for _, id := range p.Params() {
		m.values[id] = m.lay(id, w.Of(id).Ints())
	}
	for i, op := range p.Ops {
		m.step(op)
		for _, id := range op.Outputs() {
			if err := m.check(id); err != nil {
				return nil, fmt.Errorf("operation %d (%s): %w", i, op.Kind(), err)
			}
		}
	}
	return m.values, nil
}

// lay puts real values into the machine's layout.
func (m *machine) lay(id TensorID, data []int32) []int32 {
	if m.padded {
		return Pad(m.p.Tensor(id).Shape, data)
	}
	return append([]int32(nil), data...)
}

// shape returns a tensor's shape in the machine's layout.
func (m *machine) shape(id TensorID) []int {
	if m.padded {
		return PaddedShape(m.p.Tensor(id).Shape)
	}
	return m.p.Tensor(id).Shape
}

// check confirms what Validate has proved: no value leaves its bounds.
func (m *machine) check(id TensorID) error {
	t := m.p.Tensor(id)
	for i, v := range m.values[id] {
		if int64(v) < t.Lo || int64(v) > t.Hi {
			return fmt.Errorf("tensor %q, element %d: %d is outside [%d, %d]", t.Name, i, v, t.Lo, t.Hi)
		}
	}
	return nil
}

func (m *machine) step(op Op) {
	switch op := op.(type) {
	case Linear:
		m.linear(op)
	case Lookup:
		m.lookup(op)
	case Reshape:
		m.reshape(op)
	case Einsum:
		m.einsum(op)
	case Pair:
		m.pair(op)
	case Threshold:
		m.threshold(op)
	case Rearrange:
		m.rearrange(op)
	case Embed:
		m.embed(op)
	}
}

func (m *machine) linear(op Linear) {
	shape := m.shape(op.Out)
	acc := make([]int64, Elements(shape))
	for i := range acc {
		acc[i] = op.Const
	}
	for _, t := range op.Terms {
		data := m.values[t.T]
		if len(data) == len(acc) {
			for i, v := range data {
				acc[i] += t.Coef * int64(v)
			}
			continue
		}
		last := len(shape) - 1 // there is an axis, since the shapes differ
		strides := broadcastStrides(m.shape(t.T), shape)
		for row := 0; row < len(acc); row += shape[last] {
			at := stridedIndex(row/shape[last], shape[:last], strides)
			for j := range shape[last] {
				acc[row+j] += t.Coef * int64(data[at+j*strides[last]])
			}
		}
	}
	out := make([]int32, len(acc))
	for i, v := range acc {
		out[i] = int32(v)
	}
	m.values[op.Out] = out
}

// broadcastStrides returns, for each axis of to, the step in a row-major tensor of shape from; 0 where it repeats.
func broadcastStrides(from, to []int) []int {
	strides := make([]int, len(to))
	step := 1
	for a := len(from) - 1; a >= 0; a-- {
		if from[a] != 1 {
			strides[a+len(to)-len(from)] = step
		}
		step *= from[a]
	}
	return strides
}

func stridedIndex(i int, shape, strides []int) int {
	index := 0
	for a := len(shape) - 1; a >= 0; a-- {
		index += i % shape[a] * strides[a]
		i /= shape[a]
	}
	return index
}

func (m *machine) lookup(op Lookup) {
	table, half := &m.p.Tables[op.Table], op.Half()
	x := m.values[op.X]
	y := make([]int32, len(x))
	var rem []int32
	if op.Rem != None {
		rem = make([]int32, len(x))
		m.values[op.Rem] = rem
	}
	for i, v := range x {
		acc := int64(v) + half
		q := acc >> op.Shift
		y[i] = table.At(q)
		if rem != nil {
			rem[i] = int32(acc - q<<op.Shift)
		}
	}
	m.values[op.Y] = y
}

func (m *machine) reshape(op Reshape) {
	x := m.values[op.X]
	from, to := m.p.Tensor(op.X).Shape, m.p.Tensor(op.Out).Shape
	if !m.padded || ReshapeIsFree(from, to) {
		m.values[op.Out] = append([]int32(nil), x...)
		return
	}
	m.values[op.Out] = Pad(to, Unpad(from, x))
}
