package prover_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
	tprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// kernelTimes adds up what kernels take.
type kernelTimes struct {
	mu  sync.Mutex
	sum map[string]time.Duration
}

func (k *kernelTimes) Trace(e device.Event) {
	if e.Category == device.TraceKernel {
		k.mu.Lock()
		k.sum[e.Name] += e.Duration
		k.mu.Unlock()
	}
}

// BenchmarkStacks is the merging of claims on one stack: large blocks with a claim each, as
// a layer's weights have, and with two, as columns of lookups have. GB/s counts the words
// of the stack twice. The kernels' times are of a run of its own.
func BenchmarkStacks(b *testing.B) {
	for _, name := range []string{"cpu", "cuda:0"} {
		d, err := device.Open(name)
		if err != nil {
			continue
		}
		for _, vars := range []int{18, 20, 22, 24, 26, 28, 29} {
			if vars > 24 && name == "cpu" {
				continue
			}
			for _, claims := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/2^%d/%d", name, vars, claims), func(b *testing.B) { benchmarkStacks(b, d, vars, claims) })
			}
		}
	}
}

func benchmarkStacks(b *testing.B, d *device.Device, vars, claims int) {
	times := &kernelTimes{sum: map[string]time.Duration{}}
	queue := func(ctx context.Context) *device.Queue {
		q, err := d.NewQueue(ctx)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = q.Close() })
		return q
	}
	q, traced := queue(context.Background()), queue(device.WithTracer(context.Background(), times))
	rng := rand.New(rand.NewPCG(33, 5))
	s := prover.Stack{Vars: vars, Used: 1 << vars}
	for at := 0; at < 1<<vars; {
		size := vars - 2 - len(s.Claims)/claims/4 // of one size four blocks, then halves
		if size < 7 {
			break
		}
		for at+1<<size > 1<<vars {
			size--
		}
		for range claims {
			point := make([]int32, size)
			for i := range point {
				point[i] = rng.Int32N(1000)
			}
			s.Claims = append(s.Claims, prover.StackClaim{At: at, Point: point, Power: len(s.Claims)})
		}
		at += 1 << size
	}
	p, err := prover.NewStacks([]prover.Stack{s})
	if err != nil {
		b.Fatal(err)
	}
	words, err := device.Alloc[m31.Element](q, 1<<vars)
	if err != nil {
		b.Fatal(err)
	}
	defer words.Free()
	some := m31.Words(sumchecktest.Random(rng, 1<<14))
	for at := 0; at < 1<<vars; at += len(some) {
		if err := words.Slice(at, at+len(some)).CopyFrom(q, some); err != nil {
			b.Fatal(err)
		}
	}
	upload := func(n int) device.Buffer[m31.QM31] {
		buf, err := device.Upload(q, sumchecktest.Random(rng, n))
		if err != nil {
			b.Fatal(err)
		}
		return buf
	}
	factors, memory := upload(p.Factors), upload(3*vars+3)
	defer factors.Free()
	defer memory.Free()
	desc, err := device.Upload(q, p.Desc)
	if err != nil {
		b.Fatal(err)
	}
	defer desc.Free()
	out := prover.Output{Rounds: memory.Slice(0, 2*vars), Evals: memory.Slice(2*vars, 2*vars+2), Point: memory.Slice(2*vars+2, 3*vars+2)}
	prove := func(q *device.Queue) {
		tr, err := tprover.FromHost(q, newTranscript())
		if err != nil {
			b.Fatal(err)
		}
		defer tr.Free()
		if err := p.Run(q, tr, desc, factors, []device.Buffer[m31.Element]{words}, memory.Slice(3*vars+2, 3*vars+3), out); err != nil {
			b.Fatal(err)
		}
		if _, err := out.Evals.Read(q); err != nil {
			b.Fatal(err)
		}
	}
	prove(q)
	for b.Loop() {
		prove(q)
	}
	if sumcheck.Rounds(p.Shapes()) != vars {
		b.Fatal("another batch")
	}
	b.ReportMetric(8*float64(int(1)<<vars)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
	prove(traced)
	for name, t := range times.sum {
		b.ReportMetric(float64(t.Microseconds())/1000, strings.TrimPrefix(name, "sumcheck_")+"-ms")
	}
}
