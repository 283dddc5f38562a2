package msm

import (
	"context"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm/internal/edwards"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
	"github.com/zkwarp/zkwarp/msm/internal/tiny"
)

// tinyLayout is how n points are summed in two launches, nil if that is not what is best.
func tinyLayout(g *curve.Group, w *plan.Windows, n int, info device.Info, o *Options) *tiny.Layout {
	p := plan.Problem{Group: g, N: n, Devices: 1, Card: plan.CardOf(info)}
	if !o.whole() || !p.Tiny(w) {
		return nil
	}
	l, ok := tiny.New(g, w, n, info)
	if !ok {
		return nil
	}
	return l
}

// kernelsFor are the translation units for sums of n points. Others are loaded when they
// are launched, if it comes to them.
func kernelsFor(g *curve.Group, w *plan.Windows, n int, info device.Info, o *Options) ([]*kernel.Source, error) {
	if tinyLayout(g, w, n, info, o) == nil {
		return kernels(g, o)
	}
	out := []*kernel.Source{tiny.Source(g)}
	if g.Edwards != nil {
		out = append(out, edwards.Sources()...)
	}
	return out, nil
}

// tiny is sumsOf for few points, and says whether they were and there was the memory. The
// caller has the lane.
func (r *resident) tiny(ctx context.Context, src source, sh share) ([]Part, bool, error) {
	if sh.Low != 0 || sh.High != sh.windows.Buckets() {
		return nil, false, nil
	}
	l := tinyLayout(r.group, sh.windows, sh.To-sh.From, r.dev.Info(), r.options)
	if l == nil {
		return nil, false, nil
	}
	bytes := l.Bytes() + int64(sh.To-sh.From)*int64(r.group.Scalar.Bytes())
	bytes += bytes/8 + 1<<20 // allocations are rounded up
	fits := func(free int64) bool { return bytes <= free }
	stop, err := r.start(ctx, fits)
	if err != nil {
		return nil, false, err
	}
	defer stop()
	if free, err := memory(r.dev); err != nil || free > 0 && !fits(free) {
		return nil, false, err
	}
	if device.Traced(ctx) {
		q, err := r.dev.NewQueue(ctx)
		if err != nil {
			return nil, false, err
		}
		defer q.Close()
		t, err := r.newTiny(q, l, sh)
		if err != nil {
			return nil, false, err
		}
		defer t.free()
		parts, err := t.sums(src)
		return parts, true, err
	}
	// The queue outlives the sum's context.
	q, err := r.dev.NewQueue(context.Background())
	if err != nil {
		return nil, false, err
	}
	t, err := r.newTiny(q, l, sh)
	if err != nil {
		_ = q.Close()
		return nil, false, err
	}
	r.warm[sh] = t
	parts, err := r.quick(ctx, t, src)
	return parts, true, err
}

// tinySum is the sum of few points, kept ready.
type tinySum struct {
	of      share
	q       *device.Queue
	work    *tiny.Workspace
	points  device.Buffer[uint32]
	uploads device.Buffer[uint32] // from the first upload on
	limbs   int
}

func (r *resident) newTiny(q *device.Queue, l *tiny.Layout, sh share) (*tinySum, error) {
	w, err := tiny.NewWorkspace(q, l)
	if err != nil {
		return nil, err
	}
	each := r.group.AffineBytes() / 4
	return &tinySum{of: sh, q: q, work: w, points: r.points.Slice(sh.From*each, sh.To*each), limbs: r.group.Scalar.Limbs}, nil
}

func (t *tinySum) share() share { return t.of }

func (t *tinySum) sums(src source) ([]Part, error) {
	if src.upload() && t.uploads.Len() == 0 {
		var err error
		if t.uploads, err = device.Alloc[uint32](t.q, (t.of.To-t.of.From)*t.limbs); err != nil {
			return nil, err
		}
	}
	scalars, err := src.words(t.q, t.uploads, t.of.From, t.of.To)
	if err != nil {
		return nil, err
	}
	sums, bad, err := t.work.Sum(t.q, t.points, scalars)
	if err != nil {
		return nil, err
	}
	if bad >= 0 {
		return nil, badScalar(t.of.From + bad)
	}
	out := make([]Part, len(sums))
	for i, s := range sums {
		out[i] = Part(s)
	}
	return out, nil
}

func (t *tinySum) free() {
	t.work.Free()
	t.uploads.Free()
}

func (t *tinySum) close() {
	t.free()
	_ = t.q.Close()
}
