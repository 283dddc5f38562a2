//go:build (linux || darwin) && (amd64 || arm64)

package simt_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device/internal/driver"
	"github.com/zkwarp/zkwarp/device/internal/simt"
	"github.com/zkwarp/zkwarp/device/kernel"
)

var source = &kernel.Source{Name: "device/internal/simt/test.cu", Headers: []*kernel.Source{kernel.PTX}, Text: `
#include "device/ptx.cuh"

extern "C" __global__ void __launch_bounds__(256) add_index(u32 *out, const u32 *a, u32 n, u64 big, i32 negative) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + i + (u32)(big >> 32) + (u32)negative;
}

// Each block sums its 256 words: warps by shuffles, then the warps' sums.
extern "C" __global__ void __launch_bounds__(256) block_sum(u32 *out, const u32 *a) {
  __shared__ u32 part[8];
  u32 v = a[blockIdx.x * 256 + threadIdx.x];
  for (u32 d = 16; d; d >>= 1) v += shfl_xor(v, d);
  if (lane_id() == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 s = 0;
    for (u32 i = 0; i < 8; i++) s += part[i];
    out[blockIdx.x] = s;
  }
}

// Reverses 3-dimensional blocks through dynamic shared memory.
extern "C" __global__ void reverse(u32 *data) {
  SHARED_DYNAMIC(u32, s);
  u32 n = blockDim.x * blockDim.y * blockDim.z;
  u32 t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  u32 b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  s[t] = data[b * n + t];
  __syncthreads();
  data[b * n + t] = s[n - 1 - t];
}

// What shared memory holds before anybody wrote it.
extern "C" __global__ void dirty(u32 *out) {
  __shared__ u32 x[64];
  SHARED_DYNAMIC(u32, y);
  atomicAdd(&out[0], x[threadIdx.x] == 0xA5A5A5A5u);
  atomicAdd(&out[1], y[threadIdx.x] == 0xA5A5A5A5u);
  x[threadIdx.x] = y[threadIdx.x] = 1;
}

// The order in which threads come to the counter.
extern "C" __global__ void arrival(u32 *out, u32 *counter) {
  out[atomicAdd(counter, 1u)] = blockIdx.x * blockDim.x + threadIdx.x;
}

// Races: every thread reads its neighbour's word without a barrier.
extern "C" __global__ void racy(u32 *out) {
  __shared__ u32 x[64];
  x[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = x[(threadIdx.x + 1) % 64];
}

extern "C" __global__ void bad_address(u32 *out, u64 i) { out[i] = 1; }
extern "C" __global__ void bad_branch(u32 *out) {
  if (threadIdx.x & 1) {
    __syncthreads();
    out[0] = 1;
  } else {
    __syncthreads();
    out[1] = 1;
  }
}
extern "C" __global__ void bad_return(u32 *out) {
  if (threadIdx.x == 3) return;
  __syncthreads();
  out[0] = 1;
}
extern "C" __global__ void early(u32 *out, const u32 *in) {
  __shared__ uint4 v[2];
  copy_async(&v[0], in);
  copy_async_commit();
  copy_async(&v[1], in + 4);
  copy_async_commit();
  u32 before = v[0].x;
  copy_async_wait<1>();
  out[0] = before;
  out[1] = v[0].x;
  out[2] = v[1].x;
  copy_async_wait<0>();
  out[3] = v[1].x;
}
extern "C" __global__ void bad_copy(u32 *out) {
  __shared__ uint4 v;
  copy_async(&v, out);
  copy_async_commit();
  copy_async_wait<1>();
}
extern "C" __global__ void bad_warp(u32 *out) {
  if (threadIdx.x < 7) out[0] = shfl_xor(threadIdx.x, 1u);
  else __syncthreads();
}
extern "C" __global__ void bad_shuffle(u32 *out) {
  out[threadIdx.x] = threadIdx.x < 7 ? shfl_xor(threadIdx.x, 1u) :
                                       shfl_xor(threadIdx.x, 1u);
}
extern "C" __global__ void bad_assert(u32 *out) { assert(out == nullptr); }
extern "C" __global__ void bad_stack(u32 *out, u32 n) {
  volatile u32 big[1 << 20];
  for (u32 i = 0; i < n; i++) big[i] = i;
  out[0] = big[n - 1];
}
extern "C" __global__ void bad_loop(volatile u32 *out) { while (!out[0]) {} }
extern "C" __global__ void bad_index(u32 *out, u32 n) { 
  __shared__ u32 x[16];
  x[threadIdx.x] = 1;
  out[0] = x[threadIdx.x + n];
}
extern "C" __global__ void bad_shift(u32 *out, u32 n) { out[0] = 1u << n; }
`}

