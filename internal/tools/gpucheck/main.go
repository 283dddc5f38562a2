// Command gpucheck tries a GPU out: it copies, fills, launches and times, and
// compares every result with the host's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
)

var source = &kernel.Source{Name: "internal/tools/gpucheck/check.cu", Headers: []*kernel.Source{kernel.PTX}, Text: `#include "device/ptx.cuh"

extern "C" __global__ void __launch_bounds__(256) check_add(u32* __restrict__ out, const u32* __restrict__ a, u32 n, u64 wide) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) out[i] = a[i] + (u32)(wide >> 32);
}

extern "C" __global__ void __launch_bounds__(32) check_nothing(u32 n) {}

extern "C" __global__ void __launch_bounds__(1024) check_shared(u32* __restrict__ out, u32 words) {
	SHARED_DYNAMIC(u32, x);
	for (u32 i = threadIdx.x; i < words; i += blockDim.x) x[i] = i * 2654435761u;
	__syncthreads();
	for (u32 i = threadIdx.x; i < words; i += blockDim.x) out[i] = x[words - 1 - i];
}
`}

func main() {
	name := flag.String("device", "cuda:0", "device to try")
	fault := flag.Bool("fault", false, "end with a wild write, to see how a fault is reported")
	flag.Parse()
	if err := run(*name, *fault); err != nil {
		fmt.Fprintln(os.Stderr, "gpucheck:", err)
		os.Exit(1)
	}
	fmt.Println("ok")
}

func since(t time.Time) float64 { return float64(time.Since(t).Nanoseconds()) / 1e3 }

func run(name string, fault bool) error {
	for _, i := range device.List() {
		fmt.Printf("%-8s %s, %s, %d units, %d MiB\n", i.Device, i, i.Arch, i.Units, i.Memory>>20)
	}
	t := time.Now()
	d, err := device.Open(name)
	if err != nil {
		return err
	}
	q, err := d.NewQueue(context.Background())
	if err != nil {
		return err
	}
	fmt.Printf("open     %.0f us, %s\n", since(t), d.Info())
	if err := launches(q); err != nil {
		return err
	}
	if err := copies(q); err != nil {
		return err
	}
	if err := shared(q); err != nil {
		return err
	}
	if fault {
		return wild(q)
	}
	return q.Close()
}

