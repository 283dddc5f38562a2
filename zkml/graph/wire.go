package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrFormat is wrapped by every decoding error that is about the bytes rather than the program in them.
var ErrFormat = errors.New("malformed encoding")

// writer appends little-endian fields.
type writer struct{ b []byte }

func (w *writer) u8(v uint8)   { w.b = append(w.b, v) }
func (w *writer) u16(v uint16) { w.b = binary.LittleEndian.AppendUint16(w.b, v) }
func (w *writer) u32(v uint32) { w.b = binary.LittleEndian.AppendUint32(w.b, v) }
func (w *writer) i64(v int64)  { w.b = binary.LittleEndian.AppendUint64(w.b, uint64(v)) }
func (w *writer) flag(v bool) {
	if v {
		w.u8(1)
	} else {
		w.u8(0)
	}
}

func (w *writer) str(s string) {
	w.u16(uint16(len(s)))
	w.b = append(w.b, s...)
}

// ints writes values with a fixed number of bytes each (1, 2 or 4), two's complement.
func (w *writer) ints(values []int32, width int) {
	for _, v := range values {
		switch width {
		case 1:
			w.u8(uint8(v))
		case 2:
			w.u16(uint16(v))
		default:
			w.u32(uint32(v))
		}
	}
}

// reader takes little-endian fields off the front; the first failure sticks, and later reads return zero.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %w", ErrFormat, fmt.Errorf(format, args...))
	}
}

// take returns the next n bytes, or nil after a failure.
func (r *reader) take(n int, what string) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.b) {
		r.fail("%s needs %d bytes, %d are left", what, n, len(r.b))
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) u8(what string) uint8 {
	if b := r.take(1, what); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u16(what string) uint16 {
	if b := r.take(2, what); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *reader) u32(what string) uint32 {
	if b := r.take(4, what); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) i64(what string) int64 {
	if b := r.take(8, what); b != nil {
		return int64(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (r *reader) flag(what string) bool {
	v := r.u8(what)
	if v > 1 {
		r.fail("%s is %d, expected 0 or 1", what, v)
	}
	return v == 1
}

func (r *reader) str(what string) string {
	n := int(r.u16(what))
	if n > MaxName {
		r.fail("%s has %d bytes, expected at most %d", what, n, MaxName)
	}
	return string(r.take(n, what))
}

// count reads a number of items, each of which takes at least size bytes, so that nothing is allocated that the bytes do not justify.
func (r *reader) count(most, size int, what string) int {
	n := int(r.u32("the number of " + what))
	if r.err == nil && (n > most || n > len(r.b)/size) {
		r.fail("%d %s, expected at most %d and no more than the bytes left hold", n, what, most)
	}
	if r.err != nil {
		return 0
	}
	return n
}

func (r *reader) ints(n, width int, what string) []int32 {
	b := r.take(n*width, what)
	if b == nil {
		return nil
	}
	values := make([]int32, n)
	for i := range values {
		switch width {
		case 1:
			values[i] = int32(int8(b[i]))
		case 2:
			values[i] = int32(int16(binary.LittleEndian.Uint16(b[2*i:])))
		default:
			values[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
		}
	}
	return values
}

// header checks magic and version.
func (r *reader) header(magic, what string) {
	if got := r.take(len(magic), "the "+what+" header"); got != nil && string(got) != magic {
		r.fail("not a %s: it starts with %q, expected %q", what, got, magic)
	}
	if v := r.u32("the version"); r.err == nil && v != Version {
		r.fail("%s version %d, this build reads version %d", what, v, Version)
	}
}

// done checks that every byte was used.
func (r *reader) done() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail("%d bytes after the end", len(r.b))
	}
	return r.err
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
