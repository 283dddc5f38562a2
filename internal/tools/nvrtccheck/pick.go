package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/device/nvrtc"
)

// verbose makes the assembler say what each kernel takes.
const verbose = "--ptxas-options=-v"

// parts is how many runs with -quarter compile everything once, if their seeds
// pick different parts.
const parts = 4

// job is one compilation.
type job struct {
	s    *kernel.Source
	arch string
}

// usual is the architectures that s is compiled for without -more.
func usual(s *kernel.Source) []string {
	if repeats(s) {
		return []string{tableArch}
	}
	return []string{"sm_80", tableArch, "sm_120"}
}

// jobs is all compilations of sources, units of long fields first: they take the
// longest, and the last ones should not leave other processors waiting.
func jobs(sources []*kernel.Source, more bool) []job {
	var long, short []job
	for _, s := range sources {
		archs := usual(s)
		if more {
			archs = []string{"sm_80", tableArch, "sm_120", "sm_86", "sm_89"}
		}
		for _, a := range archs {
			if repeats(s) {
				long = append(long, job{s, a})
			} else {
				short = append(short, job{s, a})
			}
		}
	}
	return append(long, short...)
}

// digest is of all that decides what the compilations of s give: the compiler,
// its options, and every text that it reads. The table holds it for each
// unit that went through all its compilations.
func digest(s *kernel.Source, compiler string) string {
	h := sha256.New()
	put := func(list ...string) {
		for _, t := range list {
			fmt.Fprintf(h, "%d:%s", len(t), t)
		}
		fmt.Fprint(h, ";")
	}
	put(compiler, verbose)
	for _, a := range usual(s) {
		put(nvrtc.Options(a)...)
	}
	texts := s.Digest()
	put(string(texts[:]))
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// changed is the names of the units that t does not vouch for: it has another
// digest of them, or lacks one of their kernels.
func (t Table) changed(sources []*kernel.Source, compiler string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, s := range sources {
		entries, err := s.Kernels()
		if err != nil {
			return nil, err
		}
		lacks := slices.ContainsFunc(entries, func(e kernel.Entry) bool {
			_, ok := t.Kernels[e.Name]
			return !ok
		})
		if lacks || t.Units[s.Name] != digest(s, compiler) {
			out[s.Name] = true
		}
	}
	return out, nil
}

// pick is the jobs of changed units, and one in parts of the others if seed is
// not empty, beginning at a place that seed says. Neighbours in the list are units
// alike, so each part has some of every kind.
func pick(list []job, changed map[string]bool, seed string) []job {
	h := fnv.New32a()
	_, _ = h.Write([]byte(seed)) // never fails
	first := int(h.Sum32() % parts)
	var out []job
	i := 0
	for _, j := range list {
		if changed[j.s.Name] {
			out = append(out, j)
			continue
		}
		if seed != "" && i%parts == first {
			out = append(out, j)
		}
		i++
	}
	return out
}