type machine struct {
	t *testing.T
	d *simt.Driver
	s driver.Stream
	f map[string]driver.Func
}

func open(t *testing.T, c simt.Config) *machine {
	t.Helper()
	d, err := simt.Open(c)
	if errors.Is(err, driver.ErrUnavailable) && !strings.Contains(os.Getenv("ZKWARP_REQUIRE"), "simt") && os.Getenv("CI") == "" {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Load(source)
	if err != nil {
		t.Fatal(err)
	}
	return &machine{t, d, s, f}
}

func (m *machine) alloc(n int) driver.Ptr {
	m.t.Helper()
	p, err := m.d.Alloc(m.s, int64(4*n))
	if err != nil {
		m.t.Fatal(err)
	}
	if err := m.s.Fill(p, 0, int64(4*n)); err != nil {
		m.t.Fatal(err)
	}
	return p
}

func (m *machine) write(p driver.Ptr, w []uint32) {
	m.t.Helper()
	b := make([]byte, 0, 4*len(w))
	for _, x := range w {
		b = binary.NativeEndian.AppendUint32(b, x)
	}
	if err := m.s.CopyIn(p, b); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) read(p driver.Ptr, n int) []uint32 {
	m.t.Helper()
	b := make([]byte, 4*n)
	if err := m.s.CopyOut(b, p); err != nil {
		m.t.Fatal(err)
	}
	w := make([]uint32, n)
	for i := range w {
		w[i] = binary.NativeEndian.Uint32(b[4*i:])
	}
	return w
}

func (m *machine) launch(name string, grid, block driver.Dim, shared int, args ...uint64) {
	m.t.Helper()
	if err := m.s.Launch(m.f[name], grid, block, uint32(shared), args); err != nil {
		m.t.Fatal(err)
	}
}

func d1(x uint32) driver.Dim { return driver.Dim{X: x, Y: 1, Z: 1} }

var orders = map[string]simt.Config{
	"forward":      {},
	"one thread":   {Threads: 1},
	"reverse":      {Order: simt.Reverse},
	"shuffle 1":    {Order: simt.Shuffle, Seed: 1},
	"shuffle 2":    {Order: simt.Shuffle, Seed: 2},
	"four threads": {Threads: 4},
}

func TestKernelsInEveryOrder(t *testing.T) {
	for name, c := range orders {
		t.Run(name, func(t *testing.T) {
			m := open(t, c)
			const blocks = 37
			in := make([]uint32, 256*blocks)
			for i := range in {
				in[i] = uint32(i)*2654435761 + 1
			}
			a, out := m.alloc(len(in)), m.alloc(len(in))
			m.write(a, in)
			n := len(in) - 100
			m.launch("add_index", d1(blocks), d1(256), 0, uint64(out), uint64(a), uint64(n), 5<<32, uint64(0xffffffff))
			got := m.read(out, len(in))
			for i := range got {
				want := in[i] + uint32(i) + 4
				if i >= n {
					want = 0
				}
				if got[i] != want {
					t.Fatalf("add_index: word %d is %d, want %d", i, got[i], want)
				}
			}
			m.launch("block_sum", d1(blocks), d1(256), 0, uint64(out), uint64(a))
			for b, got := range m.read(out, blocks) {
				var want uint32
				for _, x := range in[256*b : 256*b+256] {
					want += x
				}
				if got != want {
					t.Fatalf("block_sum: block %d gives %d, want %d", b, got, want)
				}
			}
			m.launch("reverse", driver.Dim{X: 2, Y: 3, Z: 2}, driver.Dim{X: 5, Y: 2, Z: 7}, 4*70, uint64(a))
			for i, got := range m.read(a, 70*12) {
				if want := in[i/70*70+69-i%70]; got != want {
					t.Fatalf("reverse: word %d is %d, want %d", i, got, want)
				}
			}
			hits := m.alloc(2)
			m.launch("dirty", d1(9), d1(64), 256, uint64(hits))
			if got := m.read(hits, 2); got[0] != 9*64 || got[1] != 9*64 {
				t.Errorf("shared memory came undefined %v times of %d", got, 9*64)
			}
		})
	}
}

// What an asynchronous copy brings is there after the wait for its group, not
// before.
func TestAsynchronousCopies(t *testing.T) {
	m := open(t, simt.Config{})
	in, out := m.alloc(8), m.alloc(4)
	m.write(in, []uint32{1, 2, 3, 4, 5, 6, 7, 8})
	m.launch("early", d1(1), d1(1), 0, uint64(out), uint64(in))
	if got := m.read(out, 4); got[0] != 0xA5A5A5A5 || got[1] != 1 || got[2] != 0xA5A5A5A5 || got[3] != 5 {
		t.Errorf("before, between and after the waits: %#x", got)
	}
}

// Each order must be the one it says, and a race must show in one of them.
func TestOrdersDiffer(t *testing.T) {
	run := func(c simt.Config) (arrival, racy []uint32) {
		c.Threads = 1
		m := open(t, c)
		out, counter := m.alloc(256), m.alloc(1)
		m.launch("arrival", d1(4), d1(64), 0, uint64(out), uint64(counter))
		arrival = m.read(out, 256)
		m.launch("racy", d1(1), d1(64), 0, uint64(out))
		return arrival, m.read(out, 64)
	}
	f, fr := run(simt.Config{})
	r, rr := run(simt.Config{Order: simt.Reverse})
	s1, sr := run(simt.Config{Order: simt.Shuffle, Seed: 1})
	s2, _ := run(simt.Config{Order: simt.Shuffle, Seed: 2})
	again, _ := run(simt.Config{Order: simt.Shuffle, Seed: 2})
	seen := make([]bool, 256)
	same := 0
	for i := range f {
		if f[i] != uint32(i) || r[i] != uint32(255-i) {
			t.Fatalf("position %d: thread %d forward, %d in reverse", i, f[i], r[i])
		}
		if seen[s1[i]] {
			t.Fatalf("thread %d came twice", s1[i])
		}
		seen[s1[i]] = true
		if s1[i] == s2[i] {
			same++
		}
		if s2[i] != again[i] {
			t.Fatal("a seed does not fix the order")
		}
	}
	if same > 64 {
		t.Errorf("two seeds agree in %d of 256 places", same)
	}
	differs := false
	for i := range fr {
		differs = differs || fr[i] != rr[i] || fr[i] != sr[i]
	}
	if !differs {
		t.Error("the race gives the same in every order")
	}
}

func TestFaultsAreErrors(t *testing.T) {
	for _, c := range []struct {
		kernel string
		args   []uint64 // after the output
		text   string
	}{
		{"bad_address", []uint64{1 << 40}, "outside device memory"},
		{"bad_branch", nil, "divergent barrier: threads of one block meet at"},
		{"bad_return", nil, "divergent barrier"},
		{"bad_copy", nil, "returns with asynchronous copies under way"},
		{"bad_warp", nil, "wait for ever; 25 at the barrier at "},
		{"bad_shuffle", nil, "lanes of one warp meet at different places"},
		{"bad_assert", nil, "assertion failed: out == nullptr"},
		{"bad_stack", []uint64{1 << 20}, "outside device memory"},
		{"bad_loop", nil, "still running after 1 s"},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			m := open(t, simt.Config{Timeout: time.Second, Memory: 1 << 28})
			out := m.alloc(64)
			m.launch(c.kernel, d1(2), d1(32), 0, append([]uint64{uint64(out)}, c.args...)...)
			err := m.s.Sync()
			var e *driver.Error
			if !errors.As(err, &e) || !errors.Is(err, driver.ErrFault) || e.Op != "launch "+c.kernel {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(e.Text, c.text) || !strings.Contains(e.Text, "block (") {
				t.Errorf("text %q lacks %q", e.Text, c.text)
			}
			if !m.d.Dead() {
				t.Error("the device is not dead")
			}
			if _, err := m.d.Alloc(m.s, 8); !errors.Is(err, driver.ErrFault) {
				t.Errorf("alloc afterwards: %v", err)
			}
			if err := m.s.Fill(out, 0, 4); !errors.Is(err, driver.ErrFault) {
				t.Errorf("fill afterwards: %v", err)
			}
		})
	}
}

