package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	chain "github.com/zkwarp/zkwarp/zkml/chunks/prover"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/llm"
	"github.com/zkwarp/zkwarp/zkml/llm/llmtest"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// chainCases prove networks in parts.
func chainCases() []Case {
	cases := []Case{
		{Suite: "zkml", Name: "gpt2-124m-1024", About: "GPT-2 small's shape with its head, 1024 tokens, in parts", Large: true,
			Run: chainCase(gpt2Parts(onnxtest.GPT2Small(1024), 1<<60), 1)},
	}
	for _, gpus := range []int{1, 2, 4} {
		cases = append(cases, Case{Suite: "zkml", Name: fmt.Sprintf("qwen3-14b-%dgpu", gpus), Large: true, GPU: true,
			About: fmt.Sprintf("Qwen3-14B's shape, 14.8 billion random weights, 64 tokens, a part for each layer, on %d GPUs", gpus),
			Run:   chainCase(decoderParts(llmtest.Qwen3Shape(), 64), gpus)})
	}
	whole := decoderParts(llmtest.Qwen3Shape(), 64)
	return append(cases, Case{Suite: "zkml", Name: "qwen3-14b-1gpu-w8", Large: true, GPU: true, About: "qwen3-14b-1gpu with weights of 8 bits",
		Run: chainCase(func(e *Env) (*chunks.Cutting, []int32, string, error) { return whole(e.narrow()) }, 1)})
}

// parts is a network in parts, with an input.
type parts func(e *Env) (c *chunks.Cutting, x []int32, note string, err error)

// gpt2Parts cuts a network of GPT-2's form so that no part has more than limit committed entries.
func gpt2Parts(shape onnxtest.Transformer, limit int64) parts {
	return func(e *Env) (*chunks.Cutting, []int32, string, error) {
		p, w, x, err := decoderNetwork(shape)(e)
		if err != nil {
			return nil, nil, "", err
		}
		e.step("cut %d operations", len(p.Ops))
		before, err := chunks.Plan(p, limit, nil)
		if err != nil {
			return nil, nil, "", err
		}
		c, err := chunks.Cut(p, w, before)
		return c, x, "logits of all tokens", err
	}
}

// hiddenFormat is the codes of hidden states between the layers of decoderParts: 16 bits, for values up to 128. Its bounds are multiples of 8, so
// that tables whose results are that coarse reach them too.
var hiddenFormat = quant.Format{Lo: 8 - 1<<15, Hi: 1<<15 - 8, Scale: 1.0 / 256}

// hiddenSpread is the standard deviation of the hidden states on which layers are calibrated.
const hiddenSpread = 8

// decoderParts is a whole decoder, layer by layer. One layer is built and calibrated, from hidden states to hidden states of the same codes, and
// every layer is that program with random weights of its own: what a proof costs depends on shapes and formats, not on values.
func decoderParts(c *llm.Config, tokens int) parts {
	return func(e *Env) (*chunks.Cutting, []int32, string, error) {
		list, err := llm.Pieces(c, llm.Options{Tokens: tokens, LastToken: true}, 1)
		if err != nil {
			return nil, nil, "", err
		}
		if list[0].Embedding == (llm.Range{}) { // a vocabulary that is small, in a test
			if list, err = smallPieces(c, tokens); err != nil {
				return nil, nil, "", err
			}
		}
		d := &decoderMaker{e: e, c: c, tokens: tokens, cutting: &chunks.Cutting{Parts: make([]chunks.Part, len(list))}}
		if err := d.programs(list); err != nil {
			return nil, nil, "", err
		}
		d.wire(list)
		if err := d.weights(list); err != nil {
			return nil, nil, "", err
		}
		x := make([]int32, tokens)
		for i := range x {
			x[i] = int32(e.Rand.IntN(c.Vocabulary))
		}
		return d.cutting, x, "logits of the last token; one layer calibrated, every layer with random integers of its own for weights", nil
	}
}

