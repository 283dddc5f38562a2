package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/zkwarp/zkwarp/examples/digits"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// zkmlCases prove whole networks.
func zkmlCases() []Case {
	return slices.Concat([]Case{
		{Suite: "zkml", Name: "digits", About: "the digit model, 784-128-10, trained weights and a real image", Run: zkmlCase(digitsNetwork)},
		{Suite: "zkml", Name: "mlp-250k", About: "784-272-128-10 with 249 754 random weights, batch of one", Run: zkmlCase(randomNetwork)},
		{Suite: "zkml", Name: "mlp-tiny", About: "7-5-3 with random weights, for tests of the suite", Run: zkmlCase(tinyNetwork)},
		{Suite: "zkml", Name: "cnn-264k", About: "3 convolutions with maxima and 2 dense layers on 3x32x32 pixels, an ONNX file", Run: zkmlCase(convolutional)},
		{Suite: "zkml", Name: "nanogpt-250k", About: "GPT-2's form, 5 layers of width 64, 64 tokens, an ONNX file", Run: zkmlCase(decoderNetwork(nanoGPT))},
		{Suite: "zkml", Name: "bert-22m-64", About: "MiniLM-L6's shape, 22 million weights, 64 tokens, an ONNX file", Large: true, Run: zkmlCase(encoderNetwork(onnxtest.MiniLM(64)))},
		{Suite: "zkml", Name: "gpt2-124m-64", About: "GPT-2 small's shape with its head, 64 tokens, an ONNX file", Large: true, Run: zkmlCase(decoderNetwork(onnxtest.GPT2Small(64)))},
		{Suite: "zkml", Name: "qwen3-14b-layer", About: "one layer of Qwen3-14B's shape, 330 million random weights, 64 tokens", Large: true, Run: zkmlCase(qwenLayer)},
		{Suite: "zkml", Name: "nanogpt-250k-w8", About: "nanogpt-250k with weights of 8 bits", Run: zkmlCase(decoderNetwork(nanoGPT).narrow())},
		{Suite: "zkml", Name: "bert-22m-64-w8", About: "bert-22m-64 with weights of 8 bits", Large: true, Run: zkmlCase(encoderNetwork(onnxtest.MiniLM(64)).narrow())},
		{Suite: "zkml", Name: "gpt2-124m-64-w8", About: "gpt2-124m-64 with weights of 8 bits", Large: true, Run: zkmlCase(decoderNetwork(onnxtest.GPT2Small(64)).narrow())},
		{Suite: "zkml", Name: "qwen3-14b-layer-w8", About: "qwen3-14b-layer with weights of 8 bits", Large: true, Run: zkmlCase(network(qwenLayer).narrow())},
	}, chainCases())
}

// network makes a program with weights and an input.
type network func(e *Env) (*graph.Program, *graph.Weights, []int32, error)

// narrow is the network with weights of 8 bits, whose channels have scales of their own.
func (n network) narrow() network {
	return func(e *Env) (*graph.Program, *graph.Weights, []int32, error) { return n(e.narrow()) }
}

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
		start := time.Now()
		p, w, x, err := build(e)
		if err != nil {
			return nil, err
		}
		made := time.Since(start)
		e.step("set up after %.1f s", made.Seconds())
		start = time.Now()
		vk, pk, err := zkprover.Setup(e.Queue, p, w, &zkprover.SetupOptions{Progress: func(stage zkprover.Stage, done bool) {
			if !done {
				e.step("set up: %s", stage)
			}
		}})
		if err != nil {
			return nil, err
		}
		setup := time.Since(start)
		e.step("load the key after %.1f s", setup.Seconds())
		start = time.Now()
		key, err := pk.Load(e.Queue)
		if err != nil {
			return nil, err
		}
		defer key.Evict()
		if err := key.Wait(e.Ctx); err != nil {
			return nil, err
		}
		load := time.Since(start)
		e.step("prove")
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
		e.step("verify")
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
		constant("make-ms", "ms", float64(made.Microseconds())/1000, "the file read, calibrated and turned into a program, once")
		stages, err := stageTimes(e, key, x)
		return append(out, stages...), err
	}
}

// stageTimes measures the stages of proofs that wait for the device after each of them, which takes longer than a proof that does not.
func stageTimes(e *Env, key *zkprover.Resident, x []int32) ([]Measurement, error) {
	e.step("prove stage by stage")
	stages := zkprover.Stages()
	out := make([]Measurement, len(stages))
	for range e.Samples {
		var failed error
		last := time.Now()
		_, err := key.Prove(e.Queue, x, &zkprover.Options{Progress: func(stage zkprover.Stage, done bool) {
			if done {
				failed = errors.Join(failed, e.Queue.Sync())
				i := slices.Index(stages, stage)
				out[i].Samples = append(out[i].Samples, float64(time.Since(last).Microseconds())/1000)
			}
			last = time.Now()
		}})
		if err = errors.Join(err, failed); err != nil {
			return nil, err
		}
	}
	for i, s := range stages {
		out[i].Metric, out[i].Unit = "stage-"+strings.ReplaceAll(string(s), " ", "-")+"-ms", "ms"
		out[i].Note = "with a wait for the device after each stage"
	}
	return out, nil
}

func tableRows(p *graph.Program) int {
	n := 0
	for i := range p.Tables {
		n += len(p.Tables[i].Y)
	}
	return n
}
