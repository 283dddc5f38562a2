package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
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
	dev   any // device.Buffer of points
	free  func()
}

// clear forgets them.
func (l *msmPoints) clear() {
	if l.free != nil {
		l.free()
	}
	*l = msmPoints{}
}

func (l *msmPoints) has(group string, seed uint64, n int) bool {
	return l.group == group && l.seed == seed && l.n >= n
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
	load  func(o msm.Options) (*msm.Bases[P, S], error)
	sum   func(ctx context.Context, b *msm.Bases[P, S]) (P, error)
	want  P
	frees []func()
}

func (in *msmInput[P, S]) free() {
	for _, f := range in.frees {
		f()
	}
}

// right sums once and holds the result against the discrete logarithms.
func (in *msmInput[P, S]) right(ctx context.Context, b *msm.Bases[P, S]) error {
	got, err := in.sum(ctx, b)
	if err == nil && got != in.want {
		err = errors.New("the sum is not the one by discrete logarithms")
	}
	return err
}

// fromHost are bases and scalars that the host has made, for all devices but single GPUs.
func (g *msmOf[P, S]) fromHost(e *Env, s msmSpec) (*msmInput[P, S], error) {
	dev, n := e.Queue.Device(), 1<<s.log
	name := g.curve.Group.Name
	if g.last.host == nil || !g.last.has(name, e.Seed, n) {
		g.last.clear()
		*g.last = msmPoints{group: name, seed: e.Seed, n: n, host: g.make(g.curve, e.Seed, n)}
	}
	b := g.last.host.(*known.Bases[P, S])
	scalars, err := b.Scalars(s.scalars(), e.Seed, n)
	if err != nil {
		return nil, err
	}
	in := &msmInput[P, S]{want: b.Expected(scalars)}
	in.load = func(o msm.Options) (*msm.Bases[P, S], error) { return msm.New(dev, g.curve, b.Points[:n], o) }
	switch {
	case e.Queue.OnHost():
		in.sum = func(ctx context.Context, b *msm.Bases[P, S]) (P, error) { return b.Sum(ctx, scalars) }
	case s.gpus > 1:
		pinned, err := device.AllocPinned[S](dev, n)
		if err != nil {
			return nil, err
		}
		copy(pinned.Host(), scalars)
		in.frees = append(in.frees, func() { _ = pinned.Free() })
		in.sum = func(ctx context.Context, b *msm.Bases[P, S]) (P, error) { return b.SumPinned(ctx, pinned) }
	default:
		resident, err := device.Upload(e.Queue, scalars)
		if err != nil {
			return nil, err
		}
		in.frees = append(in.frees, resident.Free)
		in.sum = func(ctx context.Context, b *msm.Bases[P, S]) (P, error) { return b.SumBuffer(ctx, resident) }
	}
	return in, nil
}

// msmPiece is how many scalars are made at a time on their way to the host.
const msmPiece = 1 << 22

// fromDevice are bases and scalars that a GPU has made and keeps.
func (g *msmOf[P, S]) fromDevice(e *Env, s msmSpec) (*msmInput[P, S], error) {
	q, n, group := e.Queue, 1<<s.log, g.curve.Group
	r, err := known.NewResident(group, e.Seed, n)
	if err != nil {
		return nil, err
	}
	if g.last.dev == nil || !g.last.has(group.Name, e.Seed, n) {
		g.last.clear()
		points, err := device.Alloc[P](q, n)
		if err != nil {
			return nil, err
		}
		if err := r.Points(q, device.View[uint32](points), 0); err != nil {
			points.Free()
			return nil, err
		}
		*g.last = msmPoints{group: group.Name, seed: e.Seed, n: n, dev: points, free: points.Free}
	}
	points := g.last.dev.(device.Buffer[P]).Slice(0, n)
	in := &msmInput[P, S]{}
	in.load = func(o msm.Options) (*msm.Bases[P, S], error) { return msm.NewBuffer(q.Device(), g.curve, points, o) }

	size := n
	if s.pinned {
		size = min(n, msmPiece)
	}
	scalars, err := device.Alloc[S](q, size)
	if err != nil {
		return nil, err
	}
	var pinned device.Pinned[S]
	if s.pinned {
		defer scalars.Free()
		if pinned, err = device.AllocPinned[S](q.Device(), n); err != nil {
			return nil, err
		}
		in.frees = append(in.frees, func() { _ = pinned.Free() })
		in.sum = func(ctx context.Context, b *msm.Bases[P, S]) (P, error) { return b.SumPinned(ctx, pinned) }
	} else {
		in.frees = append(in.frees, scalars.Free)
		in.sum = func(ctx context.Context, b *msm.Bases[P, S]) (P, error) { return b.SumBuffer(ctx, scalars) }
	}
	log := new(big.Int)
	for from := 0; from < n; from += size {
		words := device.View[uint32](scalars)
		err := known.ResidentScalars(q, group.Scalar, words, s.scalars(), e.Seed, from)
		if err == nil && s.pinned {
			err = scalars.CopyToPinned(q, pinned.Slice(from, from+size))
		}
		var part *big.Int
		if err == nil {
			part, err = r.Expected(q, words, from)
		}
		if err != nil {
			in.free()
			return nil, err
		}
		log.Add(log, part)
	}
	in.want = g.multiple(log.Mod(log, group.Scalar.Modulus))
	return in, q.Sync()
}

