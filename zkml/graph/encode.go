package graph

import (
	"crypto/sha256"
	"fmt"
	"math"
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
	w := &writer{b: []byte(programMagic)}
	w.u32(Version)
	w.str(p.Name)
	w.u32(uint32(len(p.Tensors)))
	for i := range p.Tensors {
		w.tensor(&p.Tensors[i])
	}
	w.u32(uint32(len(p.Tables)))
	for i := range p.Tables {
		w.table(&p.Tables[i])
	}
	w.u32(uint32(len(p.Ops)))
	for _, op := range p.Ops {
		w.op(op)
	}
	w.u32(uint32(p.Input))
	w.u32(uint32(p.Output))
	w.u8(uint8(p.Post.Kind))
	w.u32(uint32(int32(p.Post.Axis)))
	w.u8(uint8(p.Post.Span))
	w.flag(p.Post.KeepDims)
	w.flag(p.Post.Last)
	w.u32(uint32(len(p.Labels)))
	for _, l := range p.Labels {
		w.str(l)
	}
	return w.b, nil
}

func (w *writer) tensor(t *Tensor) {
	w.str(t.Name)
	w.u8(uint8(t.Kind))
	w.u8(uint8(len(t.Shape)))
	for _, d := range t.Shape {
		w.u32(uint32(d))
	}
	w.i64(t.Lo)
	w.i64(t.Hi)
	w.i64(int64(math.Float64bits(t.Scale)))
}

func (w *writer) table(t *Table) {
	w.str(t.Name)
	w.u8(t.Bits)
	w.i64(t.YLo)
	w.i64(t.YHi)
	if t.isClamp() {
		w.u8(tableClamp)
		return
	}
	w.u8(tableValues)
	w.ints(t.Y, width(interval{t.YLo, t.YHi}))
}

// isClamp reports whether the table is the clamp to its own range.
func (t *Table) isClamp() bool {
	for i, y := range t.Y {
		if y != t.clampAt(i) {
			return false
		}
	}
	return true
}

// clampAt returns row i of the clamp table with t's size and range.
func (t *Table) clampAt(i int) int32 {
	q := int64(i) - int64(1)<<(t.Bits-1)
	return int32(min(max(q, t.YLo), t.YHi))
}

func (w *writer) op(op Op) {
	w.u8(uint8(op.Kind()))
	switch op := op.(type) {
	case MatMul:
		w.u32(uint32(op.X))
		w.u32(uint32(op.W))
		w.u32(uint32(op.Out))
		w.flag(op.TransW)
	case Linear:
		w.u32(uint32(op.Out))
		w.i64(op.Const)
		w.u32(uint32(len(op.Terms)))
		for _, t := range op.Terms {
			w.i64(t.Coef)
			w.u32(uint32(t.T))
		}
	case Lookup:
		w.u32(uint32(op.X))
		w.u32(uint32(op.Y))
		w.u32(uint32(op.Rem))
		w.u8(op.Shift)
		w.u32(uint32(op.Table))
	case Reshape:
		w.u32(uint32(op.X))
		w.u32(uint32(op.Out))
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
	digest, err := p.Digest()
	if err != nil {
		return nil, err
	}
	if err := w.ValidateFor(p); err != nil {
		return nil, err
	}
	out := &writer{b: []byte(weightsMagic)}
	out.u32(Version)
	out.b = append(out.b, digest[:]...)
	for _, id := range p.Params() {
		out.ints(w.Data[id], width(p.Tensor(id).bounds()))
	}
	return out.b, nil
}

// Digest returns the SHA-256 of the weights' encoding; it binds the program too.
func (w *Weights) Digest(p *Program) ([32]byte, error) {
	b, err := w.Encode(p)
	if err != nil {
		return [32]byte{}, fmt.Errorf("digest of the weights: %w", err)
	}
	return sha256.Sum256(b), nil
}