func launches(q *device.Queue) error {
	const n = 100_003
	in := make([]uint32, n)
	for i := range in {
		in[i] = uint32(i) * 747796405
	}
	a, err := device.Upload(q, in)
	if err != nil {
		return err
	}
	out, err := device.Alloc[uint32](q, n)
	if err != nil {
		return err
	}
	add := device.Kernel{Source: source, Name: "check_add"}
	t := time.Now()
	launch := func() error {
		return q.Launch(add, device.D1(device.Blocks(n, 256)), device.D1(256), 0, out.Arg(), a.Arg(), device.U32(n), device.U64(uint64(7)<<32))
	}
	if err := launch(); err != nil {
		return err
	}
	fmt.Printf("compile  %.0f us and launch\n", since(t))
	got, err := out.Read(q)
	if err != nil {
		return err
	}
	for i := range got {
		if got[i] != in[i]+7 {
			return fmt.Errorf("check_add: element %d is %d, want %d", i, got[i], in[i]+7)
		}
	}
	const rounds = 2000
	nothing := device.Kernel{Source: source, Name: "check_nothing"}
	for _, work := range []struct {
		name string
		sync int
	}{{"launch", rounds}, {"launch+sync", 1}} {
		var times []float64
		for range 5 {
			if err := q.Sync(); err != nil {
				return err
			}
			t = time.Now()
			for i := range rounds {
				if err := q.Launch(nothing, device.D1(1), device.D1(32), 0, device.U32(i)); err != nil {
					return err
				}
				if (i+1)%work.sync == 0 && work.sync != rounds {
					if err := q.Sync(); err != nil {
						return err
					}
				}
			}
			times = append(times, since(t)/rounds)
		}
		fmt.Printf("%-8s %.2f us each (enqueue, best of 5), median %.2f\n", work.name, slices.Min(times), median(times))
	}
	a.Free()
	out.Free()
	return nil
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

func copies(q *device.Queue) error {
	for _, n := range []int{1, 3, 1 << 10, 1<<20 + 1, 64<<20 + 5} { // words
		in := make([]uint32, n)
		for i := range in {
			in[i] = uint32(i)*2891336453 + uint32(n)
		}
		b, err := device.Alloc[uint32](q, n)
		if err != nil {
			return err
		}
		c, err := device.Alloc[uint32](q, n)
		if err != nil {
			return err
		}
		got := make([]uint32, n)
		var up, down, across []float64
		for range 4 {
			if err := c.Fill(q, 0xdeadbeef); err != nil {
				return err
			}
			if err := q.Sync(); err != nil {
				return err
			}
			t := time.Now()
			if err := errors.Join(b.CopyFrom(q, in), q.Sync()); err != nil {
				return err
			}
			up = append(up, since(t))
			t = time.Now()
			if err := errors.Join(device.Copy(q, c, b), q.Sync()); err != nil {
				return err
			}
			across = append(across, since(t))
			t = time.Now()
			if err := c.CopyTo(q, got); err != nil {
				return err
			}
			down = append(down, since(t))
		}
		if !slices.Equal(in, got) {
			return fmt.Errorf("copies of %d words differ", n)
		}
		gb := func(v []float64) string {
			us := slices.Min(v)
			return fmt.Sprintf("%.1f us %.2f GB/s", us, float64(4*n)/us/1e3)
		}
		fmt.Printf("copy     %10d bytes: to device %s, back %s, within %s\n", 4*n, gb(up), gb(down), gb(across))
		b.Free()
		c.Free()
	}
	return nil
}

func shared(q *device.Queue) error {
	most := q.Device().Info().SharedPerBlock
	for _, bytes := range []int{4, 48 << 10, 48<<10 + 4, most &^ 3} {
		if bytes > most {
			continue
		}
		words := bytes / 4
		out, err := device.Alloc[uint32](q, words)
		if err != nil {
			return err
		}
		if err := q.Launch(device.Kernel{Source: source, Name: "check_shared"}, device.D1(1), device.D1(1024), bytes, out.Arg(), device.U32(words)); err != nil {
			return err
		}
		got, err := out.Read(q)
		if err != nil {
			return err
		}
		for i := range got {
			if want := uint32(words-1-i) * 2654435761; got[i] != want {
				return fmt.Errorf("%d bytes of shared memory: word %d is %d, want %d", bytes, i, got[i], want)
			}
		}
		fmt.Printf("shared   %d bytes\n", bytes)
		out.Free()
	}
	out, err := device.Alloc[uint32](q, 1)
	if err != nil {
		return err
	}
	err = q.Launch(device.Kernel{Source: source, Name: "check_shared"}, device.D1(1), device.D1(32), most+1024, out.Arg(), device.U32(1))
	if err == nil {
		return errors.New("a launch with more shared memory than the card has went through")
	}
	fmt.Println("refused ", err)
	return q.Sync()
}

// wild writes to an address that is not mapped and reports what comes back.
func wild(q *device.Queue) error {
	b, err := device.Alloc[uint32](q, 1)
	if err != nil {
		return err
	}
	add := device.Kernel{Source: source, Name: "check_add"}
	err = errors.Join(q.Launch(add, device.D1(1), device.D1(256), 0, device.Null(), b.Arg(), device.U32(256), device.U64(uint64(0))), q.Sync())
	fmt.Println("fault   ", err)
	if !errors.Is(err, device.ErrFault) {
		return errors.New("a wild write was not reported as a fault")
	}
	_, err = device.Alloc[uint32](q, 1<<20)
	fmt.Println("after   ", err)
	if !errors.Is(err, device.ErrFault) {
		return errors.New("the device is still in use after a fault")
	}
	return nil
}
