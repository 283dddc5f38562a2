// Package kernel describes CUDA sources as data: what a translation unit is
// called, its text, the headers it includes, and the kernels it defines. It
// imports nothing of the module, so that a package with both a verifier and
// kernels can carry the kernels' text without pulling in a device.
package kernel

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// Source is one CUDA translation unit or header. Name is its path within the
// repository (the very string that an #include uses); Headers are its direct
// includes. A Source does not change once a kernel of it was launched. Those with
// the same digest are the same unit to a device, so that a program may write
// sources as it runs.
type Source struct {
	Name    string
	Text    string
	Headers []*Source

	file   string   // of the template, if the text is made from one
	values []string // pairs that were replaced in it

	once   sync.Once
	digest [32]byte
}

// Closure returns the transitive headers of s, without s, sorted by name.
func (s *Source) Closure() []*Source {
	seen := map[string]*Source{}
	var walk func(*Source)
	walk = func(x *Source) {
		for _, h := range x.Headers {
			if _, ok := seen[h.Name]; !ok {
				seen[h.Name] = h
				walk(h)
			}
		}
	}
	walk(s)
	out := make([]*Source, 0, len(seen))
	for _, h := range seen {
		out = append(out, h)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Digest is the SHA-256 of the names and texts of s and of its closure, as they
// were at the first call.
func (s *Source) Digest() [32]byte {
	s.once.Do(func() { s.digest = s.hash() })
	return s.digest
}

func (s *Source) hash() [32]byte {
	h := sha256.New()
	put := func(t string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(t)))
		h.Write(n[:])
		h.Write([]byte(t))
	}
	put(s.Name)
	put(s.Text)
	for _, x := range s.Closure() {
		put(x.Name)
		put(x.Text)
	}
	var out [32]byte
	h.Sum(out[:0])
	return out
}

// Param is one parameter of a kernel. Pointer parameters take device
// addresses; all others are integers of at most 64 bits.
type Param struct {
	Type    string
	Name    string
	Pointer bool
}

// Entry is one kernel of a translation unit.
type Entry struct {
	Name       string
	MaxThreads int // a block's, of __launch_bounds__; 0 if not given
	Params     []Param
}

var (
	comments = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	entry    = regexp.MustCompile(`extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\s*\(([^)]*)\)\s*)?(\w+)\s*\(([^)]*)\)\s*\{`)
	global   = regexp.MustCompile(`__global__`)
)

// Kernels lists the kernels that s itself defines, in source order. Every
// kernel is written out as
//
//	extern "C" __global__ void [__launch_bounds__(N)] name(params) {
//
// with parameters that are pointers or integers; anything else is an error, so
// that a kernel cannot hide from the checks that go by this list.
func (s *Source) Kernels() ([]Entry, error) {
	text := comments.ReplaceAllString(s.Text, " ")
	found := entry.FindAllStringSubmatch(text, -1)
	if n := len(global.FindAllString(text, -1)); n != len(found) {
		return nil, fmt.Errorf("kernel: %s: %d uses of __global__ but %d kernels in the required form", s.Name, n, len(found))
	}
	out := make([]Entry, 0, len(found))
	for _, m := range found {
		e := Entry{Name: m[2]}
		if bounds := strings.TrimSpace(m[1]); bounds != "" {
			first, _, _ := strings.Cut(bounds, ",")
			n, err := strconv.Atoi(strings.TrimSpace(first))
			if err != nil || n < 1 || n > 1024 {
				return nil, fmt.Errorf("kernel: %s: %s: launch bound %q is not a number from 1 to 1024", s.Name, e.Name, bounds)
			}
			e.MaxThreads = n
		}
		for _, p := range strings.Split(m[3], ",") {
			p = strings.Join(strings.Fields(p), " ")
			if p == "" {
				continue
			}
			i := strings.LastIndexAny(p, " *&")
			if i < 0 {
				return nil, fmt.Errorf("kernel: %s: %s: parameter %q has no name", s.Name, e.Name, p)
			}
			q := Param{Type: strings.TrimSpace(p[:i+1]), Name: p[i+1:], Pointer: strings.Contains(p, "*")}
			e.Params = append(e.Params, q)
		}
		out = append(out, e)
	}
	return out, nil
}
