// Package devicetest runs one test on every device and compares what they
// compute.
//
//	func TestFold(t *testing.T) {
//		devicetest.Each(t, func(t *testing.T, q *device.Queue) { ... })
//	}
//
//	func TestMain(m *testing.M) { devicetest.Main(m, foldSource) }
//
// Devices are cpu, simt (which needs g++) and cuda (which needs a GPU). One that
// is missing skips its subtest, or fails it when the comma-separated list
// ZKWARP_REQUIRE names it, or when it is simt and CI is set.
// ZKWARP_TEST_DEVICES, a list too, restricts the run to some devices; tests that
// compare bytes still take them from the cpu. ZKWARP_TEST_LIST names a file: a run
// of all tests writes into it which of them asked for simt, and where the file
// is there, Main runs those alone, and all kernels have to run as ever.
package devicetest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
)

// Names of the devices that tests run on, in order; the first is the reference.
var names = [...]string{"cpu", "simt", "cuda"}

func listed(env, name string) bool {
	return slices.ContainsFunc(strings.Split(os.Getenv(env), ","), func(s string) bool {
		return strings.TrimSpace(s) == name
	})
}

func wanted(name string) bool {
	return os.Getenv("ZKWARP_TEST_DEVICES") == "" || listed("ZKWARP_TEST_DEVICES", name)
}

// Required says whether the device called name must be there.
func Required(name string) bool {
	if listed("ZKWARP_REQUIRE", name) {
		return true
	}
	ci := os.Getenv("CI")
	return name == "simt" && ci != "" && ci != "0" && ci != "false"
}

// Open returns the device called name for tests, with fresh memory poisoned. It
// skips or fails the test when there is no such device.
func Open(t testing.TB, name string) *device.Device {
	t.Helper()
	if !wanted(name) {
		t.Skipf("ZKWARP_TEST_DEVICES leaves %s out", name)
	}
	return open(t, name)
}

func open(t testing.TB, name string) *device.Device {
	t.Helper()
	if name == "simt" {
		emulated.note(t.Name())
	}
	d, err := device.Open(name)
	switch {
	case err == nil:
		d.Poison(true)
		return d
	case errors.Is(err, device.ErrUnavailable) && !Required(name):
		t.Skip(err)
	default:
		t.Fatal(err)
	}
	return nil
}

// Queue returns a queue on d that lives as long as the test and whose last
// error fails it.
func Queue(t testing.TB, d *device.Device) *device.Queue {
	t.Helper()
	// Not the test's own context: that is over before clean-up runs.
	ctx, cancel := context.WithCancel(context.Background())
	q, err := d.NewQueue(ctx)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Sync(); err != nil {
			t.Errorf("sync at the end of the test: %v", err)
		}
		if err := q.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		cancel()
	})
	return q
}

// Upload is device.Upload of a buffer that lives as long as the test.
func Upload[T any](t testing.TB, q *device.Queue, v []T) device.Buffer[T] {
	t.Helper()
	b, err := device.Upload(q, v)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Free)
	return b
}

// Strange are buffers of n elements that no operation on q may take: one that was
// freed, and one of another device.
func Strange[T any](t testing.TB, q *device.Queue, n int) map[string]device.Buffer[T] {
	t.Helper()
	freed := Upload(t, q, make([]T, n))
	freed.Free()
	name := "cpu"
	if q.OnHost() {
		name = "simt"
	}
	return map[string]device.Buffer[T]{"freed": freed, "foreign": Upload(t, Queue(t, Open(t, name)), make([]T, n))}
}

// Each runs f once on every device, as subtests called cpu, simt and cuda.
func Each(t *testing.T, f func(t *testing.T, q *device.Queue)) {
	t.Helper()
	each(t, Open, f)
}

func each(t *testing.T, open func(testing.TB, string) *device.Device, f func(t *testing.T, q *device.Queue)) {
	t.Helper()
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			d := open(t, name)
			before := d.Launches()
			f(t, Queue(t, d))
			if testing.Verbose() {
				if s := difference(before, d.Launches()); s != "" {
					t.Log("launches:", s)
				}
			}
		})
	}
}

// Kernels is Each without the cpu, for tests that launch kernels directly.
func Kernels(t *testing.T, f func(t *testing.T, q *device.Queue)) {
	t.Helper()
	Each(t, func(t *testing.T, q *device.Queue) {
		if q.OnHost() {
			t.Skip("a test of kernels")
		}
		f(t, q)
	})
}

// Same runs f once on every device and fails where the bytes it returns differ
// from the cpu's, which it asks even where ZKWARP_TEST_DEVICES leaves it out.
func Same(t *testing.T, f func(t *testing.T, q *device.Queue) []byte) {
	t.Helper()
	var want []byte
	var from string
	reference := func(t testing.TB, name string) *device.Device {
		if name == names[0] {
			return open(t, name)
		}
		return Open(t, name)
	}
	each(t, reference, func(t *testing.T, q *device.Queue) {
		got := f(t, q)
		if from == "" {
			want, from = bytes.Clone(got), q.Device().Name()
			return
		}
		if at := firstDifference(got, want); at >= 0 {
			t.Errorf("%d bytes, %s gave %d; first difference at byte %d: %x against %x", len(got), from, len(want), at,
				got[min(at, len(got)):min(at+16, len(got))], want[min(at, len(want)):min(at+16, len(want))])
		}
	})
}

func firstDifference(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return n
	}
	return -1
}

func difference(before, after map[string]int64) string {
	var out []string
	for k, n := range after {
		if n > before[k] {
			out = append(out, fmt.Sprintf("%s %d", k, n-before[k]))
		}
	}
	sort.Strings(out)
	return strings.Join(out, ", ")
}

// Main runs a package's tests and exits. Where the SIMT device works it then
// fails if a kernel of the sources never ran on it, so that no kernel goes
// untested; a run that leaves tests out (-run, -skip, -short) is not held to
// that, but one that leaves out by ZKWARP_TEST_LIST is.
func Main(m *testing.M, sources ...*kernel.Source) {
	flag.Parse()
	whole, list := complete(), os.Getenv(envList)
	if !whole {
		list = "" // what another selection of tests asked for is not all
	}
	restricted, err := restrict(list)
	code := 1
	if err == nil {
		code = m.Run()
	}
	if code == 0 && whole {
		err = uncovered(sources)
	}
	if code == 0 && err == nil && list != "" && !restricted {
		err = emulated.write(list)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		code = 1
	}
	os.Exit(code)
}

// complete says whether this was a run of all tests with the simt device.
func complete() bool {
	if !wanted("simt") || testing.Short() {
		return false
	}
	all := true
	flag.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "test.run", "test.skip", "test.list", "test.fuzz":
			all = all && f.Value.String() == ""
		}
	})
	return all
}

func uncovered(sources []*kernel.Source) error {
	d, err := device.Open("simt")
	if errors.Is(err, device.ErrUnavailable) && !Required("simt") {
		return nil
	} else if err != nil {
		return err
	}
	ran := d.Launches()
	var missing []string
	for _, s := range sources {
		entries, err := s.Kernels()
		if err != nil {
			return err
		}
		for _, e := range entries {
			if ran[e.Name] == 0 {
				missing = append(missing, s.Name+":"+e.Name)
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("kernels that no test ran on the simt device: %s", strings.Join(missing, ", "))
	}
	return nil
}
