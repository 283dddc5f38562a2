package prover

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// products multiplies one input of 16 rows by n matrices of rows x columns weights of 10 bits, which are stored in 2 bytes each. The weights'
// bounds are powers of two, and 2^12 rows times 2^7 times 2^10 would reach 2^29.
func products(n, rows, columns int) *zkmltest.Case {
	b := graph.NewBuilder("products")
	x := b.Input("x", []int{16, rows}, -128, 127, 1)
	var out []graph.TensorID
	for k := range n {
		v := make([]int32, rows*columns)
		const block = 1 << 16
		parallel.For((len(v)+block-1)/block, 1, func(from, to int) {
			for i := from; i < to; i++ {
				rng := rand.NewPCG(uint64(k), uint64(i))
				for j := range v[i*block : min(len(v), (i+1)*block)] {
					v[i*block+j] = int32(rng.Uint64()>>54) - 512
				}
			}
		})
		out = append(out, b.MatMul(fmt.Sprintf("product%d", k), x, b.Param(fmt.Sprintf("w%d", k), []int{rows, columns}, v, 1), false, 1))
	}
	p, w, err := b.BuildAll(out, nil)
	if err != nil {
		panic(err)
	}
	input := make([]int32, 16*rows)
	for i := range input {
		input[i] = int32(i%255) - 127
	}
	return &zkmltest.Case{Name: "products", Program: p, Weights: w, X: input}
}

// sums is a tracer that adds up times by name.
type sums struct {
	mu    sync.Mutex
	times map[string]time.Duration
}

func (s *sums) Trace(e device.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times[e.Category+" "+e.Name] += e.Duration
}

// of is the time of all events whose names have a prefix, in ms.
func (s *sums) of(prefix string) (ms float64) {
	for name, t := range s.times {
		if strings.HasPrefix(name, prefix) {
			ms += float64(t.Microseconds()) / 1000
		}
	}
	return ms
}

// layerSides are those of a matrix of BenchmarkLoad.
var layerSides = [2]int{1 << 12, 1 << 14}