func TestSanitizers(t *testing.T) {
	for _, c := range []struct {
		kernel string
		args   []uint64
		text   string
	}{
		{"bad_address", []uint64{64}, "use-after-poison"}, // just past a buffer
		{"bad_index", []uint64{1}, "test.cu:"},
		{"bad_shift", []uint64{32}, "shift exponent 32 is too large"},
		{"bad_stack", []uint64{1 << 20}, "stack-overflow"},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			m := open(t, simt.Config{Sanitize: true})
			out := m.alloc(64)
			m.launch("block_sum", d1(1), d1(256), 0, uint64(out), uint64(m.alloc(256)))
			if err := m.s.Sync(); err != nil {
				t.Fatalf("a correct kernel: %v", err)
			}
			m.launch(c.kernel, d1(1), d1(16), 0, append([]uint64{uint64(out)}, c.args...)...)
			err := m.s.Sync()
			var e *driver.Error
			if !errors.As(err, &e) || !errors.Is(err, driver.ErrFault) || e.Op != "launch "+c.kernel || !strings.Contains(e.Text, c.text) {
				t.Fatalf("error %v", err)
			}
		})
	}
	t.Run("freed", func(t *testing.T) {
		m := open(t, simt.Config{Sanitize: true})
		p := m.alloc(64)
		if err := m.d.Free(m.s, p); err != nil {
			t.Fatal(err)
		}
		m.launch("bad_address", d1(1), d1(1), 0, uint64(p), 3)
		if err := m.s.Sync(); !errors.Is(err, driver.ErrFault) {
			t.Fatalf("use after free: %v", err)
		}
	})
}

