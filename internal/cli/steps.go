package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/llm"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// This file holds the steps that several verbs share.

// modelFlags are the flags of verbs that read an ONNX model.
type modelFlags struct {
	dims, consts, ranges, outputs []string
	batch                         int
	// Of decoders.
	tokens int
	last   bool
	layers string
	noted  *onnx.Choices // by a calibration; what the flags say agrees with it
}

func (f *modelFlags) register(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.dims, "dim", nil, "length of a symbolic axis: NAME=LENGTH, or INPUT:AXIS=LENGTH (a first axis without one is 1)")
	c.Flags().IntVar(&f.batch, "batch", 1, "inputs in one proof: the length of first axes that have a symbolic one and no --dim")
	c.Flags().StringArrayVar(&f.consts, "const", nil, "fix an input, INPUT=NUMBER for all of its elements: a mask that hides nothing, a switch")
	c.Flags().StringArrayVar(&f.ranges, "range", nil, "bound an input of integers that are neither tokens nor masks, INPUT=LOW:HIGH")
	c.Flags().IntVar(&f.tokens, "tokens", 0, "for a folder with a decoder: the number of tokens that a proof is about")
	c.Flags().BoolVar(&f.last, "last-token", false, "for a folder with a decoder: scores after the last token only")
	c.Flags().StringArrayVar(&f.outputs, "select", nil, "an output to keep, by name; may be repeated (default: all of them)")
}

// adopt takes from a calibration what the importer was told for it: flags need not be repeated, and those that are given must say the same.
func (f *modelFlags) adopt(path string, c *quant.Calibration) error {
	if o, ok := llm.OptionsOf(c.Dims); ok {
		if f.tokens != 0 && f.tokens != o.Tokens {
			return usageError("--tokens %d contradicts calibration %s, which is of %d tokens", f.tokens, path, o.Tokens)
		}
		f.tokens, f.last = o.Tokens, f.last || o.LastToken // that only the last of several pieces notes
		f.layers = layers{o.From, o.To}.String()
		return nil
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(o.Fix)) {
		if v, fixed := c.Choices.Fix[name]; !fixed || math.Float64bits(v) != math.Float64bits(o.Fix[name]) {
			return usageError("--const %s=%v contradicts calibration %s, which has %s", name, o.Fix[name], path, &c.Choices)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Ranges)) {
		if r, ranged := c.Choices.Ranges[name]; !ranged || r != o.Ranges[name] {
			return usageError("--range %s=%d:%d contradicts calibration %s, which has %s", name, o.Ranges[name][0], o.Ranges[name][1], path, &c.Choices)
		}
	}
	if len(f.outputs) > 0 && !slices.Equal(f.outputs, c.Choices.Outputs) {
		return usageError("--select %s contradicts calibration %s, which has %s", strings.Join(f.outputs, " --select "), path, &c.Choices)
	}
	f.noted = &c.Choices
	// Axes have several names, so that lengths are compared when the model has been read.
	if len(f.dims) > 0 || f.batch > 1 {
		return nil
	}
	for name, n := range c.Dims {
		f.dims = append(f.dims, fmt.Sprintf("%s=%d", name, n))
	}
	return nil
}

// options are the flags for the importer.
func (f *modelFlags) options() (onnx.Options, error) {
	o := onnx.Options{Dims: map[string]int{}, Fix: map[string]float64{}, Ranges: map[string][2]int64{}, Outputs: f.outputs}
	for _, d := range f.dims {
		name, value, ok := cutLast(d)
		n, err := strconv.Atoi(value)
		if !ok || name == "" || err != nil || n < 1 {
			return o, usageError("--dim %q: want name=length, such as batch=1", d)
		}
		if _, twice := o.Dims[name]; twice {
			return o, usageError("--dim %s is given twice", name)
		}
		o.Dims[name] = n
	}
	for _, d := range f.consts {
		name, value, ok := cutLast(d)
		v, err := strconv.ParseFloat(value, 64)
		if !ok || name == "" || err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return o, usageError("--const %q: want input=number, such as attention_mask=1", d)
		}
		if _, twice := o.Fix[name]; twice {
			return o, usageError("--const %s is given twice", name)
		}
		o.Fix[name] = v
	}
	for _, d := range f.ranges {
		name, value, ok := cutLast(d)
		low, high, both := strings.Cut(value, ":")
		lo, errLow := strconv.ParseInt(low, 10, 64)
		hi, errHigh := strconv.ParseInt(high, 10, 64)
		if !ok || !both || name == "" || errLow != nil || errHigh != nil || lo >= hi {
			return o, usageError("--range %q: want input=low:high, such as bytes=0:255", d)
		}
		if _, twice := o.Ranges[name]; twice {
			return o, usageError("--range %s is given twice", name)
		}
		o.Ranges[name] = [2]int64{lo, hi}
	}
	if f.noted != nil {
		o.Fix, o.Ranges, o.Outputs = f.noted.Fix, f.noted.Ranges, f.noted.Outputs
	}
	return o, nil
}

