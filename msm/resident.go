package msm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm/internal/affine"
	"github.com/zkwarp/zkwarp/msm/internal/bases"
	"github.com/zkwarp/zkwarp/msm/internal/bucket"
	"github.com/zkwarp/zkwarp/msm/internal/edwards"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
	"github.com/zkwarp/zkwarp/msm/internal/reduce"
	"github.com/zkwarp/zkwarp/msm/internal/scatter"
)

// resident is bases on one device, as words.
type resident struct {
	dev     *device.Device
	group   *curve.Group
	n       int
	windows *plan.Windows
	options *Options
	points  device.Buffer[uint32] // copy after copy
	borrows bool                  // the points are somebody else's

	// lane lets one sum at a time get ready: choose a schedule and take memory.
	lane chan struct{}
	// running has a place for each of the sums that a device does at a time. With two of
	// them one's scalars come, and its lists are sorted, while the other's points are
	// added up; a third would only take memory from them.
	running chan struct{}

	// Of whoever has the lane:
	schedules map[key]*schedule
	warm      map[share]ready
}

// key is what a schedule depends on besides memory.
type key struct {
	share
	upload bool
	link   float64
}

// chooseWindows takes the cheapest windows for which a device has the memory. The points,
// but for copies, are there already or take memory, too.
func chooseWindows(dev *device.Device, g *curve.Group, n, devices int, o *Options, there bool) (*plan.Windows, error) {
	if o.Digits != nil {
		if o.Digits.windows == nil {
			return nil, fmt.Errorf("msm: %s: %w: digits of no bases", g.Name, ErrInput)
		}
		if o.Digits.n != n || o.Digits.field != g.Scalar {
			return nil, fmt.Errorf("msm: %s: %w: digits of %d scalars of %s for %d of %s", g.Name, ErrInput, o.Digits.n, o.Digits.field.Name, n, g.Scalar.Name)
		}
		return o.Digits.windows, nil
	}
	if o.windows != nil {
		return o.windows, nil
	}
	given := g.AffineBytes()
	g = form(g, o)
	p := plan.Problem{Group: g, N: n, Devices: devices, Card: plan.CardOf(dev.Info()), Tables: o.Tables, Window: o.Window, Alone: devices == 1 && o.whole()}
	free, err := memory(dev)
	if err != nil {
		return nil, err
	}
	choices := p.Choices()
	if len(choices) == 0 {
		return nil, fmt.Errorf("msm: %s: %w: windows of %d bits: %d bits of scalars take more than %d", g.Name, ErrInput, o.Window, g.Scalar.Bits(), plan.MaxWindows)
	}
	var first error
	least := int64(math.MaxInt64)
	for _, w := range choices {
		points := int64(n) * int64(w.Copies) * int64(g.AffineBytes())
		if there && w.Copies == 1 {
			points = 0
		} else if g.Edwards != nil {
			// Both forms are there for a moment, of copies; else of a piece of the points.
			other := min(n, o.formPiece())
			if w.Copies > 1 {
				other = n * w.Copies
			}
			if both := points + int64(other)*int64(given); free > 0 && both > free {
				least = min(least, both)
				continue
			}
		}
		left := free
		if left > 0 {
			left = max(1, left-points)
		}
		l := limits{info: dev.Info(), memory: left, chunk: o.Chunk, upload: true}
		_, err := newSchedule(g, w, plan.Range{To: n, High: w.Buckets()}, l)
		if err == nil {
			return w, nil
		}
		if first == nil {
			first = err
		}
		if e := (*device.Error)(nil); errors.As(err, &e) && e.Bytes < math.MaxInt64-points {
			least = min(least, e.Bytes+points)
		}
	}
	if least == math.MaxInt64 && first != nil {
		return nil, first
	}
	return nil, &device.Error{Device: dev.Name(), Op: "multi-scalar multiplication of " + g.Name, Bytes: least, Class: device.ErrNoMemory,
		Text: fmt.Sprintf("%d points and a sum over them need that much, %d bytes are left", n, free)}
}

// memory is what buffers may still take on a device, 0 if there is no limit.
func memory(dev *device.Device) (int64, error) {
	limit, err := dev.Budget()
	if err != nil || limit == 0 {
		return 0, err
	}
	return max(1, limit-dev.InUse()), nil
}

// form is the form of a group that sums are made in: Edwards' where there is one, and
// all bases are known to be in the subgroup in which it has no exceptions.
func form(g *curve.Group, o *Options) *curve.Group {
	if f := edwards.Form(g); f != nil && o.Subgroup != Unchecked && !o.given {
		return f
	}
	return g
}

// cool gives up what is kept ready.
func (r *resident) cool() {
	for _, w := range r.warm {
		w.close()
	}
	clear(r.warm)
}

// pointsFrom is where bases come from: one of the two.
type pointsFrom struct {
	host    []uint32
	device  device.Buffer[uint32]
	checked bool // as the options ask for, on another device
}

// stay says whether points are on the device in a form that kernels take, and where they
// can read them: 16 bytes at a time, from a multiple of those on, which a view of a part of
// a buffer need not begin at.
func (p pointsFrom) stay(g *curve.Group, o *Options) bool {
	return p.device.Len() > 0 && form(g, o) == g && p.device.Address()%16 == 0
}

