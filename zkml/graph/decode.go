package graph

import (
	"fmt"

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
	p.Input = r.id()
	p.Output = r.id()
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

func (r decoder) tensor(t *Tensor) {
	t.Name = r.String("a tensor's name")
	t.Kind = Kind(r.U8("a tensor's kind"))
	rank := int(r.U8("a tensor's rank"))
	if rank > MaxRank {
		r.Fail("tensor %q has rank %d, expected at most %d", t.Name, rank, MaxRank)
		return
	}
	t.Shape = make([]int, rank)
	for a := range t.Shape {
		t.Shape[a] = int(r.U32("a tensor's shape"))
	}
	t.Lo = r.I64("a tensor's lower bound")
	t.Hi = r.I64("a tensor's upper bound")
	t.Scale = r.F64("a tensor's scale")
}

func (r decoder) tables(p *Program) {
	rows := 0
	p.Tables = make([]Table, r.Count(MaxTables, 20, "tables"))
	for i := range p.Tables {
		t := &p.Tables[i]
		t.Name = r.String("a table's name")
		t.Bits = r.U8("a table's bits")
		t.YLo, t.YHi = r.I64("a table's lower bound"), r.I64("a table's upper bound")
		form := r.U8("a table's form")
		if r.Err() == nil && (t.Bits < 1 || t.Bits > MaxTableBits) {
			r.Fail("table %q has %d bits, expected 1 to %d", t.Name, t.Bits, MaxTableBits)
		}
		if !(interval{t.YLo, t.YHi}).fits() || t.YLo <= -BoundLimit || t.YHi >= BoundLimit {
			r.Fail("table %q has bounds [%d, %d] that reach 2^29", t.Name, t.YLo, t.YHi)
		}
		if rows += 1 << (t.Bits & 31); rows > MaxTableRows {
			r.Fail("the tables have more than %d rows together", MaxTableRows)
		}
		if r.Err() != nil {
			return
		}
		switch form {
		case tableClamp:
			t.Y = make([]int32, 1<<t.Bits)
			for j := range t.Y {
				t.Y[j] = t.clampAt(j)
			}
		case tableValues:
			t.Y = r.Ints(1<<t.Bits, width(interval{t.YLo, t.YHi}), "the values of a table")
			if t.Y != nil && t.isClamp() {
				r.Fail("table %q is a clamp but spells out its values", t.Name)
			}
		default:
			r.Fail("table %q has form %d, expected 0 or 1", t.Name, form)
		}
	}
}

func (r decoder) op() Op {
	switch kind := OpKind(r.U8("an operation's kind")); kind {
	case KindMatMul:
		return MatMul{X: r.id(), W: r.id(), Out: r.id(), TransW: r.Flag("transposition of a matmul")}
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
	default:
		r.Fail("unknown %s", kind)
		return nil
	}
}

// DecodeWeights reads an encoding made by Weights.Encode for the same program.
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
		w.Data[id] = r.Ints(t.Len(), width(t.bounds()), fmt.Sprintf("parameter %q", t.Name))
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("reading weights: %w", err)
	}
	if err := w.ValidateFor(p); err != nil {
		return nil, fmt.Errorf("reading weights: %w", err)
	}
	return w, nil
}