// smallPieces are the pieces of a decoder whose vocabulary would not have to be cut: two of the embedding, two of the head.
func smallPieces(c *llm.Config, tokens int) ([]llm.Options, error) {
	half := graph.Pow2(c.Hidden) / 2
	columns := []int{half}
	for rest := c.Hidden - half; rest > 0; {
		n := graph.Pow2(rest)
		if n > rest {
			n /= 2
		}
		columns = append(columns, n)
		rest -= n
	}
	list := []llm.Options{{Embedding: llm.Range{To: half}}, {Embedding: llm.Range{From: half, To: c.Hidden}}}
	for i := range c.Layers {
		list = append(list, llm.Options{From: i, To: i + 1, Bare: true})
	}
	list[2].Columns = columns
	list = append(list, llm.Options{Head: llm.Range{To: 256}, LastToken: true}, llm.Options{Head: llm.Range{From: 256, To: c.Vocabulary}, LastToken: true})
	for i := range list {
		list[i].Tokens = tokens
	}
	return list, nil
}

type decoderMaker struct {
	e       *Env
	c       *llm.Config
	tokens  int
	cutting *chunks.Cutting
}

// kind says which pieces have the same program: all layers but the first, whose input comes in pieces.
func kind(o *llm.Options) int {
	if o.To > 1 {
		return 1
	}
	return 0
}

// programs builds and calibrates every piece that is unlike the ones before it, all at once.
func (d *decoderMaker) programs(list []llm.Options) error {
	model := -1 // the layer that stands for the others
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, o := range list {
		if kind(&o) == 1 {
			if model >= 0 {
				continue
			}
			model = i
		}
		seed := d.e.Rand.Uint64()
		all.Go(func() { d.cutting.Parts[i].Program, d.cutting.Parts[i].Weights, errs[i] = d.piece(o, seed) })
	}
	d.e.step("build and calibrate an embedding, two layers and a head")
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i := range list {
		if p := &d.cutting.Parts[i]; p.Program == nil {
			p.Program, p.Weights = d.cutting.Parts[model].Program, &graph.Weights{Data: slices.Clone(d.cutting.Parts[model].Weights.Data)}
		}
	}
	return nil
}

// embeddingFormat is the codes of embeddings: 10 bits, for values as large as hidden states.
var embeddingFormat = quant.Format{Lo: -512, Hi: 511, Scale: 1.0 / 32}

// piece makes the program of one piece.
func (d *decoderMaker) piece(o llm.Options, seed uint64) (*graph.Program, *graph.Weights, error) {
	rng := rand.New(rand.NewPCG(seed, 1))
	if o.Embedding != (llm.Range{}) {
		return d.embedding(o)
	}
	m, err := llm.Build(d.c, llmtest.Random{Seed: d.e.Seed}, o)
	if err != nil {
		return nil, nil, err
	}
	var given []quant.Format
	var sample []float64
	for _, id := range m.Inputs {
		f, draw := hiddenFormat, func() float64 { return hiddenSpread * rng.NormFloat64() }
		if len(o.Columns) > 0 {
			f, draw = embeddingFormat, func() float64 { return embeddingFormat.Scale * float64(rng.IntN(1024)-512) }
		}
		given = append(given, f)
		for range graph.Elements(m.Values[id].Shape) {
			sample = append(sample, draw())
		}
	}
	options := quant.Options{ResidualBits: 16, WeightBits: d.e.weightBits, Given: given}
	if o.Head == (llm.Range{}) {
		options.Taken = []quant.Format{hiddenFormat} // what one layer gives the next one takes
	}
	calibration, _, err := quant.Calibrate(m, [][]float64{sample}, options)
	if err != nil {
		return nil, nil, err
	}
	return quant.Build(m, calibration)
}