// run measures one sum. Every result is held against the discrete logarithms.
func (g *msmOf[P, S]) run(e *Env, s msmSpec) ([]Measurement, error) {
	dev := e.Queue.Device()
	devices, err := msmDevices(s.gpus)
	if err != nil {
		return nil, err
	}
	var in *msmInput[P, S]
	if dev.Kind() == device.CUDA && s.gpus <= 1 {
		in, err = g.fromDevice(e, s)
	} else {
		in, err = g.fromHost(e, s)
	}
	if err != nil {
		return nil, err
	}
	defer in.free()

	o := msm.Options{Subgroup: msm.Asserted}
	if s.tables {
		o.Tables = msmTables
	}
	peak, before := watchMemory(dev), dev.Launches()
	b, setup, err := g.load(in, o)
	if err != nil {
		peak()
		return nil, err
	}
	m, err := e.Time("ms", 1, nil, func() error { return in.right(e.Ctx, b) })
	if err == nil && !e.Queue.OnHost() {
		err = msmRan(dev.LaunchesSince(before))
	}
	var steps []Measurement
	if err == nil && s.gpus <= 1 {
		steps, err = in.steps(e, b)
	}
	b.Close()
	most := peak()
	if err != nil {
		return nil, err
	}
	m.Note = fmt.Sprintf("%s scalars; bases ready in %.3g ms", s.scalars(), setup)
	if s.gpus > 1 {
		return g.several(e, in, o, devices, m)
	}
	out := append([]Measurement{m}, steps...)
	if !e.Queue.OnHost() {
		out = append(out, constant("peak-gib", "GiB", float64(most)/(1<<30), "device memory in buffers, sampled", "", e.Samples))
	}
	return out, nil
}

// load makes bases and says how long that took, in ms.
func (g *msmOf[P, S]) load(in *msmInput[P, S], o msm.Options) (*msm.Bases[P, S], float64, error) {
	start := time.Now()
	b, err := in.load(o)
	return b, float64(time.Since(start)) / 1e6, err
}

// several measures the sum on several devices, against one.
func (g *msmOf[P, S]) several(e *Env, in *msmInput[P, S], o msm.Options, devices []*device.Device, one Measurement) ([]Measurement, error) {
	o.Devices = devices
	b, setup, err := g.load(in, o)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	m, err := e.Time("ms", 1, nil, func() error { return in.right(e.Ctx, b) })
	if err != nil {
		return nil, err
	}
	m.Note = fmt.Sprintf("scalars in page-locked memory; bases ready in %.3g ms", setup)
	base := Median(one.Samples)
	speedup := Measurement{Metric: "speedup", Unit: "x", Note: fmt.Sprintf("one GPU takes %.4g ms", base)}
	for _, ms := range m.Samples {
		speedup.Samples = append(speedup.Samples, base/ms)
	}
	return []Measurement{m, speedup}, nil
}

// msmDevices are the first GPUs, if there are to be several.
func msmDevices(gpus int) ([]*device.Device, error) {
	if gpus <= 1 {
		return nil, nil
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

// msmRan is an error unless the kernels of every step were launched.
func msmRan(launches map[string]int64) error {
	for _, want := range []string{"sort", "accumulate", "reduce"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(launches)), func(kernel string) bool { return msmStep(kernel) == want }) {
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
	{"accumulate", []string{"bucket_accumulate_", "affine_"}},
	{"merge", []string{"bucket_"}},
	{"reduce", []string{"reduce_", "edwards_"}},
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
type msmTimes map[string]time.Duration

// Trace is called by queues.
func (t msmTimes) Trace(e device.Event) {
	if e.Category == device.TraceKernel {
		t[msmStep(e.Name)] += e.Duration
	}
}

// steps splits a sum's time by kernels, one after the other on traced queues.
func (in *msmInput[P, S]) steps(e *Env, b *msm.Bases[P, S]) ([]Measurement, error) {
	if e.Queue.Device().Kind() != device.CUDA {
		return nil, nil
	}
	names := []string{"other"}
	for _, s := range msmSteps {
		names = append(names, s.name)
	}
	samples := map[string][]float64{}
	for range e.Samples {
		found := msmTimes{}
		if err := in.right(device.WithTracer(e.Ctx, found), b); err != nil {
			return nil, err
		}
		for _, n := range names {
			samples[n] = append(samples[n], float64(found[n])/1e6)
		}
	}
	var out []Measurement
	for _, n := range names {
		if Median(samples[n]) > 0 {
			out = append(out, Measurement{Metric: n + "-ms", Unit: "ms", Samples: samples[n], Note: "device time of the step's kernels"})
		}
	}
	return out, nil
}
