package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	bls12377g "github.com/consensys/gnark-crypto/ecc/bls12-377"
	bls12377fp "github.com/consensys/gnark-crypto/ecc/bls12-377/fp"
	bls12377fr "github.com/consensys/gnark-crypto/ecc/bls12-377/fr"
	bls12381g "github.com/consensys/gnark-crypto/ecc/bls12-381"
	bls12381fp "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	bls12381fr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	bn254g "github.com/consensys/gnark-crypto/ecc/bn254"
	bn254fp "github.com/consensys/gnark-crypto/ecc/bn254/fp"
	bn254fr "github.com/consensys/gnark-crypto/ecc/bn254/fr"
	bw6761g "github.com/consensys/gnark-crypto/ecc/bw6-761"
	bw6761fp "github.com/consensys/gnark-crypto/ecc/bw6-761/fp"
	bw6761fr "github.com/consensys/gnark-crypto/ecc/bw6-761/fr"

	mnt4753g "github.com/zkwarp/zkwarp/curve/mnt4753"
	mnt4753fp "github.com/zkwarp/zkwarp/curve/mnt4753/fp"
	mnt4753fr "github.com/zkwarp/zkwarp/curve/mnt4753/fr"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/bls12377"
	"github.com/zkwarp/zkwarp/msm/bls12381"
	"github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/bw6761"
	"github.com/zkwarp/zkwarp/msm/known"
	"github.com/zkwarp/zkwarp/msm/mnt4753"
)

const msmSuite = "msm"

// msmTables is what precomputed multiples may take of a device's memory in the cases
// with tables.
const msmTables = 40 << 30

// msmSpec is one multi-scalar multiplication to measure.
type msmSpec struct {
	log    int    // of the number of points
	kind   string // of scalars; "" is uniform
	tables bool
	pinned bool // scalars in page-locked host memory, otherwise resident
	gpus   int  // more than one
}

// msmGroup measures one group, whatever its types.
type msmGroup interface {
	run(*Env, msmSpec) ([]Measurement, error)
}

// msmPoints keeps the bases that were made last, for cases of the same group.
type msmPoints struct {
	group string
	seed  uint64
	bases any
}

type msmOf[P comparable, S any] struct {
	curve *msm.Curve[P, S]
	make  func(c *msm.Curve[P, S], seed uint64, n int) *known.Bases[P, S]
	last  *msmPoints
}

// msmCases are sums of every curve in sizes, distributions of scalars, and ways to hold
// them.
func msmCases() []Case {
	last := &msmPoints{}
	var cases []Case
	add := func(g msmGroup, name, about string, s msmSpec) {
		cases = append(cases, Case{Suite: msmSuite, Name: name, About: about, Large: s.log > 20,
			GPU: s.gpus > 1 || s.pinned || s.tables, Run: func(e *Env) ([]Measurement, error) { return msmSkips(g.run(e, s)) }})
	}
	for _, c := range msmCurves(last) {
		for _, log := range append([]int{8}, c.logs...) {
			name := fmt.Sprintf("%s-2^%d", c.name, log)
			add(c.g1, name, "sum of 2^n points of G1, bases and scalars resident", msmSpec{log: log})
			if log == 8 {
				continue
			}
			if c.pinned {
				add(c.g1, name+"-pinned", "the same, scalars in page-locked host memory", msmSpec{log: log, pinned: true})
			}
			if c.tables && log <= 26 {
				add(c.g1, name+"-tables", "the same with precomputed multiples of the bases", msmSpec{log: log, tables: true})
			}
		}
		if c.g2 != nil {
			for _, log := range []int{8, 20, 22, 24} {
				add(c.g2, fmt.Sprintf("%s-2^%d-g2", c.name, log), "sum of 2^n points of G2", msmSpec{log: log})
			}
		}
		for _, kind := range known.Kinds()[1:] {
			for _, log := range []int{8, c.skew} {
				add(c.g1, fmt.Sprintf("%s-2^%d-skew-%s", c.name, log, kind), "scalars that are not uniform", msmSpec{log: log, kind: kind})
			}
		}
		for _, gpus := range []int{2, 4, 8} {
			for _, log := range c.split {
				add(c.g1, fmt.Sprintf("%s-2^%d-%dgpu", c.name, log, gpus), "the same on so many GPUs, against one of them", msmSpec{log: log, gpus: gpus})
			}
		}
		cases = append(cases, Case{Suite: msmSuite, Name: "tiny-" + c.name, About: "the slower of 2^10 and 2^12 points",
			Run: func(e *Env) ([]Measurement, error) { return msmSkips(tiny(e, c.g1)) }})
	}
	return cases
}

// msmCurve is what is measured of a curve.
type msmCurve struct {
	name           string
	g1, g2         msmGroup
	logs           []int
	split          []int // for several GPUs
	skew           int
	pinned, tables bool
}

