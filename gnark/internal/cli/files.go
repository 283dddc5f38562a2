package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/witness"
)

// within is what f returns, or the error of a context that ends before. f, which reads
// files and writes none, is then left to itself: the program is about to end.
func within[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// read reads a whole file over a curve by gnark's reader for it, which must use up all of the
// file. It returns at once when the context ends: checking a key's points may take minutes.
func read(ctx context.Context, what, path string, id ecc.ID, to io.ReaderFrom) error {
	_, err := within(ctx, func() (struct{}, error) { return struct{}{}, readAll(to, path) })
	var p *fs.PathError
	if err != nil && !errors.As(err, &p) && !errors.Is(err, context.Canceled) {
		// Gnark's files do not tell their curve, nor its readers' errors what they expected.
		err = fmt.Errorf("%w; it was read as one over %s", err, nameOf(id))
	}
	return reading(what, path, err)
}

// open is read for the files of package circom.
func open[T any](ctx context.Context, what, path string, by func(string) (T, error)) (T, error) {
	v, err := within(ctx, func() (T, error) { return by(path) })
	var p *fs.PathError
	if errors.As(err, &p) { // others name the file
		err = reading(what, path, err)
	}
	return v, err
}

func reading(what, path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("reading %s %s: %w", what, path, plain(err))
}

func readAll(to io.ReaderFrom, path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	// Some of gnark's readers panic on files that are not what they expect.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("not such a file: %v", r)
		}
	}()
	b := bufio.NewReaderSize(f, 1<<20)
	r, err := bounded(f, b)
	if err != nil {
		return err
	}
	if _, err := to.ReadFrom(r); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	rest, err := io.Copy(io.Discard, r)
	if err != nil {
		return err
	}
	if rest > 0 {
		return fmt.Errorf("%d bytes after its end", rest)
	}
	return nil
}

// bounded is b, which reads f, for gnark's readers. They take memory for as many things as
// a number in the file says, and the end of a program that has not as much cannot be
// recovered from. Of verifying keys, proofs and witnesses they read numbers alone, of four or
// eight bytes, which nothing else has; all are of things that take a byte at least, or indices of
// such, so that memory is bounded by some 200 bytes for each of the file.
func bounded(f *os.File, b io.Reader) (io.Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	if !info.Mode().IsRegular() {
		all, err := pipe(b)
		if err != nil {
			return nil, err
		}
		b, size = bytes.NewReader(all), int64(len(all))
	}
	return &counts{r: b, limit: uint64(size)}, nil
}

// maxPipe bounds what is read of a pipe.
const maxPipe = 1 << 28

func pipe(r io.Reader) ([]byte, error) {
	all, err := io.ReadAll(io.LimitReader(r, maxPipe+1))
	if err == nil && len(all) > maxPipe {
		err = fmt.Errorf("not a regular file, and more than %d bytes", maxPipe)
	}
	return all, err
}

func regular(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular() // who opens it tells the error
}

// contents is a whole file.
func contents(path string) ([]byte, error) {
	if regular(path) {
		return os.ReadFile(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return pipe(f)
}

// counts is a reader that refuses numbers above a limit.
type counts struct {
	r     io.Reader
	limit uint64
}

// Read fills p, so that the rest of something longer does not look like a number.
func (c *counts) Read(p []byte) (int, error) {
	n, err := io.ReadFull(c.r, p)
	if len(p) != 4 && len(p) != 8 {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil // the next has none
		}
		return n, err
	}
	if err != nil {
		return n, err
	}
	v := uint64(0)
	for _, x := range p {
		v = v<<8 | uint64(x)
	}
	if v > c.limit {
		return 0, fmt.Errorf("a count of %d in a file of %d bytes", v, c.limit)
	}
	return len(p), nil
}

// readWitness is read for a witness, whose reader does not compare the numbers of values
// before them with how many there are.
func readWitness(ctx context.Context, what, path string, id ecc.ID, w witness.Witness) error {
	if err := read(ctx, what, path, id, w); err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		return fmt.Errorf("reading %s %s: %w", what, path, err)
	}
	head := b.Bytes()
	public, secret, all := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	if uint64(public)+uint64(secret) != uint64(all) {
		return fmt.Errorf("reading %s %s: %d values, of which %d are public and %d secret", what, path, all, public, secret)
	}
	return nil
}

// guarded is what f returns, or an error where gnark panics on what files hold.
func guarded[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &codeError{ExitInput, fmt.Errorf("files that are not what they should be: %v", r)}
		}
	}()
	return f()
}

