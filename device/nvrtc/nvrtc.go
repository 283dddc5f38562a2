// Package nvrtc compiles CUDA sources with NVIDIA's run-time compiler. No GPU
// is needed.
package nvrtc

import (
	"fmt"
)

// Env is the environment variable that names the NVRTC library, or the folder
// that holds it, ahead of every other place.
const Env = "ZKWARP_NVRTC"

// Options that every kernel is compiled with, whatever the architecture.
var options = []string{"--std=c++17"}

// Options returns the options for arch, "sm_90" or "compute_80"; they are a
// part of a compiled kernel's identity.
func Options(arch string) []string {
	return append(append([]string{}, options...), "--gpu-architecture="+arch)
}

// Error is a failed compilation.
type Error struct {
	Source string // the unit's name
	Arch   string
	Text   string // NVRTC's name of the failure
	Log    string // what the compiler said, with file names and lines
}

func (e *Error) Error() string {
	return fmt.Sprintf("nvrtc: %s for %s: %s\n%s", e.Source, e.Arch, e.Text, e.Log)
}

// NotFound says that no usable NVRTC is in any of the places.
type NotFound struct {
	Looked []string // places, in the order of the search, with what was wrong there
}

func (e *NotFound) Error() string {
	return fmt.Sprintf("NVRTC not found (looked in %d places; set %s to libnvrtc.so.13, or pip install nvidia-cuda-nvrtc)", len(e.Looked), Env)
}
