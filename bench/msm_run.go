package bench

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zkwarp/zkwarp/curve/weierstrass"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/known"
)

// msmPoints keeps the bases that were made last, for cases of the same group: on the
// host, or on a GPU.
type msmPoints struct {
	group string
	seed  uint64
	n     int
	host  any // *known.Bases
	dev   any // buffers of points, one on each device
	free  func()

	devices int
}

// clear forgets them.
func (l *msmPoints) clear() {
	if l.free != nil {
		l.free()
	}
	*l = msmPoints{}
}

func (l *msmPoints) has(group string, seed uint64, n, devices int) bool {
	return l.group == group && l.seed == seed && l.n >= n && l.devices >= devices
}

// msmOf measures sums in one group.
type msmOf[P comparable, S any] struct {
	curve    *msm.Curve[P, S]
	make     func(c *msm.Curve[P, S], seed uint64, n int) *known.Bases[P, S]
	multiple func(k *big.Int) P // of the generator
	last     *msmPoints
}

// msmAffine are points that can be compared.
type msmAffine[E comparable] interface {
	comparable
	~struct{ X, Y E }
}

func msmGroupOf[P msmAffine[E], S any, E comparable, F weierstrass.Field[E], M known.Scalar[S]](c *msm.Curve[P, S], last *msmPoints) msmGroup {
	g := weierstrass.New[E, F](c.Group)
	return &msmOf[P, S]{c, known.New[P, S, E, F, M], func(k *big.Int) P { return P(g.Mul(g.Generator, k)) }, last}
}

// msmInput is the bases and scalars of a case, and the sum.
type msmInput[P comparable, S any] struct {
	// load makes bases on so many of the devices.
	load    func(devices int, o msm.Options) (*msm.Bases[P, S], error)
	sum     func(ctx context.Context, devices int, b *msm.Bases[P, S]) (P, error)
	scalars []device.Buffer[S] // by device, unless they are in host memory
	want    P
	frees   []func()
}

func (in *msmInput[P, S]) free() {
	for _, f := range in.frees {
		f()
	}
}

// right sums once and holds the result against the discrete logarithms.
func (in *msmInput[P, S]) right(ctx context.Context, devices int, b *msm.Bases[P, S]) error {
	got, err := in.sum(ctx, devices, b)
	if err != nil {
		return err
	}
	return in.check(got)
}

func (in *msmInput[P, S]) check(got P) error {
	if got != in.want {
		return errors.New("the sum is not the one by discrete logarithms")
	}
	return nil
}

// fromBuffers sums with scalars on devices.
func (in *msmInput[P, S]) fromBuffers(ctx context.Context, devices int, b *msm.Bases[P, S]) (P, error) {
	return b.SumBuffers(ctx, in.scalars[:devices])
}

// fromHost are bases and scalars that the host has made, for the CPU and the emulator.
func (g *msmOf[P, S]) fromHost(e *Env, s msmSpec) (*msmInput[P, S], error) {
	dev, n := e.Queue.Device(), 1<<s.log
	name := g.curve.Group.Name
	if g.last.host == nil || !g.last.has(name, e.Seed, n, 0) {
		g.last.clear()
		*g.last = msmPoints{group: name, seed: e.Seed, n: n, host: g.make(g.curve, e.Seed, n)}
	}
	b := g.last.host.(*known.Bases[P, S])
	scalars, err := b.Scalars(s.scalars(), e.Seed, n)
	if err != nil {
		return nil, err
	}
	in := &msmInput[P, S]{want: b.Expected(scalars)}
	in.load = func(_ int, o msm.Options) (*msm.Bases[P, S], error) { return msm.New(dev, g.curve, b.Points[:n], o) }
	if e.Queue.OnHost() {
		in.sum = func(ctx context.Context, _ int, b *msm.Bases[P, S]) (P, error) { return b.Sum(ctx, scalars) }
		return in, nil
	}
	resident, err := device.Upload(e.Queue, scalars)
	if err != nil {
		return nil, err
	}
	in.scalars, in.sum = []device.Buffer[S]{resident}, in.fromBuffers
	in.frees = append(in.frees, resident.Free)
	return in, nil
}

// msmPiece is how many scalars are made at a time on their way to the host.
const msmPiece = 1 << 22

