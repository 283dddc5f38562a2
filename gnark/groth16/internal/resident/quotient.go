package resident

import (
	"context"
	"errors"
	"math/bits"

	"golang.org/x/sync/errgroup"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/ntt/scalar"
)

// quotient is the transforms of a domain on up to three devices of a place, one each for
// the values of A, B and C. It is safe for concurrent use.
type quotient[S any] struct {
	place *Place
	n     int
	size  int64  // bytes of an element
	of    [3]int // the devices of A, B and C
	on    map[int]*scalar.Transform
}

// homes are the devices of A, B and C: the first, which has A, does the end too.
func homes(devices int) [3]int {
	switch devices {
	case 1:
		return [3]int{0, 0, 0}
	case 2:
		return [3]int{0, 1, 0}
	default:
		return [3]int{0, 1, 2}
	}
}

// newQuotient puts the transforms of a key's domain to its place. There are none where the
// domain's generator or its coset's are not gnark-crypto's, where it is larger than
// scalar.MaxLog, and where memory is short of the tables, some megabytes.
func (k *Key[P, Q, S]) newQuotient() error {
	log := bits.Len64(k.q.N) - 1
	if log > scalar.MaxLog {
		return nil
	}
	d, err := scalar.New(k.q.G1.Group.Scalar, log)
	if err != nil {
		return err
	}
	if d.Generator().Cmp(k.q.Generator) != 0 || d.CosetGenerator().Cmp(k.q.Coset) != 0 {
		return nil
	}
	out := &quotient[S]{place: k.place, n: int(k.q.N), size: int64(k.q.G1.Group.Scalar.Bytes()), of: homes(len(k.place.devices)), on: map[int]*scalar.Transform{}}
	for _, at := range out.of {
		if out.on[at] == nil {
			if out.on[at], err = tables(d, k.place.devices[at]); err != nil {
				break
			}
		}
	}
	if errors.Is(err, device.ErrNoMemory) {
		out.close()
		return nil
	}
	k.quotient = out
	return err
}

func tables(d *scalar.Domain, dev *device.Device) (*scalar.Transform, error) {
	q, err := dev.NewQueue(context.Background())
	if err != nil {
		return nil, err
	}
	defer q.Close()
	return d.On(q)
}

func (x *quotient[S]) close() {
	if x == nil {
		return
	}
	for _, t := range x.on {
		if t != nil {
			t.Free()
		}
	}
}

// load is how many transforms device i does: two each of A and B, one of C, and one in the
// end, with the products.
func (x *quotient[S]) load(i int) (n float64) {
	for v, at := range x.of {
		if at == i {
			n += []float64{2, 2, 1}[v]
		}
	}
	if i == x.of[0] {
		n += 1.3
	}
	return n
}

// bytes is what values take of device i, at most.
func (x *quotient[S]) bytes(i int) int64 {
	lists := int64(0)
	for _, at := range x.of {
		if at == i {
			lists++
		}
	}
	if i == x.of[0] {
		lists = 3
	}
	return lists * int64(x.n) * x.size
}

// lane is a device's queues for values: copies take longer than transforms, so that these
// go on while the next values come.
type lane[S any] struct {
	copies, work *device.Queue
}

func newLane[S any](ctx context.Context, d *device.Device) (l lane[S], err error) {
	if l.copies, err = d.NewQueue(ctx); err != nil {
		return l, err
	}
	if l.work, err = d.NewQueue(ctx); err != nil {
		l.copies.Close()
	}
	return l, err
}

func (l lane[S]) close() {
	l.work.Close()
	l.copies.Close()
}

