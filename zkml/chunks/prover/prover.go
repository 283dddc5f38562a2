package prover

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/prover"
)

// Setup makes the keys of a program's parts. Errors of n parts add up, so each part's key gets log2 n bits of security more than a single
// program's would.
func Setup(q *device.Queue, c *chunks.Cutting, opts *prover.SetupOptions) (*chunks.Chain, []*prover.ProvingKey, error) {
	var each prover.SetupOptions
	if opts != nil {
		each = *opts
	}
	each.Security = max(each.Security, zkml.MinSecurity) + graph.Log2(len(c.Parts))
	var vks []*zkml.VerifyingKey
	var pks []*prover.ProvingKey
	var inputs [][]chunks.Source
	for k, part := range c.Parts {
		vk, pk, err := prover.Setup(q, part.Program, part.Weights, &each)
		if err != nil {
			return nil, nil, fmt.Errorf("part %d of %d: %w", k+1, len(c.Parts), err)
		}
		vks, pks, inputs = append(vks, vk), append(pks, pk), append(inputs, part.Inputs)
	}
	chain, err := chunks.NewChain(vks, inputs, c.Outputs)
	return chain, pks, err
}

// Options of Prove; nil means none.
type Options struct {
	Context []byte // verifiers must use the same bytes
	// Progress, if set, is called when a part begins (done false) and ends, on the goroutine of its device.
	Progress func(part int, on *device.Device, done bool)
	// Stage, if set, is called likewise for each stage of a part's proof.
	Stage func(part int, on *device.Device, stage prover.Stage, done bool)
	// Kept, if set, is asked before a part is proved, when its input x is known, whether there is a proof already: its outputs and the proof,
	// in the chain's context (Chain.Context). The caller answers for them; Verify would find out.
	Kept func(part int, x []int32) (y []int32, proof []byte, ok bool)
	// Proved, if set, is given the outputs and the proof of each part as soon as it is made. An error counts as one of the part.
	Proved func(part int, y []int32, proof []byte) error
}

// Result is a proof of a chain with what it is about.
type Result struct {
	Y        []int32
	Proof    *chunks.Proof
	Warnings []string
	Devices  []Report
	Parts    []PartReport
}

// PartReport says how one part was proved.
type PartReport struct {
	Device  string
	Kept    bool // not proved, as there was a proof
	Time    time.Duration
	Timings []prover.Timing // of the stages
}

// Report says what one device did.
type Report struct {
	Name  string
	Parts []int
	// Busy is the time of its proofs; Waited that for outputs of other devices.
	Busy, Waited time.Duration
	Need         int64 // greatest estimate of a part
	Memory       int64 // that the device had to give
}

