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
	return &Builder{p: Program{Name: name, Post: Post{Axis: -1}}}
}

// Err returns the first error so far.
func (b *Builder) Err() error { return b.err }

// Tensor returns a tensor added before.
func (b *Builder) Tensor(id TensorID) Tensor { return b.p.Tensors[id] }

func (b *Builder) add(t Tensor, data Values) TensorID {
	if b.err == nil && len(b.p.Tensors) >= MaxTensors {
		b.err = fmt.Errorf("more than %d tensors", MaxTensors)
	}
	t.Shape = slices.Clone(t.Shape)
	b.p.Tensors = append(b.p.Tensors, t)
	b.w.Data = append(b.w.Data, data)
	return TensorID(len(b.p.Tensors) - 1)
}

// Input adds an input after those that the program has.
func (b *Builder) Input(name string, shape []int, lo, hi int64, scale float64) TensorID {
	id := b.add(Tensor{Name: name, Kind: Input, Shape: shape, Lo: lo, Hi: hi, Scale: scale}, Values{})
	b.p.Inputs = append(b.p.Inputs, id)
	return id
}

// Param adds constants; their bounds are the smallest of the form of ParamBounds.
func (b *Builder) Param(name string, shape []int, values []int32, scale float64) TensorID {
	lo, hi := ParamBounds(ParamBits(values))
	return b.add(Tensor{Name: name, Kind: Param, Shape: shape, Lo: lo, Hi: hi, Scale: scale}, valuesOf(values, width(interval{lo, hi})))
}

// Table adds a Unary table, or returns the index of an equal one that is already there (names aside).
func (b *Builder) Table(name string, bits uint8, y []int32) int {
	return b.addTable(Table{Name: name, Bits: bits, Y: y})
}

// PairTable adds a Binary table likewise.
func (b *Builder) PairTable(name string, bits, bits2 uint8, y []int32) int {
	return b.addTable(Table{Name: name, Kind: Binary, Bits: bits, Bits2: bits2, Y: y})
}

// StepsTable adds a Steps table likewise: its values are from yLo on, as many as there are thresholds for each channel, less one.
func (b *Builder) StepsTable(name string, channels int, yLo, limit int64, lo []int32) int {
	values := int64(len(lo)/max(channels, 1)) - 1
	return b.addTable(Table{Name: name, Kind: Steps, YLo: yLo, YHi: yLo + values - 1, Channels: channels, Limit: limit, Lo: lo})
}