// compute is h = (A B - C) / (Xⁿ - 1), its coefficients in bit-reversed order, on the first
// device, for the values of A, B and C on the domain, zero after those given. Use is called
// with it, and a queue on which it is ready, before the memory is given back. Ready says when
// a device's link is free.
func (k *Key[P, Q, S]) compute(ctx context.Context, values [3][]S, ready func(at int) <-chan struct{}, use func(q *device.Queue, h device.Buffer[S]) error) error {
	x := k.quotient
	home := x.of[0]
	lanes := map[int]lane[S]{}
	for _, at := range x.of {
		if _, ok := lanes[at]; !ok {
			l, err := newLane[S](ctx, k.place.devices[at])
			if err != nil {
				return err
			}
			defer l.close()
			lanes[at] = l
		}
	}
	var lists [3]device.Buffer[S]
	for v, at := range x.of {
		var err error
		if lists[v], err = device.Alloc[S](lanes[at].copies, x.n); err != nil {
			return err
		}
		defer lists[v].Free()
	}
	g, gctx := errgroup.WithContext(ctx)
	for at, l := range lanes {
		g.Go(func() error {
			select {
			case <-ready(at):
			case <-gctx.Done():
				return gctx.Err()
			}
			for v, of := range x.of {
				if of != at {
					continue
				}
				given := len(values[v])
				if err := lists[v].Slice(0, given).CopyFrom(l.copies, values[v]); err != nil {
					return err
				}
				if err := lists[v].Slice(given, x.n).Zero(l.copies); err != nil {
					return err
				}
				if err := l.work.After(l.copies); err != nil {
					return err
				}
				words := device.View[uint64](lists[v])
				var err error
				if v < 2 {
					err = x.on[at].ToCoset(l.work, words)
				} else {
					err = x.on[at].Rest(l.work, words)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	// All comes to the first device.
	work := lanes[home].work
	for v, at := range x.of {
		if at == home {
			continue
		}
		there := lists[v]
		var err error
		if lists[v], err = device.Alloc[S](lanes[home].copies, x.n); err != nil {
			return err
		}
		defer lists[v].Free()
		if err := k.relay(lanes[home].copies, lanes[at].work, lists[v], there); err != nil {
			return err
		}
		there.Free()
	}
	if err := work.After(lanes[home].copies); err != nil {
		return err
	}
	if err := x.on[home].QuotientOfRest(work, device.View[uint64](lists[0]), device.View[uint64](lists[1]), device.View[uint64](lists[2])); err != nil {
		return err
	}
	if err := work.Sync(); err != nil {
		return err
	}
	for _, v := range lists[1:] {
		v.Free() // for sums
	}
	return use(work, lists[0])
}

// ring is page-locked memory that copies between devices go through.
type ring = device.Pinned[uint64]

const ringWords = 2 << 20 // 16 MB

// relay enqueues a copy of src, on from's device, to dst, on to's, each in order with its
// queue, and waits for it.
func (k *Key[P, Q, S]) relay(to, from *device.Queue, dst, src device.Buffer[S]) error {
	if to.Device() == from.Device() {
		if err := to.After(from); err != nil {
			return err
		}
		return device.Copy(to, dst, src)
	}
	r, err := k.ring(from.Device())
	if err != nil {
		return err
	}
	a, b := device.View[uint64](src), device.View[uint64](dst)
	half := r.Len() / 2
	for lo, i := 0, 0; lo < a.Len() && err == nil; i++ {
		n := min(half, a.Len()-lo)
		slot := r.Slice(i%2*half, i%2*half+n)
		if err = a.Slice(lo, lo+n).CopyToPinned(from, slot); err != nil {
			break
		}
		if err = to.After(from); err != nil {
			break
		}
		// What was copied out of the other slot has been copied in before it is used again.
		if err = from.After(to); err != nil {
			break
		}
		err = b.Slice(lo, lo+n).CopyFromPinned(to, slot)
		lo += n
	}
	if err == nil {
		err = to.Sync()
	}
	if err != nil {
		_ = r.Free() // waits for what still uses it
		return err
	}
	k.mu.Lock()
	k.rings = append(k.rings, r)
	k.mu.Unlock()
	return nil
}

// ring is one that is not in use.
func (k *Key[P, Q, S]) ring(d *device.Device) (ring, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.rings); n > 0 {
		r := k.rings[n-1]
		k.rings = k.rings[:n-1]
		return r, nil
	}
	return device.AllocPinned[uint64](d, 2*ringWords)
}