// Prove proves a chain on devices. Each device has one goroutine, which proves the device's parts in the order of the chain; a part begins as
// soon as the outputs that it reads are known, which is before they are proved. The first error of every part is returned, all joined; parts that
// wait for one that failed are not begun. The proof does not depend on devices or order.
func Prove(ctx context.Context, devices []*device.Device, chain *chunks.Chain, keys []*prover.ProvingKey, x []int32, opts *Options) (*Result, error) {
	if opts == nil {
		opts = new(Options)
	}
	if len(keys) != len(chain.Keys()) {
		return nil, fmt.Errorf("chain: %d proving keys for %d parts", len(keys), len(chain.Keys()))
	}
	for k, vk := range chain.Keys() {
		if keys[k].VerifyingKey().Digest() != vk.Digest() {
			return nil, fmt.Errorf("chain: the proving key of part %d is of another program", k+1)
		}
	}
	r := &run{ctx: ctx, chain: chain, keys: keys, x: x, opts: opts, y: make([][]int32, len(keys)), proofs: make([][]byte, len(keys))}
	for range keys {
		r.known = append(r.known, make(chan struct{}))
	}
	need := make([]int64, len(keys))
	for k, pk := range keys {
		key, proof, err := pk.Memory()
		if err != nil {
			return nil, fmt.Errorf("chain: part %d: %w", k+1, err)
		}
		need[k] = key + proof
	}
	memory := make([]int64, len(devices))
	for d, dev := range devices {
		var err error
		if memory[d], err = dev.Budget(); err != nil {
			return nil, fmt.Errorf("chain: memory of %s: %w", dev.Name(), err)
		}
	}
	a, err := Assign(need, memory)
	if err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	result := &Result{Warnings: a.Warnings, Devices: make([]Report, len(devices)), Parts: make([]PartReport, len(keys))}
	r.reports = result.Parts
	errs := make([]error, len(devices))
	var all sync.WaitGroup
	for d, dev := range devices {
		report := &result.Devices[d]
		report.Name, report.Memory = dev.Name(), memory[d]
		for k, at := range a.Device {
			if at == d {
				report.Parts = append(report.Parts, k)
				report.Need = max(report.Need, need[k])
			}
		}
		all.Go(func() { errs[d] = r.device(dev, report) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	result.Proof = &chunks.Proof{Y: r.y, Proofs: r.proofs}
	result.Y, err = chain.Output(r.y)
	return result, err
}

// run is the state of one proof of a chain.
type run struct {
	ctx     context.Context
	chain   *chunks.Chain
	keys    []*prover.ProvingKey
	x       []int32
	opts    *Options
	mu      sync.Mutex
	y       [][]int32
	proofs  [][]byte
	reports []PartReport    // each written by the goroutine of its device
	known   []chan struct{} // closed when a part's outputs are known, or never will be
}

// device proves a device's parts.
func (r *run) device(dev *device.Device, report *Report) error {
	if len(report.Parts) == 0 {
		return nil
	}
	var errs []error
	q, err := dev.NewQueue(r.ctx)
	if err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", dev.Name(), err))
	}
	for _, k := range report.Parts {
		if err == nil {
			if e := r.part(q, k, report); e != nil && !errors.Is(e, errNoInput) {
				errs = append(errs, fmt.Errorf("%s on %s: %w", r.chain.PartName(k), dev.Name(), e))
			}
		}
		r.finish(k)
	}
	if err == nil {
		errs = append(errs, q.Close())
	}
	return errors.Join(errs...)
}

// finish lets others stop waiting for a part.
func (r *run) finish(k int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.known[k]:
	default:
		close(r.known[k])
	}
}

// errNoInput says that a part was not begun because one before it failed.
var errNoInput = errors.New("a part before it failed")

func (r *run) part(q *device.Queue, k int, report *Report) error {
	start := time.Now()
	for _, before := range r.chain.Reads(k) {
		select {
		case <-r.known[before]:
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
	report.Waited += time.Since(start)
	r.mu.Lock()
	for _, before := range r.chain.Reads(k) {
		if r.y[before] == nil {
			r.mu.Unlock()
			return errNoInput
		}
	}
	x, err := r.chain.PartInput(k, r.x, r.y)
	r.mu.Unlock()
	if err != nil {
		return err
	}
	if r.opts.Progress != nil {
		r.opts.Progress(k, q.Device(), false)
		defer r.opts.Progress(k, q.Device(), true)
	}
	part := &r.reports[k]
	part.Device = q.Device().Name()
	known := func(y []int32) {
		r.mu.Lock()
		r.y[k] = y
		r.mu.Unlock()
		r.finish(k)
	}
	if r.opts.Kept != nil {
		if y, proof, ok := r.opts.Kept(k, x); ok {
			part.Kept = true
			r.proofs[k] = proof
			known(y)
			return nil
		}
	}
	o := &prover.Options{Context: r.chain.Context(k, r.opts.Context), Output: known}
	if r.opts.Stage != nil {
		o.Progress = func(stage prover.Stage, done bool) { r.opts.Stage(k, q.Device(), stage, done) }
	}
	start = time.Now()
	result, err := prover.Prove(q, r.keys[k], x, o)
	part.Time = time.Since(start)
	report.Busy += part.Time
	if err != nil {
		return err
	}
	part.Timings = result.Timings
	r.proofs[k] = result.Proof
	if r.opts.Proved != nil {
		return r.opts.Proved(k, result.Y, result.Proof)
	}
	return nil
}
