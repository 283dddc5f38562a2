//go:build !linux || !(amd64 || arm64) || nogpu

package nvrtc

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device/kernel"
)

// Supported says whether this build can use NVRTC.
const Supported = false

// Compiler is an open NVRTC; there is none on this platform or in this build.
type Compiler struct {
	Path         string
	Major, Minor int
}

// Open fails like Find.
func Open(string) (*Compiler, error) { return Find() }

// Find fails: NVRTC is used on Linux, in builds with GPU support.
func Find() (*Compiler, error) { return FindFor(0) }

// FindFor fails like Find.
func FindFor(int) (*Compiler, error) {
	return nil, &NotFound{Looked: []string{"this build has no GPU support"}}
}

// Target is the architecture to compile for a card of the given compute
// capability.
func (c *Compiler) Target(capability int) string { return fmt.Sprintf("sm_%d", capability) }

// Compile fails like Find.
func (c *Compiler) Compile(*kernel.Source, string, ...string) ([]byte, string, error) {
	return nil, "", &NotFound{}
}

// String says that there is none.
func (c *Compiler) String() string { return "no NVRTC" }