func msmCurves(last *msmPoints) []msmCurve {
	all := []int{20, 22, 24, 26, 28}
	return []msmCurve{
		{"bn254", &msmOf[bn254g.G1Affine, bn254fr.Element]{bn254.G1, known.New[bn254g.G1Affine, bn254fr.Element, bn254fp.Element], last},
			&msmOf[bn254g.G2Affine, bn254fr.Element]{bn254.G2, known.New[bn254g.G2Affine, bn254fr.Element, bn254g.E2], last},
			all, []int{26, 28}, 24, true, true},
		{"bls12-381", &msmOf[bls12381g.G1Affine, bls12381fr.Element]{bls12381.G1, known.New[bls12381g.G1Affine, bls12381fr.Element, bls12381fp.Element], last},
			&msmOf[bls12381g.G2Affine, bls12381fr.Element]{bls12381.G2, known.New[bls12381g.G2Affine, bls12381fr.Element, bls12381g.E2], last},
			all, []int{26, 28}, 24, true, true},
		{"bls12-377", &msmOf[bls12377g.G1Affine, bls12377fr.Element]{bls12377.G1, known.New[bls12377g.G1Affine, bls12377fr.Element, bls12377fp.Element], last},
			&msmOf[bls12377g.G2Affine, bls12377fr.Element]{bls12377.G2, known.New[bls12377g.G2Affine, bls12377fr.Element, bls12377g.E2], last},
			all, []int{26, 28}, 24, true, true},
		{"mnt4-753", &msmOf[mnt4753g.G1Affine, mnt4753fr.Element]{mnt4753.G1, known.New[mnt4753g.G1Affine, mnt4753fr.Element, mnt4753fp.Element], last}, nil,
			[]int{20, 22, 24, 26, 28}, []int{26}, 22, false, false},
		{"bw6-761", &msmOf[bw6761g.G1Affine, bw6761fr.Element]{bw6761.G1, known.New[bw6761g.G1Affine, bw6761fr.Element, bw6761fp.Element], last},
			&msmOf[bw6761g.G2Affine, bw6761fr.Element]{bw6761.G2, known.New[bw6761g.G2Affine, bw6761fr.Element, bw6761fp.Element], last},
			[]int{20, 22, 24}, nil, 22, false, false},
	}
}

// msmSkips makes too little memory a reason to leave a case out.
func msmSkips(m []Measurement, err error) ([]Measurement, error) {
	if errors.Is(err, device.ErrNoMemory) {
		return nil, fmt.Errorf("%w: %w", ErrSkip, err)
	}
	return m, err
}

// tiny measures two sizes that take no time but the way there and back.
func tiny(e *Env, g msmGroup) ([]Measurement, error) {
	var slower Measurement
	for _, log := range []int{10, 12} {
		found, err := g.run(e, msmSpec{log: log})
		if err != nil {
			return nil, err
		}
		if m := found[0]; slower.Samples == nil || Median(m.Samples) > Median(slower.Samples) {
			slower = m
			slower.Note = fmt.Sprintf("2^%d points; ", log) + m.Note
		}
	}
	return []Measurement{slower}, nil
}

// ran is an error unless the kernels of every step were launched.
func msmRan(launches map[string]int64) error {
	for _, want := range []string{"sort", "accumulate", "reduce"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(launches)), func(kernel string) bool { return msmStep(kernel) == want }) {
			return fmt.Errorf("no kernel of the step %s ran", want)
		}
	}
	return nil
}

// points are n bases, from those that were made last if they are of this group.
func (g *msmOf[P, S]) points(seed uint64, n int) (*known.Bases[P, S], []P) {
	if b, ok := g.last.bases.(*known.Bases[P, S]); ok && g.last.group == g.curve.Group.Name && g.last.seed == seed && len(b.Points) >= n {
		return b, b.Points[:n]
	}
	*g.last = msmPoints{} // gone before others are made
	b := g.make(g.curve, seed, n)
	*g.last = msmPoints{group: g.curve.Group.Name, seed: seed, bases: b}
	return b, b.Points
}