// newResident puts n points, and the copies that the windows ask for, on a device.
func newResident(dev *device.Device, g *curve.Group, n int, w *plan.Windows, o *Options, from pointsFrom) (*resident, error) {
	r := &resident{dev: dev, group: g, n: n, windows: w, options: o, lane: make(chan struct{}, 1), running: make(chan struct{}, 2), schedules: map[key]*schedule{}, warm: map[share]ready{}}
	units, err := kernelsFor(form(g, o), w, n, dev.Info(), o)
	if err != nil {
		return nil, err
	}
	if err := dev.Preload(units...); err != nil {
		return nil, fmt.Errorf("msm: %s: kernels: %w", g.Name, err)
	}
	q, err := dev.NewQueue(context.Background())
	if err != nil {
		return nil, err
	}
	defer q.Close()
	if from.device.Len() > 0 {
		if err := from.device.Use(q); err != nil {
			return nil, fmt.Errorf("msm: %s: bases: %w", g.Name, err)
		}
	}
	if from.stay(g, o) && w.Copies == 1 {
		r.points, r.borrows = from.device, true
		return r, checkOn(q, g, from, from.device, 0, o)
	}
	if f := form(g, o); f != g && w.Copies == 1 {
		err = r.inPieces(q, f, from)
	} else {
		err = r.allAtOnce(q, f, from)
	}
	if err == nil {
		err = q.Sync()
	}
	if errors.Is(err, ErrInput) {
		r.free()
		return nil, err
	}
	if err != nil {
		r.free()
		return nil, fmt.Errorf("msm: %s: bases: %w", g.Name, err)
	}
	return r, nil
}

// take puts the points from lo on into to, which lies on q's device.
func (p pointsFrom) take(q *device.Queue, g *curve.Group, to device.Buffer[uint32], lo int) error {
	lo *= g.AffineBytes() / 4
	if p.device.Len() > 0 {
		return device.Copy(q, to, p.device.Slice(lo, lo+to.Len()))
	}
	return to.CopyFrom(q, p.host[lo:lo+to.Len()])
}

// allAtOnce takes all points, makes the copies that the windows ask for, and from them
// those in another form of the curve, if that is not the points' own.
func (r *resident) allAtOnce(q *device.Queue, form *curve.Group, from pointsFrom) (err error) {
	g, copies, each := r.group, r.windows.Copies, r.group.AffineBytes()/4
	if r.points, err = device.Alloc[uint32](q, r.n*copies*each); err != nil {
		return fmt.Errorf("%d points, %d copies: %w", r.n, copies, err)
	}
	first := r.points.Slice(0, r.n*each)
	if err := from.take(q, g, first, 0); err != nil {
		return err
	}
	if err := checkOn(q, g, from, first, 0, r.options); err != nil {
		return err
	}
	if copies > 1 {
		if err := bases.Multiples(q, g, r.points, copies, r.windows.Stride); err != nil {
			return err
		}
	}
	if form == g {
		return nil
	}
	points, err := device.Alloc[uint32](q, r.n*copies*form.AffineBytes()/4)
	if err != nil {
		return err
	}
	if err := edwards.FromAffine(q, form, points, r.points); err != nil {
		points.Free()
		return err
	}
	r.points.Free()
	r.points, r.group = points, form
	return nil
}

// inPieces takes points into another form of the curve, some of them at a time.
func (r *resident) inPieces(q *device.Queue, form *curve.Group, from pointsFrom) (err error) {
	g, each, other := r.group, r.group.AffineBytes()/4, form.AffineBytes()/4
	if r.points, err = device.Alloc[uint32](q, r.n*other); err != nil {
		return fmt.Errorf("%d points: %w", r.n, err)
	}
	size := r.options.formPiece()
	piece, err := device.Alloc[uint32](q, min(r.n, size)*each)
	if err != nil {
		return err
	}
	defer piece.Free()
	for lo := 0; lo < r.n; lo += size {
		n := min(r.n-lo, size)
		points := piece.Slice(0, n*each)
		if err := from.take(q, g, points, lo); err != nil {
			return err
		}
		if err := checkOn(q, g, from, points, lo, r.options); err != nil {
			return err
		}
		if err := edwards.FromAffine(q, form, r.points.Slice(lo*other, (lo+n)*other), points); err != nil {
			return err
		}
	}
	r.group = form
	return nil
}

// checkOn does the checks that the options ask for, of the points from number lo on,
// which are on a device.
func checkOn(q *device.Queue, g *curve.Group, from pointsFrom, points device.Buffer[uint32], lo int, o *Options) error {
	if from.checked || !o.checks() {
		return nil
	}
	what := "on the curve"
	i, err := bases.OnCurve(q, g, points)
	if err == nil && i < 0 && o.Subgroup == Verify {
		what = "in the subgroup of prime order"
		i, err = bases.InSubgroup(q, g, points)
	}
	if err == nil && i >= 0 {
		return badPoints(g, fmt.Errorf("point %d is not %s", lo+i, what))
	}
	return err
}

