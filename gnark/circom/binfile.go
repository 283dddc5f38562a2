package circom

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"slices"
	"sync"

	"github.com/zkwarp/zkwarp/internal/parallel"
)

// format is one of the kinds of iden3's binary files.
type format struct {
	magic    string
	version  uint32
	sections map[uint32]string // titles of those that there must be
	optional map[uint32]string // titles of those that there may be and that are not read
	refused  map[uint32]string // titles of those that there may be and that mean something unsupported
}

// binFile is an opened file: a magic word, a version and sections in any order.
type binFile struct {
	name     string
	r        io.ReaderAt
	sections map[uint32]*section
}

// section is one section of a file.
type section struct {
	f     *binFile
	title string
	off   int64
	size  int64
}

func (f *binFile) errorf(off int64, msg string, args ...any) error {
	return &FormatError{File: f.name, Offset: off, Err: fmt.Errorf(msg, args...)}
}

// errorf is a mistake at an offset from the section's begin.
func (s *section) errorf(off int64, msg string, args ...any) error {
	return &FormatError{File: s.f.name, Section: s.title, Offset: s.off + off, Err: fmt.Errorf(msg, args...)}
}

// readAt fills b. Sections lie inside the file, so that an early end is a mistake in what
// the caller said of its size, or a file that was cut meanwhile.
func (s *section) readAt(b []byte, off int64) error {
	n, err := s.f.r.ReadAt(b, s.off+off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return s.errorf(off, "%w", err)
}

// openFile runs f over a file on disk.
func openFile[T any](path string, f func(name string, r io.ReaderAt, size int64) (T, error)) (T, error) {
	var none T
	file, err := os.Open(path)
	if err != nil {
		return none, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return none, err
	}
	if !info.Mode().IsRegular() {
		return none, fmt.Errorf("%s: not a regular file", path)
	}
	return f(path, file, info.Size())
}

// scan finds the sections of a file of the format.
func (t *format) scan(name string, r io.ReaderAt, size int64) (*binFile, error) {
	f := &binFile{name: name, r: r, sections: map[uint32]*section{}}
	head := make([]byte, 12)
	whole := &section{f: f, size: size} // for reading outside of sections
	if size < int64(len(head)) {
		return nil, f.errorf(0, "%d bytes are too few for a .%s file", size, t.magic)
	}
	if err := whole.readAt(head, 0); err != nil {
		return nil, err
	}
	if string(head[:4]) != t.magic {
		return nil, f.errorf(0, "it begins with %q and not with %q", head[:4], t.magic)
	}
	if v := binary.LittleEndian.Uint32(head[4:]); v != t.version {
		return nil, f.errorf(4, "version %d; version %d is read", v, t.version)
	}
	count := binary.LittleEndian.Uint32(head[8:])
	at := int64(len(head))
	for i := range count {
		// Every section has a number of its own among a few, so a large count ends soon.
		if size-at < 12 {
			return nil, f.errorf(at, "the file ends before section %d of %d", i+1, count)
		}
		if err := whole.readAt(head, at); err != nil {
			return nil, err
		}
		id, length := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint64(head[4:])
		title, known := t.sections[id]
		if !known {
			title, known = t.optional[id]
		}
		if !known {
			if why, ok := t.refused[id]; ok {
				return nil, f.errorf(at, "section %d (%s) is not supported", id, why)
			}
			return nil, f.errorf(at, "a section with the unknown number %d", id)
		}
		s := &section{f: f, title: fmt.Sprintf("%d (%s)", id, title), off: at + 12, size: int64(length)}
		if f.sections[id] != nil {
			return nil, s.errorf(-12, "it is there twice")
		}
		if length > uint64(size-s.off) {
			return nil, s.errorf(-8, "%d bytes, with %d left in the file", length, size-s.off)
		}
		f.sections[id] = s
		at = s.off + s.size
	}
	if at != size {
		return nil, f.errorf(at, "%d bytes behind the last section", size-at)
	}
	ids := make([]uint32, 0, len(t.sections))
	for id := range t.sections {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if f.sections[id] == nil {
			return nil, f.errorf(size, "section %d (%s) is missing", id, t.sections[id])
		}
	}
	return f, nil
}

// header is a section of known fields, read as a whole.
type header struct {
	s   *section
	b   []byte
	at  int
	err error // the first mistake; later reads give zeros
}

// maxHeader bounds the bytes of sections that are headers. The largest is that of a .zkey
// over BLS12-381, of 988 bytes.
const maxHeader = 4096

func (s *section) header() (*header, error) {
	if s.size > maxHeader {
		return nil, s.errorf(-8, "%d bytes are too many for a header", s.size)
	}
	h := &header{s: s, b: make([]byte, s.size)}
	return h, s.readAt(h.b, 0)
}

func (h *header) fail(at int, msg string, args ...any) {
	if h.err == nil {
		h.err = h.s.errorf(int64(at), msg, args...)
	}
}

// bytes are the next n, zeros after a mistake.
func (h *header) bytes(n int, what string) []byte {
	if h.err == nil && len(h.b)-h.at < n {
		h.fail(h.at, "the section ends before %s", what)
	}
	if h.err != nil {
		return make([]byte, n)
	}
	h.at += n
	return h.b[h.at-n : h.at]
}

func (h *header) u32(what string) int {
	return int(binary.LittleEndian.Uint32(h.bytes(4, what)))
}

func (h *header) u64(what string) uint64 {
	return binary.LittleEndian.Uint64(h.bytes(8, what))
}

// prime reads a modulus with the number of its bytes before it, and returns the first
// system for which match is true.
func (h *header) prime(what string, prime func(*curve) *big.Int, words func(*curve) []uint64) system {
	at := h.at
	n := h.u32(what)
	for _, s := range systems() {
		if 8*len(words(s.curve())) != n {
			continue
		}
		save := *h
		if b := h.bytes(n, what); h.err == nil && littleEndian(b).Cmp(prime(s.curve())) == 0 {
			return s
		}
		if h.err != nil {
			return nil
		}
		*h = save
	}
	h.fail(at, "%s is not that of BN254 or BLS12-381", what)
	return nil
}

// end is the first mistake, which bytes that are left are, too.
func (h *header) end() error {
	if h.err == nil && h.at != len(h.b) {
		h.fail(h.at, "%d bytes too many", len(h.b)-h.at)
	}
	return h.err
}

func littleEndian(b []byte) *big.Int {
	b = slices.Clone(b)
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}

// expect checks the section's size.
func (s *section) expect(size int64, of string) error {
	if s.size != size {
		return s.errorf(-8, "%d bytes; %s are %d", s.size, of, size)
	}
	return nil
}

// chunk is about how many bytes are read at a time.
const chunk = 1 << 20

// records calls f for runs of n records of size bytes, which lie at offset off: with the
// index of the run's first, and with the bytes of all of them.
func (s *section) records(off int64, n, size int, f func(first int, b []byte) error) error {
	each := max(1, chunk/size)
	buf := make([]byte, min(each, n)*size)
	for first := 0; first < n; first += each {
		b := buf[:min(each, n-first)*size]
		if err := s.readAt(b, off+int64(first)*int64(size)); err != nil {
			return err
		}
		if err := f(first, b); err != nil {
			return err
		}
	}
	return nil
}

// forEach calls f for the numbers below n, on all cores. The error is that of the lowest
// number that has one, whatever the order.
func forEach(n int, f func(i int) error) error {
	var mu sync.Mutex
	first, failed := n, error(nil)
	parallel.For(n, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if err := f(i); err != nil {
				mu.Lock()
				if i < first {
					first, failed = i, err
				}
				mu.Unlock()
				return // later ones of this range do not count
			}
		}
	})
	return failed
}

// decodeWords stores numbers of 64 bits, the lowest byte first.
func decodeWords(dst []uint64, b []byte) {
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

// elements reads n numbers below the order r of c that fill the section.
func (s *section) elements(c *curve, n int) ([]Element, error) {
	if err := s.expect(int64(n)*32, fmt.Sprintf("%d numbers", n)); err != nil {
		return nil, err
	}
	out := make([]Element, n)
	return out, s.records(0, n, 32, func(first int, b []byte) error {
		return forEach(len(b)/32, func(i int) error {
			e := &out[first+i]
			decodeWords(e[:], b[32*i:])
			if !below(e[:], c.rWords) {
				return s.errorf(int64(first+i)*32, "value %d is not below the field's order", first+i)
			}
			return nil
		})
	})
}
