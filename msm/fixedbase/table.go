package fixedbase

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/internal/affine"
	"github.com/zkwarp/zkwarp/msm/internal/bases"
	"github.com/zkwarp/zkwarp/msm/internal/bucket"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// memory is what buffers may still take on a device, 0 if there is no limit.
func memory(dev *device.Device) (int64, error) {
	limit, err := dev.Budget()
	if err != nil || limit == 0 {
		return 0, err
	}
	return max(1, limit-dev.InUse()), nil
}

// fill makes the table on the device.
func (t *Table[P, S]) fill(o Options, base P) error {
	g := t.curve.Group
	if Units(g) == nil {
		return fmt.Errorf("no kernels: %w", device.ErrUsage)
	}
	free, err := memory(t.dev)
	if err != nil {
		return err
	}
	// Half of the memory is left for tiles.
	if t.windows, err = choose(g, o.N, o.Window, free/2); err != nil {
		if e := (*device.Error)(nil); errors.As(err, &e) {
			e.Device = t.dev.Name()
			return e
		}
		return fmt.Errorf("%w: %w", msm.ErrInput, err)
	}
	if err := t.dev.Preload(Units(g)...); err != nil {
		return fmt.Errorf("kernels: %w", err)
	}
	q, err := t.dev.NewQueue(context.Background())
	if err != nil {
		return err
	}
	defer q.Close()
	w, size := t.windows, g.AffineBytes()/4
	if t.sum, err = device.Upload(q, g.Scalar.Words(w.sum)); err != nil {
		return err
	}
	if t.points, err = device.Alloc[uint32](q, w.points()*size); err != nil {
		return err
	}
	if err := t.points.Slice(0, size).Zero(q); err != nil {
		return err
	}
	numbers := w.numbers()
	point, err := device.Upload(q, words([]P{base}))
	if err != nil {
		return err
	}
	defer point.Free()
	factors, err := device.Upload(q, numbers)
	if err != nil {
		return err
	}
	defer factors.Free()
	parts, err := device.Alloc[uint32](q, len(numbers)/g.Scalar.Limbs*size)
	if err != nil {
		return err
	}
	defer parts.Free()
	if err := bases.Multiply(q, g, parts, point, factors, g.Scalar.Limbs, 32*g.Scalar.Limbs); err != nil {
		return err
	}
	for i, at := 0, 0; i < w.n; i++ {
		low, high := w.parts(i)
		to := t.points.Slice(w.at(i)*size, (w.at(i)+w.multiples(i))*size)
		err := bases.Pairs(q, g, to, parts.Slice(at*size, (at+low)*size), parts.Slice((at+low)*size, (at+low+high)*size), w.split(i), 0)
		if err != nil {
			return err
		}
		at += low + high
	}
	return q.Sync()
}

// numbers are the factors of all windows' low multiples, 1, 2, ..., and of the high ones,
// which are 2^split apart from 0 on, each with as many words as a scalar.
func (w windows) numbers() []uint32 {
	var out []uint32
	limbs := w.field.Limbs
	for i := range w.n {
		low, high := w.parts(i)
		shift := i * w.bits
		put := func(v int) {
			number := make([]uint32, limbs+1)
			wide := uint64(v) << (shift % 32)
			number[shift/32] = uint32(wide)
			number[shift/32+1] = uint32(wide >> 32) // zero in the word too many
			out = append(out, number[:limbs]...)
		}
		for k := range low {
			put(k + 1)
		}
		for k := range high {
			put(k << w.split(i))
		}
	}
	return out
}

// workspace is what a tile takes besides its scalars and points.
type workspace struct {
	entries, offsets, sums device.Buffer[uint32]
	adds                   *bucket.Workspace
}

func workspaceBytes(g *curve.Group, info device.Info, windows, tile int) int64 {
	return int64(tile)*int64(4*windows+4+g.XYZZBytes()) + 4 + bucket.Bytes(g, info, tile*windows, tile)
}

func newWorkspace(q *device.Queue, g *curve.Group, windows, tile int) (*workspace, error) {
	w := &workspace{}
	var err error
	if w.entries, err = device.Alloc[uint32](q, tile*windows); err == nil {
		if w.offsets, err = device.Alloc[uint32](q, tile+1); err == nil {
			if w.sums, err = device.Alloc[uint32](q, tile*g.XYZZBytes()/4); err == nil {
				w.adds, err = bucket.NewWorkspace(q, g, tile*windows, tile)
			}
		}
	}
	if err != nil {
		w.free()
		return nil, err
	}
	return w, nil
}

func (w *workspace) free() {
	w.entries.Free()
	w.offsets.Free()
	w.sums.Free()
	if w.adds != nil {
		w.adds.Free()
	}
}