// cutLast cuts NAME=VALUE; names may have equals signs.
func cutLast(s string) (name, value string, ok bool) {
	i := strings.LastIndexByte(s, '=')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// loadModel reads and checks a model.
func (a *app) loadModel(path string, f modelFlags) (*onnx.Model, error) {
	if isFolder(path) {
		return a.loadDecoder(path, f)
	}
	if f.tokens != 0 || f.last {
		return nil, usageError("--tokens and --last-token are for folders with a decoder; model %s is a file", path)
	}
	data, err := a.readFile("model", path)
	if err != nil {
		return nil, err
	}
	return a.loadModelData(path, data, f)
}

// loadModelData is loadModel for the contents of a file.
func (a *app) loadModelData(path string, data []byte, f modelFlags) (*onnx.Model, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	o.Folder = modelFolder(path)
	if f.batch < 1 || f.batch > graph.MaxElements {
		return nil, usageError("--batch %d: want 1 to %d", f.batch, graph.MaxElements)
	}
	m, err := onnx.Parse(data, o)
	if err != nil || f.batch == 1 {
		return m, modelError(path, err)
	}
	// What was given no length became 1.
	found := false
	for name, n := range m.Dims {
		if _, given := o.Dims[name]; !given && n == 1 {
			o.Dims[name], found = f.batch, true
		}
	}
	if !found {
		return nil, usageError("--batch %d: no input of model %s has a symbolic first axis left; they are %s", f.batch, path, tensorio.InputsText(modelInputs(m)))
	}
	m, err = onnx.Parse(data, o)
	return m, modelError(path, err)
}

// modelFolder is where a model may keep data in files beside it; standard input has no such place.
func modelFolder(path string) string {
	if path == "-" {
		return ""
	}
	return filepath.Dir(path)
}

// modelError gives an error about a model the right exit code.
func modelError(path string, err error) error {
	if err == nil {
		return nil
	}
	code := ExitInput
	switch {
	case errors.Is(err, onnx.ErrOption), errors.Is(err, quant.ErrOption):
		code = ExitUsage
	case errors.Is(err, onnx.ErrUnsupported):
		code = ExitUnsupported
	}
	return withCode(code, fmt.Errorf("model %s: %w", path, err))
}

// loadCalibration reads a .zkcal file.
func (a *app) loadCalibration(path string) (*quant.Calibration, error) {
	data, err := a.readFile("calibration", path)
	if err != nil {
		return nil, err
	}
	c, err := quant.Decode(data)
	if err != nil {
		return nil, inputError("calibration %s: %w", path, err)
	}
	return c, nil
}

// loadProgram rebuilds the integer program from its two files.
func (a *app) loadProgram(model, calibration string, f modelFlags) (*graph.Program, *graph.Weights, error) {
	p, w, _, err := a.loadProgramLayers(model, calibration, f)
	return p, w, err
}

// loadProgramLayers is loadProgram, with the layers that it has if it is a decoder's.
func (a *app) loadProgramLayers(model, calibration string, f modelFlags) (*graph.Program, *graph.Weights, *layers, error) {
	c, err := a.loadCalibration(calibration)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := f.adopt(calibration, c); err != nil {
		return nil, nil, nil, err
	}
	m, err := a.loadModel(model, f)
	if errors.Is(err, onnx.ErrOption) && !c.Choices.Equal(new(onnx.Choices)) {
		err = withCode(ExitInput, fmt.Errorf("%w; calibration %s is of a model with %s", err, calibration, &c.Choices))
	}
	if err != nil {
		return nil, nil, nil, err
	}
	p, w, err := quant.Build(m, c)
	if err != nil {
		return nil, nil, nil, modelError(model, fmt.Errorf("with calibration %s: %w", calibration, err))
	}
	return p, w, decoderLayers(c), nil
}

func (a *app) loadVerifyingKey(path string) (*zkml.VerifyingKey, error) {
	data, err := a.readFile("key", path)
	if err != nil {
		return nil, err
	}
	return decodeVerifyingKey(path, data)
}

func decodeVerifyingKey(path string, data []byte) (*zkml.VerifyingKey, error) {
	switch artefact(data) {
	case zkml.MagicProvingKey:
		return nil, inputError("key %s is a prover's key; verifying takes the .vk file", path)
	case chunks.MagicChain:
		return nil, inputError("key %s is of a chain, where the key of one program is wanted", path)
	}
	vk, err := zkml.DecodeVerifyingKey(data)
	if err != nil {
		return nil, inputError("key %s: %w", path, err)
	}
	return vk, nil
}

// loadProvingKey reads a prover's key. What takes long to check about a large one is found out beside the proof: see keyError.
func (a *app) loadProvingKey(path string) (*zkprover.ProvingKey, error) {
	data, large, err := a.mapFile("key", path)
	if err != nil {
		return nil, err
	}
	switch artefact(data) {
	case zkml.MagicVerifyingKey:
		return nil, inputError("key %s is a verifier's key; proving takes the .pk file", path)
	case chunks.MagicChain:
		return nil, inputError("key %s is a verifiers' key of a chain; proving takes the .pk folder", path)
	}
	if large {
		pk, err := zkprover.OpenProvingKey(data)
		if err != nil {
			return nil, inputError("key %s: %w", path, err)
		}
		return pk, nil
	}
	pk, err := zkprover.DecodeProvingKey(data)
	if err != nil {
		return nil, inputError("key %s: %w", path, err)
	}
	// Proofs under a spoiled key would be worth nothing to anybody.
	if err := pk.VerifyingKey().Check(); err != nil {
		return nil, inputError("key %s: %w", path, err)
	}
	return pk, nil
}

// artefact is the magic string that a file begins with, if it is long enough.
func artefact(data []byte) string {
	return string(data[:min(8, len(data))])
}

// work is the number of multiply-adds and table look-ups of a program, by
// which automatic choice decides about the device.
func work(p *graph.Program) int {
	n := 0
	for _, op := range p.Ops {
		n += opWork(p, op)
	}
	return n
}

func opWork(p *graph.Program, op graph.Op) int {
	switch o := op.(type) {
	case graph.Linear:
		return p.Tensor(o.Out).Len() * len(o.Terms)
	case graph.Einsum:
		n := p.Tensor(o.Out).Len()
		extents := p.Extents(o)
		for _, l := range o.Roles().Sum {
			n *= extents[l]
		}
		return n
	case graph.Lookup, graph.Pair, graph.Threshold:
		return p.Tensor(op.Outputs()[0]).Len()
	}
	return 0
}

// onDevice runs body on a queue of the device that the flags and the size of
// the work choose. Errors of the device say so; those of the body that are
// about something else are for the caller to class.
func (a *app) onDevice(ctx context.Context, name string, size int, body func(*device.Queue) error) error {
	return a.onDeviceFor(ctx, name, "zkml", size, body)
}

// onDeviceFor is onDevice for an operation whose threshold decides under auto.
func (a *app) onDeviceFor(ctx context.Context, name, op string, size int, body func(*device.Queue) error) error {
	var about error
	err := device.Run(name, op, size, func(d *device.Device) error {
		if a.memory > 0 {
			d.SetBudget(int64(a.memory))
		}
		q, err := d.NewQueue(ctx)
		if err != nil {
			return err
		}
		about = body(q)
		if err = q.Close(); err != nil {
			return errors.Join(about, err)
		}
		return about
	})
	if about != nil {
		return err
	}
	return withCode(ExitDevice, err)
}

// stages shows the prover's stages as progress.
func stages(p *progress) func(zkprover.Stage, bool) {
	return func(s zkprover.Stage, done bool) {
		if !done {
			p.begin(string(s))
		}
	}
}

// keyError classes an error that a proof has found about its key.
func keyError(err error) error {
	if errors.Is(err, zkprover.ErrKey) {
		return withCode(ExitInput, err)
	}
	return err
}

// planned says what memory of a device a proof takes, before anything is done: with the key as proofs read it, or else as narrow as it gets. What is more
// than the device may give either way is refused.
func (a *app) planned(d *device.Device, pk *zkprover.ProvingKey) (zkprover.Form, error) {
	limit, err := d.Budget()
	if err != nil {
		return 0, err
	}
	may := "no limit"
	if limit > 0 {
		may = sizeText(limit)
	}
	names := []string{zkprover.Wide: "wide", zkprover.Narrow: "narrow"}
	if d.Kind() == device.CPU {
		names = names[:1]
	}
	var key, proof int64
	for form, name := range names {
		k, p, err := pk.MemoryAs(zkprover.Form(form))
		if err != nil {
			return 0, err
		}
		a.log.Info("memory", "device", d.Name(), "form", name, "key", sizeText(k), "proof", sizeText(p), "limit", may)
		if limit <= 0 || k+p <= limit {
			return zkprover.Form(form), nil
		}
		if form == 0 || k+p < key+proof {
			key, proof = k, p
		}
	}
	return 0, &device.Error{Device: d.Name(), Op: "plan memory", Bytes: key + proof, Class: device.ErrNoMemory, Text: fmt.Sprintf(
		"%s for the key and %s for the proof, about, over the limit of %s: make the keys with --chunk-budget-gb %s, for proofs in parts that fit, or raise --memory-budget",
		sizeText(key), sizeText(proof), sizeText(limit), strconv.FormatFloat(float64(limit)/1e9, 'g', 3, 64))}
}

// warnMemory says of a key that was made on a device if its proofs will need more memory than that may give, or than the machine has.
func (a *app) warnMemory(d *device.Device, pk *zkprover.ProvingKey) error {
	const what = "a proof with this key will not fit"
	var none *device.Error
	switch _, err := a.planned(d, pk); {
	case errors.Is(err, device.ErrNoMemory) && errors.As(err, &none):
		a.log.Warn(what, "device", d.Name(), "reason", none.Text)
		return nil
	case err != nil:
		return err
	case d.Kind() != device.CPU || a.Memory == nil:
		return nil
	}
	key, proof, err := pk.Memory()
	if err != nil {
		return err
	}
	if have := a.Memory(); have > 0 && key+proof > have {
		a.log.Warn(what, "device", d.Name(), "reason", fmt.Sprintf("%s for the key and %s for the proof, about, and %s are available: make the keys with --chunk-budget-gb %s, for proofs in parts that fit",
			sizeText(key), sizeText(proof), sizeText(have), strconv.FormatFloat(float64(have)/1e9, 'g', 3, 64)))
	}
	return nil
}

// proveOnce proves one input; salts are of what the key has committed.
func (a *app) proveOnce(ctx context.Context, name string, pk *zkprover.ProvingKey, x []int32, salts [][32]byte, tie []byte) (*proved, error) {
	program := pk.VerifyingKey().Program()
	if err := a.enough("proving", proofBytes(program)); err != nil {
		return nil, err
	}
	out := &proved{}
	p := a.startProgress("prove", len(zkprover.Stages()))
	defer p.end()
	err := a.onDevice(ctx, name, work(program), func(q *device.Queue) error {
		form, err := a.planned(q.Device(), pk)
		if err != nil {
			return err
		}
		start, key := time.Now(), pk.OnAs(q.Device(), form)
		if err := key.Load(q, nil); err != nil {
			return err
		}
		defer key.Evict()
		out.load = time.Since(start)
		before, stats, start := q.Device().Launches(), q.Stats(), time.Now()
		r, err := key.Prove(q, x, &zkprover.Options{Context: tie, Salts: salts, Progress: stages(p)})
		if err != nil {
			return err
		}
		out.Result, out.time, out.device, out.stats = r, time.Since(start), q.Device(), q.Stats().Since(stats)
		out.kernels = q.Device().LaunchesSince(before)
		return nil
	})
	return out, keyError(err)
}

type proved struct {
	*zkprover.Result
	load   time.Duration // putting the key into the device's memory
	time   time.Duration
	device *device.Device
	stats  device.Stats // of the proof alone
	// kernels counts the proof's launches by kernel, setup's left out.
	kernels map[string]int64
}

// setupKeys makes the keys of a program.
func (a *app) setupKeys(ctx context.Context, name string, prog *graph.Program, w *graph.Weights, o zkprover.SetupOptions) (vk *zkml.VerifyingKey, pk *zkprover.ProvingKey, took time.Duration, err error) {
	p := a.startProgress("setup", len(zkprover.Stages()))
	defer p.end()
	o.Progress = stages(p)
	err = a.onDevice(ctx, name, work(prog), func(q *device.Queue) error {
		start := time.Now()
		vk, pk, err = zkprover.Setup(q, prog, w, &o)
		took = time.Since(start)
		if err == nil {
			err = a.warnMemory(q.Device(), pk)
		}
		return err
	})
	if errors.Is(err, whir.ErrInfeasible) {
		return nil, nil, 0, withCode(ExitUsage, err)
	}
	return vk, pk, took, withCode(ExitUnsupported, err)
}