// TestLoadLayer checks that the program of BenchmarkLoad is valid and has a plan. It makes the weights of a single column (3 ms).
func TestLoadLayer(t *testing.T) {
	c := products(5, layerSides[0], 1)
	for _, id := range c.Program.Params() {
		if width := c.Weights.Of(id).Width(); width != 2 {
			t.Errorf("weights of %d bytes, expected 2", width)
		}
		c.Program.Tensors[id].Shape[1] = layerSides[1]
	}
	for _, id := range c.Program.Outputs {
		c.Program.Tensors[id].Shape[1] = layerSides[1]
	}
	if err := c.Program.Validate(); err != nil {
		t.Fatal(err)
	}
	p, err := plan.ForProgram(c.Program, plan.Commits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Stacks[plan.Parameters].Vars; got != 29 {
		t.Errorf("parameters of 2^%d entries, expected 2^29", got)
	}
}

// layerKey is the key of five matrices with those sides, and an input.
func layerKey(b *testing.B, q *device.Queue, sides [2]int) (*ProvingKey, []int32) {
	start := time.Now()
	c := products(5, sides[0], sides[1])
	made := time.Since(start)
	start = time.Now()
	_, pk, err := Setup(q, c.Program, c.Weights, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("weights made in %v, key in %v", made, time.Since(start))
	pk.Forget()
	return pk, c.X
}

// BenchmarkNarrow proves with the key of BenchmarkLoad, kept wide and kept narrow, and says what it takes of device memory between proofs.
func BenchmarkNarrow(b *testing.B) {
	devices(b, func(b *testing.B, q *device.Queue) {
		if q.OnHost() {
			b.Skip("no key is narrow on the CPU")
		}
		pk, x := layerKey(b, q, layerSides)
		for _, form := range []Form{Wide, Narrow} {
			b.Run([]string{Wide: "wide", Narrow: "narrow"}[form], func(b *testing.B) {
				r := pk.OnAs(q.Device(), form)
				defer r.Close()
				if err := r.Load(q, nil); err != nil {
					b.Fatal(err)
				}
				if err := r.Wait(q.Context()); err != nil {
					b.Fatal(err)
				}
				stages := map[Stage]time.Duration{}
				n := 0
				for b.Loop() {
					result, err := r.Prove(q, x, nil)
					if err != nil {
						b.Fatal(err)
					}
					for _, t := range result.Timings {
						stages[t.Stage] += t.Time
					}
					n++
				}
				b.ReportMetric(float64(r.Bytes())/(1<<30), "key-GiB")
				b.ReportMetric(float64(stages[StageOpen].Microseconds())/1000/float64(n), "openings-ms")
			})
		}
	})
}

// BenchmarkLoad loads the key of a layer of a decoder of 14 billion weights, 335 million in a stack of 2^29, to a GPU; elsewhere of one whose sides
// are a 64th. Besides the whole it says what parts of it take by themselves: fill-ms is copying the stored bytes into page-locked memory, copy-ms
// the bus, widen-ms making words of them, alloc-ms getting as much memory as the key has, and, of one traced load, the device's times of the copies, of each kind of kernel and of waiting.
func BenchmarkLoad(b *testing.B) {
	devices(b, func(b *testing.B, q *device.Queue) {
		sides := layerSides
		if q.Device().Kind() != device.CUDA {
			sides = [2]int{1 << 6, 1 << 8}
		}
		pk, _ := layerKey(b, q, sides)
		var via *Uploader
		if !q.OnHost() {
			var err error
			if via, err = NewUploader(q.Device()); err != nil {
				b.Fatal(err)
			}
			defer via.Close()
		}
		load := func(q *device.Queue) {
			r := pk.On(q.Device())
			if err := r.Load(q, via); err != nil {
				b.Fatal(err)
			}
			if err := r.Wait(q.Context()); err != nil {
				b.Fatal(err)
			}
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
			pk.Forget()
		}
		start := time.Now()
		load(q)
		first := time.Since(start)
		before, n := q.Stats(), 0
		for b.Loop() {
			load(q)
			n++
		}
		s := q.Stats().Since(before)
		b.ReportMetric(float64(first.Microseconds())/1000, "first-ms")
		b.ReportMetric(float64(s.BytesIn)/float64(n)/1e6, "MB-in")
		if q.OnHost() {
			return
		}
		t := &sums{times: map[string]time.Duration{}}
		traced, err := q.Device().NewQueue(device.WithTracer(context.Background(), t))
		if err != nil {
			b.Fatal(err)
		}
		load(traced)
		if err := traced.Close(); err != nil {
			b.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(t.times)) {
			b.Logf("traced load: %9.3f ms %s", float64(t.times[name].Microseconds())/1000, name)
		}
		for _, kind := range []string{"ntt", "merkle", "zkml"} {
			b.ReportMetric(t.of(device.TraceKernel+" "+kind), kind+"-ms")
		}
		parts(b, q, pk)
	})
}

// parts times what a load is made of, each by itself.
func parts(b *testing.B, q *device.Queue, pk *ProvingKey) {
	l, err := pk.layout()
	if err != nil {
		b.Fatal(err)
	}
	stored := newStoredLayout(l.plan, pk.program(), pk.weights)
	end := stored.bytes
	timed := func(name string, f func() error) {
		best := time.Duration(0)
		for range 3 {
			start := time.Now()
			err := f()
			if err == nil {
				err = q.Sync()
			}
			if err != nil {
				b.Fatal(err)
			}
			if t := time.Since(start); best == 0 || t < best {
				best = t
			}
		}
		b.ReportMetric(float64(best.Microseconds())/1000, name)
	}
	piece, err := device.AllocPinned[byte](q.Device(), pieceBytes)
	if err != nil {
		b.Fatal(err)
	}
	defer piece.Free()
	timed("fill-ms", func() error {
		for at := 0; at < end; at += pieceBytes {
			stored.read(piece.Slice(0, min(pieceBytes, end-at)).Host(), at)
		}
		return nil
	})
	words, err := device.Alloc[byte](q, end)
	if err != nil {
		b.Fatal(err)
	}
	defer words.Free()
	timed("copy-ms", func() error {
		for at := 0; at < end; at += pieceBytes {
			n := min(pieceBytes, end-at)
			if err := words.Slice(at, at+n).CopyFromPinned(q, piece.Slice(0, n)); err != nil {
				return err
			}
		}
		return nil
	})
	there, err := stored.upload(q, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer there.free()
	stack, err := device.Alloc[m31.Element](q, 1<<l.plan.Stacks[plan.Parameters].Vars)
	if err != nil {
		b.Fatal(err)
	}
	defer stack.Free()
	timed("widen-ms", func() error { return there.widen(q, stack) })
	params := pk.vk.Inference().Commitments[plan.Parameters]
	codeword := 4 * 1 << params.Vars()
	i := 0
	timed("alloc-ms", func() error { // of sizes of their own, which the pool cannot have
		i++
		m, err := device.Alloc[byte](q, codeword+codeword/16*i)
		m.Free()
		return err
	})
}
