package fixedbase

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// slots is how many tiles are on their way at a time: one whose scalars come, one that the
// device works on, and one whose points go.
const slots = 3

// slot is the memory of a tile on its way.
type slot[P, S any] struct {
	scalarsIn device.Pinned[S]
	pointsOut device.Pinned[P]
	badOut    device.Pinned[uint32]
	scalars   device.Buffer[S]
	points    device.Buffer[P]
	bad       device.Buffer[uint32]
	down      *device.Queue // its own, so that one tile can be waited for

	busy   bool
	lo, hi int
}

// pipeline moves tiles from the host through the device and back.
type pipeline[P, S any] struct {
	table    *Table[P, S]
	up, main *device.Queue
	slots    []*slot[P, S]
	work     *workspace
	frees    []func()
}

func (p *pipeline[P, S]) close() {
	for i := len(p.frees) - 1; i >= 0; i-- {
		p.frees[i]()
	}
}

func (p *pipeline[P, S]) later(free func()) { p.frees = append(p.frees, free) }

func (p *pipeline[P, S]) queue(ctx context.Context) (*device.Queue, error) {
	q, err := p.table.dev.NewQueue(ctx)
	if err == nil {
		p.later(func() { _ = q.Close() })
	}
	return q, err
}

// newPipeline takes the memory for tiles of so many multiples, for so many tiles.
func newPipeline[P, S any](ctx context.Context, t *Table[P, S], tile, tiles int) (*pipeline[P, S], error) {
	p := &pipeline[P, S]{table: t}
	err := p.alloc(ctx, tile, min(tiles, slots))
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *pipeline[P, S]) alloc(ctx context.Context, tile, slots int) error {
	dev := p.table.dev
	// Memory goes back before queues do, which wait for what works on it.
	for range slots {
		p.slots = append(p.slots, &slot[P, S]{})
	}
	var err error
	for _, s := range p.slots {
		if s.scalarsIn, err = device.AllocPinned[S](dev, tile); err != nil {
			return err
		}
		p.later(func() { _ = s.scalarsIn.Free() })
		if s.pointsOut, err = device.AllocPinned[P](dev, tile); err != nil {
			return err
		}
		p.later(func() { _ = s.pointsOut.Free() })
		if s.badOut, err = device.AllocPinned[uint32](dev, 1); err != nil {
			return err
		}
		p.later(func() { _ = s.badOut.Free() })
	}
	if p.up, err = p.queue(ctx); err != nil {
		return err
	}
	if p.main, err = p.queue(ctx); err != nil {
		return err
	}
	for _, s := range p.slots {
		if s.down, err = p.queue(ctx); err != nil {
			return err
		}
		if s.scalars, err = device.Alloc[S](p.main, tile); err != nil {
			return err
		}
		p.later(s.scalars.Free)
		if s.points, err = device.Alloc[P](p.main, tile); err != nil {
			return err
		}
		p.later(s.points.Free)
		if s.bad, err = device.Alloc[uint32](p.main, 1); err != nil {
			return err
		}
		p.later(s.bad.Free)
	}
	p.work, err = newWorkspace(p.main, p.table.curve.Group, p.table.windows.n, tile)
	if err != nil {
		return err
	}
	p.later(p.work.free)
	return nil
}

// stream is MultiplyFunc on a device.
func (t *Table[P, S]) stream(ctx context.Context, points []P, scalars func(to []S, from int) error) error {
	if len(points) > maxPoints {
		return fmt.Errorf("%d multiples at a time: %w", len(points), device.ErrUsage)
	}
	var point P
	var scalar S
	tile, err := t.tileFor(len(points), slots*int(unsafe.Sizeof(point)+unsafe.Sizeof(scalar)))
	if err != nil {
		return err
	}
	p, err := newPipeline(ctx, t, tile, (len(points)+tile-1)/tile)
	if err != nil {
		return err
	}
	defer p.close()
	for k, lo := 0, 0; lo < len(points); k, lo = k+1, lo+tile {
		s := p.slots[k%len(p.slots)]
		if err := s.finish(points); err != nil {
			return err
		}
		s.lo, s.hi = lo, min(len(points), lo+tile)
		if err := scalars(s.scalarsIn.Host()[:s.hi-s.lo], lo); err != nil {
			return err
		}
		if err := p.start(s); err != nil {
			return err
		}
	}
	for range p.slots {
		// The oldest first.
		s := p.slots[0]
		for _, other := range p.slots {
			if other.busy && (!s.busy || other.lo < s.lo) {
				s = other
			}
		}
		if err := s.finish(points); err != nil {
			return err
		}
	}
	return nil
}

// start enqueues a tile.
func (p *pipeline[P, S]) start(s *slot[P, S]) error {
	n := s.hi - s.lo
	in, out := s.scalars.Slice(0, n), s.points.Slice(0, n)
	// The slot's last tile is on the host, so that nothing reads what is overwritten.
	if err := in.CopyFromPinned(p.up, s.scalarsIn.Slice(0, n)); err != nil {
		return err
	}
	if err := p.main.After(p.up); err != nil {
		return err
	}
	if err := s.bad.Fill(p.main, none); err != nil {
		return err
	}
	if err := p.table.enqueue(p.main, p.work, out, in, s.bad, s.lo); err != nil {
		return err
	}
	if err := s.down.After(p.main); err != nil {
		return err
	}
	if err := out.CopyToPinned(s.down, s.pointsOut.Slice(0, n)); err != nil {
		return err
	}
	s.busy = true
	return s.bad.CopyToPinned(s.down, s.badOut)
}

// finish waits for the slot's tile, if it has one, and copies its points to their places.
func (s *slot[P, S]) finish(points []P) error {
	if !s.busy {
		return nil
	}
	s.busy = false
	if err := s.down.Sync(); err != nil {
		return err
	}
	if at := s.badOut.Host()[0]; at != none {
		return badScalar(int(at))
	}
	from, to := s.pointsOut.Host()[:s.hi-s.lo], points[s.lo:s.hi]
	parallel.For(len(to), 1<<12, func(lo, hi int) { copy(to[lo:hi], from[lo:hi]) })
	return nil
}
