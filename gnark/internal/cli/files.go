package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// read reads a whole file by gnark's reader for it, which must use up all of the file.
func read(what, path string, to io.ReaderFrom) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading %s %s: %w", what, path, plain(err))
	}
	defer f.Close()
	// Some of gnark's readers panic on files that are not what they expect.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reading %s %s: not such a file: %v", what, path, r)
		}
	}()
	b := bufio.NewReaderSize(f, 1<<20)
	if _, err := to.ReadFrom(b); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("reading %s %s: %w", what, path, plain(err))
	}
	rest, err := io.Copy(io.Discard, b)
	if err != nil {
		return fmt.Errorf("reading %s %s: %w", what, path, plain(err))
	}
	if rest > 0 {
		return fmt.Errorf("reading %s %s: %d bytes after its end", what, path, rest)
	}
	return nil
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

// output is a file to be written.
type output struct {
	path string
	to   func(io.Writer) error
}

// check refuses, before any work, outputs that could not be written at its end.
func (a *app) check(paths ...string) error {
	seen := map[string]bool{}
	for _, p := range paths {
		if seen[filepath.Clean(p)] {
			return usage("%s is named for two files", p)
		}
		seen[filepath.Clean(p)] = true
		info, err := os.Lstat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if parent, err := os.Stat(filepath.Dir(p)); err != nil || !parent.IsDir() {
				return fmt.Errorf("writing %s: there is no folder %s", p, filepath.Dir(p))
			}
		case err != nil:
			return fmt.Errorf("writing %s: %w", p, plain(err))
		case !info.Mode().IsRegular():
			return usage("%s is there and not a file", p)
		case !a.force:
			return usage("%s exists; --force replaces it", p)
		}
	}
	return nil
}

// write writes files under temporary names and puts them in place when all are whole.
func (a *app) write(outputs ...output) (err error) {
	temps := make([]string, len(outputs))
	defer func() {
		for _, t := range temps {
			if t != "" {
				os.Remove(t)
			}
		}
	}()
	for i, o := range outputs {
		f, err := os.CreateTemp(filepath.Dir(o.path), ".zkwarp-*")
		if err != nil {
			return fmt.Errorf("writing %s: %w", o.path, plain(err))
		}
		temps[i] = f.Name()
		w := bufio.NewWriter(f)
		err = o.to(w)
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
		if err := os.Rename(temps[i], o.path); err != nil {
			return fmt.Errorf("writing %s: %w", o.path, plain(err))
		}
		temps[i] = ""
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
