//go:build linux && (amd64 || arm64) && !nogpu

package nvrtc

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"

	"github.com/zkwarp/zkwarp/device/internal/dl"
)

// sonames by preference. A CUDA 12 driver cannot load what NVRTC 13 makes.
var sonames = []string{"libnvrtc.so.13", "libnvrtc.so.12"}

var found struct {
	sync.Mutex
	byMajor map[int]*search
}

type search struct {
	c   *Compiler
	err error
}

// Find returns the NVRTC to use, the newest in the first place that has one.
// The search is made once per process.
func Find() (*Compiler, error) { return FindFor(0) }

// FindFor is Find for a driver of the given CUDA major version: a newer NVRTC
// than that is passed over. 0 takes any.
func FindFor(major int) (*Compiler, error) {
	found.Lock()
	defer found.Unlock()
	s, ok := found.byMajor[major]
	if !ok {
		s = new(search)
		s.c, s.err = find(major)
		if found.byMajor == nil {
			found.byMajor = map[int]*search{}
		}
		found.byMajor[major] = s
	}
	return s.c, s.err
}

func find(major int) (*Compiler, error) {
	var looked []string
	note := func(place string, err error) { looked = append(looked, place+": "+err.Error()) }
	try := func(path string) *Compiler {
		c, err := Open(path)
		switch {
		case err != nil:
			note(path, err)
		case major != 0 && c.Major > major:
			note(path, errors.New("newer than the driver"))
		default:
			return c
		}
		return nil
	}
	for _, p := range places() {
		if p == "" { // the loader's own path
			for _, n := range sonames {
				if c := try(n); c != nil {
					return c, nil
				}
			}
			continue
		}
		files := []string{p}
		if st, err := os.Stat(p); err != nil {
			note(p, errors.New("not there"))
			continue
		} else if st.IsDir() {
			files = files[:0]
			for _, n := range sonames {
				if _, err := os.Stat(filepath.Join(p, n)); err == nil {
					files = append(files, filepath.Join(p, n))
				}
			}
			if len(files) == 0 {
				note(p, errors.New("no "+strings.Join(sonames, " or ")))
			}
		}
		for _, f := range files {
			if c := try(f); c != nil {
				return c, nil
			}
		}
	}
	return nil, &NotFound{Looked: looked}
}

// places lists the files and folders of the search; "" is the loader's path.
func places() []string {
	var out []string
	add := func(p ...string) {
		for _, x := range p {
			if x != "" {
				out = append(out, x)
			}
		}
	}
	glob := func(pattern string) {
		m, _ := filepath.Glob(pattern)
		sort.Sort(sort.Reverse(sort.StringSlice(m))) // newest first
		add(m...)
	}
	target := map[string]string{"amd64": "x86_64-linux", "arm64": "sbsa-linux"}[runtime.GOARCH]

	add(os.Getenv(Env))
	for _, v := range []string{"CUDA_PATH", "CUDA_HOME"} {
		if root := os.Getenv(v); root != "" {
			add(filepath.Join(root, "lib64"), filepath.Join(root, "targets", target, "lib"))
		}
	}
	out = append(out, "")
	add("/usr/local/cuda/lib64")
	glob("/usr/local/cuda-*/lib64")
	glob("/usr/local/cuda*/targets/" + target + "/lib")
	add(packages()...)
	if exe, err := os.Executable(); err == nil {
		add(filepath.Dir(exe), filepath.Join(filepath.Dir(exe), "lib"))
	}
	return out
}

// packages lists the folders where pip puts NVRTC.
func packages() []string {
	var roots []string
	add := func(prefix string) {
		if prefix == "" {
			return
		}
		for _, p := range []string{"lib/python3*/site-packages", "lib/python3*/dist-packages", "lib64/python3*/site-packages"} {
			m, _ := filepath.Glob(filepath.Join(prefix, p))
			sort.Sort(sort.Reverse(sort.StringSlice(m)))
			roots = append(roots, m...)
		}
	}
	add(os.Getenv("VIRTUAL_ENV"))
	add(os.Getenv("CONDA_PREFIX"))
	if home, err := os.UserHomeDir(); err == nil {
		add(filepath.Join(home, ".local"))
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		// A Python in PATH has its packages beside it.
		if m, _ := filepath.Glob(filepath.Join(dir, "python3")); len(m) > 0 {
			add(filepath.Dir(dir))
		}
	}
	add("/usr/local")
	add("/usr")
	var out []string
	seen := map[string]bool{}
	for _, r := range roots {
		for _, sub := range []string{"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"} {
			p := filepath.Join(r, sub)
			if _, err := os.Stat(p); err == nil && !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}

// preload opens the built-ins library that lies beside NVRTC: NVRTC asks the
// loader for it by name alone, which fails outside the loader's path.
func preload(nvrtc string) {
	if !filepath.IsAbs(nvrtc) {
		return
	}
	m, _ := filepath.Glob(filepath.Join(filepath.Dir(nvrtc), "libnvrtc-builtins.so.*"))
	for _, p := range m {
		if _, err := dl.Open(p); err == nil {
			return
		}
	}
}
