// Package hostile tests decoders with bytes that nobody means well by: a valid encoding that is cut off at every length, goes on behind its
// end, and has at every place counts, lengths and numbers of the kinds that overflow, that are not canonical, or that ask for memory.
package hostile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"
)

// Decoder is what is tested, with one valid encoding.
type Decoder struct {
	Name string
	Code []byte
	// Decode decodes data, and encodes what it has got again. A nil encoding without an error is of a format that leaves a choice.
	Decode func(data []byte) (again []byte, err error)
	// Memory is how many bytes Decode may take for an encoding of a small artefact, whatever it says; 1 MiB if it is 0.
	Memory uint64
	// Tries is about how many changes are tried; 2000 if it is 0. All places are, where they are enough.
	Tries int
	// Loose says that what is cut off or longer may be valid, and just has to be read without a panic and in little memory.
	Loose bool
}

// words are written over four bytes; they are below a count's bound, above it, at the ends of the 32-bit integers and beyond the field's prime.
var words = []uint32{0, 1, 0xffff, 1<<28 + 1, 1<<31 - 1, 1 << 31, 1<<32 - 4, 1<<32 - 1}

// Test runs all of it. What is accepted must be the only encoding of what it decodes to; nothing may panic; and no changed encoding may take more than
// four times the memory of the valid one, or d.Memory.
func Test(t *testing.T, d Decoder) {
	t.Helper()
	t.Run(d.Name, func(t *testing.T) { run(d, t.Errorf) })
}

func run(d Decoder, report func(format string, args ...any)) {
	h := &harness{Decoder: d, report: report}
	if h.Memory == 0 {
		h.Memory = 1 << 20
	}
	if h.Tries == 0 {
		h.Tries = 2000
	}
	if !h.try("as it is", 0, d.Code) {
		h.report("the encoding is not valid")
		return
	}
	h.Memory = max(h.Memory, 4*h.took)
	n := len(d.Code)
	for _, at := range places(n, h.Tries/4) {
		if h.try("cut off", at, d.Code[:at]) && !d.Loose {
			h.report("accepted when cut off at byte %d of %d", at, n)
		}
	}
	for _, extra := range [][]byte{{0}, {0xff}, make([]byte, 4), d.Code} {
		if h.try("longer", len(extra), append(bytes.Clone(d.Code), extra...)) && !d.Loose {
			h.report("accepted with %d bytes behind its end", len(extra))
		}
	}
	changes := 2 * (len(words) + 3) // about: short encodings have fewer
	for _, at := range places(n, max(1, h.Tries/changes*2)) {
		for _, w := range words {
			if at+4 <= n {
				bad := bytes.Clone(d.Code)
				binary.LittleEndian.PutUint32(bad[at:], w)
				h.try("a word changed", at, bad)
			}
		}
		if at+8 <= n {
			bad := bytes.Clone(d.Code)
			binary.LittleEndian.PutUint64(bad[at:], 1<<63-1)
			h.try("eight bytes changed", at, bad)
		}
		bad := bytes.Clone(d.Code)
		bad[at] ^= 0x80
		h.try("a bit changed", at, bad)
		// A number of seven bits in two bytes.
		padded := append(bytes.Clone(d.Code[:at]), d.Code[at]|0x80, 0)
		h.try("a byte padded", at, append(padded, d.Code[at+1:]...))
		// The same eight bytes twice, and none of them.
		h.try("bytes repeated", at, append(bytes.Clone(d.Code[:at]), d.Code[max(0, at-8):]...))
		h.try("bytes left out", at, append(bytes.Clone(d.Code[:at]), d.Code[min(n, at+8):]...))
	}
}

var errPanic = errors.New("panic")

type harness struct {
	Decoder
	report func(format string, args ...any)
	took   uint64 // bytes of memory, by the last one
}

// try reports whether data is accepted.
func (h *harness) try(what string, at int, data []byte) bool {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	again, err := h.decode(what, at, data)
	runtime.ReadMemStats(&after)
	if h.took = after.TotalAlloc - before.TotalAlloc; what != "as it is" && h.took > h.Memory {
		h.report("%s, %d: %d bytes of memory for an encoding of %d, want at most %d (%v)", what, at, h.took, len(data), h.Memory, err)
	}
	if err == nil && again != nil && !bytes.Equal(again, data) {
		h.report("%s, %d: accepted, and encoded again as something else", what, at)
	}
	return err == nil
}

func (h *harness) decode(what string, at int, data []byte) (again []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			h.report("%s, %d: %v", what, at, r)
			err = errPanic
		}
	}()
	return h.Decode(data)
}

// places are at most so many of the places 0 to n - 1: half of them at the beginning, the others spread over the rest.
func places(n, most int) (out []int) {
	first := n
	if n > most {
		first = most / 2
	}
	for i := range first {
		out = append(out, i)
	}
	if rest := most - first; first < n {
		for i := range rest {
			out = append(out, first+i*(n-first)/rest)
		}
		out = append(out, n-1)
	}
	return out
}
