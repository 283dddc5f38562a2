package fixedbase

import (
	"context"
	"fmt"
	"slices"
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

// room is the memory for tiles on their way. It stays with its table: page-locked memory
// takes long to be had.
type room[P, S any] struct {
	tile  int
	slots []*slot[P, S]
	work  *workspace
	frees []func()
}

func (r *room[P, S]) free() {
	if r == nil {
		return
	}
	for _, f := range r.frees {
		f()
	}
	r.frees = nil
}

// keep notes that memory has to be given back.
func (r *room[P, S]) keep(free func()) { r.frees = append(r.frees, free) }

func pinned[T any](dev *device.Device, n int, keep func(free func())) (device.Pinned[T], error) {
	p, err := device.AllocPinned[T](dev, n)
	if err == nil {
		keep(func() { _ = p.Free() })
	}
	return p, err
}

func buffer[T any](q *device.Queue, n int, keep func(free func())) (device.Buffer[T], error) {
	b, err := device.Alloc[T](q, n)
	if err == nil {
		keep(b.Free)
	}
	return b, err
}

func (s *slot[P, S]) alloc(q *device.Queue, tile int, keep func(free func())) (err error) {
	dev := q.Device()
	if s.scalarsIn, err = pinned[S](dev, tile, keep); err != nil {
		return err
	}
	if s.pointsOut, err = pinned[P](dev, tile, keep); err != nil {
		return err
	}
	if s.badOut, err = pinned[uint32](dev, 1, keep); err != nil {
		return err
	}
	if s.scalars, err = buffer[S](q, tile, keep); err != nil {
		return err
	}
	if s.points, err = buffer[P](q, tile, keep); err != nil {
		return err
	}
	s.bad, err = buffer[uint32](q, 1, keep)
	return err
}

// takeRoom makes t.room one for n multiples.
func (t *Table[P, S]) takeRoom(q *device.Queue, n int) error {
	if t.room != nil && t.room.tile >= min(n, t.tile) && (len(t.room.slots) == slots || n <= t.room.tile) {
		return nil
	}
	t.dropRoom()
	var point P
	var scalar S
	tile, err := t.tileFor(n, slots*int(unsafe.Sizeof(point)+unsafe.Sizeof(scalar)))
	if err != nil {
		return err
	}
	r := &room[P, S]{tile: tile}
	for range min(slots, (n+tile-1)/tile) {
		s := &slot[P, S]{}
		if err := s.alloc(q, tile, r.keep); err != nil {
			r.free()
			return err
		}
		r.slots = append(r.slots, s)
	}
	if r.work, err = newWorkspace(q, t.curve.Group, t.windows.n, tile); err != nil {
		r.free()
		return err
	}
	r.keep(r.work.free)
	t.room = r
	return nil
}

func (t *Table[P, S]) dropRoom() {
	t.room.free()
	t.room = nil
}

// stream is MultiplyFunc on a device.
func (t *Table[P, S]) stream(ctx context.Context, points []P, scalars func(to []S, from int) error) error {
	if len(points) > maxPoints {
		return fmt.Errorf("%d multiples at a time: %w", len(points), device.ErrUsage)
	}
	err := t.inTiles(ctx, points, scalars)
	if err != nil {
		t.dropRoom()
	}
	return err
}

// pipeline moves tiles from the host through the device and back.
type pipeline[P, S any] struct {
	*room[P, S]
	table    *Table[P, S]
	up, main *device.Queue
}

func (t *Table[P, S]) inTiles(ctx context.Context, points []P, scalars func(to []S, from int) error) (err error) {
	var queues []*device.Queue
	defer func() {
		// They end their work before anything else is done with the room.
		for _, q := range queues {
			if e := q.Close(); err == nil {
				err = e
			}
		}
	}()
	queue := func() (*device.Queue, error) {
		q, err := t.dev.NewQueue(ctx)
		if err == nil {
			queues = append(queues, q)
		}
		return q, err
	}
	p := &pipeline[P, S]{table: t}
	if p.main, err = queue(); err != nil {
		return err
	}
	if p.up, err = queue(); err != nil {
		return err
	}
	if err := t.takeRoom(p.main, len(points)); err != nil {
		return err
	}
	p.room = t.room
	for _, s := range p.slots {
		s.busy = false
		if s.down, err = queue(); err != nil {
			return err
		}
	}
	if err := p.up.After(p.main); err != nil {
		return err
	}
	for k, lo := 0, 0; lo < len(points); k, lo = k+1, lo+p.tile {
		s := p.slots[k%len(p.slots)]
		if err := s.finish(points); err != nil {
			return err
		}
		s.lo, s.hi = lo, min(len(points), lo+p.tile)
		if err := scalars(s.scalarsIn.Host()[:s.hi-s.lo], lo); err != nil {
			return err
		}
		if err := p.start(s); err != nil {
			return err
		}
	}
	// The oldest first, whose scalars a bad one would be named of.
	slices.SortFunc(p.slots, func(a, b *slot[P, S]) int { return a.lo - b.lo })
	for _, s := range p.slots {
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