func (r *resident) free() {
	r.cool()
	if !r.borrows {
		r.points.Free()
	}
}

// sums does a share of a multiplication and gives the parts of its sum.
func (r *resident) sums(ctx context.Context, src source, sh share) ([]Part, error) {
	return r.sumsOf(ctx, src, nil, sh)
}

// sumsOf is sums with scalars from src, or from what was prepared if that is not nil.
func (r *resident) sumsOf(ctx context.Context, src source, p *prepared, sh share) ([]Part, error) {
	if sh.From >= sh.To || sh.Low >= sh.High {
		return nil, ctx.Err()
	}
	leave, err := r.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if p != nil {
		s := p.schedule.forGroup(r.group, r.dev.Info(), r.options.adder)
		stop, err := r.start(ctx, func(free int64) bool { return s.bytes <= free })
		if err != nil {
			return nil, err
		}
		defer stop()
		return r.execute(ctx, s, src, p.lists, leave)
	}
	// A multiplication that is kept ready has its memory; with a tracer it would not
	// report to it.
	if w := r.warm[sh]; w != nil && !device.Traced(ctx) {
		return r.quick(ctx, w, src)
	}
	if parts, done, err := r.tiny(ctx, src, sh); done || err != nil {
		return parts, err
	}
	k := key{sh, src.upload(), r.link(src)}
	stop, err := r.start(ctx, func(free int64) bool { s := r.schedules[k]; return s != nil && s.bytes <= free })
	if err != nil {
		return nil, err
	}
	defer stop()
	s, err := r.schedule(k)
	if err != nil {
		return nil, err
	}
	if s.small() && !device.Traced(ctx) {
		w, err := r.warmUp(s)
		if err != nil {
			return nil, err
		}
		return r.quick(ctx, w, src)
	}
	return r.execute(ctx, s, src, nil, leave)
}

// link is how fast scalars come from src.
func (r *resident) link(src source) float64 {
	if r.options.link > 0 && src.upload() {
		return r.options.link
	}
	return src.link()
}

// execute does a schedule on queues of its own. It calls ready when it has its memory.
func (r *resident) execute(ctx context.Context, s *schedule, src source, lists []plan.Sorted, ready func()) ([]Part, error) {
	main, err := r.dev.NewQueue(ctx)
	if err != nil {
		return nil, err
	}
	defer main.Close()
	side := main
	if s.beside() && !r.options.Serial {
		if side, err = r.dev.NewQueue(ctx); err != nil {
			return nil, err
		}
		defer side.Close()
	}
	uploads := side
	if s.upload && len(s.chunks) > 1 {
		if uploads, err = r.dev.NewQueue(ctx); err != nil {
			return nil, err
		}
		defer uploads.Close()
	}
	return s.execute(main, side, uploads, r.points, src, lists, ready)
}

// enter waits for the device's lane; leave gives it up, once.
func (r *resident) enter(ctx context.Context) (leave func(), err error) {
	select {
	case r.lane <- struct{}{}:
		return sync.OnceFunc(func() { <-r.lane }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// start waits for a place among the running sums, and until it is the only one if the
// memory that another leaves does not do. The caller has the lane; stop gives the place
// up.
func (r *resident) start(ctx context.Context, fits func(free int64) bool) (stop func(), err error) {
	take := func() error {
		select {
		case r.running <- struct{}{}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := take(); err != nil {
		return nil, err
	}
	stop = func() { <-r.running }
	if len(r.running) > 1 {
		free, err := memory(r.dev)
		if err == nil && (free == 0 || fits(free)) {
			return stop, nil
		}
		if err == nil {
			err = take()
		}
		if err != nil {
			stop()
			return nil, err
		}
		stop()
	}
	return stop, nil
}

// schedule is one that fits the memory that the device has left.
func (r *resident) schedule(k key) (*schedule, error) {
	free, err := memory(r.dev)
	if err != nil {
		return nil, err
	}
	if s := r.schedules[k]; s != nil && (free == 0 || s.bytes <= free) {
		return s, nil
	}
	// What is kept ready is the first to go.
	if len(r.warm) > 0 {
		r.cool()
		return r.schedule(k)
	}
	s, err := newSchedule(r.group, k.windows, k.Range, limits{info: r.dev.Info(), memory: free, chunk: r.options.Chunk, groups: r.options.groups, adder: r.options.adder, upload: k.upload, link: k.link})
	if err != nil {
		return nil, err
	}
	r.schedules[k] = s
	return s, nil
}

// kernels are the translation units that sums in a group need step by step.
func kernels(g *curve.Group, o *Options) ([]*kernel.Source, error) {
	r, err := reduce.SourcesOf(g)
	if err != nil {
		return nil, err
	}
	out := append(scatter.SourcesOf(g.Scalar), bucket.SourcesOf(g)...)
	out = append(out, r...)
	if g.Edwards != nil {
		out = append(out, edwards.Sources()...)
	}
	if batchAffine(g, o.adder) {
		out = append(out, affine.Source(g))
	}
	return out, nil
}