// fromDevices are bases and scalars that GPUs have made and keep, the same on each.
func (g *msmOf[P, S]) fromDevices(e *Env, s msmSpec, devices []*device.Device) (*msmInput[P, S], error) {
	n, group := 1<<s.log, g.curve.Group
	r, err := known.NewResident(group, e.Seed, n)
	if err != nil {
		return nil, err
	}
	queues := make([]*device.Queue, len(devices))
	for i, d := range devices {
		if queues[i], err = d.NewQueue(e.Ctx); err != nil {
			return nil, err
		}
		defer queues[i].Close()
	}
	if g.last.dev == nil || !g.last.has(group.Name, e.Seed, n, len(devices)) {
		g.last.clear()
		s.step(e, "%d points", n)
		if err := g.makePoints(r, queues); err != nil {
			g.last.clear()
			return nil, err
		}
		g.last.group, g.last.seed, g.last.n, g.last.devices = group.Name, e.Seed, n, len(devices)
	}
	points := slices.Clone(g.last.dev.([]device.Buffer[P])[:len(devices)])
	for i := range points {
		points[i] = points[i].Slice(0, n)
	}
	s.step(e, "%d scalars and their sum's logarithm", n)
	in := &msmInput[P, S]{}
	in.load = func(count int, o msm.Options) (*msm.Bases[P, S], error) {
		return msm.NewBuffers(devices[:count], g.curve, points[:count], o)
	}
	fill := g.fillBuffers
	if s.pinned {
		fill = g.fillPinned
	}
	log, err := fill(e, s, in, r, queues)
	for i := 0; i < len(queues) && err == nil; i++ {
		err = queues[i].Sync()
	}
	if err != nil {
		in.free()
		return nil, err
	}
	in.want = g.multiple(log.Mod(log, group.Scalar.Modulus))
	return in, nil
}

func (g *msmOf[P, S]) makePoints(r *known.Resident, queues []*device.Queue) error {
	var all []device.Buffer[P]
	g.last.free = func() {
		for _, b := range all {
			b.Free()
		}
	}
	for _, q := range queues {
		b, err := device.Alloc[P](q, r.Len())
		if err != nil {
			return err
		}
		all = append(all, b)
		if err := r.Points(q, device.View[uint32](b), 0); err != nil {
			return err
		}
		if err := q.Sync(); err != nil {
			return err
		}
	}
	g.last.dev = all
	return nil
}

// fillBuffers makes the scalars on every device and returns the sum's logarithm.
func (g *msmOf[P, S]) fillBuffers(e *Env, s msmSpec, in *msmInput[P, S], r *known.Resident, queues []*device.Queue) (*big.Int, error) {
	for _, q := range queues {
		b, err := device.Alloc[S](q, r.Len())
		if err != nil {
			return nil, err
		}
		in.frees = append(in.frees, b.Free)
		if err := known.ResidentScalars(q, r.Group.Scalar, device.View[uint32](b), s.scalars(), e.Seed, 0); err != nil {
			return nil, err
		}
		in.scalars = append(in.scalars, b)
	}
	in.sum = in.fromBuffers
	return r.Expected(queues[0], device.View[uint32](in.scalars[0]), 0)
}

// fillPinned makes the scalars piece by piece and takes them to host memory.
func (g *msmOf[P, S]) fillPinned(e *Env, s msmSpec, in *msmInput[P, S], r *known.Resident, queues []*device.Queue) (*big.Int, error) {
	q, n := queues[0], r.Len()
	size := min(n, msmPiece)
	b, err := device.Alloc[S](q, size)
	if err != nil {
		return nil, err
	}
	defer b.Free()
	s.step(e, "page-locked memory for %d scalars", n)
	pinned, err := device.AllocPinned[S](q.Device(), n)
	if err != nil {
		return nil, err
	}
	s.step(e, "scalars to page-locked memory")
	in.frees = append(in.frees, func() { _ = pinned.Free() })
	in.sum = func(ctx context.Context, _ int, b *msm.Bases[P, S]) (P, error) { return b.SumPinned(ctx, pinned) }
	log := new(big.Int)
	for from := 0; from < n; from += size {
		words := device.View[uint32](b)
		if err := known.ResidentScalars(q, r.Group.Scalar, words, s.scalars(), e.Seed, from); err != nil {
			return nil, err
		}
		if err := b.CopyToPinned(q, pinned.Slice(from, from+size)); err != nil {
			return nil, err
		}
		part, err := r.Expected(q, words, from)
		if err != nil {
			return nil, err
		}
		log.Add(log, part)
	}
	return log, nil
}

