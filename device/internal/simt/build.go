//go:build (linux || darwin) && (amd64 || arm64)

package simt

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/zkwarp/zkwarp/device/internal/driver"
	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed runtime/simt.hpp
var simtHeader string

//go:embed runtime/host.cpp
var hostSource string

// builder compiles the host program and modules, each once per machine.
type builder struct {
	compiler string
	version  string // first line of its --version
	dir      string // the cache
	flags    []string
}

const advice = "install g++ (Debian, Ubuntu: apt install g++) or name a C++17 compiler in ZKWARP_CXX"

func newBuilder(c Config) (*builder, error) {
	b := &builder{compiler: c.Compiler, dir: c.Cache}
	names := []string{b.compiler}
	if b.compiler == "" {
		names = []string{"g++", "c++"}
	}
	var err error
	for _, name := range names {
		if b.compiler, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err != nil {
		return nil, &driver.Error{Op: "open", Text: fmt.Sprintf("no %s: %s", names[0], advice), Class: driver.ErrAbsent}
	}
	out, err := exec.Command(b.compiler, "--version").Output()
	if err != nil {
		return nil, &driver.Error{Op: "open", Text: fmt.Sprintf("%s --version: %v: %s", b.compiler, err, advice), Class: driver.ErrUnavailable}
	}
	line, _, _ := strings.Cut(string(out), "\n")
	b.version = strings.TrimSpace(line)
	if b.dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, &driver.Error{Op: "open", Text: err.Error(), Class: driver.ErrUnavailable}
		}
		b.dir = filepath.Join(user, "zkwarp", "simt")
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return nil, &driver.Error{Op: "open", Text: err.Error(), Class: driver.ErrUnavailable}
	}
	b.flags = []string{"-std=c++17", "-O1", "-g1", "-w", "-fPIC", "-fno-strict-aliasing", "-fdiagnostics-color=never"}
	if !strings.Contains(string(out), "clang") {
		b.flags = append(b.flags, "-fno-gnu-unique")
	}
	if c.Sanitize {
		b.flags = append(b.flags, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
	}
	return b, nil
}

// host returns the path of the program that runs modules.
func (b *builder) host() (string, error) {
	// Kernels run once or twice, the emulator all the time.
	link := []string{"-O2", "-rdynamic", "-pthread", "-ldl"}
	path, err := b.build("host", map[string]string{"host.cpp": hostSource, "simt.hpp": simtHeader}, "host.cpp", link, false)
	if err != nil {
		return "", &driver.Error{Op: "open", Text: fmt.Sprintf("building the emulator with %s: %v: %s", b.compiler, err, advice), Class: driver.ErrUnavailable}
	}
	return path, nil
}

// module returns the path of the shared object of s and the kernels in it. With
// again a cached one is thrown away first.
func (b *builder) module(s *kernel.Source, again bool) (string, []kernel.Entry, error) {
	op := "compile " + s.Name
	entries, err := s.Kernels()
	if err != nil {
		return "", nil, &driver.Error{Op: op, Text: err.Error(), Class: driver.ErrUsage}
	}
	files := map[string]string{"simt.hpp": simtHeader, "unit.cpp": unit(s, entries), s.Name: s.Text}
	for _, h := range s.Closure() {
		files[h.Name] = h.Text
	}
	base := strings.TrimSuffix(filepath.Base(s.Name), ".cu")
	path, err := b.build(base, files, "unit.cpp", []string{"-shared", "-Wl,-Bsymbolic"}, again)
	if err != nil {
		return "", nil, &driver.Error{Op: op, Text: err.Error(), Class: driver.ErrUsage}
	}
	return path, entries, nil
}

// unit is the translation unit of s: its text, and for each kernel a stub that
// takes the arguments as an array of words.
func unit(s *kernel.Source, entries []kernel.Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#include \"simt.hpp\"\n#include %q\n", s.Name)
	b.WriteString("extern \"C\" void *simt_probe() { static thread_local char probe; return &probe; }\n")
	for _, e := range entries {
		fmt.Fprintf(&b, "extern \"C\" void simt_stub_%s(const unsigned long long *a) { %s(", e.Name, e.Name)
		for i, p := range e.Params {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "(%s)a[%d]", p.Type, i)
		}
		b.WriteString("); }\n")
	}
	return b.String()
}

// build compiles files[main], the others being what it includes, unless the
// cache has the result. The name of the result depends on all that goes into it.
func (b *builder) build(name string, files map[string]string, main string, link []string, again bool) (string, error) {
	key := b.key(files, main, link)
	out := filepath.Join(b.dir, fmt.Sprintf("%s-%s", name, key))
	if again {
		_ = os.Remove(out)
	}
	if b.cached(out) {
		return out, nil
	}
	// Test processes that want the same module wait for the first of them.
	lock, err := os.OpenFile(filepath.Join(b.dir, "lock-"+key[:1]), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if b.cached(out) {
		return out, nil
	}
	b.prune()
	work, err := os.MkdirTemp(b.dir, "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	for n, text := range files {
		p := filepath.Join(work, filepath.FromSlash(n))
		if !filepath.IsLocal(filepath.FromSlash(n)) {
			return "", fmt.Errorf("source name %q leaves its folder", n)
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	args := append(append([]string{}, b.flags...), "-iquote", ".", "-o", "result", main)
	cmd := exec.Command(b.compiler, append(args, link...)...)
	cmd.Dir = work
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		if ee := (*exec.ExitError)(nil); errors.As(err, &ee) && log.Len() > 0 {
			return "", errors.New(firstLines(log.String(), 20))
		}
		return "", err
	}
	return out, os.Rename(filepath.Join(work, "result"), out)
}

func (b *builder) key(files map[string]string, main string, link []string) string {
	h := sha256.New()
	names := make([]string, 0, len(files))
	for n := range files {
		names = append(names, n)
	}
	for _, s := range append(append([]string{b.compiler, b.version, main}, b.flags...), link...) {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(h, "%d:%s%d:%s", len(n), n, len(files[n]), files[n])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// cached says whether path is there, and marks it as used.
func (b *builder) cached(path string) bool {
	fi, err := os.Stat(path)
	if err != nil {
		return false
	}
	if time.Since(fi.ModTime()) > 24*time.Hour {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // a read-only cache works as well
	}
	return true
}

// prune removes what nobody used for a month.
func (b *builder) prune() {
	list, err := os.ReadDir(b.dir)
	if err != nil {
		return
	}
	for _, e := range list {
		if fi, err := e.Info(); err == nil && time.Since(fi.ModTime()) > 30*24*time.Hour {
			_ = os.RemoveAll(filepath.Join(b.dir, e.Name()))
		}
	}
}

func firstLines(s string, n int) string {
	lines := strings.SplitN(strings.TrimSpace(s), "\n", n+1)
	if len(lines) > n {
		lines[n] = "..."
	}
	return strings.Join(lines, "\n")
}
