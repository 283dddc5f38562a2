package devicetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
)

var faulty = &kernel.Source{Name: "device/devicetest/fault.cu", Headers: []*kernel.Source{kernel.PTX}, Text: `
#include "device/ptx.cuh"
extern "C" __global__ void __launch_bounds__(64) devicetest_fill(u32 *out, u32 value) { out[threadIdx.x] = value; }
extern "C" __global__ void __launch_bounds__(64) devicetest_fault(u32 *out) { out[1ull << 40] = 1; }
`}

// A kernel that faults gives an error with its name; the process goes on, and a
// device opened afterwards works.
func TestFaultAndReopen(t *testing.T) {
	first := Open(t, "simt")
	q, err := first.NewQueue(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	b, err := device.Alloc[uint32](q, 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Launch(device.Kernel{Source: faulty, Name: "devicetest_fill"}, device.D1(1), device.D1(65), 0, b.Arg(), device.U32(1)); !errors.Is(err, device.ErrUsage) {
		t.Errorf("a block over the launch bound: %v", err)
	}
	if err := q.Launch(device.Kernel{Source: faulty, Name: "devicetest_fault"}, device.D1(1), device.D1(1), 0, b.Arg()); err != nil {
		t.Fatalf("launches are asynchronous, yet: %v", err)
	}
	_, err = b.Read(q)
	var e *device.Error
	if !errors.As(err, &e) || !errors.Is(err, device.ErrFault) || e.Device != "simt" || e.Op != "launch devicetest_fault" ||
		!strings.Contains(e.Text, "kernel devicetest_fault, block (0,0,0), thread (0,0,0)") {
		t.Fatalf("error %#v", err)
	}
	b.Free()

	second := Open(t, "simt")
	if second == first {
		t.Fatal("the dead device was opened again")
	}
	q = Queue(t, second)
	b, err = device.Alloc[uint32](q, 64)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	if err := q.Launch(device.Kernel{Source: faulty, Name: "devicetest_fill"}, device.D1(1), device.D1(64), 0, b.Arg(), device.U32(7)); err != nil {
		t.Fatal(err)
	}
	got, err := b.Read(q)
	if err != nil || got[0] != 7 || got[63] != 7 {
		t.Fatalf("%v, %v", got, err)
	}
	if second.Launches()["devicetest_fill"] != 1 {
		t.Errorf("launches %v", second.Launches())
	}
}