// run measures one sum. Every result is held against the discrete logarithms.
func (g *msmOf[P, S]) run(e *Env, s msmSpec) ([]Measurement, error) {
	dev := e.Queue.Device()
	devices, err := msmDevices(dev, s.gpus)
	if err != nil {
		return nil, err
	}
	var in *msmInput[P, S]
	if dev.Kind() == device.CUDA {
		in, err = g.fromDevices(e, s, devices)
	} else {
		in, err = g.fromHost(e, s)
	}
	if err != nil {
		return nil, err
	}
	defer in.free()

	peak, before := WatchMemory(dev), dev.Launches()
	o := msm.Options{Subgroup: msm.Asserted}
	if s.tables {
		o.Tables = msmTables
	}
	b, m, err := g.time(e, s, in, 1, o)
	if err != nil {
		peak()
		return nil, err
	}
	m.Note = s.scalars() + " scalars; " + m.Note
	if !e.Queue.OnHost() {
		err = msmRan(dev.LaunchesSince(before))
	}
	out := []Measurement{m}
	switch {
	case err != nil:
	case s.simulated > 0:
		out, err = in.simulate(e, b, s.simulated, m)
	}
	b.Close()
	most := peak()
	if err == nil && s.simulated == 0 && s.gpus <= 1 && dev.Kind() == device.CUDA && Median(m.Samples) < msmStepsBelow {
		var steps []Measurement
		steps, err = in.steps(e, o)
		out = append(out, steps...)
	}
	if err != nil {
		return nil, err
	}
	if s.gpus > 1 {
		return g.several(e, s, in, o, len(devices), m)
	}
	if !e.Queue.OnHost() {
		out = append(out, Constant("peak-gib", "GiB", float64(most)/(1<<30), "device memory in buffers, sampled", "", e.Samples))
	}
	return out, nil
}

// time makes bases on so many devices and measures sums.
func (g *msmOf[P, S]) time(e *Env, s msmSpec, in *msmInput[P, S], devices int, o msm.Options) (*msm.Bases[P, S], Measurement, error) {
	s.step(e, "bases")
	start := time.Now()
	b, err := in.load(devices, o)
	if err != nil {
		return nil, Measurement{}, err
	}
	setup := float64(time.Since(start)) / 1e6
	sum := 0
	tell := func() error {
		sum++
		s.step(e, "sum %d of %d", sum, e.Samples+2)
		return nil
	}
	m, err := e.Time("ms", 1, tell, func() error { return in.right(e.Ctx, devices, b) })
	if err != nil {
		b.Close()
		return nil, m, err
	}
	m.Note = fmt.Sprintf("bases ready in %.3g ms", setup)
	return b, m, nil
}

// several measures the sum on several devices, against one.
func (g *msmOf[P, S]) several(e *Env, s msmSpec, in *msmInput[P, S], o msm.Options, devices int, one Measurement) ([]Measurement, error) {
	b, m, err := g.time(e, s, in, devices, o)
	if err != nil {
		return nil, err
	}
	b.Close()
	return []Measurement{m, speedup(m, one, "")}, nil
}

func speedup(m, one Measurement, note string) Measurement {
	base := Median(one.Samples)
	out := Measurement{Metric: "speedup", Unit: "x", Note: note + fmt.Sprintf("one GPU takes %.4g ms", base)}
	for _, ms := range m.Samples {
		out.Samples = append(out.Samples, base/ms)
	}
	return out
}

// simulate does the shares of so many GPUs in turn, as DistMSM's authors did for their
// figures of 16 and 32, and counts the longest and the host's additions.
func (in *msmInput[P, S]) simulate(e *Env, b *msm.Bases[P, S], gpus int, one Measurement) ([]Measurement, error) {
	m := Measurement{Metric: "ms", Unit: "ms"}
	var even float64
	for i := range e.Samples + 1 {
		r, err := b.Simulate(e.Ctx, in.scalars[0], gpus)
		if err == nil {
			err = in.check(r.Sum)
		}
		if err != nil {
			return nil, err
		}
		if i == 0 { // makes what the others keep
			continue
		}
		var total time.Duration
		for _, d := range r.Shares {
			total += d
		}
		even = float64(total) / float64(gpus) / 1e6
		m.Samples = append(m.Samples, float64(r.Total())/1e6)
	}
	m.Note = fmt.Sprintf("a simulation: the shares of %d GPUs in turn on one, the longest and the host's additions; the mean share takes %.4g ms", gpus, even)
	return []Measurement{m, speedup(m, one, "a simulation; ")}, nil
}

