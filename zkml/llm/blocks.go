package llm

import (
	"fmt"
	"math/bits"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// A proof pads every axis to a power of two, so a matrix of 17408 x 5120 would cost as much as one of 32768 x 8192. Large matrices are therefore
// cut into blocks whose axes are powers of two, or nearly: the sum over columns becomes a sum of products, inner axes (the gated layer's, groups of
// heads) stay in blocks, and only results that join the residual stream are put together again.

// wide is the number of elements from which on a matrix is cut, unless options say otherwise.
const wide = 1 << 22

// waste is the padding, in percent of an axis, that is left alone.
const waste = 5

// span is a range of indices along an axis.
type span struct{ at, n int }

// blocks cuts an axis of length n into powers of two, largest first, until padding the rest is cheap.
func blocks(n int) []span {
	var out []span
	at := 0
	for rest := n; rest > 0; {
		padded := 1 << bits.Len(uint(rest-1))
		if (padded-rest)*100 <= n*waste {
			return append(out, span{at, rest})
		}
		out = append(out, span{at, padded / 2})
		at += padded / 2
		rest -= padded / 2
	}
	return out
}

// cut is blocks for an axis of a large matrix, and the whole axis of any other.
func (b *builder) cut(n, elements int) []span {
	least := b.o.Blocks
	if least == 0 {
		least = wide
	}
	if elements < least {
		return []span{{0, n}}
	}
	return blocks(n)
}

// piece is a range of the columns of a matrix, as a value of its own.
type piece struct {
	id int
	of span
}

// pieces cuts the last axis of a matrix that large weights follow.
func (b *builder) pieces(name string, x, elements int) []piece {
	shape := b.g.Shape(x)
	if len(shape) != 2 {
		return nil
	}
	spans := b.cut(shape[1], elements)
	if len(spans) == 1 {
		return []piece{{x, spans[0]}}
	}
	var out []piece
	for i, s := range spans {
		index := make([]int32, s.n)
		for j := range index {
			index[j] = int32(s.at + j)
		}
		maps := []onnx.AxisMap{{Axis: 0, Shape: shape[:1]}, {Axis: 1, Shape: []int{s.n}, Index: index}}
		out = append(out, piece{b.node(fmt.Sprintf("%s.columns%d", name, i), onnx.OpRearrange, onnx.Attr{Maps: maps}, x), s})
	}
	return out
}

// submatrix copies rows and columns of a matrix.
func submatrix(w *onnx.Tensor, rows []span, columns span) *onnx.Tensor {
	n := 0
	for _, r := range rows {
		n += r.n
	}
	width := w.Shape[1]
	if n == w.Shape[0] && columns.n == width {
		return w
	}
	out := &onnx.Tensor{Shape: []int{n, columns.n}, Real: make([]float32, 0, n*columns.n)}
	for _, r := range rows {
		for i := r.at; i < r.at+r.n; i++ {
			out.Real = append(out.Real, w.Real[i*width+columns.at:][:columns.n]...)
		}
	}
	return out
}

// product multiplies pieces of a matrix with rows of a weight matrix [out, in], of which each piece has its columns, and adds an offset if there
// is one.
func (b *builder) product(name string, xs []piece, w *onnx.Tensor, rows []span, offset *onnx.Tensor) int {
	if b.err != nil {
		return -1
	}
	sum := -1
	for i, x := range xs {
		label := name
		if len(xs) > 1 {
			label = fmt.Sprintf("%s.part%d", name, i)
		}
		y := b.einsum(label, "ti,oi->to", x.id, b.constant(label+".weight", submatrix(w, rows, x.of)))
		if i == 0 {
			sum = y
			continue
		}
		sum = b.node(fmt.Sprintf("%s.sum%d", name, i), onnx.OpAdd, onnx.Attr{}, sum, y)
	}
	if offset == nil {
		return sum
	}
	o := &onnx.Tensor{}
	for _, r := range rows {
		o.Real = append(o.Real, offset.Real[r.at:r.at+r.n]...)
	}
	o.Shape = []int{len(o.Real)}
	return b.node(name+".offset", onnx.OpAdd, onnx.Attr{}, sum, b.constant(name+".bias", o))
}

// joined is product for all rows: blocks of them, put together.
func (b *builder) joined(name string, xs []piece, w *onnx.Tensor, offset *onnx.Tensor) int {
	if b.err != nil {
		return -1
	}
	spans := b.cut(w.Shape[0], w.Len())
	var parts []int
	for i, s := range spans {
		label := name
		if len(spans) > 1 {
			label = fmt.Sprintf("%s.rows%d", name, i)
		}
		parts = append(parts, b.product(label, xs, w, []span{s}, offset))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return b.node(name+".joined", onnx.OpConcat, onnx.Attr{Axis: 1}, parts...)
}

// grouped returns the rows of heads [s.at, s.at+s.n) of every group of heads, of width d each.
func grouped(groups, size, d int, s span) []span {
	if s.n == size {
		return []span{{0, groups * size * d}}
	}
	var rows []span
	for k := range groups {
		rows = append(rows, span{(k*size + s.at) * d, s.n * d})
	}
	return rows
}

// columns gathers columns of a matrix.
func columns(w *onnx.Tensor, of []span) *onnx.Tensor {
	n := 0
	for _, s := range of {
		n += s.n
	}
	out := &onnx.Tensor{Shape: []int{w.Shape[0], n}, Real: make([]float32, 0, w.Shape[0]*n)}
	for i := range w.Shape[0] {
		row := w.Real[i*w.Shape[1]:][:w.Shape[1]]
		for _, s := range of {
			out.Real = append(out.Real, row[s.at:s.at+s.n]...)
		}
	}
	return out
}
