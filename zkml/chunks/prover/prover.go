package prover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
	"github.com/zkwarp/zkwarp/zkml/prover"
)

// Setup makes the keys of a program's parts. Errors of n parts add up, so each part's key gets log2 n bits of security more than a single
// program's would.
func Setup(q *device.Queue, c *chunks.Cutting, opts *prover.SetupOptions) (*chunks.Chain, []*prover.ProvingKey, error) {
	return SetupOn([]*device.Queue{q}, c, opts)
}

// SetupOn is Setup on several queues, of one device or many, each of which makes one key after the other; what one part needs of the host and another one of
// a device goes on at the same time. A part for which there is no room beside others is made after them. opts.Progress is then called by several goroutines.
func SetupOn(queues []*device.Queue, c *chunks.Cutting, opts *prover.SetupOptions) (*chunks.Chain, []*prover.ProvingKey, error) {
	if err := given.Check(given.Arg{Name: "cutting", Given: c != nil}); err != nil {
		return nil, nil, fmt.Errorf("chain: %w", err)
	}
	for i, q := range queues {
		if err := given.Check(given.Arg{Name: fmt.Sprintf("queue %d of %d", i+1, len(queues)), Given: q != nil}); err != nil {
			return nil, nil, fmt.Errorf("chain: %w", err)
		}
	}
	n := len(c.Parts)
	vks, pks, errs := make([]*zkml.VerifyingKey, n), make([]*prover.ProvingKey, n), make([]error, n+len(queues))
	var each prover.SetupOptions
	if opts != nil {
		each = *opts
	}
	if !each.Commits.Empty() {
		return nil, nil, errors.New("chain: the parts of a cutting say themselves what is committed, expected no such option of setup")
	}
	each.Security = max(each.Security, zkml.MinSecurity) + graph.Log2(n)
	setup := func(q *device.Queue, o *prover.SetupOptions, k int) {
		part, o2 := &c.Parts[k], *o
		o2.Commits = part.Commits
		if vks[k], pks[k], errs[k] = prover.Setup(q, part.Program, part.Weights, &o2); errs[k] != nil {
			errs[k] = fmt.Errorf("part %d of %d: %w", k+1, n, errs[k])
		}
	}
	var next, failed atomic.Int64
	var all sync.WaitGroup
	for i, q := range queues {
		all.Go(func() {
			o := each
			if o.Uploader == nil && !q.OnHost() {
				var err error
				if o.Uploader, err = prover.NewUploader(q.Device()); err != nil {
					errs[n+i] = err
					return
				}
				defer func() {
					if err := o.Uploader.Close(); err != nil && errs[n+i] == nil {
						errs[n+i] = err
					}
				}()
			}
			for k := int(next.Add(1)) - 1; k < n && failed.Load() == 0; k = int(next.Add(1)) - 1 {
				if setup(q, &o, k); errs[k] != nil && (len(queues) == 1 || !errors.Is(errs[k], device.ErrNoMemory)) {
					failed.Add(1)
				}
			}
		})
	}
	all.Wait()
	for k := range n { // what had no room beside others
		if len(queues) > 1 && errors.Is(errs[k], device.ErrNoMemory) {
			setup(queues[0], &each, k)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	inputs := make([][]chunks.Source, n)
	for k := range c.Parts {
		inputs[k] = c.Parts[k].Inputs
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
	// Openings of the chain's committed inputs, in their order, for those that have been committed already: their values must be x's. Nil, or nil
	// for one of them, has it committed with a salt of its own. A salt of zeros is refused, and one for two inputs of different values or formats.
	Openings []*zkml.Opening
	// Seed is what the salts of all other commitments are derived from, with the chain and x; nil is a random one. It is as secret as openings
	// are. Work that goes on under the seed of an earlier run makes the same commitments, and can keep all that was proved.
	Seed *[32]byte
	// Kept, if set, is asked before a part is proved for a proof of it that an earlier run has left, nil if there is none, and the openings of the
	// part's committed outputs, in order. They are taken if all of it holds for what is being proved now; if not, Stale is told why, if it is
	// set, and the part is proved. Both are called on the goroutine of the part's device.
	Kept  func(part int) (*chunks.PartProof, []*zkml.Opening)
	Stale func(part int, err error)
	// Proved, if set, is given each part's proof as soon as it is made, and the openings of the part's committed outputs, which are secret. An
	// error counts as one of the part.
	Proved func(p *chunks.PartProof, openings []*zkml.Opening) error
}

// Result is a proof of a chain with what it is about.
type Result struct {
	Y []int32 // the values of all outputs of the chain, committed or not
	// Statement is what verifiers get: public inputs and outputs, commitments to the others. Openings are the secrets behind its commitments.
	Statement zkml.Statement
	Openings  []*zkml.Opening
	Proof     *chunks.Proof
	Warnings  []string
	Devices   []Report
	Parts     []PartReport
}

// PartReport says how one part was proved.
type PartReport struct {
	Device  string
	Kept    bool // not proved, as there was a proof
	Time    time.Duration
	Timings []prover.Timing // of the stages
	// Load is how long its key took to load, 0 if it was in memory; LoadWait is how long the proof waited for that.
	Load, LoadWait time.Duration
}

// Report says what one device did.
type Report struct {
	Name  string
	Parts []int
	// Busy is the time of its proofs; Waited that for outputs of other devices.
	Busy, Waited time.Duration
	// Loading is the time of loading keys, beside proofs or not; LoadWaited that for keys, while nothing was proved.
	Loading, LoadWaited time.Duration
	Need                int64 // estimate of the most bytes at a time
	Memory              int64 // that the device had to give
}

// Prove proves a chain on devices once; for more proofs, see [On].
func Prove(ctx context.Context, devices []*device.Device, chain *chunks.Chain, keys []*prover.ProvingKey, x []int32, opts *Options) (*Result, error) {
	l, err := Once(devices, chain, keys)
	if err != nil {
		return nil, err
	}
	result, err := l.Prove(ctx, x, opts)
	return result, errors.Join(err, l.Close())
}

// Prove proves the chain. Each device has one goroutine, which proves the device's parts in the order of the chain; a part begins as
// soon as the outputs that it reads are known, which is before they are proved. The first error of every part is returned, all joined; parts that
// wait for one that failed are not begun. x is the values of all inputs of the chain, committed or not. The proof does not depend on devices or
// order, but on salts. There is one proof at a time; others wait.
func (l *Loaded) Prove(ctx context.Context, x []int32, opts *Options) (*Result, error) {
	if opts == nil {
		opts = new(Options)
	}
	l.proving.Lock()
	defer l.proving.Unlock()
	n := len(l.keys)
	result := &Result{Warnings: l.memory.Warnings, Devices: make([]Report, len(l.devices)), Parts: make([]PartReport, n)}
	secrets, err := newSecrets(l.chain, x, opts)
	if err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	r := &run{Loaded: l, ctx: ctx, x: x, opts: opts, secrets: secrets, y: make([][]int32, n), proofs: make([]*chunks.PartProof, n), reports: result.Parts}
	for range n {
		r.known = append(r.known, make(chan struct{}))
	}
	errs := make([]error, len(l.devices))
	var all sync.WaitGroup
	for d := range l.devices {
		m, report := &l.memory.Devices[d], &result.Devices[d]
		report.Name, report.Memory, report.Parts, report.Need = m.Name, m.Limit, m.Parts, m.Need
		all.Go(func() { errs[d] = r.device(d, report) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	if result.Proof, err = chunks.Join(l.chain, r.proofs); err != nil {
		return nil, err
	}
	if result.Y, err = l.chain.Output(r.y); err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	return result, r.state(result)
}

// run is the state of one proof of a chain.
type run struct {
	*Loaded
	ctx     context.Context
	x       []int32
	opts    *Options
	mu      sync.Mutex
	secrets *secrets
	y       [][]int32 // of each part, committed or not
	proofs  []*chunks.PartProof
	reports []PartReport    // each written by the goroutine of its device
	known   []chan struct{} // closed when a part's outputs are known, or never will be
}

// worker proves the parts of one device.
type worker struct {
	*run
	d      int
	q      *device.Queue
	report *Report
	loader *loader // nil until a part has to be proved, or if there is no room to load ahead
}

// device proves a device's parts.
func (r *run) device(d int, report *Report) error {
	if len(report.Parts) == 0 {
		return nil
	}
	var errs []error
	q, err := r.devices[d].NewQueue(r.ctx)
	if err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", report.Name, err))
	}
	w := &worker{run: r, d: d, q: q, report: report}
	if err == nil && r.opts.Kept == nil {
		w.load(report.Parts) // before there is an input
	}
	for i, k := range report.Parts {
		if err == nil {
			if e := w.part(i, k); e != nil && !errors.Is(e, errNoInput) {
				errs = append(errs, fmt.Errorf("%s on %s: %w", r.chain.PartName(k), report.Name, e))
			}
			r.done(w.loader, k)
		}
		r.finish(k)
	}
	if w.loader != nil {
		w.loader.close()
	}
	if err == nil {
		errs = append(errs, q.Close())
	}
	return errors.Join(errs...)
}

// load begins to load the keys of parts, unless that was begun, there is no room, or they are all there.
func (w *worker) load(parts []int) {
	missing := func(k int) bool { return w.keys[k].Bytes() == 0 }
	if w.memory.Devices[w.d].Ahead && w.loader == nil && slices.ContainsFunc(parts, missing) {
		w.loader = w.ahead(w.ctx, w.d, parts)
	}
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

// part proves part k, the device's i-th.
func (w *worker) part(i, k int) error {
	q, report := w.q, w.report
	start := time.Now()
	for _, before := range w.chain.Reads(k) {
		select {
		case <-w.known[before]:
		case <-w.ctx.Done():
			return w.ctx.Err()
		}
	}
	report.Waited += time.Since(start)
	w.mu.Lock()
	for _, before := range w.chain.Reads(k) {
		if w.y[before] == nil {
			w.mu.Unlock()
			return errNoInput
		}
	}
	x, err := w.chain.PartInput(k, w.x, w.y)
	salts := w.secrets.of(k)
	w.mu.Unlock()
	if err != nil {
		return err
	}
	if w.opts.Progress != nil {
		w.opts.Progress(k, q.Device(), false)
		defer w.opts.Progress(k, q.Device(), true)
	}
	part := &w.reports[k]
	part.Device = q.Device().Name()
	known := func(y []int32) {
		w.mu.Lock()
		w.y[k] = y
		w.mu.Unlock()
		w.finish(k)
	}
	if w.opts.Kept != nil {
		if p, openings := w.opts.Kept(k); p != nil {
			y, err := w.check(q, k, x, salts, p, openings)
			if err == nil {
				part.Kept = true
				w.keep(k, p, openings)
				known(y)
				return nil
			}
			if w.opts.Stale != nil {
				w.opts.Stale(k, err)
			}
		}
	}
	o := &prover.Options{Context: w.chain.Context(k, w.opts.Context), Output: known, Salts: salts}
	if w.opts.Stage != nil {
		o.Progress = func(stage prover.Stage, done bool) { w.opts.Stage(k, q.Device(), stage, done) }
	}
	if w.load(report.Parts[i:]); w.loader != nil {
		start = time.Now()
		l := w.loader.wait(k)
		if part.LoadWait = time.Since(start); l.err != nil {
			return l.err
		}
		part.Load = l.took
		report.Loading += l.took
		report.LoadWaited += part.LoadWait
	}
	if err := w.narrowed(q, k); err != nil {
		return err
	}
	start = time.Now()
	result, err := w.keys[k].Prove(q, x, o)
	part.Time = time.Since(start)
	report.Busy += part.Time
	if err != nil {
		return err
	}
	part.Timings = result.Timings
	w.proofs[k] = w.chain.NewPart(k, &result.Statement, result.Proof)
	if w.opts.Proved != nil {
		return w.opts.Proved(w.proofs[k], result.Openings[len(result.Openings)-len(w.proofs[k].Roots):])
	}
	return nil
}
