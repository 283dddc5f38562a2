package graph

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/zkml/internal/wire"
)

// Values are a tensor's integers as files and devices have them: 1, 2 or 4 bytes each, two's complement, little endian. The zero Values belong to
// no tensor; those of a tensor without elements are others. They must not be changed.
type Values struct {
	width int
	data  []byte
}

// NewValues stores a copy of v in the fewest bytes that hold each of them.
func NewValues(v []int32) Values {
	lo, hi := ParamBounds(ParamBits(v))
	return valuesOf(v, width(interval{lo, hi}))
}

func valuesOf(v []int32, width int) Values {
	data := make([]byte, len(v)*width)
	wire.PutInts(data, v, width)
	return Values{width, data}
}

// Given says whether these are a tensor's values, of which there may be none.
func (v Values) Given() bool { return v.width != 0 }

// Width is the number of bytes of each value, 0 unless they are given.
func (v Values) Width() int { return v.width }

// Bytes are the values one after the other, Width bytes each. They must not be changed.
func (v Values) Bytes() []byte { return v.data }

// Len is the number of values.
func (v Values) Len() int {
	if v.width == 0 {
		return 0
	}
	return len(v.data) / v.width
}

// At is value i.
func (v Values) At(i int) int32 {
	switch v.width {
	case 1:
		return int32(int8(v.data[i]))
	case 2:
		return int32(int16(binary.LittleEndian.Uint16(v.data[2*i:])))
	}
	return int32(binary.LittleEndian.Uint32(v.data[4*i:]))
}

// Read writes the values from number `from` on to out, which they must fill.
func (v Values) Read(out []int32, from int) {
	wire.ReadInts(out, v.data[from*v.width:(from+len(out))*v.width], v.width)
}

// Ints is a copy of the values, nil unless they are given.
func (v Values) Ints() []int32 {
	if !v.Given() {
		return nil
	}
	out := make([]int32, v.Len())
	v.Read(out, 0)
	return out
}

// write writes the values in `bytes` bytes each.
func (v Values) write(w io.Writer, bytes int) error {
	if v.width == bytes {
		_, err := w.Write(v.data)
		return err
	}
	const block = 1 << 16
	part, out := make([]int32, min(block, v.Len())), make([]byte, min(block, v.Len())*bytes)
	for at := 0; at < v.Len(); at += block {
		n := min(block, v.Len()-at)
		v.Read(part[:n], at)
		wire.PutInts(out, part[:n], bytes)
		if _, err := w.Write(out[:n*bytes]); err != nil {
			return err
		}
	}
	return nil
}

// check checks the number of a tensor's values and their bounds.
func (v Values) check(t *Tensor) error {
	if v.Len() != t.Len() || !v.Given() {
		return fmt.Errorf("tensor %q has %d values, expected %d for shape %v", t.Name, v.Len(), t.Len(), t.Shape)
	}
	if most := int64(1) << (8*v.width - 1); t.Lo <= -most && t.Hi >= most-1 {
		return nil // there are no others
	}
	return checkBounds(t, v.Len(), func(part []int32, from int) []int32 {
		v.Read(part, from)
		return part
	})
}

// checkValues checks count and bounds of the real elements of a tensor.
func checkValues(t *Tensor, values []int32) error {
	if len(values) != t.Len() {
		return fmt.Errorf("tensor %q has %d values, expected %d for shape %v", t.Name, len(values), t.Len(), t.Shape)
	}
	return checkBounds(t, len(values), func(part []int32, from int) []int32 { return values[from : from+len(part)] })
}

// checkBounds checks the bounds of n values. read returns as many as the part has, from number `from` on, and may use the part.
func checkBounds(t *Tensor, n int, read func(part []int32, from int) []int32) error {
	const block = 1 << 12
	var first atomic.Int64 // the first value that is outside
	first.Store(int64(n))
	parallel.For((n+block-1)/block, 16, func(from, to int) {
		part := make([]int32, block)
		for at := from * block; at < min(to*block, n); at += block {
			own := read(part[:min(block, n-at)], at)
			if within(own, t.Lo, t.Hi) {
				continue
			}
			for i, x := range own {
				if int64(x) < t.Lo || int64(x) > t.Hi {
					at := int64(at + i)
					for was := first.Load(); at < was && !first.CompareAndSwap(was, at); was = first.Load() {
					}
					return
				}
			}
		}
	})
	if i := int(first.Load()); i < n {
		return fmt.Errorf("tensor %q, element %d: %d is outside [%d, %d]", t.Name, i, read(make([]int32, 1), i)[0], t.Lo, t.Hi)
	}
	return nil
}

// within says whether no value is outside the bounds, which are words. It has no branch for each of them.
func within(v []int32, lo, hi int64) bool {
	var bad [4]int64
	first, most := uint32(lo), hi-lo
	for ; len(v) >= 4; v = v[4:] {
		bad[0] |= most - int64(uint32(v[0])-first)
		bad[1] |= most - int64(uint32(v[1])-first)
		bad[2] |= most - int64(uint32(v[2])-first)
		bad[3] |= most - int64(uint32(v[3])-first)
	}
	for _, x := range v {
		bad[0] |= most - int64(uint32(x)-first)
	}
	return bad[0]|bad[1]|bad[2]|bad[3] >= 0
}