// tileFor is how many of n multiples are made at a time: what the table was made for, or
// fewer, if memory is short. each is how many bytes a multiple takes besides the workspace.
func (t *Table[P, S]) tileFor(n, each int) (int, error) {
	free, err := memory(t.dev)
	if err != nil {
		return 0, err
	}
	g, tile := t.curve.Group, min(n, t.tile)
	for {
		need := workspaceBytes(g, t.dev.Info(), t.windows.n, tile) + int64(tile)*int64(each)
		if free == 0 || need <= free {
			return tile, nil
		}
		if tile <= leastTile {
			return 0, &device.Error{Device: t.dev.Name(), Op: "multiples in " + g.Name, Bytes: need, Class: device.ErrNoMemory,
				Text: fmt.Sprintf("a tile of %d needs that much, %d bytes are left", tile, free)}
		}
		tile = max(leastTile, tile/2)
	}
}

// enqueue enqueues a tile: the multiples by the scalars, of which the first is number first
// of all, go to points. bad is a word, explained at the kernel.
func (t *Table[P, S]) enqueue(q *device.Queue, w *workspace, points device.Buffer[P], scalars device.Buffer[S], bad device.Buffer[uint32], first int) error {
	g, n := t.curve.Group, scalars.Len()
	k := device.Kernel{Source: units[g.Scalar], Name: "fixedbase_digits_" + g.Scalar.Name}
	all, offsets, sums := w.entries.Slice(0, n*t.windows.n), w.offsets.Slice(0, n+1), w.sums.Slice(0, n*g.XYZZBytes()/4)
	err := q.Launch(k, device.D1(device.Blocks(n, digitThreads)), device.D1(digitThreads), 4*digitThreads*t.windows.n,
		all.Arg(), offsets.Arg(), bad.Arg(), scalars.Arg(), t.sum.Arg(), device.U32(t.windows.bits), device.U32(t.windows.n), device.U32(n), device.U32(first))
	if err != nil {
		return fmt.Errorf("digits: %w", err)
	}
	if err := w.adds.Sums(q, t.points, plan.Sorted{Entries: all, Offsets: offsets, Buckets: n}, sums, false); err != nil {
		return err
	}
	return affine.Normalize(q, g, device.View[uint32](points), sums)
}

// MultiplyBuffer is Multiply for scalars and points on the table's device, q's: it returns
// when the points are there. The buffers must begin at multiples of 16 bytes. On the CPU
// device it is Multiply.
func (t *Table[P, S]) MultiplyBuffer(q *device.Queue, points device.Buffer[P], scalars device.Buffer[S]) error {
	g := t.curve.Group
	if q.Device() != t.dev || points.Len() != scalars.Len() || scalars.Len() > maxPoints || points.Address()%16 != 0 || scalars.Address()%16 != 0 {
		return fmt.Errorf("fixedbase: %s: multiples by %d scalars to %d points on %s, the table is on %s: %w", g.Name,
			scalars.Len(), points.Len(), q.Device().Name(), t.dev.Name(), device.ErrUsage)
	}
	if q.OnHost() {
		if err := errors.Join(points.Use(q), scalars.Use(q)); err != nil {
			return err
		}
		return t.Multiply(q.Context(), points.Host(), scalars.Host())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return fmt.Errorf("fixedbase: %s: %w", g.Name, ErrClosed)
	}
	if err := t.onBuffers(q, points, scalars); err != nil {
		return fmt.Errorf("fixedbase: %s: %w", g.Name, err)
	}
	return nil
}

func (t *Table[P, S]) onBuffers(q *device.Queue, points device.Buffer[P], scalars device.Buffer[S]) error {
	n := scalars.Len()
	if n == 0 {
		return q.Err()
	}
	t.dropRoom() // for its memory
	tile, err := t.tileFor(n, 0)
	if err != nil {
		return err
	}
	w, err := newWorkspace(q, t.curve.Group, t.windows.n, tile)
	if err != nil {
		return err
	}
	defer w.free()
	bad, err := device.Upload(q, []uint32{none})
	if err != nil {
		return err
	}
	defer bad.Free()
	for lo := 0; lo < n; lo += tile {
		hi := min(n, lo+tile)
		if err := t.enqueue(q, w, points.Slice(lo, hi), scalars.Slice(lo, hi), bad, lo); err != nil {
			return err
		}
	}
	found, err := bad.Read(q)
	if err != nil {
		return err
	}
	if found[0] != none {
		return badScalar(int(found[0]))
	}
	return nil
}

// none is no index of a scalar.
const none = 1<<32 - 1
