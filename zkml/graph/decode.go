package graph

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/internal/wire"
)

// DecodeProgram reads an encoding made by Program.Encode and validates the program. It rejects every other byte string.
func DecodeProgram(data []byte) (*Program, error) {
	r := decoder{wire.NewReader(data, programMagic, Version, "integer program")}
	p := &Program{Name: r.String("the program's name")}
	p.Tensors = make([]Tensor, r.Count(MaxTensors, 28, "tensors"))
	for i := range p.Tensors {
		r.tensor(&p.Tensors[i])
	}
	r.tables(p)
	p.Ops = make([]Op, r.Count(MaxTensors, 9, "operations"))
	for i := range p.Ops {
		p.Ops[i] = r.op()
	}
	p.Inputs = r.ids("inputs")
	p.Outputs = r.ids("outputs")
	p.Post.Kind = PostKind(r.U8("the last step"))
	p.Post.Axis = int(int32(r.U32("the axis of the last step")))
	p.Post.Span = int(r.U8("the span of the last step"))
	p.Post.KeepDims = r.Flag("keepdims of the last step")
	p.Post.Last = r.Flag("the tie rule of the last step")
	if n := r.Count(MaxTensors, 2, "labels"); n > 0 {
		p.Labels = make([]string, n)
	}
	for i := range p.Labels {
		p.Labels[i] = r.String("a label")
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("reading an integer program: %w", err)
	}
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("reading an integer program: %w", err)
	}
	return p, nil
}

// ErrFormat is wrapped by decoding errors that are about the bytes rather than the program in them.
var ErrFormat = wire.ErrFormat

// decoder reads the parts of a program.
type decoder struct{ *wire.Reader }

func (r decoder) id() TensorID { return TensorID(r.U32("a tensor id")) }

func (r decoder) ids(what string) []TensorID {
	ids := make([]TensorID, r.Count(MaxTensors, 4, what))
	for i := range ids {
		ids[i] = r.id()
	}
	return ids
}

// small reads a number of things of which there are at most MaxRank.
func (r decoder) small(what string) int {
	n := int(r.U8(what))
	if n > MaxRank {
		r.Fail("%s: %d axes, expected at most %d", what, n, MaxRank)
		return 0
	}
	return n
}

func (r decoder) shape(what string) []int {
	shape := make([]int, r.small(what))
	for a := range shape {
		shape[a] = int(r.U32(what))
	}
	return shape
}

func (r decoder) tensor(t *Tensor) {
	t.Name = r.String("a tensor's name")
	t.Kind = Kind(r.U8("a tensor's kind"))
	t.Shape = r.shape("a tensor's shape")
	t.Lo = r.I64("a tensor's lower bound")
	t.Hi = r.I64("a tensor's upper bound")
	t.Scale = r.F64("a tensor's scale")
}

func (r decoder) tables(p *Program) {
	rows := 0
	p.Tables = make([]Table, r.Count(MaxTables, 22, "tables"))
	for i := range p.Tables {
		t := &p.Tables[i]
		t.Name = r.String("a table's name")
		t.Kind = TableKind(r.U8("a table's kind"))
		t.Bits, t.Bits2 = r.U8("a table's bits"), r.U8("a table's second bits")
		t.YLo, t.YHi = r.I64("a table's lower bound"), r.I64("a table's upper bound")
		if t.Kind == Steps {
			t.Channels, t.Limit = int(r.U32("a table's channels")), int64(r.U32("a table's limit"))
		}
		if r.Err() != nil {
			return
		}
		if err := t.size(); err != nil {
			r.Fail("table %q: %w", t.Name, err)
			return
		}
		if rows += t.Rows(); rows > MaxTableRows {
			r.Fail("the tables have more than %d rows together", MaxTableRows)
			return
		}
		r.contents(t)
	}
}

// contents reads what a table of checked size says.
func (r decoder) contents(t *Table) {
	if t.Kind == Steps {
		t.Lo = r.Ints(t.Channels*(t.values()+1), 4, "the thresholds of a table")
		return
	}
	switch form := r.U8("a table's form"); form {
	case tableClamp:
		if t.Kind != Unary {
			r.Fail("table %q is %s, expected its values to follow", t.Name, t.Kind)
			return
		}
		t.Clamp = true
	case tableValues:
		t.Y = r.Ints(t.Rows(), width(interval{t.YLo, t.YHi}), "the values of a table")
		if t.Y != nil && t.isClamp() {
			r.Fail("table %q is a clamp but spells out its values", t.Name)
		}
	default:
		r.Fail("table %q has form %d, expected 0 or 1", t.Name, form)
	}
}

