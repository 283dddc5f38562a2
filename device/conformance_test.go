package device_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
)

// conformance holds kernels that show what a launch passes on.
var conformance = &kernel.Source{Name: "device/conformance.cu", Headers: []*kernel.Source{kernel.PTX}, Text: `#include "device/ptx.cuh"

// One thread writes every argument it was given.
extern "C" __global__ void __launch_bounds__(32) conf_arguments(u32* __restrict__ out, u32 a, u64 b, i32 c, i64 d, const u32* nothing) {
	if (threadIdx.x || blockIdx.x) return;
	out[0] = a;
	out[1] = (u32)b;
	out[2] = (u32)((u64)(c < 0 ? 1 : 0) + (u64)(d < 0 ? 2 : 0) + (nothing ? 4 : 0) + (b >> 32));
}

// Every thread of a three-dimensional grid writes its own place.
extern "C" __global__ void __launch_bounds__(256) conf_grid(u32* __restrict__ out, u32 n) {
	u32 block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
	u32 thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
	u32 i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
	if (i < n) out[i] = i * 2654435761u;
}

// One block turns the words around in dynamic shared memory.
extern "C" __global__ void __launch_bounds__(256) conf_reverse(u32* __restrict__ x, u32 words) {
	SHARED_DYNAMIC(u32, s);
	for (u32 i = threadIdx.x; i < words; i += blockDim.x) s[i] = x[i];
	__syncthreads();
	for (u32 i = threadIdx.x; i < words; i += blockDim.x) x[i] = s[words - 1 - i];
}

extern "C" __global__ void __launch_bounds__(256) conf_add(u32* __restrict__ x, u32 n, u32 v) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) x[i] = x[i] * 3 + v;
}

extern "C" __global__ void __launch_bounds__(32) conf_wild(u32* __restrict__ x, u64 words) {
	if (threadIdx.x == 0) x[words] = 1;
}
`}

func TestMain(m *testing.M) { devicetest.Main(m) }

func launch(t *testing.T, q *device.Queue, name string, grid, block device.Dim, shared int, args ...device.Arg) {
	t.Helper()
	if err := q.Launch(device.Kernel{Source: conformance, Name: name}, grid, block, shared, args...); err != nil {
		t.Fatal(err)
	}
}

func upload(t *testing.T, q *device.Queue, w []uint32) device.Buffer[uint32] {
	t.Helper()
	b, err := device.Upload(q, w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Free)
	return b
}

func read(t *testing.T, q *device.Queue, b device.Buffer[uint32]) []uint32 {
	t.Helper()
	w, err := b.Read(q)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestCopySizes(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		sizes := []int{1, 2, 3, 31, 1000, 4095, 1<<20 + 1}
		if q.Device().Kind() == device.CUDA {
			sizes = append(sizes, 1<<25+3)
		}
		for _, n := range sizes {
			in := make([]byte, n)
			for i, w := range devicetest.Rand(uint64(n)).Words((n + 3) / 4) {
				for j := 0; j < 4 && 4*i+j < n; j++ {
					in[4*i+j] = byte(w >> (8 * j))
				}
			}
			b, err := device.Upload(q, in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, in) {
				t.Errorf("%d bytes differ", n)
			}
			// A part at an odd offset goes back alone.
			if n > 10 {
				part, err := b.Slice(7, n-2).Read(q)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(part, in[7:n-2]) {
					t.Errorf("part of %d bytes differs", n)
				}
			}
			b.Free()
		}
	})
}

// The source of a copy may change as soon as the call returns.
func TestCopyThenChange(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		const n = 777
		w := make([]uint32, n)
		var buffers []device.Buffer[uint32]
		for i := range uint32(50) {
			for j := range w {
				w[j] = i*n + uint32(j)
			}
			buffers = append(buffers, upload(t, q, w))
		}
		clear(w)
		for i, b := range buffers {
			for j, v := range read(t, q, b) {
				if v != uint32(i*n+j) {
					t.Fatalf("buffer %d, word %d is %d", i, j, v)
				}
			}
		}
	})
}

