package msmfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/zkwarp/zkwarp/internal/parallel"
)

// batch is how many elements are read before they are decoded on all cores.
const batch = 1 << 14

// Reader reads a file's elements T in order.
type Reader[T any] struct {
	what   string
	r      *bufio.Reader
	left   int
	at     int
	size   func(first byte) int // 0 if it is no first byte
	decode func(*T, []byte) error

	buf  []byte
	ends []int
}

// Points reads a header and returns a reader of the points.
func (f *Format[P, S]) Points(r io.Reader) (*Reader[P], error) {
	return newReader("point", r, f.size, f.point)
}

// Scalars reads a header and returns a reader of the scalars.
func (f *Format[P, S]) Scalars(r io.Reader) (*Reader[S], error) {
	n := f.group.Scalar.Bytes()
	return newReader("scalar", r, func(byte) int { return n }, f.scalar)
}

func newReader[T any](what string, r io.Reader, size func(byte) int, decode func(*T, []byte) error) (*Reader[T], error) {
	b := bufio.NewReaderSize(r, 1<<20)
	var head [4]byte
	if _, err := io.ReadFull(b, head[:]); err != nil {
		return nil, fmt.Errorf("the number of %ss: %w", what, short(err))
	}
	return &Reader[T]{what: what, r: b, left: int(binary.BigEndian.Uint32(head[:])), size: size, decode: decode}, nil
}

// short makes an early end a mistake of the file.
func short(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends early", ErrFormat)
	}
	return err
}

// Len is how many elements are left.
func (r *Reader[T]) Len() int { return r.left }

// Read fills dst with the next elements, which must be there.
func (r *Reader[T]) Read(dst []T) error {
	if len(dst) > r.left {
		return fmt.Errorf("%d %ss asked for, %d left", len(dst), r.what, r.left)
	}
	for len(dst) > 0 {
		n := min(len(dst), batch)
		if err := r.batch(dst[:n]); err != nil {
			return err
		}
		dst = dst[n:]
	}
	return nil
}

func (r *Reader[T]) batch(dst []T) error {
	r.buf, r.ends = r.buf[:0], r.ends[:0]
	for i := range dst {
		first, err := r.r.Peek(1)
		if err != nil {
			return fmt.Errorf("%s %d: %w", r.what, r.at+i, short(err))
		}
		size := r.size(first[0])
		if size == 0 {
			return errorAt(r.what, r.at+i, errFlags)
		}
		from := len(r.buf)
		if cap(r.buf) < from+size {
			r.buf = append(make([]byte, 0, max(size*len(dst), from+size)), r.buf...)
		}
		r.buf = r.buf[:from+size]
		if _, err := io.ReadFull(r.r, r.buf[from:]); err != nil {
			return fmt.Errorf("%s %d: %w", r.what, r.at+i, short(err))
		}
		r.ends = append(r.ends, from+size)
	}
	var mu sync.Mutex
	bad, reason := len(dst), error(nil)
	parallel.For(len(dst), 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from := 0
			if i > 0 {
				from = r.ends[i-1]
			}
			if err := r.decode(&dst[i], r.buf[from:r.ends[i]]); err != nil {
				mu.Lock()
				if i < bad {
					bad, reason = i, err
				}
				mu.Unlock()
				return
			}
		}
	})
	if reason != nil {
		return errorAt(r.what, r.at+bad, reason)
	}
	r.left -= len(dst)
	r.at += len(dst)
	return nil
}

// End checks that all elements have been read and that nothing follows them.
func (r *Reader[T]) End() error {
	if r.left > 0 {
		return fmt.Errorf("%d %ss were not read", r.left, r.what)
	}
	switch _, err := r.r.ReadByte(); {
	case err == nil:
		return fmt.Errorf("%w: something follows the last %s", ErrFormat, r.what)
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

// All reads all elements to the file's end.
func (r *Reader[T]) All() ([]T, error) {
	var all []T
	for r.left > 0 {
		n := min(r.left, max(batch, len(all)))
		if cap(all)-len(all) < n {
			all = append(make([]T, 0, len(all)+n), all...)
		}
		at := len(all)
		all = all[:at+n]
		if err := r.Read(all[at:]); err != nil {
			return nil, err
		}
	}
	return all, r.End()
}

// ReadPoints reads a file of points.
func (f *Format[P, S]) ReadPoints(path string) ([]P, error) { return readFile(path, f.Points) }

// ReadScalars reads a file of scalars.
func (f *Format[P, S]) ReadScalars(path string) ([]S, error) { return readFile(path, f.Scalars) }

func readFile[T any](path string, open func(io.Reader) (*Reader[T], error)) ([]T, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	all, err := r.All()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}