func (r decoder) op() Op {
	switch kind := OpKind(r.U8("an operation's kind")); kind {
	case KindLinear:
		op := Linear{Out: r.id(), Const: r.I64("the constant of a linear")}
		op.Terms = make([]Term, r.Count(MaxTerms, 12, "terms"))
		for i := range op.Terms {
			op.Terms[i] = Term{Coef: r.I64("a coefficient"), T: r.id()}
		}
		return op
	case KindLookup:
		return Lookup{X: r.id(), Y: r.id(), Rem: r.id(), Shift: r.U8("the shift of a lookup"), Table: int(r.U32("the table of a lookup"))}
	case KindReshape:
		return Reshape{X: r.id(), Out: r.id()}
	case KindEinsum:
		return Einsum{A: r.id(), B: r.id(), Out: r.id(), AL: r.labels(), BL: r.labels(), OL: r.labels()}
	case KindPair:
		return Pair{A: r.id(), B: r.id(), Y: r.id(), Table: int(r.U32("the table of a pair"))}
	case KindThreshold:
		return Threshold{X: r.id(), Y: r.id(), D: [2]TensorID{r.id(), r.id()}, E: [2]TensorID{r.id(), r.id()},
			Axis: int(int32(r.U32("the axis of a threshold"))), Table: int(r.U32("the table of a threshold"))}
	case KindRearrange:
		return r.rearrange()
	case KindEmbed:
		return Embed{Tokens: r.id(), W: r.id(), Out: r.id()}
	default:
		r.Fail("unknown %s", kind)
		return nil
	}
}

func (r decoder) labels() []uint8 {
	labels := r.Take(r.small("labels"), "labels")
	if len(labels) == 0 {
		return nil
	}
	return slices.Clone(labels)
}

func (r decoder) rearrange() Rearrange {
	op := Rearrange{X: r.id(), Out: r.id()}
	op.Maps = make([]AxisMap, r.small("the maps of a rearrange"))
	for i := range op.Maps {
		m := &op.Maps[i]
		m.Axis = int(r.U8("the axis of a map"))
		m.Shape = r.shape("the axes of a map")
		if r.Flag("the form of a map") {
			m.Index = r.index(m.Shape)
		}
	}
	if n := r.small("a permutation"); n > 0 {
		op.Perm = make([]int, n)
		for i := range op.Perm {
			op.Perm[i] = int(r.U8("a permutation"))
		}
	}
	return op
}

// index reads the entries of a map whose axes are not checked yet.
func (r decoder) index(shape []int) []int32 {
	if err := validShape(shape); err != nil {
		r.Fail("a map: %w", err)
	}
	if r.Err() != nil {
		return nil
	}
	n := Elements(shape)
	if n > r.Left() { // an entry takes a byte at least
		r.Fail("a map of %d entries, %d bytes are left", n, r.Left())
		return nil
	}
	index := make([]int32, n)
	for e := range index {
		v := r.Uvarint("an entry of a map")
		if v > MaxElements {
			r.Fail("entry %d of a map is %d, expected at most 2^28", e, v)
			return nil
		}
		index[e] = int32(v) - 1
	}
	return index
}

// DecodeWeights reads an encoding made by Weights.Encode for the same program. The weights are parts of data, which must not be changed as long as
// they are used.
func DecodeWeights(p *Program, data []byte) (*Weights, error) {
	digest, err := p.Digest()
	if err != nil {
		return nil, err
	}
	r := wire.NewReader(data, weightsMagic, Version, "set of weights")
	if got := r.Take(len(digest), "the program digest"); got != nil && [32]byte(got) != digest {
		return nil, fmt.Errorf("reading weights: they belong to another program (digest %.8x, expected %.8x)", got, digest)
	}
	w := NewWeights(p)
	for _, id := range p.Params() {
		t := p.Tensor(id)
		bytes := width(t.bounds())
		if data := r.Take(t.Len()*bytes, fmt.Sprintf("parameter %q", t.Name)); data != nil {
			w.Data[id] = Values{bytes, data}
		}
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("reading weights: %w", err)
	}
	if err := w.ValidateFor(p); err != nil {
		return nil, fmt.Errorf("reading weights: %w", err)
	}
	return w, nil
}
