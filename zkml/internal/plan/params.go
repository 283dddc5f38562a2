package plan

import (
	"encoding/binary"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Embed is the integers modulo p, negative ones as p-|v|.
func Embed(v []int32) []m31.Element {
	out := make([]m31.Element, len(v))
	const size = 1 << 16
	parallel((len(v)+size-1)/size, func(i int) {
		for k := i * size; k < min(len(v), (i+1)*size); k++ {
			out[k] = m31.FromInt(int64(v[k]))
		}
	})
	return out
}

// embed is the values from number `from` on modulo p.
func embed(out []m31.Element, v graph.Values, from int) {
	b := v.Bytes()[from*v.Width():]
	switch v.Width() {
	case 1:
		for i, x := range b[:len(out)] {
			out[i] = small(int32(int8(x)))
		}
	case 2:
		for i := range out {
			out[i] = small(int32(int16(binary.LittleEndian.Uint16(b[2*i:]))))
		}
	default:
		for i := range out {
			out[i] = m31.FromInt(int64(int32(binary.LittleEndian.Uint32(b[4*i:]))))
		}
	}
}

// small is v, above -p, modulo p, without a branch: signs of weights cannot be foreseen.
func small(v int32) m31.Element { return m31.Element(v + v>>31&m31.P) }

// StackParams is the stack of the parameters: every tensor zero-padded, at its
// block's offset. p is the plan of the program, or of its weights.
func (p *Plan) StackParams(program *graph.Program, w *graph.Weights) []m31.Element {
	s := &p.Stacks[Parameters]
	if s.Empty() {
		return nil
	}
	out := make([]m31.Element, 1<<s.Vars)
	p.FillParams(program, w, 0, out)
	return out
}

// FillParams writes the words of the parameters' stack from number `from` on, as
// many as out holds, on all cores.
func (p *Plan) FillParams(program *graph.Program, w *graph.Weights, from int, out []m31.Element) {
	ids := program.Params()
	for i, k := range p.Stacks[Parameters].Ordered() { // parameters are numbered in the same order
		q := &p.Polys[k]
		lo, hi := max(q.Offset, from), min(q.Offset+1<<q.Vars, from+len(out))
		if lo < hi {
			fillPadded(out[lo-from:hi-from], program.Tensor(ids[i]).Shape, w.Of(ids[i]), lo-q.Offset)
		}
	}
	if end := p.ParamsEnd(); end < from+len(out) {
		clear(out[max(0, end-from):])
	}
}

// ParamsEnd is the number of words of the parameters' stack before those that only fill it up to a power of two.
func (p *Plan) ParamsEnd() int {
	end := 0
	for _, k := range p.Stacks[Parameters].Polys {
		end = max(end, p.Polys[k].Offset+1<<p.Polys[k].Vars)
	}
	return end
}

// fillPadded writes words of a tensor's padded layout from number `from` on.
func fillPadded(out []m31.Element, shape []int, v graph.Values, from int) {
	n, outer := 1, shape
	if len(shape) > 0 {
		n, outer = shape[len(shape)-1], shape[:len(shape)-1]
	}
	wide := graph.Pow2(n)
	first := from / wide // rows
	rows := (from+len(out)+wide-1)/wide - first
	group := 1 + 1<<14/wide
	parallel((rows+group-1)/group, func(i int) {
		for r := first + i*group; r < first+min((i+1)*group, rows); r++ {
			// The words [a, b) of the row, of which the first n are real if the row is.
			a, b := max(from-r*wide, 0), min(from+len(out)-r*wide, wide)
			row := out[r*wide+a-from : r*wide+b-from]
			real := 0
			if i, ok := unpadded(outer, r); ok {
				if real = max(0, min(b, n)-a); real > 0 {
					embed(row[:real], v, i*n+a)
				}
			}
			clear(row[real:])
		}
	})
}

// unpadded is the inverse of graph.PaddedIndex, where there is one.
func unpadded(shape []int, at int) (i int, ok bool) {
	stride := 1
	for a := len(shape) - 1; a >= 0; a-- {
		wide := graph.Pow2(shape[a])
		k := at % wide
		if k >= shape[a] {
			return 0, false
		}
		i += k * stride
		stride *= shape[a]
		at /= wide
	}
	return i, true
}