func TestMemory(t *testing.T) {
	m := open(t, simt.Config{Memory: 1 << 20})
	free, total, err := m.d.Memory()
	if err != nil || free != total || total != 1<<20 {
		t.Fatalf("%d of %d free, %v", free, total, err)
	}
	if _, err := m.d.Alloc(m.s, 1<<20+1); !errors.Is(err, driver.ErrNoMemory) {
		t.Fatalf("too much: %v", err)
	}
	var all []driver.Ptr
	for range 4 {
		p, err := m.d.Alloc(m.s, 1<<18)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if _, err := m.d.Alloc(m.s, 1); !errors.Is(err, driver.ErrNoMemory) {
		t.Fatalf("full: %v", err)
	}
	for _, i := range []int{1, 3, 0, 2} {
		if err := m.d.Free(m.s, all[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.d.Free(m.s, all[0]); !errors.Is(err, driver.ErrUsage) {
		t.Fatalf("second free: %v", err)
	}
	if p, err := m.d.Alloc(m.s, 1<<20); err != nil || p != all[0] {
		t.Fatalf("pieces did not join: %v", err)
	}
	if err := m.s.CopyIn(all[0]+1<<20, []byte{1}); !errors.Is(err, driver.ErrUsage) {
		t.Fatalf("copy past the end: %v", err)
	}
	// Both ways of copying in.
	for _, n := range []int{1, 4096, 4097, 100_000} {
		w := make([]uint32, n)
		for i := range w {
			w[i] = uint32(i * i)
		}
		m.write(all[0], w)
		for i, x := range m.read(all[0], n) {
			if x != w[i] {
				t.Fatalf("%d words: word %d", n, i)
			}
		}
	}
}

func TestCache(t *testing.T) {
	dir := t.TempDir()
	m := open(t, simt.Config{Cache: dir})
	m.d.Close()
	list, err := filepath.Glob(filepath.Join(dir, "test-*"))
	if err != nil || len(list) != 1 {
		t.Fatalf("modules %v, %v", list, err)
	}
	before, err := os.Stat(list[0])
	if err != nil {
		t.Fatal(err)
	}
	m = open(t, simt.Config{Cache: dir, Order: simt.Reverse})
	m.d.Close()
	if after, err := os.Stat(list[0]); err != nil || !os.SameFile(before, after) {
		t.Error("compiled again without need")
	}
	if err := os.WriteFile(list[0], []byte("not a module"), 0o644); err != nil {
		t.Fatal(err)
	}
	m = open(t, simt.Config{Cache: dir})
	out := m.alloc(8)
	m.launch("arrival", d1(1), d1(4), 0, uint64(out), uint64(out+16))
	if got := m.read(out, 8); got[3] != 3 || got[4] != 4 {
		t.Errorf("after a corrupt module: %v", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "build-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestUsageErrors(t *testing.T) {
	m := open(t, simt.Config{})
	if err := m.s.Launch(m.f["reverse"], d1(1), d1(1), 1<<20, []uint64{0}); !errors.Is(err, driver.ErrUsage) {
		t.Errorf("a megabyte of shared memory: %v", err)
	}
	bad := &kernel.Source{Name: "device/broken.cu", Text: `extern "C" __global__ void broken(int a) { return nonsense; }`}
	if _, err := m.d.Load(bad); !errors.Is(err, driver.ErrUsage) || !strings.Contains(err.Error(), "device/broken.cu:1") {
		t.Errorf("a source that does not compile: %v", err)
	}
	if _, err := simt.Open(simt.Config{Compiler: "no-such-compiler"}); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("no compiler: %v", err)
	}
	for _, s := range []string{"sideways", "shuffle", "forward:1", "shuffle:x"} {
		t.Setenv("ZKWARP_SIMT_ORDER", s)
		if _, err := simt.FromEnv(); !errors.Is(err, driver.ErrUsage) {
			t.Errorf("order %q: %v", s, err)
		}
	}
	t.Setenv("ZKWARP_SIMT_ORDER", "shuffle:7")
	if c, err := simt.FromEnv(); err != nil || c.Order != simt.Shuffle || c.Seed != 7 {
		t.Errorf("%+v, %v", c, err)
	}
}
