package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/zkwarp/zkwarp/internal/mapped"
)

// maxFile bounds what is read into memory from one file.
const maxFile = 16 << 30

// readFile returns a whole file ("-" is standard input). No more memory is
// taken than the file has bytes.
func (a *app) readFile(what, path string) ([]byte, error) { return a.readUpTo(what, path, maxFile) }

// readExactly is readFile for a file of which the size is known, which is checked before
// memory is taken for it. The note says why it is that.
func (a *app) readExactly(what, path string, size int64, note string) ([]byte, error) {
	wrong := func(got string) error { return inputError("%s %s: %s bytes, want %d %s", what, path, got, size, note) }
	if info, err := os.Stat(path); path != "-" && err == nil && info.Mode().IsRegular() && info.Size() != size {
		return nil, wrong(strconv.FormatInt(info.Size(), 10))
	}
	data, err := a.readUpTo(what, path, size)
	var large *tooLarge
	switch {
	case errors.As(err, &large):
		return nil, wrong("more than " + strconv.FormatInt(size, 10))
	case err == nil && int64(len(data)) != size:
		return nil, wrong(strconv.Itoa(len(data)))
	}
	return data, err
}

// tooLarge is a file of more bytes than are read.
type tooLarge struct{ got, limit int64 } // got is 0 where it was not read to the end

func (e *tooLarge) Error() string {
	if e.got == 0 {
		return fmt.Sprintf("more than %d bytes, the limit", e.limit)
	}
	return fmt.Sprintf("%d bytes, the limit is %d", e.got, e.limit)
}

// readAll reads what has no size in front, such as a pipe.
func readAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, &tooLarge{0, most}
	}
	return data, err
}

// readUpTo is readFile for at most so many bytes.
func (a *app) readUpTo(what, path string, most int64) ([]byte, error) {
	if path == "-" {
		if a.stdin {
			return nil, usageError("- stands for standard input, which can be read once only")
		}
		a.stdin = true
		data, err := readAll(a.In, most)
		if err != nil {
			return nil, inputError("reading %s from standard input: %w", what, err)
		}
		return data, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, inputError("reading %s %s: %w", what, path, plainFS(err))
	}
	if err := a.use(path, info, false); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) == 0 {
		return nil, inputError("reading %s %s: not a file", what, path)
	}
	if info.Mode().IsRegular() && info.Size() > most {
		return nil, inputError("reading %s %s: %w", what, path, &tooLarge{info.Size(), most})
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, inputError("reading %s %s: %w", what, path, plainFS(err))
	}
	defer f.Close()
	if info.Mode().IsRegular() {
		data := make([]byte, info.Size())
		if _, err := io.ReadFull(f, data); err != nil {
			return nil, inputError("reading %s %s: %w", what, path, plainFS(err))
		}
		return data, nil
	}
	data, err := readAll(f, most)
	if err != nil {
		return nil, inputError("reading %s %s: %w", what, path, plainFS(err))
	}
	return data, nil
}

// defaultMapFrom is Streams.MapFrom where that is 0: less is read faster than pages are mapped one by one.
const defaultMapFrom = 64 << 20

// mapFile is readFile for a large file that is used until the process ends, such as a key with its weights: it is not copied, and the system reads ahead
// while the first bytes are worked on. large says whether there are so many bytes.
func (a *app) mapFile(what, path string) (data []byte, large bool, err error) {
	from := a.MapFrom
	if from == 0 {
		from = defaultMapFrom
	}
	info, err := os.Stat(path)
	if err != nil || path == "-" || !info.Mode().IsRegular() || info.Size() < from || info.Size() > maxFile {
		data, err = a.readFile(what, path)
		return data, int64(len(data)) >= from, err
	}
	if err := a.use(path, info, false); err != nil {
		return nil, false, err
	}
	fail := func(err error) ([]byte, bool, error) {
		return nil, false, inputError("reading %s %s: %w", what, path, plainFS(err))
	}
	f, err := os.Open(path)
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	m, err := mapped.Map(f, info.Size())
	if err != nil {
		return fail(err)
	}
	a.usesMu.Lock()
	a.mapped = append(a.mapped, mappedFile{path, m})
	a.usesMu.Unlock()
	return m.Bytes, true, nil
}

// mappedFile is a file that is mapped until the process ends.
type mappedFile struct {
	path string
	*mapped.File
}

// fault names the file of which mapped memory could not be read.
func (a *app) fault(err error) error {
	var f *mapped.Fault
	if !errors.As(err, &f) {
		return err
	}
	a.usesMu.Lock()
	defer a.usesMu.Unlock()
	for _, m := range a.mapped {
		if m.Has(f.Addr) {
			return inputError("reading %s: the file was cut short while it was used, or its disk failed", m.path)
		}
	}
	return err
}

// use is one use of a file by this run.
type use struct {
	path  string
	info  fs.FileInfo // nil if there is no such file yet
	write bool
}

// use notes that a file is read or is to be written, and refuses to write a
// file that is also read, such as a key, or written for another purpose:
// --force means to replace results, not what they are made from.
func (a *app) use(path string, info fs.FileInfo, write bool) error {
	if info != nil && info.Mode()&fs.ModeSymlink != 0 {
		if target, err := os.Stat(path); err == nil {
			info = target
		}
	}
	a.usesMu.Lock()
	defer a.usesMu.Unlock()
	for _, u := range a.uses {
		same := filepath.Clean(u.path) == filepath.Clean(path) || u.info != nil && info != nil && os.SameFile(u.info, info)
		switch {
		case !same || !u.write && !write || info != nil && !info.Mode().IsRegular():
		case u.write && write:
			return usageError("%s is named for two files to write", path)
		default:
			return usageError("%s is named both for a file to read and for one to write", path)
		}
	}
	a.uses = append(a.uses, use{path, info, write})
	return nil
}