// plain is an error of the file system without the operation and the path, which
// messages name themselves.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// output is a file to be written; "-" is standard output.
type output struct {
	path string
	to   func(io.Writer) error
}

// check refuses, before any work, outputs that could not be written at its end, and those
// that would replace what the run reads: --force is for results.
func (a *app) check(inputs, outputs []string) error {
	if a.json && slices.Contains(outputs, "-") {
		return usage("- and --json both want standard output")
	}
	seen := map[string]bool{}
	for _, p := range outputs {
		if seen[filepath.Clean(p)] {
			return usage("%s is named for two files", p)
		}
		seen[filepath.Clean(p)] = true
		if p == "-" {
			continue
		}
		info, err := os.Lstat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if parent, err := os.Stat(filepath.Dir(p)); err != nil || !parent.IsDir() {
				return fmt.Errorf("writing %s: there is no folder %s", p, filepath.Dir(p))
			}
			continue
		case err != nil:
			return fmt.Errorf("writing %s: %w", p, plain(err))
		case !info.Mode().IsRegular():
			return usage("%s is there and not a file", p)
		}
		for _, in := range inputs {
			if other, err := os.Stat(in); err == nil && os.SameFile(info, other) {
				return usage("%s is named both for a file to read and for one to write", p)
			}
		}
		if !a.force {
			return usage("%s exists; --force replaces it", p)
		}
	}
	return nil
}

// write writes files under temporary names and puts all of them or none in place when they
// are whole. It ends when the context does.
func (a *app) write(ctx context.Context, outputs ...output) (err error) {
	temps := make([]string, len(outputs))
	var placed []string
	defer func() {
		for _, t := range temps {
			a.temps.remove(t)
		}
		if err != nil && !a.force { // with it something else was there before
			for _, p := range placed {
				os.Remove(p)
			}
		}
	}()
	for i, o := range outputs {
		if o.path == "-" {
			continue
		}
		f, err := a.temps.create(filepath.Dir(o.path))
		if err != nil {
			return fmt.Errorf("writing %s: %w", o.path, plain(err))
		}
		temps[i] = f.Name()
		w := bufio.NewWriterSize(f, 1<<16)
		err = o.to(stopping{ctx, w})
		if err == nil {
			err = w.Flush()
		}
		if err == nil {
			err = f.Chmod(0o644)
		}
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			return fmt.Errorf("writing %s: %w", o.path, plain(err))
		}
	}
	for i, o := range outputs {
		if o.path == "-" {
			continue
		}
		if err := place(os.Link, temps[i], o.path, a.force); err != nil {
			return err
		}
		placed = append(placed, o.path)
	}
	for _, o := range outputs {
		if o.path == "-" {
			if err := o.to(stopping{ctx, a.out}); err != nil {
				return fmt.Errorf("writing to standard output: %w", plain(err))
			}
		}
	}
	return nil
}

// temporaries are the unfinished files of a run, so that one that is interrupted leaves none.
type temporaries struct {
	mu     sync.Mutex
	names  map[string]bool
	closed bool
}

func (t *temporaries) create(folder string) (*os.File, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errors.New("the program is stopping")
	}
	f, err := os.CreateTemp(folder, ".zkwarp-*")
	if err != nil {
		return nil, err
	}
	if t.names == nil {
		t.names = map[string]bool{}
	}
	t.names[f.Name()] = true
	return f, nil
}

func (t *temporaries) remove(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names[name] {
		delete(t.names, name)
		os.Remove(name)
	}
}

// removeAll removes what is left and lets nothing new begin.
func (t *temporaries) removeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for name := range t.names {
		os.Remove(name)
	}
	t.names = nil
}

// stopping is a writer until the context ends.
type stopping struct {
	ctx context.Context
	w   io.Writer
}

func (s stopping) Write(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.w.Write(p)
}

// place gives a finished file its name, never over an existing one without force: also not
// over one that was made since that was checked.
func place(link func(from, to string) error, temp, path string, force bool) error {
	if !force {
		err := link(temp, path)
		if errors.Is(err, fs.ErrExist) {
			return usage("%s exists; --force replaces it", path)
		}
		if err == nil {
			return nil
		}
		// No hard links here: whoever makes the name has it, and may replace what is there.
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, fs.ErrExist) {
			return usage("%s exists; --force replaces it", path)
		}
		if err != nil {
			return fmt.Errorf("writing %s: %w", path, plain(err))
		}
		f.Close()
	}
	if err := os.Rename(temp, path); err != nil {
		if !force {
			os.Remove(path)
		}
		return fmt.Errorf("writing %s: %w", path, plain(err))
	}
	return nil
}

// oneLine makes text safe to print as one line: names from files may hold anything.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