// embedding is columns of the embedding, without the way by floats: three gigabytes of them would be rounded and thrown away.
func (d *decoderMaker) embedding(o llm.Options) (*graph.Program, *graph.Weights, error) {
	b := graph.NewBuilder(fmt.Sprintf("embedding, columns %d to %d", o.Embedding.From, o.Embedding.To-1))
	tokens := b.Input(llm.TokensName, []int{d.tokens}, 0, int64(d.c.Vocabulary-1), 1)
	var out []graph.TensorID
	for at := o.Embedding.From; at < o.Embedding.To; {
		n := graph.Pow2(o.Embedding.To - at)
		for n > min(o.Embedding.To-at, graph.MaxElements/graph.Pow2(d.c.Vocabulary)) {
			n /= 2
		}
		v := make([]int32, d.c.Vocabulary*n)
		random(v, d.e.Seed+uint64(at), int32(embeddingFormat.Lo), int32(embeddingFormat.Hi))
		w := b.Param(fmt.Sprintf("embedding.columns%d", at), []int{d.c.Vocabulary, n}, v, embeddingFormat.Scale)
		out = append(out, b.Embed(fmt.Sprintf("hidden.columns%d", at), tokens, w, embeddingFormat.Scale))
		at += n
	}
	return b.BuildAll(out, nil)
}

// wire connects the parts: the first layer reads the embeddings' pieces, every other one the layer before it, the head the last one.
func (d *decoderMaker) wire(list []llm.Options) {
	var embeddings []chunks.Source
	layer := chunks.Source{Part: -1}
	for i := range list {
		p := &d.cutting.Parts[i]
		switch o := &list[i]; {
		case o.Embedding != (llm.Range{}):
			p.Inputs = []chunks.Source{{Part: -1}}
			for k := range p.Program.Outputs {
				embeddings = append(embeddings, chunks.Source{Part: i, Index: k})
			}
		case o.Head != (llm.Range{}):
			p.Inputs = []chunks.Source{layer}
			d.cutting.Outputs = append(d.cutting.Outputs, chunks.Source{Part: i})
		default:
			if p.Inputs = []chunks.Source{layer}; len(o.Columns) > 0 {
				p.Inputs = embeddings
			}
			layer = chunks.Source{Part: i}
		}
	}
}

// ownWeights is the number of elements from which on a layer has weights of its own; smaller tensors are gains, masks and angles.
const ownWeights = 1 << 8

// weights gives every layer weights of its own, of the range that those of the layer have which was built. Layers are made side by side, each with
// memory for one tensor as 32-bit integers.
func (d *decoderMaker) weights(list []llm.Options) error {
	d.e.step("make weights for %d parts", len(list))
	// Layers that are one program have copies of one layer's weights so far.
	type tensor struct {
		program *graph.Program
		id      graph.TensorID
	}
	ranges := map[tensor][2]int32{}
	var layers []int
	for i, o := range list {
		if kind(&o) == 0 {
			continue
		}
		layers = append(layers, i)
		p := &d.cutting.Parts[i]
		for _, id := range p.Program.Params() {
			old, of := p.Weights.Of(id), tensor{p.Program, id}
			if _, ok := ranges[of]; ok || old.Len() < ownWeights || !strings.HasSuffix(p.Program.Tensor(id).Name, ".weight") {
				continue
			}
			v := old.Ints()
			ranges[of] = [2]int32{slices.Min(v), slices.Max(v)}
		}
	}
	parallel.For(len(layers), 1, func(from, to int) {
		for _, i := range layers[from:to] {
			p := &d.cutting.Parts[i]
			for k, id := range p.Program.Params() {
				r, ok := ranges[tensor{p.Program, id}]
				if !ok || d.e.Ctx.Err() != nil {
					continue
				}
				v := make([]int32, p.Weights.Of(id).Len())
				random(v, d.e.Seed+uint64(i)<<20+uint64(k)<<10, r[0], r[1])
				p.Weights.Data[id] = graph.NewValues(v)
			}
		}
	})
	return d.e.Ctx.Err()
}

// random fills v with numbers from lo to hi on all cores, four of each draw.
func random(v []int32, seed uint64, lo, hi int32) {
	const block = 1 << 16
	n := uint64(hi-lo) + 1
	parallel.For((len(v)+block-1)/block, 1, func(from, to int) {
		for b := from; b < to; b++ {
			rng := rand.NewPCG(seed, uint64(b))
			part := v[b*block : min((b+1)*block, len(v))]
			for len(part) > 0 {
				r := rng.Uint64()
				for k := range min(4, len(part)) {
					part[k] = lo + int32(r&0xffff*n>>16)
					r >>= 16
				}
				part = part[min(4, len(part)):]
			}
		}
	})
}