// msmDevices are dev, or the first GPUs if there are to be several.
func msmDevices(dev *device.Device, gpus int) ([]*device.Device, error) {
	if gpus <= 1 {
		return []*device.Device{dev}, nil
	}
	out := make([]*device.Device, gpus)
	for i := range out {
		var err error
		if out[i], err = device.Open(fmt.Sprintf("cuda:%d", i)); err != nil {
			return nil, fmt.Errorf("%w: %d GPUs: %w", ErrSkip, gpus, err)
		}
	}
	return out, nil
}

// msmSkips makes too little memory a reason to leave a case out.
func msmSkips(m []Measurement, err error) ([]Measurement, error) {
	if errors.Is(err, device.ErrNoMemory) {
		return nil, fmt.Errorf("%w: %w", ErrSkip, err)
	}
	return m, err
}

// msmRan is an error unless the kernels of every step were launched, or those that do all
// steps of a small sum.
func msmRan(launches map[string]int64) error {
	ran := map[string]bool{}
	for kernel := range launches {
		// The list of buckets and the last conversion are not what their steps are for.
		if !strings.HasPrefix(kernel, "bucket_items_") && !strings.HasPrefix(kernel, "edwards_") {
			ran[msmStep(kernel)] = true
		}
	}
	if ran["tiny"] && !ran["sort"] && !ran["accumulate"] {
		return nil
	}
	for _, want := range []string{"sort", "accumulate", "reduce"} {
		if !ran[want] {
			return fmt.Errorf("no kernel of the step %s ran", want)
		}
	}
	return nil
}

// msmSteps are the steps of a sum by the beginnings of their kernels' names.
var msmSteps = []struct {
	name     string
	prefixes []string
}{
	{"sort", []string{"scatter_"}},
	{"accumulate", []string{"bucket_accumulate_", "bucket_items_", "affine_sums_", "affine_join_"}},
	{"merge", []string{"bucket_"}},
	{"reduce", []string{"reduce_", "edwards_to_xyzz_"}},
	{"tiny", []string{"tiny_"}}, // all steps of a small sum
}

func msmStep(kernel string) string {
	for _, s := range msmSteps {
		for _, p := range s.prefixes {
			if strings.HasPrefix(kernel, p) {
				return s.name
			}
		}
	}
	return "other"
}

// msmTimes adds up device time by step.
type msmTimes struct {
	mu   sync.Mutex
	time map[string]time.Duration
}

// Trace is called by queues.
func (t *msmTimes) Trace(e device.Event) {
	if e.Category == device.TraceKernel {
		t.mu.Lock()
		t.time[msmStep(e.Name)] += e.Duration
		t.mu.Unlock()
	}
}

// msmStepsBelow is the time of a sum, in milliseconds, from which on its steps
// are not measured: they take as long again, and differ little from those of a
// fourth of the points.
const msmStepsBelow = 5000

// steps splits a sum's time by kernels, one step after the other on a traced queue.
func (in *msmInput[P, S]) steps(e *Env, o msm.Options) ([]Measurement, error) {
	o.Serial = true
	b, err := in.load(1, o)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	names := []string{"other"}
	for _, s := range msmSteps {
		names = append(names, s.name)
	}
	samples := map[string][]float64{}
	for i := range e.Samples + 1 {
		found := &msmTimes{time: map[string]time.Duration{}}
		start := time.Now()
		if err := in.right(device.WithTracer(e.Ctx, found), 1, b); err != nil {
			return nil, err
		}
		rest := time.Since(start)
		if i == 0 { // to warm up
			continue
		}
		for _, n := range names {
			rest -= found.time[n]
			samples[n] = append(samples[n], float64(found.time[n])/1e6)
		}
		samples["rest"] = append(samples["rest"], max(0, float64(rest)/1e6))
	}
	out := []Measurement{{Metric: "rest-ms", Unit: "ms", Samples: samples["rest"], Note: "one step after the other: what is beyond kernels, copies, launches, the host's additions"}}
	for _, n := range names {
		if Median(samples[n]) > 0 {
			out = append(out, Measurement{Metric: n + "-ms", Unit: "ms", Samples: samples[n], Note: "one step after the other: device time of the step's kernels"})
		}
	}
	return out, nil
}
