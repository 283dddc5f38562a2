package mapped_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/zkwarp/zkwarp/internal/mapped"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// cut maps a file of many pages and cuts it down to one.
func cut(t *testing.T) *mapped.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "long")
	const size = 64 << 12
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := mapped.Map(f, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	if err := os.Truncate(path, 1<<12); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestGuard reads mapped memory that has no file any more: on one goroutine, copied, and in loops on all cores.
func TestGuard(t *testing.T) {
	m, other := cut(t), cut(t)
	var rest atomic.Int64
	for name, read := range map[string]func(){
		"byte": func() { rest.Add(int64(m.Bytes[len(m.Bytes)-1])) },
		"copy": func() { copy(make([]byte, len(m.Bytes)), m.Bytes) },
		"loop": func() {
			parallel.For(len(m.Bytes), 1<<12, func(lo, hi int) {
				for _, b := range m.Bytes[lo:hi] {
					rest.Add(int64(b))
				}
			})
		},
		"nested": func() {
			parallel.For(8, 1, func(lo, hi int) {
				parallel.For(8, 1, func(lo, hi int) { rest.Add(int64(m.Bytes[len(m.Bytes)-1-lo])) })
			})
		},
	} {
		err := mapped.Guard(func() error {
			read()
			return errors.New("read")
		})
		var f *mapped.Fault
		if !errors.As(err, &f) || !m.Has(f.Addr) || other.Has(f.Addr) || !strings.Contains(err.Error(), "cut short") {
			t.Errorf("%s: %v", name, err)
		}
		if debug.SetPanicOnFault(false) {
			t.Errorf("%s: faults are panics from then on", name)
		}
	}
	if err := mapped.Guard(func() error { rest.Add(int64(m.Bytes[100])); return nil }); err != nil { // what is there
		t.Error(err)
	}
	failed := errors.New("failed")
	if err := mapped.Guard(func() error { return failed }); err != failed {
		t.Errorf("another error: %v", err)
	}
}

// TestGuardPanics leaves panics for other reasons alone, nil pointers to what is larger than a page among them, in loops too.
func TestGuardPanics(t *testing.T) {
	var none []byte
	var pointer *int
	var large *struct {
		before [1 << 16]byte
		at     int
	}
	const isNil = "nil pointer"
	for name, c := range map[string]struct {
		does func() int
		want string
	}{
		"range":         {func() int { return len(none[1:2]) }, "out of range"},
		"nil":           {func() int { return *pointer }, isNil},
		"large nil":     {func() int { return large.at }, isNil},
		"indexed nil":   {func() int { return int(large.before[len(none)+9000]) }, isNil},
		"nil in a loop": {func() int { parallel.For(1, 1, func(lo, _ int) { large.at = lo }); return 0 }, isNil},
	} {
		func() {
			defer func() {
				if r, ok := recover().(error); !ok || !strings.Contains(r.Error(), c.want) {
					t.Errorf("%s: recovered %v", name, r)
				}
				if debug.SetPanicOnFault(false) {
					t.Errorf("%s: faults are panics from then on", name)
				}
			}()
			t.Errorf("%s: %v", name, mapped.Guard(func() error { return fmt.Errorf("%d", c.does()) }))
		}()
	}
}