// chainDevices is the first n GPUs, or the device that is measured.
func chainDevices(e *Env, n int) ([]*device.Device, error) {
	if n == 1 {
		return []*device.Device{e.Queue.Device()}, nil
	}
	all, err := device.OpenList("cuda:all")
	if err == nil && len(all) < n {
		err = fmt.Errorf("there are %d", len(all))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %d GPUs: %w", ErrSkip, n, err)
	}
	return all[:n], nil
}

// chainCase measures proving in parts on so many GPUs, with keys made beforehand.
func chainCase(build parts, gpus int) func(*Env) ([]Measurement, error) {
	return func(e *Env) (out []Measurement, err error) {
		devices, err := chainDevices(e, gpus)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		cutting, x, note, err := build(e)
		if err != nil {
			return nil, err
		}
		r := &chainRun{e: e, devices: devices, cutting: cutting, x: x, made: time.Since(start)}
		defer func() { err = errors.Join(err, r.close()) }()
		return r.measure(note)
	}
}

type chainRun struct {
	e       *Env
	devices []*device.Device
	cutting *chunks.Cutting
	x       []int32
	chain   *chunks.Chain
	keys    []*zkprover.ProvingKey
	loaded  *chain.Loaded
	last    *chain.Result
	made    time.Duration
}

func (r *chainRun) close() error {
	if r.loaded == nil {
		return nil
	}
	return r.loaded.Close()
}

// setup makes the keys, on two queues of each device: what the host does for one key goes on beside what the device does for another.
func (r *chainRun) setup() error {
	var queues []*device.Queue
	var errs []error
	for range 2 {
		for _, d := range r.devices {
			q, err := d.NewQueue(r.e.Ctx)
			if err != nil {
				return err
			}
			queues = append(queues, q)
		}
	}
	if r.devices[0].Kind() != device.CUDA {
		queues = queues[:1]
	}
	var err error
	r.chain, r.keys, err = chain.SetupOn(queues, r.cutting, nil)
	for _, q := range queues {
		errs = append(errs, q.Close())
	}
	return errors.Join(append(errs, err)...)
}

func (r *chainRun) measure(note string) ([]Measurement, error) {
	e := r.e
	e.step("set up %d parts after %.1f s", len(r.cutting.Parts), r.made.Seconds())
	start := time.Now()
	if err := r.setup(); err != nil {
		return nil, err
	}
	return r.proofs(note, time.Since(start))
}

// proofs measures proofs with the keys that there are.
func (r *chainRun) proofs(note string, setup time.Duration) (out []Measurement, err error) {
	e := r.e
	if r.loaded, err = chain.On(r.devices, r.chain, r.keys); err != nil {
		return nil, err
	}
	for _, line := range r.loaded.Memory().Lines(r.chain) {
		e.step("%s", line)
	}
	e.step("load the keys that stay after %.1f s", setup.Seconds())
	start := time.Now()
	if err := r.loaded.Load(e.Ctx); err != nil {
		return nil, err
	}
	load := time.Since(start)
	e.step("prove after %.1f s", load.Seconds())
	var result *chain.Result
	var peaks []func() int64
	for _, d := range r.devices {
		peaks = append(peaks, WatchMemory(d))
	}
	var stages chainStages
	prove, err := e.Time("prove-ms", 1, nil, func() (err error) {
		if result, err = r.loaded.Prove(e.Ctx, r.x, nil); err == nil {
			stages.add(result)
		}
		return err
	})
	most := int64(0)
	for _, peak := range peaks {
		most = max(most, peak())
	}
	if err != nil {
		return nil, err
	}
	e.step("verify")
	verify, err := e.Time("verify-ms", 1, nil, func() error { return chunks.Verify(r.chain, r.x, result.Y, result.Proof, nil) })
	if err != nil {
		return nil, err
	}
	y := slices.Clone(result.Y)
	y[0]++
	if err := chunks.Verify(r.chain, r.x, y, result.Proof, nil); !errors.Is(err, zkml.ErrRejected) {
		return nil, fmt.Errorf("another output: %v, want a rejection", err)
	}
	r.last = result
	return r.rows(note, result, setup, load, most, prove, verify, &stages), nil
}