// run measures one sum. Every result is held against the discrete logarithms.
func (g *msmOf[P, S]) run(e *Env, s msmSpec) ([]Measurement, error) {
	dev := e.Queue.Device()
	devices, err := msmDevices(dev, s.gpus)
	if err != nil {
		return nil, err
	}
	known, points := g.points(e.Seed, 1<<s.log)
	kind := s.kind
	if kind == "" {
		kind = "uniform"
	}
	scalars, err := known.Scalars(kind, e.Seed, len(points))
	if err != nil {
		return nil, err
	}
	want := known.Expected(scalars)

	o := msm.Options{Subgroup: msm.Asserted}
	if s.tables {
		o.Tables = msmTables
	}
	peak, before := watchMemory(dev), dev.Launches()
	one, setup, err := g.load(e, o, points)
	if err != nil {
		peak()
		return nil, err
	}
	m, err := g.time(e, s, one, scalars, want)
	if err == nil && !e.Queue.OnHost() {
		err = msmRan(dev.LaunchesSince(before))
	}
	var steps []Measurement
	if err == nil && s.gpus <= 1 {
		steps, err = g.steps(e, s, one, scalars, want)
	}
	one.Close()
	most := peak()
	if err != nil {
		return nil, err
	}
	m.Note = fmt.Sprintf("%s scalars; bases ready in %.3g ms", kind, setup)
	out := append([]Measurement{m}, steps...)
	if !e.Queue.OnHost() {
		out = append(out, constant("peak-gib", "GiB", float64(most)/(1<<30), "device memory in buffers, sampled", "", e.Samples))
	}
	if s.gpus <= 1 {
		return out, nil
	}
	o.Devices = devices
	many, _, err := g.load(e, o, points)
	if err != nil {
		return nil, err
	}
	defer many.Close()
	all, err := g.time(e, s, many, scalars, want)
	if err != nil {
		return nil, err
	}
	speedup := Measurement{Metric: "speedup", Unit: "x", Note: fmt.Sprintf("one GPU takes %.4g ms", Median(m.Samples))}
	for _, ms := range all.Samples {
		speedup.Samples = append(speedup.Samples, Median(m.Samples)/ms)
	}
	all.Note = m.Note
	return []Measurement{all, speedup}, nil
}

// msmDevices are the first GPUs, of which dev must be one.
func msmDevices(dev *device.Device, gpus int) ([]*device.Device, error) {
	var out []*device.Device
	for i := range max(gpus, 1) {
		if gpus <= 1 {
			return nil, nil
		}
		d, err := device.Open(fmt.Sprintf("cuda:%d", i))
		if err != nil {
			return nil, fmt.Errorf("%w: %d GPUs: %w", ErrSkip, gpus, err)
		}
		out = append(out, d)
	}
	return out, nil
}

// load makes bases and says how long that took, in ms.
func (g *msmOf[P, S]) load(e *Env, o msm.Options, points []P) (*msm.Bases[P, S], float64, error) {
	start := time.Now()
	b, err := msm.New(e.Queue.Device(), g.curve, points, o)
	return b, float64(time.Since(start)) / 1e6, err
}

// time measures sums with the scalars where the spec wants them.
func (g *msmOf[P, S]) time(e *Env, s msmSpec, b *msm.Bases[P, S], scalars []S, want P) (Measurement, error) {
	sum, free, err := g.summer(e, s, b, scalars)
	if err != nil {
		return Measurement{}, err
	}
	defer free()
	return e.Time("ms", 1, nil, func() error { return right(e.Ctx, sum, want) })
}

func right[P comparable](ctx context.Context, sum func(context.Context) (P, error), want P) error {
	got, err := sum(ctx)
	if err == nil && got != want {
		err = errors.New("the sum is not the one by discrete logarithms")
	}
	return err
}

// summer is the sum of b with the scalars where the spec wants them.
func (g *msmOf[P, S]) summer(e *Env, s msmSpec, b *msm.Bases[P, S], scalars []S) (func(context.Context) (P, error), func(), error) {
	none := func() {}
	switch {
	case e.Queue.OnHost():
		return func(ctx context.Context) (P, error) { return b.Sum(ctx, scalars) }, none, nil
	case s.pinned:
		pinned, err := device.AllocPinned[S](e.Queue.Device(), len(scalars))
		if err != nil {
			return nil, none, err
		}
		copy(pinned.Host(), scalars)
		return func(ctx context.Context) (P, error) { return b.SumPinned(ctx, pinned) }, func() { _ = pinned.Free() }, nil
	}
	resident, err := device.Upload(e.Queue, scalars)
	if err != nil {
		return nil, none, err
	}
	return func(ctx context.Context) (P, error) { return b.SumBuffer(ctx, resident) }, resident.Free, nil
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
func (g *msmOf[P, S]) steps(e *Env, s msmSpec, b *msm.Bases[P, S], scalars []S, want P) ([]Measurement, error) {
	if e.Queue.Device().Kind() != device.CUDA {
		return nil, nil
	}
	sum, free, err := g.summer(e, s, b, scalars)
	if err != nil {
		return nil, err
	}
	defer free()
	names := []string{"other"}
	for _, s := range msmSteps {
		names = append(names, s.name)
	}
	samples := map[string][]float64{}
	for range e.Samples {
		found := msmTimes{}
		if err := right(device.WithTracer(e.Ctx, found), sum, want); err != nil {
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
	return slices.Clip(out), nil
}
