//go:build linux && (amd64 || arm64) && !nogpu

package nvrtc_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/device/nvrtc"
)

var (
	inner = &kernel.Source{Name: "a/inner.cuh", Text: "#pragma once\n__device__ inline unsigned twice(unsigned x) { return 2 * x; }\n"}
	outer = &kernel.Source{Name: "b/outer.cuh", Text: "#pragma once\n#include \"a/inner.cuh\"\n", Headers: []*kernel.Source{inner}}
	unit  = &kernel.Source{Name: "c/unit.cu", Headers: []*kernel.Source{outer}, Text: `#include "b/outer.cuh"
extern "C" __global__ void __launch_bounds__(256) unit_double(unsigned* __restrict__ x, unsigned n) {
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) x[i] = twice(x[i]);
}
`}
)

func find(t *testing.T) *nvrtc.Compiler {
	c, err := nvrtc.Find()
	if err != nil {
		if strings.Contains(os.Getenv("ZKWARP_REQUIRE"), "nvrtc") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return c
}

func TestCompile(t *testing.T) {
	c := find(t)
	cubin, log, err := c.Compile(unit, "sm_90", "--ptxas-options=-v")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(cubin, []byte("\x7fELF")) {
		t.Errorf("cubin starts with %q", cubin[:min(4, len(cubin))])
	}
	if !strings.Contains(log, "unit_double") || !strings.Contains(log, "registers") {
		t.Errorf("no register report: %q", log)
	}
	again, _, err := c.Compile(unit, "sm_90", "--ptxas-options=-v")
	if err != nil || !bytes.Equal(again, cubin) {
		t.Errorf("a second compilation differs (%v)", err)
	}
	ptx, _, err := c.Compile(unit, "compute_80")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(ptx, []byte(".target sm_80")) {
		t.Errorf("ptx: %.200s", ptx)
	}
}

func TestCompileErrors(t *testing.T) {
	c := find(t)
	bad := &kernel.Source{Name: "c/bad.cu", Text: "extern \"C\" __global__ void k(int n) {\n  undeclared = n;\n}\n"}
	_, _, err := c.Compile(bad, "sm_90")
	var e *nvrtc.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(e.Log, "c/bad.cu(2)") || !strings.Contains(e.Log, "undeclared") {
		t.Errorf("the log does not name the line: %s", e.Log)
	}
	if _, _, err := c.Compile(unit, "sm_1"); !errors.As(err, &e) {
		t.Errorf("sm_1: %v", err)
	}
	// A header that the source does not declare must not come from the disk.
	lost := &kernel.Source{Name: "c/lost.cu", Text: "#include \"b/outer.cuh\"\n"}
	if _, _, err := c.Compile(lost, "sm_90"); !errors.As(err, &e) {
		t.Errorf("undeclared header: %v", err)
	}
}

func TestTarget(t *testing.T) {
	c := find(t)
	if got := c.Target(90); got != "sm_90" {
		t.Errorf("90: %s", got)
	}
	if got := c.Target(999); !strings.HasPrefix(got, "compute_") {
		t.Errorf("999: %s", got)
	}
}

func TestOpenMissing(t *testing.T) {
	if _, err := nvrtc.Open("/nonexistent/libnvrtc.so.13"); err == nil {
		t.Error("opened")
	}
}
