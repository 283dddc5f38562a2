package resident

import (
	"context"
	"errors"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/pick"
)

// affine is what points can do.
type affine[P any] interface {
	*P
	Add(a, b *P) *P
}

func adder[A affine[P], P any]() func(a, b *P) P {
	return func(a, b *P) P {
		var sum P
		A(&sum).Add(a, b)
		return sum
	}
}

// group is a group with its scalars.
type group[P, S any] struct {
	*msm.Curve[P, S]
	add func(a, b *P) P
}

// points are some points of a query on one device, or on the host where they find no room.
// They are safe for concurrent use.
type points[P, S any] struct {
	place *Place
	at    int // the device
	group[P, S]
	host  []P
	n     int // of the list that scalars are of, which may be longer
	bases *msm.Bases[P, S]
	apart device.Buffer[P] // what the bases borrow
	bytes int64
}

// padding says where points are in a longer list, at whose other places is infinity.
type padding struct {
	places []uint32
	n      int
}

// put puts points on a device of a place. Where they do not fit they stay on the host, and
// each sum uploads them, in tiles if need be. The points must be in the subgroup of prime
// order and must not change before Close. With digits, those of other points, sums over both
// can share their scalars.
func put[P, S any](place *Place, at int, g group[P, S], host []P, pad *padding, digits *msm.Digits) (*points[P, S], error) {
	p := &points[P, S]{place: place, at: at, group: g, host: host, n: len(host)}
	if pad != nil {
		p.n = pad.n
	}
	p.bytes = sizeOf(g.Curve, p.n)
	if p.n == 0 {
		p.bytes = 0
	}
	if !place.take(at, p.bytes) {
		p.n = len(host)
		return p, nil
	}
	err := p.load(pad, digits)
	if err == nil {
		return p, nil
	}
	p.apart.Free()
	if !errors.Is(err, device.ErrNoMemory) {
		return nil, err
	}
	place.leave(at, p.bytes)
	p.apart, p.n = device.Buffer[P]{}, len(host)
	return p, nil
}

// sizeOf is the bytes that n points take on a device.
func sizeOf[P, S any](c *msm.Curve[P, S], n int) int64 {
	var point P
	size := int64(n) * int64(unsafe.Sizeof(point))
	if edwards(c.Group) { // three coordinates
		size += size / 2
	}
	return size
}

// edwards says whether points lie on devices in another form than the caller's.
func edwards(g *curve.Group) bool { return g == curve.BLS12377G1 }

func (p *points[P, S]) device() *device.Device { return p.place.devices[p.at] }

func (p *points[P, S]) load(pad *padding, digits *msm.Digits) (err error) {
	o := msm.Options{Subgroup: msm.Asserted, Digits: digits}
	if pad == nil || p.n == len(p.host) {
		p.bases, err = msm.New(p.device(), p.Curve, p.host, o)
		return err
	}
	q, err := p.device().NewQueue(context.Background())
	if err != nil {
		return err
	}
	defer q.Close()
	if p.apart, err = device.Alloc[P](q, p.n); err != nil {
		return err
	}
	if err := p.apart.Zero(q); err != nil {
		return err
	}
	const piece = 1 << 20
	some, err := device.Alloc[P](q, min(piece, len(p.host)))
	if err != nil {
		return err
	}
	defer some.Free()
	index, err := device.Alloc[uint32](q, some.Len())
	if err != nil {
		return err
	}
	defer index.Free()
	for lo := 0; lo < len(p.host); lo += piece {
		hi := min(lo+piece, len(p.host))
		from, places := some.Slice(0, hi-lo), index.Slice(0, hi-lo)
		if err := from.CopyFrom(q, p.host[lo:hi]); err != nil {
			return err
		}
		if err := places.CopyFrom(q, pad.places[lo:hi]); err != nil {
			return err
		}
		if err := pick.To(q, p.apart, from, places); err != nil {
			return err
		}
	}
	if err := q.Sync(); err != nil {
		return err
	}
	p.bases, err = msm.NewBuffer(p.device(), p.Curve, p.apart, o)
	return err
}

// Close gives the memory back.
func (p *points[P, S]) Close() {
	if p.bases != nil {
		p.bases.Close()
	}
	p.apart.Free()
}

// resident says whether the points are on the device.
func (p *points[P, S]) resident() bool { return p.bases != nil }

// length is how many scalars sums take.
func (p *points[P, S]) length() int { return p.n }

// digits is how sums cut scalars, nil if the points are not resident or on the CPU.
func (p *points[P, S]) digits() *msm.Digits {
	if p.bases == nil {
		return nil
	}
	return p.bases.Digits()
}

