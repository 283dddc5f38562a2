package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Table is what the assembler said about the kernels.
type Table struct {
	Compiler string            `json:"compiler"`
	Arch     string            `json:"arch"`
	Units    map[string]string `json:"units"` // digests by name
	Kernels  map[string]Usage  `json:"kernels"`
}

// Usage of one kernel and the functions that were compiled for it: registers a
// thread, bytes a thread in local memory, and bytes a block of shared memory that the
// source declares with its size.
type Usage struct {
	Registers   int `json:"registers"`
	Stack       int `json:"stack"`
	SpillStores int `json:"spill_stores"`
	SpillLoads  int `json:"spill_loads"`
	Shared      int `json:"shared,omitempty"`
}

// Spill is the bytes stored and loaded because registers ran out.
func (u Usage) Spill() int { return u.SpillStores + u.SpillLoads }

func (u Usage) String() string {
	return fmt.Sprintf("%d registers, %d bytes of stack, %d + %d bytes of spills", u.Registers, u.Stack, u.SpillStores, u.SpillLoads)
}

var (
	entryLine = regexp.MustCompile(`Compiling entry function '(\w+)' for`)
	frameLine = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	usedLine  = regexp.MustCompile(`Used (\d+) registers(?:.*?(\d+) bytes smem)?`)
)

// parse reads the assembler's verbose log. Functions that were not inlined have
// frames of their own, which count towards the kernel being compiled.
func parse(log string) map[string]Usage {
	out := map[string]Usage{}
	name := ""
	for _, line := range strings.Split(log, "\n") {
		if m := entryLine.FindStringSubmatch(line); m != nil {
			name = m[1]
			out[name] = Usage{}
		}
		if name == "" {
			continue
		}
		u := out[name]
		if m := frameLine.FindStringSubmatch(line); m != nil {
			u.Stack += number(m[1])
			u.SpillStores += number(m[2])
			u.SpillLoads += number(m[3])
		}
		if m := usedLine.FindStringSubmatch(line); m != nil {
			u.Registers = max(u.Registers, number(m[1]))
			if m[2] != "" {
				u.Shared = max(u.Shared, number(m[2]))
			}
		}
		out[name] = u
	}
	return out
}

// number is of digits that the patterns matched.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1 << 30 // too long to be real, and to go unnoticed
	}
	return n
}
