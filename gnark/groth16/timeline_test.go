package groth16_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/groth16"
	"github.com/zkwarp/zkwarp/gnark/internal/setup"
	"github.com/zkwarp/zkwarp/gnark/internal/synthetic"
)

// events are what queues did.
type events struct {
	mu   sync.Mutex
	list []device.Event
}

func (e *events) Trace(x device.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, x)
}

// busy is the time in which a device ran kernels, or copied, in a proof that began at start.
func (e *events) busy(categories ...string) (all time.Duration) {
	var list []device.Event
	for _, x := range e.list {
		if slices.Contains(categories, x.Category) {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(a, b device.Event) int { return a.Start.Compare(b.Start) })
	var end time.Time
	for _, x := range list {
		to := x.Start.Add(x.Duration)
		if from := x.Start; from.After(end) {
			all += x.Duration
		} else if to.After(end) {
			all += to.Sub(end)
		}
		if to.After(end) {
			end = to
		}
	}
	return all
}

// longest are the kernels that took longest, with their times.
func (e *events) longest(n int) (text string) {
	times := map[string]time.Duration{}
	var names []string
	for _, x := range e.list {
		if x.Category == device.TraceKernel {
			if times[x.Name] == 0 {
				names = append(names, x.Name)
			}
			times[x.Name] += x.Duration
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(times[b], times[a]) })
	for _, name := range names[:min(n, len(names))] {
		text += fmt.Sprintf("  %s %.2f", name, ms(times[name]))
	}
	return text
}

// BenchmarkStages is proofs of solutions of synthetic systems: the time, what stages take
// side by side and one after the other, and how much of it a device computes and copies. The
// environment variable ZKWARP_GROTH16 has the sizes, as in 2^20,7000000,2^22s, s for sparse
// and an exclamation mark for no stages one after the other; ZKWARP_DEVICE the device, or
// cuda:all.
func BenchmarkStages(b *testing.B) {
	sizes := os.Getenv("ZKWARP_GROTH16")
	if sizes == "" {
		b.Skip("ZKWARP_GROTH16 has no sizes")
	}
	for _, size := range strings.Split(sizes, ",") {
		digits, once := strings.CutSuffix(size, "!")
		digits, sparse := strings.CutSuffix(digits, "s")
		text, power := strings.CutPrefix(digits, "2^")
		n, err := strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
		if power {
			n = 1 << n
		}
		name := cmp.Or(os.Getenv("ZKWARP_DEVICE"), "cuda:0")
		ctx := context.Background()
		system, witness, err := synthetic.New(ctx, synthetic.Options{Constraints: n, Sparse: sparse, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		one := name
		if one == "cuda:all" {
			one = "cuda:0"
		}
		pk, vk, err := setup.Run(ctx, system, setup.Options{Device: one, Random: rand.NewChaCha8([32]byte{1})})
		if err != nil {
			b.Fatal(err)
		}
		fmt.Printf("%s: setup %.1f s\n", size, time.Since(start).Seconds())
		for _, serial := range []bool{false, true} {
			if serial && once {
				continue
			}
			var mu sync.Mutex
			stages := map[string]time.Duration{}
			trace := func(stage string, d time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				stages[stage] += d
			}
			options := []groth16.Option{groth16.WithDevice(name), groth16.WithVerifyingKey(vk), groth16.WithTrace(trace)}
			if serial {
				options = append(options, groth16.WithSerial())
			}
			start := time.Now()
			p, err := groth16.NewProver(pk, options...)
			if err != nil {
				b.Fatal(err)
			}
			fmt.Printf("%s: prover %.2f s, %.2f GB resident\n", size, time.Since(start).Seconds(), float64(p.Bytes())/1e9)
			s, err := p.Solve(ctx, system, witness)
			if err != nil {
				b.Fatal(err)
			}
			for range 2 {
				if _, err := p.ProveSolved(ctx, s); err != nil {
					b.Fatal(err)
				}
			}
			clear(stages)
			var times []time.Duration
			for range 5 {
				start := time.Now()
				if _, err := p.ProveSolved(ctx, s); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			fmt.Printf("%s serial %v: %.2f ms (%.2f to %.2f)", size, serial, ms(times[2]), ms(times[0]), ms(times[4]))
			var names []string
			for stage := range stages {
				names = append(names, stage)
			}
			slices.Sort(names)
			for _, stage := range names {
				fmt.Printf("  %s %.2f", stage, ms(stages[stage]/5))
			}
			fmt.Println()
			var e events
			start = time.Now()
			if _, err := p.ProveSolved(device.WithTracer(ctx, &e), s); err != nil {
				b.Fatal(err)
			}
			fmt.Printf("%s serial %v traced: %.2f ms, kernels %.2f, copies %.2f, either %.2f\n", size, serial, ms(time.Since(start)),
				ms(e.busy(device.TraceKernel)), ms(e.busy(device.TraceCopy)), ms(e.busy(device.TraceKernel, device.TraceCopy)))
			if serial {
				fmt.Printf("%s kernels:%s\n", size, e.longest(8))
			}
			p.Close()
		}
	}
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