// memory is what a sum takes of the device's memory.
func (p *points[P, S]) memory(digits *msm.Digits) (msm.Memory, error) {
	return p.Curve.Memory(p.device(), p.n, msm.Options{Subgroup: msm.Asserted, Digits: digits})
}

// fromHost is the sum with scalars of the host.
func (p *points[P, S]) fromHost(ctx context.Context, scalars []S) (any, error) {
	if p.bases != nil {
		return p.bases.Sum(ctx, scalars)
	}
	return tiled(0, len(p.host), p.place.tile, p.add, func(lo, hi int) (P, error) {
		return msm.Sum(ctx, p.device(), p.Curve, p.host[lo:hi], scalars[lo:hi], msm.Options{Subgroup: msm.Asserted})
	})
}

// fromBuffer is the sum with scalars that are on the device.
func (p *points[P, S]) fromBuffer(ctx context.Context, scalars device.Buffer[S]) (any, error) {
	if p.bases != nil {
		return p.bases.SumBuffer(ctx, scalars)
	}
	return tiled(0, len(p.host), p.place.tile, p.add, func(lo, hi int) (P, error) {
		b, err := msm.New(p.device(), p.Curve, p.host[lo:hi], msm.Options{Subgroup: msm.Asserted})
		if err != nil {
			var none P
			return none, err
		}
		defer b.Close()
		return b.SumBuffer(ctx, scalars.Slice(lo, hi))
	})
}

// prepare sorts scalars for sums over these points and others with their digits.
func (p *points[P, S]) prepare(ctx context.Context, scalars device.Buffer[S]) (*msm.Prepared[S], error) {
	return p.bases.PrepareBuffer(ctx, scalars)
}

func (p *points[P, S]) fromPrepared(ctx context.Context, x *msm.Prepared[S]) (any, error) {
	return p.bases.SumPrepared(ctx, x)
}

// tiled is a sum over points [lo, hi) that is made in halves where it is too large for
// memory, and these again, down to so many points.
func tiled[P any](lo, hi, least int, add func(*P, *P) P, sum func(lo, hi int) (P, error)) (P, error) {
	whole, err := sum(lo, hi)
	if !errors.Is(err, device.ErrNoMemory) || hi-lo < 2*least {
		return whole, err
	}
	half := lo + (hi-lo)/2
	low, err := tiled(lo, half, least, add, sum)
	if err != nil {
		return whole, err
	}
	high, err := tiled(half, hi, least, add, sum)
	if err != nil {
		return whole, err
	}
	return add(&low, &high), nil
}

// Points are a list of points for sums with scalars of the host, shared out among the
// devices of a place. They are safe for concurrent use.
type Points[P, S any] struct {
	group group[P, S]
	all   []P
	parts []*points[P, S]
}

// New puts points to a place, as far as there is room.
func New[A affine[P], P, S any](place *Place, c *msm.Curve[P, S], all []P) (*Points[P, S], error) {
	out := &Points[P, S]{group: group[P, S]{c, adder[A]()}, all: all}
	// Few points are not worth the launches on several devices.
	parts := max(1, min(len(place.devices), len(all)/place.share))
	for i := range parts {
		p, err := put(place, i, out.group, all[i*len(all)/parts:(i+1)*len(all)/parts], nil, nil)
		if err != nil {
			out.Close()
			return nil, err
		}
		out.parts = append(out.parts, p)
	}
	return out, nil
}

// Len is the number of points.
func (p *Points[P, S]) Len() int { return len(p.all) }

// Are says whether the points are those of a slice, its very memory.
func (p *Points[P, S]) Are(points []P) bool { return same(p.all, points) }

func same[P any](a, b []P) bool {
	return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

// Close gives the memory back.
func (p *Points[P, S]) Close() {
	if p == nil {
		return
	}
	for _, x := range p.parts {
		x.Close()
	}
}

// Sum is Σ scalars[i] points[i].
func (p *Points[P, S]) Sum(ctx context.Context, scalars []S) (P, error) {
	var sum P
	if len(scalars) != len(p.all) {
		return sum, lengths(len(scalars), len(p.all))
	}
	sums := make([]P, len(p.parts))
	g, ctx := errgroup.WithContext(ctx)
	at := 0
	for i, x := range p.parts {
		from := at
		at += x.n
		g.Go(func() error {
			v, err := x.fromHost(ctx, scalars[from:from+x.n])
			if err == nil {
				sums[i] = v.(P)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return sum, err
	}
	for i := range sums {
		sum = p.group.add(&sum, &sums[i])
	}
	return sum, nil
}