func (b *Builder) addTable(t Table) int {
	if len(t.Y) > 0 {
		t.YLo, t.YHi = int64(slices.Min(t.Y)), int64(slices.Max(t.Y))
	}
	if len(t.Y) > 0 && t.size() == nil && len(t.Y) == t.Rows() && t.isClamp() {
		t.Clamp, t.Y = true, nil
	}
	for i := range b.p.Tables {
		if b.p.Tables[i].equal(&t) {
			return i
		}
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
		if !b.exists(id) {
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
		ids[i] = b.add(Tensor{Name: names[i], Kind: r.kind, Shape: r.shape, Lo: r.lo, Hi: r.hi, Scale: scales[i]}, Values{})
	}
	return ids
}

// MatMul adds x * w (or x * w^T): the Einsum over the last axis of x and the first (or last) one of w, a matrix.
func (b *Builder) MatMul(name string, x, w TensorID, transW bool, scale float64) TensorID {
	op := Einsum{A: x, B: w}
	if b.exists(x) {
		for i := range b.p.Tensors[x].Shape {
			op.AL = append(op.AL, uint8(i))
		}
	}
	k := max(len(op.AL), 1) - 1 // a scalar fails for want of an axis
	row, column := uint8(k), uint8(k+1)
	op.OL = append(slices.Clone(op.AL[:min(k, len(op.AL))]), column)
	if op.BL = []uint8{row, column}; transW {
		op.BL = []uint8{column, row}
	}
	return b.einsum(name, op, scale)
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

// Einsum adds the sum that the formula says, such as "bik,kj->bij" or "bik->bi"; y is None if there is one operand.
func (b *Builder) Einsum(name, formula string, x, y TensorID, scale float64) TensorID {
	op := Einsum{A: x, B: y}
	var err error
	if op.AL, op.BL, op.OL, err = ParseEinsum(formula); err != nil && b.err == nil {
		b.err = fmt.Errorf("einsum -> %q: %w", name, err)
	}
	return b.einsum(name, op, scale)
}

func (b *Builder) einsum(name string, op Einsum, scale float64) TensorID {
	op.Out = b.apply(op, []string{name}, []float64{scale})[0]
	b.p.Ops = append(b.p.Ops, op)
	return op.Out
}

// Pair adds table(x, y), element by element.
func (b *Builder) Pair(name string, x, y TensorID, table int, scale float64) TensorID {
	op := Pair{A: x, B: y, Table: table}
	op.Y = b.apply(op, []string{name}, []float64{scale})[0]
	b.p.Ops = append(b.p.Ops, op)
	return op.Y
}

// Threshold adds the table's values for x, channels being along axis (-1: one channel), and the limbs that prove them.
func (b *Builder) Threshold(name string, x TensorID, axis, table int, scale float64) TensorID {
	op := Threshold{X: x, Axis: axis, Table: table}
	stem := trim(name)
	ids := b.apply(op, []string{name, stem + ".above0", stem + ".above1", stem + ".below0", stem + ".below1"}, []float64{scale, 1, 1, 1, 1})
	op.Y, op.D, op.E = ids[0], [2]TensorID(ids[1:3]), [2]TensorID(ids[3:5])
	b.p.Ops = append(b.p.Ops, op)
	return op.Y
}

// Rearrange adds x with its axes mapped and permuted. The scale is x's.
func (b *Builder) Rearrange(name string, x TensorID, maps []AxisMap, perm []int) TensorID {
	op := Rearrange{X: x, Maps: maps, Perm: perm}.clone()
	if isIdentity(op.Perm) {
		op.Perm = nil
	}
	op.Out = b.apply(op, []string{name}, []float64{b.scale(x)})[0]
	b.p.Ops = append(b.p.Ops, op)
	return op.Out
}

// Transpose adds x with its axes permuted: axis i of the result is axis perm[i] of x.
func (b *Builder) Transpose(name string, x TensorID, perm []int) TensorID {
	var maps []AxisMap
	if b.exists(x) {
		for a, d := range b.p.Tensors[x].Shape {
			maps = append(maps, AxisMap{Axis: a, Shape: []int{d}})
		}
	}
	return b.Rearrange(name, x, maps, perm)
}

// Embed adds the rows of w that the tokens, an input, choose.
func (b *Builder) Embed(name string, tokens, w TensorID, scale float64) TensorID {
	op := Embed{Tokens: tokens, W: w}
	op.Out = b.apply(op, []string{name}, []float64{scale})[0]
	b.p.Ops = append(b.p.Ops, op)
	return op.Out
}

func (b *Builder) exists(id TensorID) bool { return id >= 0 && int(id) < len(b.p.Tensors) }

func (b *Builder) scale(id TensorID) float64 {
	if b.exists(id) {
		return b.p.Tensors[id].Scale
	}
	return 1
}

// Reshape adds x under another shape.
func (b *Builder) Reshape(name string, x TensorID, shape []int) TensorID {
	if b.err != nil {
		return None
	}
	if !b.exists(x) {
		b.err = fmt.Errorf("reshape -> %q: tensor %d does not exist", name, x)
		return None
	}
	source := b.p.Tensors[x]
	r := source.bounds().withZero()
	op := Reshape{X: x, Out: b.add(Tensor{Name: name, Kind: Virtual, Shape: shape, Lo: r.lo, Hi: r.hi, Scale: source.Scale}, Values{})}
	if _, err := b.p.infer(op); err != nil {
		b.err = fmt.Errorf("reshape -> %q: %w", name, err)
		return None
	}
	b.p.Ops = append(b.p.Ops, op)
	return op.Out
}

// Build sets the output and the last step and returns the validated program and weights. The builder must not be used afterwards.
func (b *Builder) Build(output TensorID, post Post, labels []string) (*Program, *Weights, error) {
	return b.build([]TensorID{output}, post, labels)
}

// BuildAll is Build with any number of outputs and no last step.
func (b *Builder) BuildAll(outputs []TensorID, labels []string) (*Program, *Weights, error) {
	return b.build(slices.Clone(outputs), NoPost, labels)
}

func (b *Builder) build(outputs []TensorID, post Post, labels []string) (*Program, *Weights, error) {
	if b.err != nil {
		return nil, nil, b.err
	}
	b.p.Outputs, b.p.Post, b.p.Labels = outputs, post, labels
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