func (r *chainRun) rows(note string, result *chain.Result, setup, load time.Duration, most int64, prove, verify Measurement, stages *chainStages) []Measurement {
	weights, stay, narrow := 0, 0, 0
	for k := range r.cutting.Parts {
		weights += r.cutting.Parts[k].Weights.Count()
		if p := &r.loaded.Memory().Parts[k]; p.Stays {
			stay++
			if p.Form == zkprover.Narrow {
				narrow++
			}
		}
	}
	proofs, boundaries, hash := 0, 0, sha256.New()
	for k, p := range result.Proof.Proofs {
		hash.Write(p)
		proofs += len(p)
		boundaries += 4 * len(result.Proof.Y[k])
	}
	n := len(r.cutting.Parts)
	prove.Proof = hex.EncodeToString(hash.Sum(nil))
	loads := ""
	if stay < n {
		loads = ", and the others are loaded and committed to each time"
	}
	prove.Note = fmt.Sprintf("%d weights in %d parts on %d devices, %d keys stay loaded, %d of them narrow%s; %s", weights, n, len(r.devices), stay, narrow, loads, note)
	verify.Note = "the keys' own proofs are checked in the cold run only"
	out := []Measurement{prove, verify}
	constant := func(metric, unit string, v float64, note string) {
		out = append(out, Constant(metric, unit, v, note, prove.Proof, len(prove.Samples)))
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	constant("proof-kib", "KiB", float64(proofs)/1024, "all parts' proofs")
	constant("boundary-kib", "KiB", float64(boundaries-4*len(result.Y))/1024, "values between the parts, which the verifier sees, as 32-bit integers")
	constant("bits-sum", "bits", r.chain.Security(), "")
	constant("parts", "parts", float64(n), "")
	constant("make-ms", "ms", ms(r.made), "programs calibrated and weights made, once")
	constant("setup-ms", "ms", ms(setup), "all keys, once, cold")
	constant("load-ms", "ms", ms(load), "the keys that stay, once")
	constant("peak-gib", "GiB", float64(most)/(1<<30), "device memory in buffers, sampled; of the device with most")
	return append(out, stages.rows(len(prove.Samples))...)
}

// chainStages adds up the times of all parts, a sample for each proof.
type chainStages struct{ samples map[string][]float64 }

func (s *chainStages) add(result *chain.Result) {
	if s.samples == nil {
		s.samples = map[string][]float64{}
	}
	sums := map[string]time.Duration{}
	for _, p := range result.Parts {
		for _, t := range p.Timings {
			sums[string(t.Stage)] += t.Time
		}
		sums["load"] += p.Load
		sums["load wait"] += p.LoadWait
	}
	for _, d := range result.Devices {
		sums["input wait"] = max(sums["input wait"], d.Waited)
	}
	for stage, d := range sums {
		s.samples[stage] = append(s.samples[stage], float64(d.Microseconds())/1000)
	}
}

// rows are the last samples of every stage: the first two proofs are cold and warm-up.
func (s *chainStages) rows(samples int) []Measurement {
	names := make([]string, 0, len(s.samples))
	for _, stage := range zkprover.Stages() {
		names = append(names, string(stage))
	}
	var out []Measurement
	for _, name := range append(names, "load", "load wait", "input wait") {
		list := s.samples[name]
		if len(list) < samples || slices.Max(list) == 0 {
			continue
		}
		note := "of all parts, by the host's clock, without waiting for a device after the stage"
		switch name {
		case "load":
			note = "of all keys that do not stay: weights to the device and the commitment to them, beside proofs"
		case "load wait":
			note = "of all parts, for their keys"
		case "input wait":
			note = "of the device that waits most, for outputs of parts on others"
		}
		out = append(out, Measurement{Metric: "stage-" + strings.ReplaceAll(name, " ", "-") + "-ms", Unit: "ms", Samples: list[len(list)-samples:], Note: note})
	}
	return out
}