func TestArguments(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		out := upload(t, q, []uint32{9, 9, 9, 9})
		launch(t, q, "conf_arguments", device.D1(1), device.D1(32), 0,
			out.Slice(1, 4).Arg(), device.U32(uint32(0xffffffff)), device.U64(uint64(5)<<32|6), device.U32(-7), device.U64(-1), device.Null())
		if got := read(t, q, out); !slices.Equal(got, []uint32{9, 0xffffffff, 6, 3 + 5}) {
			t.Errorf("%v", got)
		}
		args := func(n int) []device.Arg {
			return []device.Arg{out.Arg(), device.U32(1), device.U64(uint64(1)), device.U32(1), device.U64(1), device.Null(), device.Null()}[:n]
		}
		swapped := args(6)
		swapped[0], swapped[1] = swapped[1], swapped[0]
		freed := args(6)
		gone := upload(t, q, []uint32{1})
		freed[0] = gone.Arg()
		gone.Free()
		for name, a := range map[string][]device.Arg{"one short": args(5), "one over": args(7), "swapped": swapped, "freed": freed} {
			if err := q.Launch(device.Kernel{Source: conformance, Name: "conf_arguments"}, device.D1(1), device.D1(1), 0, a...); !errors.Is(err, device.ErrUsage) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := q.Launch(device.Kernel{Source: conformance, Name: "conf_nothing"}, device.D1(1), device.D1(1), 0); !errors.Is(err, device.ErrUsage) {
			t.Errorf("no such kernel: %v", err)
		}
	})
}

func TestGrids(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		shapes := []struct{ grid, block device.Dim }{
			{device.D1(1), device.D1(1)},
			{device.D1(7), device.D1(33)},
			{device.D2(3, 5), device.D2(16, 4)},
			{device.Dim{X: 2, Y: 3, Z: 4}, device.Dim{X: 2, Y: 4, Z: 8}},
			{device.D2(1, 300), device.D1(3)},
		}
		if q.Device().Kind() == device.CUDA {
			shapes = append(shapes, struct{ grid, block device.Dim }{device.D1(200_000), device.D1(32)},
				struct{ grid, block device.Dim }{device.D2(2, 65535), device.D1(16)})
		}
		for _, s := range shapes {
			n := int(s.grid.X * s.grid.Y * s.grid.Z * s.block.X * s.block.Y * s.block.Z)
			out := upload(t, q, make([]uint32, n))
			launch(t, q, "conf_grid", s.grid, s.block, 0, out.Arg(), device.U32(n))
			for i, v := range read(t, q, out) {
				if v != uint32(i)*2654435761 {
					t.Fatalf("grid %v block %v: word %d is %d", s.grid, s.block, i, v)
				}
			}
			out.Free()
		}
		out := upload(t, q, []uint32{0})
		for _, s := range []struct{ grid, block device.Dim }{
			{device.D1(0), device.D1(1)}, {device.D1(1), device.D1(0)}, {device.D1(1), device.D1(1025)}, {device.D2(1, 65536), device.D1(1)},
		} {
			if err := q.Launch(device.Kernel{Source: conformance, Name: "conf_grid"}, s.grid, s.block, 0, out.Arg(), device.U32(1)); !errors.Is(err, device.ErrUsage) {
				t.Errorf("grid %v block %v: %v", s.grid, s.block, err)
			}
		}
	})
}

