// Package wire writes and reads the little-endian fields of zkwarp's canonical encodings. A Reader never allocates more than the bytes
// at hand justify, and its first error sticks.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/internal/parallel"
)

// ErrFormat is wrapped by every decoding error that is about the bytes rather than their meaning.
var ErrFormat = errors.New("malformed encoding")

// MaxString is the greatest length of a string in bytes.
const MaxString = 256

// Writer appends fields.
type Writer struct{ B []byte }

// NewWriter starts an encoding with its magic and version.
func NewWriter(magic string, version uint32) *Writer {
	w := &Writer{B: []byte(magic)}
	w.U32(version)
	return w
}

// U8 appends a byte.
func (w *Writer) U8(v uint8) { w.B = append(w.B, v) }

// U16 appends two bytes.
func (w *Writer) U16(v uint16) { w.B = binary.LittleEndian.AppendUint16(w.B, v) }

// U32 appends four bytes.
func (w *Writer) U32(v uint32) { w.B = binary.LittleEndian.AppendUint32(w.B, v) }

// I64 appends eight bytes, two's complement.
func (w *Writer) I64(v int64) { w.B = binary.LittleEndian.AppendUint64(w.B, uint64(v)) }

// F64 appends the bits of a float64.
func (w *Writer) F64(v float64) { w.I64(int64(math.Float64bits(v))) }

// Uvarint appends a number in as few bytes as it takes, seven bits each, the lowest first; all but the last have the top bit set.
func (w *Writer) Uvarint(v uint32) { w.B = binary.AppendUvarint(w.B, uint64(v)) }

// Flag appends 0 or 1.
func (w *Writer) Flag(v bool) {
	if v {
		w.U8(1)
	} else {
		w.U8(0)
	}
}

// String appends a length of two bytes and the string, which has at most MaxString bytes.
func (w *Writer) String(s string) {
	w.U16(uint16(len(s)))
	w.B = append(w.B, s...)
}

// Ints writes values with a fixed number of bytes each (1, 2 or 4), two's complement.
func (w *Writer) Ints(values []int32, width int) {
	at := len(w.B)
	w.B = slices.Grow(w.B, len(values)*width)[:at+len(values)*width]
	PutInts(w.B[at:], values, width)
}

// grain is the least number of values that are worth another core.
const grain = 1 << 16

// PutInts writes values as Ints does over the first bytes of b.
func PutInts(b []byte, values []int32, width int) {
	parallel.For(len(values), grain, func(lo, hi int) {
		v, out := values[lo:hi], b[lo*width:hi*width]
		switch width {
		case 1:
			for i, x := range v {
				out[i] = uint8(x)
			}
		case 2:
			for i, x := range v {
				binary.LittleEndian.PutUint16(out[2*i:], uint16(x))
			}
		default:
			for i, x := range v {
				binary.LittleEndian.PutUint32(out[4*i:], uint32(x))
			}
		}
	})
}

// Reader takes fields off the front; the first failure sticks, and later reads return zero.
type Reader struct {
	b   []byte
	err error
}

// NewReader reads data, which must start with that magic and version.
func NewReader(data []byte, magic string, version uint32, what string) *Reader {
	r := &Reader{b: data}
	if got := r.Take(len(magic), "the "+what+" header"); got != nil && string(got) != magic {
		r.Fail("not a %s: it starts with %q, expected %q", what, got, magic)
	}
	if v := r.U32("the version"); r.err == nil && v != version {
		r.Fail("%s version %d, this build reads version %d", what, v, version)
	}
	return r
}

// Left returns the number of bytes that are not read yet.
func (r *Reader) Left() int { return len(r.b) }

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Fail records an error about the bytes.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %w", ErrFormat, fmt.Errorf(format, args...))
	}
}

// Take returns the next n bytes, or nil after a failure.
func (r *Reader) Take(n int, what string) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.b) {
		r.Fail("%s needs %d bytes, %d are left", what, n, len(r.b))
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

// U8 reads a byte; what names the field in errors, here and below.
func (r *Reader) U8(what string) uint8 {
	if b := r.Take(1, what); b != nil {
		return b[0]
	}
	return 0
}

// U16 reads two bytes.
func (r *Reader) U16(what string) uint16 {
	if b := r.Take(2, what); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// U32 reads four bytes.
func (r *Reader) U32(what string) uint32 {
	if b := r.Take(4, what); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// I64 reads eight bytes.
func (r *Reader) I64(what string) int64 {
	if b := r.Take(8, what); b != nil {
		return int64(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// F64 reads the bits of a float64.
func (r *Reader) F64(what string) float64 { return math.Float64frombits(uint64(r.I64(what))) }

// Uvarint reads a number of at most 32 bits that takes no more bytes than it needs.
func (r *Reader) Uvarint(what string) uint32 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.b)
	switch {
	case n == 0:
		r.Fail("%s needs more than the %d bytes that are left", what, len(r.b))
	case n < 0 || v > math.MaxUint32:
		r.Fail("%s has more than 32 bits", what)
	case n > 1 && r.b[n-1] == 0:
		r.Fail("%s takes %d bytes, expected fewer", what, n)
	default:
		r.b = r.b[n:]
		return uint32(v)
	}
	return 0
}

// Flag reads a byte that must be 0 or 1.
func (r *Reader) Flag(what string) bool {
	v := r.U8(what)
	if v > 1 {
		r.Fail("%s is %d, expected 0 or 1", what, v)
	}
	return v == 1
}

// String reads a string of at most MaxString bytes.
func (r *Reader) String(what string) string {
	n := int(r.U16(what))
	if n > MaxString {
		r.Fail("%s has %d bytes, expected at most %d", what, n, MaxString)
	}
	return string(r.Take(n, what))
}

// Count reads a number of items, each of which takes at least size bytes, so that nothing is allocated that the bytes do not justify.
func (r *Reader) Count(most, size int, what string) int {
	n := r.U32("the number of " + what)
	if r.err == nil && uint64(n) > uint64(min(most, len(r.b)/size)) {
		r.Fail("%d %s, expected at most %d and no more than the bytes left hold", n, what, most)
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

// Ints reads n values of width bytes each.
func (r *Reader) Ints(n, width int, what string) []int32 {
	b := r.Take(n*width, what)
	if b == nil {
		return nil
	}
	values := make([]int32, n)
	ReadInts(values, b, width)
	return values
}

// ReadInts reads what PutInts writes to b.
func ReadInts(values []int32, b []byte, width int) {
	parallel.For(len(values), grain, func(lo, hi int) {
		v, b := values[lo:hi], b[lo*width:hi*width]
		switch width {
		case 1:
			for i := range v {
				v[i] = int32(int8(b[i]))
			}
		case 2:
			for i := range v {
				v[i] = int32(int16(binary.LittleEndian.Uint16(b[2*i:])))
			}
		default:
			for i := range v {
				v[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
			}
		}
	})
}

// Done checks that every byte was used.
func (r *Reader) Done() error {
	if r.err == nil && len(r.b) > 0 {
		r.Fail("%d bytes after the end", len(r.b))
	}
	return r.err
}
