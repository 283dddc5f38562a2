package graph

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/zkwarp/zkwarp/internal/mapped"
	"github.com/zkwarp/zkwarp/zkml/internal/wire"
)

// The first bytes of the encodings.
const (
	programMagic = "ZKWPROG\n"
	weightsMagic = "ZKWWGHT\n"
)

// Forms of a table in the encoding.
const (
	tableClamp  = 0 // Y[q] = min(max(q, YLo), YHi); no values follow
	tableValues = 1 // anything else; the values follow
)

// Encode returns the canonical encoding of a valid program: equal programs have equal bytes, and DecodeProgram accepts no others.
func (p *Program) Encode() ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	w := encoder{wire.NewWriter(programMagic, Version)}
	w.String(p.Name)
	w.U32(uint32(len(p.Tensors)))
	for i := range p.Tensors {
		w.tensor(&p.Tensors[i])
	}
	w.U32(uint32(len(p.Tables)))
	for i := range p.Tables {
		w.table(&p.Tables[i])
	}
	w.U32(uint32(len(p.Ops)))
	for _, op := range p.Ops {
		w.op(op)
	}
	w.ids(p.Inputs)
	w.ids(p.Outputs)
	w.U8(uint8(p.Post.Kind))
	w.U32(uint32(int32(p.Post.Axis)))
	w.U8(uint8(p.Post.Span))
	w.Flag(p.Post.KeepDims)
	w.Flag(p.Post.Last)
	w.U32(uint32(len(p.Labels)))
	for _, l := range p.Labels {
		w.String(l)
	}
	return w.B, nil
}

// encoder writes the parts of a program.
type encoder struct{ *wire.Writer }

func (w encoder) ids(ids []TensorID) {
	w.U32(uint32(len(ids)))
	for _, id := range ids {
		w.U32(uint32(id))
	}
}

func (w encoder) tensor(t *Tensor) {
	w.String(t.Name)
	w.U8(uint8(t.Kind))
	w.shape(t.Shape)
	w.I64(t.Lo)
	w.I64(t.Hi)
	w.F64(t.Scale)
}

func (w encoder) table(t *Table) {
	w.String(t.Name)
	w.U8(uint8(t.Kind))
	w.U8(t.Bits)
	w.U8(t.Bits2)
	w.I64(t.YLo)
	w.I64(t.YHi)
	switch {
	case t.Kind == Steps:
		w.U32(uint32(t.Channels))
		w.U32(uint32(t.Limit))
		w.Ints(t.Lo, 4)
	case t.isClamp():
		w.U8(tableClamp)
	default:
		w.U8(tableValues)
		w.Ints(t.Y, width(interval{t.YLo, t.YHi}))
	}
}

func (w encoder) op(op Op) {
	w.U8(uint8(op.Kind()))
	switch op := op.(type) {
	case Linear:
		w.U32(uint32(op.Out))
		w.I64(op.Const)
		w.U32(uint32(len(op.Terms)))
		for _, t := range op.Terms {
			w.I64(t.Coef)
			w.U32(uint32(t.T))
		}
	case Lookup:
		w.U32(uint32(op.X))
		w.U32(uint32(op.Y))
		w.U32(uint32(op.Rem))
		w.U8(op.Shift)
		w.U32(uint32(op.Table))
	case Reshape:
		w.U32(uint32(op.X))
		w.U32(uint32(op.Out))
	case Einsum:
		w.U32(uint32(op.A))
		w.U32(uint32(op.B))
		w.U32(uint32(op.Out))
		w.bytes(op.AL)
		w.bytes(op.BL)
		w.bytes(op.OL)
	case Pair:
		w.U32(uint32(op.A))
		w.U32(uint32(op.B))
		w.U32(uint32(op.Y))
		w.U32(uint32(op.Table))
	case Threshold:
		w.U32(uint32(op.X))
		for _, id := range op.Outputs() {
			w.U32(uint32(id))
		}
		w.U32(uint32(int32(op.Axis)))
		w.U32(uint32(op.Table))
	case Rearrange:
		w.rearrange(op)
	case Embed:
		w.U32(uint32(op.Tokens))
		w.U32(uint32(op.W))
		w.U32(uint32(op.Out))
	}
}

func (w encoder) bytes(b []uint8) {
	w.U8(uint8(len(b)))
	w.B = append(w.B, b...)
}

func (w encoder) shape(shape []int) {
	w.U8(uint8(len(shape)))
	for _, d := range shape {
		w.U32(uint32(d))
	}
}

func (w encoder) rearrange(op Rearrange) {
	w.U32(uint32(op.X))
	w.U32(uint32(op.Out))
	w.U8(uint8(len(op.Maps)))
	for _, m := range op.Maps {
		w.U8(uint8(m.Axis))
		w.shape(m.Shape)
		w.Flag(len(m.Index) > 0)
		for _, i := range m.Index {
			w.Uvarint(uint32(i + 1))
		}
	}
	w.U8(uint8(len(op.Perm)))
	for _, k := range op.Perm {
		w.U8(uint8(k))
	}
}

// Digest returns the SHA-256 of the program's encoding.
func (p *Program) Digest() ([32]byte, error) {
	b, err := p.Encode()
	if err != nil {
		return [32]byte{}, fmt.Errorf("digest of the program: %w", err)
	}
	return sha256.Sum256(b), nil
}

// Encode returns the canonical encoding of weights that are valid for the program. It starts with the program's digest.
func (w *Weights) Encode(p *Program) ([]byte, error) {
	size, write, err := w.Encoding(p)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(make([]byte, 0, size))
	err = write(out)
	return out.Bytes(), err
}

// Encoding is Encode in two steps, which makes no copy of the weights: the number of bytes of the encoding, and a function that writes it.
func (w *Weights) Encoding(p *Program) (size int, write func(io.Writer) error, err error) {
	digest, err := p.Digest()
	if err != nil {
		return 0, nil, err
	}
	if err := w.ValidateFor(p); err != nil {
		return 0, nil, err
	}
	head := append(wire.NewWriter(weightsMagic, Version).B, digest[:]...)
	size = len(head)
	for _, id := range p.Params() {
		size += w.Data[id].Len() * width(p.Tensor(id).bounds())
	}
	return size, func(out io.Writer) error {
		if _, err := out.Write(head); err != nil {
			return err
		}
		for _, id := range p.Params() {
			write := func() error { return w.Data[id].write(out, width(p.Tensor(id).bounds())) }
			if err := mapped.Guard(write); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// Digest returns the SHA-256 of the weights' encoding; it binds the program too.
func (w *Weights) Digest(p *Program) (d [32]byte, err error) {
	_, write, err := w.Encoding(p)
	if err != nil {
		return d, fmt.Errorf("digest of the weights: %w", err)
	}
	h := sha256.New()
	err = write(h)
	h.Sum(d[:0])
	return d, err
}

// width returns the bytes per value that bounds call for.
func width(b interval) int {
	switch {
	case b.lo >= -1<<7 && b.hi < 1<<7:
		return 1
	case b.lo >= -1<<15 && b.hi < 1<<15:
		return 2
	}
	return 4
}
