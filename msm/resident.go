package msm

import (
	"context"
	"fmt"
	"sync"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm/internal/bases"
	"github.com/zkwarp/zkwarp/msm/internal/bucket"
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

	// lane lets one sum at a time have the device: two would only take memory from each
	// other.
	lane chan struct{}

	mu        sync.Mutex
	schedules map[key]*schedule
}

// key is what a schedule depends on besides memory.
type key struct {
	rng    plan.Range
	upload bool
}

// chooseWindows takes the cheapest windows for which a device has the memory.
func chooseWindows(dev *device.Device, g *curve.Group, n, devices int, o *Options) (*plan.Windows, error) {
	p := plan.Problem{Group: g, N: n, Devices: devices, Card: plan.CardOf(dev.Info()), Tables: o.Tables, Window: o.Window}
	free, err := memory(dev)
	if err != nil {
		return nil, err
	}
	choices := p.Choices()
	if len(choices) == 0 {
		return nil, fmt.Errorf("msm: %s: %w: no windows of %d bits", g.Name, ErrInput, o.Window)
	}
	var first error
	for _, w := range choices {
		left := free
		if left > 0 {
			if left -= int64(n) * int64(w.Copies) * int64(g.AffineBytes()); left <= 0 {
				left = 1
			}
		}
		l := limits{info: dev.Info(), memory: left, chunk: o.Chunk, upload: true}
		_, err := newSchedule(g, w, plan.Range{To: n, High: w.Buckets()}, l)
		if err == nil {
			return w, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// memory is what buffers may still take on a device, 0 if there is no limit.
func memory(dev *device.Device) (int64, error) {
	limit, err := dev.Budget()
	if err != nil || limit == 0 {
		return 0, err
	}
	return max(1, limit-dev.InUse()), nil
}

// pointsFrom is where bases come from: one of the two.
type pointsFrom struct {
	host   []uint32
	device device.Buffer[uint32]
}

// newResident puts n points, and the copies that the windows ask for, on a device.
func newResident(dev *device.Device, g *curve.Group, n int, w *plan.Windows, o *Options, from pointsFrom) (*resident, error) {
	r := &resident{dev: dev, group: g, n: n, windows: w, options: o, lane: make(chan struct{}, 1), schedules: map[key]*schedule{}}
	units, err := kernels(g)
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
	if from.device.Len() > 0 && w.Copies == 1 {
		r.points, r.borrows = from.device, true
		return r, from.device.Use(q)
	}
	each := g.AffineBytes() / 4
	if r.points, err = device.Alloc[uint32](q, n*w.Copies*each); err != nil {
		return nil, fmt.Errorf("msm: %s: %d bases, %d copies: %w", g.Name, n, w.Copies, err)
	}
	first := r.points.Slice(0, n*each)
	if from.device.Len() > 0 {
		err = device.Copy(q, first, from.device)
	} else {
		err = first.CopyFrom(q, from.host)
	}
	if err == nil && w.Copies > 1 {
		err = bases.Multiples(q, g, r.points, w.Copies, w.Stride)
	}
	if err == nil {
		err = q.Sync()
	}
	if err != nil {
		r.free()
		return nil, fmt.Errorf("msm: %s: bases: %w", g.Name, err)
	}
	return r, nil
}

func (r *resident) free() {
	if !r.borrows {
		r.points.Free()
	}
}

// sums does a share of a multiplication and gives the parts of its sum.
func (r *resident) sums(ctx context.Context, src source, rng plan.Range) ([]Part, error) {
	if rng.From >= rng.To || rng.Low >= rng.High {
		return nil, ctx.Err()
	}
	select {
	case r.lane <- struct{}{}:
		defer func() { <-r.lane }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s, err := r.schedule(key{rng, src.upload()})
	if err != nil {
		return nil, err
	}
	main, err := r.dev.NewQueue(ctx)
	if err != nil {
		return nil, err
	}
	defer main.Close()
	side := main
	if len(s.chunks)*len(s.groups) > 1 {
		if side, err = r.dev.NewQueue(ctx); err != nil {
			return nil, err
		}
		defer side.Close()
	}
	return s.execute(main, side, r.points, src)
}

// schedule is one that fits the memory that the device has left.
func (r *resident) schedule(k key) (*schedule, error) {
	free, err := memory(r.dev)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.schedules[k]; s != nil && (free == 0 || s.bytes <= free) {
		return s, nil
	}
	s, err := newSchedule(r.group, r.windows, k.rng, limits{info: r.dev.Info(), memory: free, chunk: r.options.Chunk, groups: r.options.groups, upload: k.upload})
	if err != nil {
		return nil, err
	}
	r.schedules[k] = s
	return s, nil
}

// kernels are the translation units that sums in a group need.
func kernels(g *curve.Group) ([]*kernel.Source, error) {
	b, err := bucket.Source(g)
	if err != nil {
		return nil, err
	}
	r, err := reduce.Source(g)
	if err != nil {
		return nil, err
	}
	return append(scatter.SourcesOf(g.Scalar), b, r), nil
}
