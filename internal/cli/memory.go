package cli

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// A Go program cannot recover from running out of memory, and files of a few
// kilobytes can describe tensors of gigabytes. So work whose tensors alone are
// beyond what the machine has is refused before it begins. What is counted is
// less than what the work takes: it is never refused wrongly.

// leafBytes is what the prover keeps for a look-up: numerator and denominator
// of the fraction, and of the sums above it.
const leafBytes = 64

// enough fails if the work needs more memory than there is.
func (a *app) enough(what string, need int64) error {
	if a.Memory == nil {
		return nil
	}
	if have := a.Memory(); have > 0 && need > have {
		return withCode(ExitMemory, fmt.Errorf("%s takes at least %d bytes of memory (%s), %d are available: use a smaller model or batch", what, need, sizeText(need), have))
	}
	return nil
}

// modelBytes is what a run of the model holds: a float32 for every element of a tensor and a float64 for the copy of it.
func modelBytes(m *onnx.Model) (n int64) {
	for i := range m.Values {
		if v := &m.Values[i]; v.Const == nil {
			n += 12 * int64(graph.Elements(v.Shape))
		}
	}
	return n
}

// programBytes is what a run of the integer program holds, over the real
// shapes.
func programBytes(p *graph.Program) (n int64) {
	for i := range p.Tensors {
		n += 4 * int64(p.Tensors[i].Len())
	}
	return n
}

// proofBytes is what proving holds: the tensors, padded, and the fractions of
// the look-ups.
func proofBytes(p *graph.Program) (n int64) {
	padded := func(id graph.TensorID) int64 { return 1 << graph.Vars(p.Tensor(id).Shape) }
	for i := range p.Tensors {
		n += 4 * padded(graph.TensorID(i))
	}
	for _, op := range p.Ops {
		if _, ok := graph.TableOf(op); ok {
			for _, id := range op.Outputs() {
				n += leafBytes * padded(id)
			}
		}
	}
	return n
}

// availableMemory is what the system can give without swapping, 0 if that is
// not known.
func availableMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) == 3 && string(f[0]) == "MemAvailable:" && string(f[2]) == "kB" {
			n, err := strconv.ParseInt(string(f[1]), 10, 53)
			if err != nil {
				return 0
			}
			return within(n << 10)
		}
	}
	return 0
}

// within is n or what is left of the process group's limit, if that is less.
func within(n int64) int64 {
	number := func(name string) (int64, bool) {
		text, err := os.ReadFile("/sys/fs/cgroup/" + name)
		if err != nil {
			return 0, false
		}
		v, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
		return v, err == nil
	}
	limit, limited := number("memory.max") // "max" where there is none
	if used, ok := number("memory.current"); limited && ok {
		// Cached file contents count as used but make room.
		return min(n, max(limit-used, limit/2))
	}
	return n
}