func TestSharedMemory(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		most := q.Device().Info().SharedPerBlock
		for _, bytes := range []int{4, 1000, 48 << 10, 48<<10 + 4, 96 << 10, most &^ 3} {
			if bytes > most {
				continue
			}
			w := devicetest.Rand(uint64(bytes)).Words(bytes / 4)
			b := upload(t, q, w)
			launch(t, q, "conf_reverse", device.D1(1), device.D1(256), bytes, b.Arg(), device.U32(len(w)))
			slices.Reverse(w)
			if !slices.Equal(read(t, q, b), w) {
				t.Errorf("%d bytes of shared memory: wrong order", bytes)
			}
			b.Free()
		}
		b := upload(t, q, []uint32{1})
		if err := q.Launch(device.Kernel{Source: conformance, Name: "conf_reverse"}, device.D1(1), device.D1(256), most+1024, b.Arg(), device.U32(1)); err == nil {
			t.Errorf("%d bytes of shared memory were granted", most+1024)
		}
		if got := read(t, q, b); got[0] != 1 {
			t.Errorf("the refused launch ran")
		}
	})
}

// Memory that is freed and handed out again within queued work must not be
// seen changing by the work that came before.
func TestStreamOrder(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		const n, rounds = 5000, 40
		in := devicetest.Rand(3).Words(n)
		total := upload(t, q, in)
		want := slices.Clone(in)
		for r := range uint32(rounds) {
			tmp, err := device.Alloc[uint32](q, n)
			if err != nil {
				t.Fatal(err)
			}
			if err := device.Copy(q, tmp, total); err != nil {
				t.Fatal(err)
			}
			launch(t, q, "conf_add", device.D1(device.Blocks(n, 256)), device.D1(256), 0, tmp.Arg(), device.U32(n), device.U32(r))
			if err := device.Copy(q, total, tmp); err != nil {
				t.Fatal(err)
			}
			tmp.Free()
			for i := range want {
				want[i] = want[i]*3 + r
			}
		}
		if !slices.Equal(read(t, q, total), want) {
			t.Error("wrong result")
		}
	})
}

func TestFillAndPoison(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		b, err := device.Alloc[uint64](q, 33)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Free()
		if err := b.Slice(1, 32).Fill(q, 0x01020304); err != nil {
			t.Fatal(err)
		}
		got, err := b.Read(q)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			want := uint64(0x0102030401020304)
			if i == 0 || i == 32 {
				want = 0xA5A5A5A5A5A5A5A5
			}
			if v != want {
				t.Errorf("word %d is %x", i, v)
			}
		}
		c, err := device.Alloc[byte](q, 3)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Free()
		if err := c.Fill(q, 1); !errors.Is(err, device.ErrUsage) {
			t.Errorf("fill of 3 bytes: %v", err)
		}
	})
}

func TestCancel(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, plain *device.Queue) {
		ctx, cancel := context.WithCancel(context.Background())
		q, err := plain.Device().NewQueue(ctx)
		if err != nil {
			t.Fatal(err)
		}
		b := upload(t, q, []uint32{1, 2, 3})
		cancel()
		_, alloc := device.Alloc[uint32](q, 1)
		_, back := b.Read(q)
		for name, err := range map[string]error{"alloc": alloc, "read": back, "write": b.CopyFrom(q, []uint32{1, 2, 3}), "sync": q.Sync(),
			"launch": q.Launch(device.Kernel{Source: conformance, Name: "conf_add"}, device.D1(1), device.D1(1), 0, b.Arg(), device.U32(3), device.U32(1))} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := q.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		// The device goes on.
		if got := read(t, plain, upload(t, plain, []uint32{4})); got[0] != 4 {
			t.Errorf("%v", got)
		}
	})
}

// late is a context that ends once it was asked so many times.
type late struct {
	context.Context
	left *atomic.Int64
}

