package kernels

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device/devicetest"
)

const root = "../.."

// files lists the repository's files whose names match pattern, by their paths
// within it; nested modules are not part of it.
func files(t *testing.T, pattern *regexp.Regexp) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			name := e.Name()
			if path != root && (name[0] == '.' || name == "testdata") {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != root {
				return fs.SkipDir
			}
			return nil
		}
		if !pattern.MatchString(e.Name()) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		out[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryFileIsListed(t *testing.T) {
	listed := map[string]bool{}
	onDisk := files(t, regexp.MustCompile(`\.cuh?$`))
	for _, s := range All() {
		if listed[s.Name] {
			t.Errorf("%s is listed twice", s.Name)
		}
		listed[s.Name], listed[s.File()] = true, true
		if text, ok := onDisk[s.File()]; !ok {
			t.Errorf("%s: no such file", s.File())
		} else if !s.FromFile(text) {
			t.Errorf("%s: the listed text is not the file's", s.Name)
		}
		for _, h := range s.Closure() {
			if text, ok := onDisk[h.File()]; ok && !h.FromFile(text) {
				t.Errorf("%s, included by %s: its text is not the file's", h.Name, s.Name)
			} else if _, err := os.Stat(filepath.Join(root, h.File())); !ok && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, included by %s, is no .cuh file", h.Name, s.Name)
			}
		}
	}
	for name := range onDisk {
		if filepath.Ext(name) == ".cu" && !listed[name] {
			t.Errorf("%s is missing from All", name)
		}
	}
}

// Launches are counted by the kernel's name alone.
func TestKernelNamesAreUnique(t *testing.T) {
	where := map[string]string{}
	for _, s := range append(All(), Generated()...) {
		entries, err := s.Kernels()
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 0 {
			t.Errorf("%s has no kernels", s.Name)
		}
		for _, e := range entries {
			if other, ok := where[e.Name]; ok {
				t.Errorf("%s is a kernel of %s and of %s", e.Name, s.Name, other)
			}
			where[e.Name] = s.Name
			if e.MaxThreads == 0 {
				t.Errorf("%s: kernel %s has no __launch_bounds__", s.Name, e.Name)
			}
		}
	}
}

var (
	includes = regexp.MustCompile(`(?m)^\s*#\s*include\s*(\S+)`)
	machine  = regexp.MustCompile(`__CUDA_ARCH__|\basm\b|ZKWARP_SIMT`)
)

// What the emulator runs is what ships: only ptx.cuh may tell the two apart.
func TestOnlyPTXKnowsTheMachine(t *testing.T) {
	for _, s := range append(All(), Generated()...) {
		for _, x := range append(s.Closure(), s) {
			if x.Name != "device/ptx.cuh" {
				if found := machine.FindString(x.Text); found != "" {
					t.Errorf("%s uses %s, which belongs into device/ptx.cuh", x.Name, found)
				}
			}
			direct := map[string]bool{}
			for _, h := range x.Headers {
				direct[`"`+h.Name+`"`] = true
			}
			for _, m := range includes.FindAllStringSubmatch(x.Text, -1) {
				if !direct[m[1]] {
					t.Errorf("%s includes %s, which is not among its Headers", x.Name, m[1])
				}
			}
		}
	}
	for name, text := range files(t, regexp.MustCompile(`\.(cuh?|go|hpp|cpp)$`)) {
		if name != "device/ptx.cuh" && name != "device/kernel/ptx_text.go" && name != "internal/kernels/kernels_test.go" &&
			regexp.MustCompile(`__CUDA_ARCH__`).MatchString(text) {
			t.Errorf("%s mentions __CUDA_ARCH__", name)
		}
	}
}

// called is the parameters of a function that is not inlined.
var called = regexp.MustCompile(`(?:DEVICE_CALL|__noinline__)\b[^(){};]*\(([^)]*)\)\s*\{`)

// byReference says of a text which parameters of functions that are called are references.
func byReference(text string) []string {
	var out []string
	for _, m := range called.FindAllStringSubmatch(regexp.MustCompile(`//[^\n]*`).ReplaceAllString(text, ""), -1) {
		for _, p := range strings.Split(m[1], ",") {
			if strings.Contains(p, "&") {
				out = append(out, strings.TrimSpace(p))
			}
		}
	}
	return out
}

// NVRTC 13.0 loses the first word of a struct that is passed by reference to a call in one
// branch and stored in another (CONTRIBUTING.md).
func TestCallsTakeValues(t *testing.T) {
	functions := 0
	for _, s := range append(All(), Generated()...) {
		for _, x := range append(s.Closure(), s) {
			functions += len(called.FindAllString(x.Text, -1))
			for _, p := range byReference(x.Text) {
				t.Errorf("%s: a function that is called takes %q, want a value", x.Name, p)
			}
		}
	}
	if functions < 100 {
		t.Errorf("only %d functions found", functions)
	}
	const bad = "template <class P> DEVICE_CALL Mont<P> f(u32 a, // b\n  const Mont<P> &b) {\n}\nDEVICE_INLINE u32 g(u32 &a) { }\nDEVICE_CALL u32 h(u32 *a) { }"
	if got := byReference(bad); !slices.Equal(got, []string{"const Mont<P> &b"}) {
		t.Errorf("found %q", got)
	}
}

func TestCompilesForSIMT(t *testing.T) {
	d := devicetest.Open(t, "simt")
	for _, s := range append(All(), Generated()...) {
		if err := d.Preload(s); err != nil {
			t.Error(err)
		}
	}
}
