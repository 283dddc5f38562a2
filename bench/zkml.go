package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zkwarp/zkwarp/examples/digits"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// zkmlCases prove whole networks.
func zkmlCases() []Case {
	return []Case{
		{Suite: "zkml", Name: "digits", About: "the digit model, 784-128-10, trained weights and a real image", Run: zkmlCase(digitsNetwork)},
		{Suite: "zkml", Name: "mlp-250k", About: "784-272-128-10 with 249 754 random weights, batch of one", Run: zkmlCase(randomNetwork)},
		{Suite: "zkml", Name: "mlp-tiny", About: "7-5-3 with random weights, for tests of the suite", Run: zkmlCase(tinyNetwork)},
	}
}

// network makes a program with weights and an input.
type network func(e *Env) (*graph.Program, *graph.Weights, []int32, error)

func digitsNetwork(e *Env) (*graph.Program, *graph.Weights, []int32, error) {
	m, err := onnx.Parse(digits.Model, onnx.Options{})
	if err != nil {
		return nil, nil, nil, err
	}
	samples, err := digits.Samples()
	if err != nil {
		return nil, nil, nil, err
	}
	c, _, err := quant.Calibrate(m, samples, quant.Options{})
	if err != nil {
		return nil, nil, nil, err
	}
	p, w, err := quant.Build(m, c)
	if err != nil {
		return nil, nil, nil, err
	}
	images, _, err := digits.Test()
	if err != nil {
		return nil, nil, nil, err
	}
	x, err := quant.QuantizeInput(p, images[e.Rand.IntN(len(images))].Values())
	return p, w, x, err
}

func randomNetwork(e *Env) (*graph.Program, *graph.Weights, []int32, error) {
	return perceptron(e.Rand, 16, 784, 272, 128, 10)
}

func tinyNetwork(e *Env) (*graph.Program, *graph.Weights, []int32, error) {
	return perceptron(e.Rand, 8, 7, 5, 3)
}

// perceptron is a network of dense layers with ReLU between them: 8-bit
// weights and activations, requantised through tables of 2^tableBits rows at
// most.
func perceptron(rng *rand.Rand, tableBits int, widths ...int) (*graph.Program, *graph.Weights, []int32, error) {
	b := graph.NewBuilder("mlp")
	random := func(n int, lo, hi int32) []int32 {
		v := make([]int32, n)
		for i := range v {
			v[i] = lo + rng.Int32N(hi-lo+1)
		}
		return v
	}
	x := b.Input("x", []int{1, widths[0]}, 0, 255, 1)
	input := random(widths[0], 0, 255)
	last := len(widths) - 2
	for i := range widths[:last+1] {
		k, n := widths[i], widths[i+1]
		w := b.Param(fmt.Sprintf("w%d", i), []int{k, n}, random(k*n, -127, 127), 1)
		bias := b.Param(fmt.Sprintf("b%d", i), []int{n}, random(n, -10000, 10000), 1)
		product := b.MatMul(fmt.Sprintf("product%d", i), x, w, false, 1)
		sum := b.Linear(fmt.Sprintf("sum%d", i), []graph.Term{{Coef: 1, T: product}, {Coef: 1, T: bias}}, 0, 1)
		if err := b.Err(); err != nil {
			return nil, nil, nil, err
		}
		bounds := b.Tensor(sum)
		shift := uint8(0)
		for graph.LookupBits(bounds.Lo, bounds.Hi, shift) > tableBits {
			shift++
		}
		bits := uint8(graph.LookupBits(bounds.Lo, bounds.Hi, shift))
		values := make([]int32, 1<<bits)
		for q := range values {
			v := int32(q) - int32(1)<<(bits-1)
			if i < last {
				v = min(max(v/4, 0), 127)
			}
			values[q] = v
		}
		x = b.Lookup(fmt.Sprintf("y%d", i), sum, shift, b.Table(fmt.Sprintf("table%d", i), bits, values), 1)
	}
	p, w, err := b.Build(x, graph.NoPost, nil)
	return p, w, input, err
}

// zkmlCase measures proving and verifying, with keys made beforehand.
func zkmlCase(build network) func(*Env) ([]Measurement, error) {
	return func(e *Env) ([]Measurement, error) {
		p, w, x, err := build(e)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		vk, pk, err := zkprover.Setup(e.Queue, p, w, nil)
		if err != nil {
			return nil, err
		}
		setup := time.Since(start)
		start = time.Now()
		key, err := pk.Load(e.Queue)
		if err != nil {
			return nil, err
		}
		defer key.Evict()
		load := time.Since(start)
		var r *zkprover.Result
		before := e.Queue.Stats()
		peak := WatchMemory(e.Queue.Device())
		prove, err := e.Time("prove-ms", 1, nil, func() (err error) {
			before = e.Queue.Stats()
			r, err = key.Prove(e.Queue, x, nil)
			return err
		})
		stats := e.Queue.Stats().Since(before)
		most := peak()
		if err != nil {
			return nil, err
		}
		verify, err := e.Time("verify-ms", 1, nil, func() error { return zkml.Verify(vk, x, r.Y, r.Proof, nil) })
		if err != nil {
			return nil, err
		}
		y := append([]int32(nil), r.Y...)
		y[0]++
		if err := zkml.Verify(vk, x, y, r.Proof, nil); !errors.Is(err, zkml.ErrRejected) {
			return nil, fmt.Errorf("another output: %v, want a rejection", err)
		}
		security := zkml.Security(vk)
		digest := sha256.Sum256(r.Proof)
		prove.Proof = hex.EncodeToString(digest[:])
		prove.Note = fmt.Sprintf("%d weights, %d rows of tables", w.Count(), tableRows(p))
		verify.Note = "the key's own proof is checked in the cold run only"
		out := []Measurement{prove, verify}
		constant := func(metric, unit string, v float64, note string) {
			m := Measurement{Metric: metric, Unit: unit, Proof: prove.Proof, Note: note}
			for range prove.Samples {
				m.Samples = append(m.Samples, v)
			}
			out = append(out, m)
		}
		constant("proof-kib", "KiB", float64(len(r.Proof))/1024, "")
		constant("bits-sum", "bits", security.Sum, "")
		constant("bits", "bits", security.Min, security.MinTerm)
		// Once for a key: kernels may be compiled in setup.
		constant("setup-ms", "ms", float64(setup.Microseconds())/1000, "once, cold")
		constant("load-ms", "ms", float64(load.Microseconds())/1000, "the key into the device's memory, once")
		if stats.Launches > 0 {
			constant("launches", "launches", float64(stats.Launches), "of one proof")
			constant("waits", "waits", float64(stats.Syncs), "of the host, in one proof")
			constant("in-kib", "KiB", float64(stats.BytesIn)/1024, "copied to the device for one proof")
			constant("out-kib", "KiB", float64(stats.BytesOut)/1024, "copied from the device for one proof")
		}
		constant("peak-gib", "GiB", float64(most)/(1<<30), "device memory in buffers, sampled")
		return out, nil
	}
}

func tableRows(p *graph.Program) int {
	n := 0
	for i := range p.Tables {
		n += len(p.Tables[i].Y)
	}
	return n
}