func (c late) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A context that ends in the middle of an upload leaves no memory in use: what the
// collector frees late would be most of a GPU.
func TestCancelInUpload(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, plain *device.Queue) {
		d := plain.Device()
		before := d.InUse()
		failures := 0
		for calls := range 20 {
			left := new(atomic.Int64)
			left.Store(int64(calls))
			q, err := d.NewQueue(late{context.Background(), left})
			if err != nil {
				continue
			}
			b, err := device.Upload(q, make([]uint32, 1000))
			switch {
			case err == nil:
				b.Free()
			case !errors.Is(err, context.Canceled):
				t.Errorf("after %d calls: %v", calls, err)
			default:
				failures++
			}
			if n := d.InUse(); n != before {
				t.Fatalf("after %d calls %d bytes are in use, %d before; error %v", calls, n, before, err)
			}
			if err := q.Close(); err != nil {
				t.Error(err)
			}
		}
		if failures < 2 {
			t.Errorf("%d uploads failed", failures)
		}
	})
}

func TestBudget(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		d := q.Device()
		used := d.InUse()
		d.SetBudget(used + 1<<20)
		defer d.SetBudget(0)
		if err := d.CheckMemory(1 << 20); err != nil {
			t.Error(err)
		}
		var e *device.Error
		if err := d.CheckMemory(1<<20 + 1); !errors.Is(err, device.ErrNoMemory) || !errors.As(err, &e) || e.Bytes != 1<<20+1 {
			t.Errorf("%v", err)
		}
		a, err := device.Alloc[byte](q, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := device.Alloc[byte](q, 1<<19); !errors.Is(err, device.ErrNoMemory) {
			t.Errorf("over the budget: %v", err)
		}
		a.Free()
		a, err = device.Alloc[byte](q, 1<<19)
		if err != nil {
			t.Fatal(err)
		}
		a.Free()
		if d.InUse() > used { // less when buffers of other tests were collected
			t.Errorf("%d bytes in use, %d before", d.InUse(), used)
		}
	})
}

func TestForeignBuffer(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		cpu, err := device.Open("cpu")
		if err != nil {
			t.Fatal(err)
		}
		host := upload(t, devicetest.Queue(t, cpu), []uint32{1})
		if err := q.Launch(device.Kernel{Source: conformance, Name: "conf_add"}, device.D1(1), device.D1(1), 0, host.Arg(), device.U32(1), device.U32(1)); !errors.Is(err, device.ErrUsage) {
			t.Errorf("launch with a buffer of the cpu: %v", err)
		}
		if _, err := host.Read(q); !errors.Is(err, device.ErrUsage) {
			t.Errorf("read of a buffer of the cpu: %v", err)
		}
	})
}

// A kernel that writes where nothing is must end in an error that says so, and
// leave a program that runs. The device does not survive it, so the test runs
// in a process of its own.
func TestFault(t *testing.T) {
	if name := os.Getenv("ZKWARP_FAULT_DEVICE"); name != "" {
		fault(t, name)
		return
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestFault$", "-test.v")
		cmd.Env = append(os.Environ(), "ZKWARP_FAULT_DEVICE="+q.Device().Name())
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("PASS: TestFault")) {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

func fault(t *testing.T, name string) {
	d, err := device.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	b, err := device.Alloc[uint32](q, 16)
	if err != nil {
		t.Fatal(err)
	}
	err = q.Launch(device.Kernel{Source: conformance, Name: "conf_wild"}, device.D1(1), device.D1(32), 0, b.Arg(), device.U64(uint64(1)<<44))
	if err == nil {
		err = q.Sync()
	}
	var e *device.Error
	if !errors.Is(err, device.ErrFault) || !errors.As(err, &e) {
		t.Fatalf("a wild write: %v", err)
	}
	if e.Device != d.Name() || !strings.Contains(err.Error(), "conf_wild") {
		t.Errorf("the error does not name device and kernel: %v", err)
	}
	t.Log(err)
	if err := b.Fill(q, 1); !errors.Is(err, device.ErrFault) {
		t.Errorf("the queue after the fault: %v", err)
	}
	cpu, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, devicetest.Queue(t, cpu), upload(t, devicetest.Queue(t, cpu), []uint32{5})); got[0] != 5 {
		t.Errorf("the cpu after the fault: %v", got)
	}
}
