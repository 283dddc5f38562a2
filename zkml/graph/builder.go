package graph

import (
	"fmt"
	"slices"
)

// Builder assembles a Program and its Weights; shapes, kinds and bounds of results are derived. The first error sticks and is
// returned by Build.
type Builder struct {
	p   Program
	w   Weights
	err error
}

// NewBuilder starts a program.
func NewBuilder(name string) *Builder {
	return &Builder{p: Program{Name: name, Input: None, Output: None, Post: Post{Axis: -1}}}
}

// Err returns the first error so far.
func (b *Builder) Err() error { return b.err }

// Tensor returns a tensor added before.
func (b *Builder) Tensor(id TensorID) Tensor { return b.p.Tensors[id] }

func (b *Builder) add(t Tensor, data []int32) TensorID {
	if b.err == nil && len(b.p.Tensors) >= MaxTensors {
		b.err = fmt.Errorf("more than %d tensors", MaxTensors)
	}
	t.Shape = slices.Clone(t.Shape)
	b.p.Tensors = append(b.p.Tensors, t)
	b.w.Data = append(b.w.Data, data)
	return TensorID(len(b.p.Tensors) - 1)
}

// Input adds the program's input.
func (b *Builder) Input(name string, shape []int, lo, hi int64, scale float64) TensorID {
	b.p.Input = b.add(Tensor{Name: name, Kind: Input, Shape: shape, Lo: lo, Hi: hi, Scale: scale}, nil)
	return b.p.Input
}

// Param adds constants; their bounds are the smallest of the form of ParamBounds.
func (b *Builder) Param(name string, shape []int, values []int32, scale float64) TensorID {
	lo, hi := ParamBounds(ParamBits(values))
	if values == nil {
		values = []int32{}
	}
	return b.add(Tensor{Name: name, Kind: Param, Shape: shape, Lo: lo, Hi: hi, Scale: scale}, values)
}

// Table adds a lookup table, or returns the index of an equal one that is already there (names aside).
func (b *Builder) Table(name string, bits uint8, y []int32) int {
	for i := range b.p.Tables {
		if slices.Equal(b.p.Tables[i].Y, y) {
			return i
		}
	}
	t := Table{Name: name, Bits: bits, Y: y}
	if len(y) > 0 {
		t.YLo, t.YHi = int64(slices.Min(y)), int64(slices.Max(y))
	}
	b.p.Tables = append(b.p.Tables, t)
	return len(b.p.Tables) - 1
}

// apply infers the results of an operation and adds the tensors they describe.
func (b *Builder) apply(op Op, names []string, scales []float64) []TensorID {
	ids := make([]TensorID, len(names))
	for i := range ids {
		ids[i] = None
	}
	if b.err != nil {
		return ids
	}
	for _, id := range op.Inputs() {
		if id < 0 || int(id) >= len(b.p.Tensors) {
			b.err = fmt.Errorf("%s -> %q: tensor %d does not exist", op.Kind(), names[0], id)
			return ids
		}
	}
	results, err := b.p.infer(op)
	if err != nil {
		b.err = fmt.Errorf("%s -> %q: %w", op.Kind(), names[0], err)
		return ids
	}
	for i, r := range results {
		ids[i] = b.add(Tensor{Name: names[i], Kind: r.kind, Shape: r.shape, Lo: r.lo, Hi: r.hi, Scale: scales[i]}, nil)
	}
	return ids
}

// MatMul adds x * w (or x * w^T).
func (b *Builder) MatMul(name string, x, w TensorID, transW bool, scale float64) TensorID {
	op := MatMul{X: x, W: w, TransW: transW}
	op.Out = b.apply(op, []string{name}, []float64{scale})[0]
	b.p.Ops = append(b.p.Ops, op)
	return op.Out
}

// Linear adds constant + sum of terms.
func (b *Builder) Linear(name string, terms []Term, constant int64, scale float64) TensorID {
	op := Linear{Terms: slices.Clone(terms), Const: constant}
	op.Out = b.apply(op, []string{name}, []float64{scale})[0]
	b.p.Ops = append(b.p.Ops, op)
	return op.Out
}

// Lookup adds table[round(x / 2^shift)] and, for a shift above 0, the remainder column.
func (b *Builder) Lookup(name string, x TensorID, shift uint8, table int, scale float64) TensorID {
	op := Lookup{X: x, Shift: shift, Table: table, Rem: None}
	names, scales := []string{name}, []float64{scale}
	if shift > 0 {
		op.Rem = 0 // any tensor: only tells infer that there is one
		names, scales = append(names, trim(name)+".rem"), append(scales, 1)
	}
	ids := b.apply(op, names, scales)
	if op.Y = ids[0]; shift > 0 {
		op.Rem = ids[1]
	}
	b.p.Ops = append(b.p.Ops, op)
	return op.Y
}

// trim leaves room for a suffix.
func trim(name string) string { return name[:min(len(name), MaxName-8)] }

// Reshape adds x under another shape.
func (b *Builder) Reshape(name string, x TensorID, shape []int) TensorID {
	if b.err != nil {
		return None
	}
	if x < 0 || int(x) >= len(b.p.Tensors) {
		b.err = fmt.Errorf("reshape -> %q: tensor %d does not exist", name, x)
		return None
	}
	source := b.p.Tensors[x]
	r := reshapeBounds(source.bounds())
	op := Reshape{X: x, Out: b.add(Tensor{Name: name, Kind: Virtual, Shape: shape, Lo: r.lo, Hi: r.hi, Scale: source.Scale}, nil)}
	if _, err := b.p.infer(op); err != nil {
		b.err = fmt.Errorf("reshape -> %q: %w", name, err)
		return None
	}
	b.p.Ops = append(b.p.Ops, op)
	return op.Out
}

// Build sets the output and the last step and returns the validated program and weights. The builder must not be used afterwards.
func (b *Builder) Build(output TensorID, post Post, labels []string) (*Program, *Weights, error) {
	if b.err != nil {
		return nil, nil, b.err
	}
	b.p.Output, b.p.Post, b.p.Labels = output, post, labels
	if err := b.p.Validate(); err != nil {
		return nil, nil, err
	}
	if err := b.w.ValidateFor(&b.p); err != nil {
		return nil, nil, err
	}
	return &b.p, &b.w, nil
}

// NoPost is the Post of a program whose output is its answer.
var NoPost = Post{Axis: -1}