// output is a file to be written.
type output struct {
	path string
	data []byte
	from func(io.Writer) error // writes the contents instead of data, if set
	perm fs.FileMode           // 0 means 0644
}

// put writes an output's contents.
func (o *output) put(w io.Writer) error {
	if o.from != nil {
		return o.from(w)
	}
	_, err := w.Write(o.data)
	return err
}

// counter counts what is written through it.
type counter struct {
	w io.Writer
	n int
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += n
	return n, err
}

// checkOutputs refuses, before any work is done, outputs that could not be
// written at its end: existing files without --force, missing folders, and
// standard output when it is taken.
func (a *app) checkOutputs(paths ...string) error {
	stdout := false
	for _, p := range paths {
		if p == "-" {
			if a.json {
				return usageError("-o - and --json both want standard output")
			}
			if stdout {
				return usageError("- stands for standard output, where one file can go only")
			}
			stdout = true
			continue
		}
		info, err := os.Lstat(p)
		if err := a.use(p, info, true); err != nil {
			return err
		}
		switch {
		case err == nil && info.IsDir():
			return usageError("%s is a folder, not a file to write", p)
		case err == nil && !replaceable(p, info):
			return usageError("%s is no regular file, and would be replaced by one; - is standard output", p)
		case err == nil && !a.force:
			return usageError("%s exists; pass --force to replace it", p)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return inputError("writing %s: %w", p, plainFS(err))
		}
		dir, err := os.Stat(filepath.Dir(p))
		if err != nil {
			return inputError("writing %s: folder %s: %w", p, filepath.Dir(p), plainFS(err))
		}
		if !dir.IsDir() {
			return inputError("writing %s: %s is not a folder", p, filepath.Dir(p))
		}
	}
	return nil
}

// replaceable says whether a file under a new name may take the place of an
// existing one: not of a device or a pipe, even behind a link.
func replaceable(path string, info fs.FileInfo) bool {
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Stat(path)
		return err != nil || target.Mode().IsRegular()
	}
	return info.Mode().IsRegular()
}

// write writes all outputs or none: each under a temporary name first, and
// renamed only when all are complete.
func (a *app) write(outputs ...output) (err error) {
	type pending struct{ temp, path string }
	var ready []pending
	defer func() {
		for _, p := range ready {
			a.temps.remove(p.temp)
		}
	}()
	for _, o := range outputs {
		if o.path == "-" {
			continue
		}
		temp, err := a.temps.create(o)
		if err != nil {
			return withCode(ExitInput, fmt.Errorf("writing %s: %w", o.path, plainFS(err)))
		}
		ready = append(ready, pending{temp, o.path})
	}
	for _, p := range ready {
		if err := place(p.temp, p.path, a.force); err != nil {
			return err
		}
	}
	for _, o := range outputs {
		if o.path == "-" {
			if err := o.put(a.Out); err != nil {
				return inputError("writing to standard output: %w", err)
			}
		}
	}
	return nil
}

// place gives a finished file its name, never over an existing one without
// force.
func place(temp, path string, force bool) error {
	if !force {
		err := os.Link(temp, path)
		if err == nil {
			return nil
		}
		if errors.Is(err, fs.ErrExist) {
			return usageError("%s exists; pass --force to replace it", path)
		}
		// No hard links here: fall through to the rename.
	}
	if err := os.Rename(temp, path); err != nil {
		return inputError("writing %s: %w", path, err)
	}
	return nil
}

// temporaries are the unfinished files of this run, so that an interrupted
// one leaves none, and the folders that it made, which go with them if they are empty.
type temporaries struct {
	mu      sync.Mutex
	names   map[string]bool
	folders []string // the outer ones first
	closed  bool
}

// folder makes the folder at path, and those above it, where they are missing.
func (t *temporaries) folder(path string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errors.New("the program is stopping")
	}
	var missing []string
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil || !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	slices.Reverse(missing)
	t.folders = append(t.folders, missing...)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return inputError("folder %s: %w", path, plainFS(err))
	}
	return nil
}

// create writes an output's data under a fresh temporary name beside it.
func (t *temporaries) create(o output) (name string, err error) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return "", errors.New("the program is stopping")
	}
	f, err := os.CreateTemp(filepath.Dir(o.path), "."+filepath.Base(o.path)+".*.tmp")
	if err != nil {
		t.mu.Unlock()
		return "", err
	}
	name = f.Name()
	if t.names == nil {
		t.names = map[string]bool{}
	}
	t.names[name] = true
	t.mu.Unlock()
	defer func() {
		if err != nil {
			f.Close()
			t.remove(name)
		}
	}()
	if err = o.put(f); err != nil {
		return "", err
	}
	perm := o.perm
	if perm == 0 {
		perm = 0o644
	}
	if err = f.Chmod(perm); err != nil {
		return "", err
	}
	return name, f.Close()
}

func (t *temporaries) remove(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names[name] {
		delete(t.names, name)
		os.Remove(name)
	}
}

// removeAll removes what is left, and folders that nothing was put into, and lets
// nothing new begin.
func (t *temporaries) removeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for name := range t.names {
		os.Remove(name)
	}
	for _, path := range slices.Backward(t.folders) {
		os.Remove(path) // fails unless it is empty
	}
	t.names, t.folders = nil, nil
}
