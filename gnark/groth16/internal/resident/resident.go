// Package resident keeps the queries of a proving key, lists of points, on devices
// between proofs, as far as memory goes.
package resident

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm"
)

// ErrInput is the class of errors of keys, constraint systems and options that are not
// well-formed, or do not belong together.
var ErrInput = errors.New("groth16: bad input")

// ErrWrong says that the parts of a proof do not fit one another, or it does not verify, so
// that a device must have computed something wrong.
var ErrWrong = errors.New("wrong proof")

// shareOf5 is, in fifths, the part of a device's memory that points may take: sums over them need the
// rest for sorting and buckets.
const shareOf5 = 3

// Place is the devices of a proving key, and what its points may still take of them.
type Place struct {
	devices []*device.Device
	limited bool
	left    int64 // bytes of each device
	taken   int64
	short   bool // some points stay on the host
	tile    int  // points below which there is no use in cutting a sum further

	// Serial says that stages of a proof come one after the other.
	Serial bool
	Trace  Trace
}

// Trace, if not nil, is told how long stages of proofs took, by many goroutines.
type Trace func(stage string, d time.Duration)

// Stage starts a stage of a proof and returns what ends it.
func (t Trace) Stage(name string) (end func()) {
	if t == nil {
		return func() {}
	}
	start := time.Now()
	return func() { t(name, time.Since(start)) }
}

// NewPlace is a place on devices that share all work, with so many bytes of each for
// points. 0 stands for three fifths of what is free, or no limit where the devices have
// no memory of their own.
func NewPlace(devices []*device.Device, memory int64) (*Place, error) {
	if len(devices) == 0 {
		return nil, errors.New("no device")
	}
	if memory < 0 {
		return nil, fmt.Errorf("%d bytes of memory", memory)
	}
	p := &Place{devices: devices, limited: memory > 0, left: memory, tile: 1 << 14}
	for _, d := range devices {
		if memory > 0 || d.Kind() == device.CPU {
			continue
		}
		budget, err := d.Budget()
		if err != nil {
			return nil, err
		}
		if budget == 0 {
			continue
		}
		free := max(0, budget-d.InUse()) / 5 * shareOf5
		if !p.limited || free < p.left {
			p.limited, p.left = true, free
		}
	}
	return p, nil
}

// OnCPU says whether the place is the host's memory.
func (p *Place) OnCPU() bool { return p.devices[0].Kind() == device.CPU }

// Preload makes kernels ready, as many side by side as there are cores. Where a GPU
// never had them they take half a minute one after the other, as they are first used.
// The emulator is left to make those that are used.
func (p *Place) Preload(units ...*kernel.Source) error {
	for _, d := range p.devices {
		if d.Kind() == device.CUDA {
			if err := d.Preload(units...); err != nil {
				return err
			}
		}
	}
	return nil
}

// Bytes is how much of each device's memory the place's points take.
func (p *Place) Bytes() int64 { return p.taken }

// Whole says whether the place took all points that were put to it.
func (p *Place) Whole() bool { return !p.short }

// Points are one query of a key. They are safe for concurrent use.
type Points[P, S any] struct {
	place  *Place
	curve  *msm.Curve[P, S]
	points []P
	add    func(*P, *P) P
	bases  *msm.Bases[P, S] // nil: not resident
}

// affine is what points can do.
type affine[P any] interface {
	*P
	Add(a, b *P) *P
}

// New puts points to a place. Where they do not fit they stay on the host, and each sum
// uploads them, in tiles if need be. The points must be in the subgroup of prime order
// and must not change before Close. With digits, those of other points, sums over both
// can share their scalars.
func New[A affine[P], P, S any](place *Place, c *msm.Curve[P, S], points []P, digits *msm.Digits) (*Points[P, S], error) {
	p := &Points[P, S]{place: place, curve: c, points: points, add: func(a, b *P) P {
		var sum P
		A(&sum).Add(a, b)
		return sum
	}}
	var point P
	size := int64(len(points)) * int64(unsafe.Sizeof(point))
	if c.Group == curve.BLS12377G1 { // lies there in Edwards form, with three coordinates
		size += size / 2
	}
	if place.limited && size > place.left {
		place.short = true
		return p, nil
	}
	o := p.options()
	o.Digits = digits
	bases, err := msm.New(place.devices[0], c, points, o)
	if errors.Is(err, device.ErrNoMemory) {
		place.short = true
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	p.bases = bases
	if !place.OnCPU() {
		place.left -= size
		place.taken += size
	}
	return p, nil
}

func (p *Points[P, S]) options() msm.Options {
	return msm.Options{Devices: p.place.devices, Subgroup: msm.Asserted}
}

// Digits is how sums cut scalars, nil if the points are not resident or on the CPU.
func (p *Points[P, S]) Digits() *msm.Digits {
	if p.bases == nil {
		return nil
	}
	return p.bases.Digits()
}

// Len is the number of points.
func (p *Points[P, S]) Len() int { return len(p.points) }

// Are says whether the points are those of a slice, its very memory.
func (p *Points[P, S]) Are(points []P) bool {
	return len(points) == len(p.points) && unsafe.SliceData(points) == unsafe.SliceData(p.points)
}

// Close gives the memory back.
func (p *Points[P, S]) Close() {
	if p != nil && p.bases != nil {
		p.bases.Close()
	}
}

// Sum is Σ scalars[i] points[i].
func (p *Points[P, S]) Sum(ctx context.Context, scalars []S) (P, error) {
	if p.bases != nil {
		return p.bases.Sum(ctx, scalars)
	}
	return tiled(p.points, scalars, p.place.tile, p.add, func(points []P, scalars []S) (P, error) {
		return msm.Sum(ctx, p.place.devices[0], p.curve, points, scalars, p.options())
	})
}

// tiled is a sum that is made in halves where it is too large for memory, and these again,
// down to so many points.
func tiled[P, S any](points []P, scalars []S, least int, add func(*P, *P) P, sum func([]P, []S) (P, error)) (P, error) {
	whole, err := sum(points, scalars)
	if !errors.Is(err, device.ErrNoMemory) || len(points) < 2*least || len(points) != len(scalars) {
		return whole, err
	}
	half := len(points) / 2
	low, err := tiled(points[:half], scalars[:half], least, add, sum)
	if err != nil {
		return whole, err
	}
	high, err := tiled(points[half:], scalars[half:], least, add, sum)
	if err != nil {
		return whole, err
	}
	return add(&low, &high), nil
}

// SumBoth is the sums of two queries over the same scalars, which are sorted once if q
// was made with p's digits and both are resident.
func SumBoth[P, Q, S any](ctx context.Context, p *Points[P, S], q *Points[Q, S], scalars []S) (P, Q, error) {
	var a P
	var b Q
	if p.bases != nil && q.bases != nil {
		shared, err := p.bases.Prepare(ctx, scalars)
		switch {
		case err == nil:
			defer shared.Close()
			end := p.place.Trace.Stage("msm-b1")
			a, err = p.bases.SumPrepared(ctx, shared)
			end()
			if err != nil {
				return a, b, err
			}
			defer p.place.Trace.Stage("msm-b2")()
			b, err = q.bases.SumPrepared(ctx, shared)
			return a, b, err
		case errors.Is(err, device.ErrNoMemory), errors.Is(err, msm.ErrInput):
			// Too many to sort ahead. One after the other needs less; scalars that are
			// bad fail there again.
		default:
			return a, b, err
		}
	}
	end := p.place.Trace.Stage("msm-b1")
	a, err := p.Sum(ctx, scalars)
	end()
	if err != nil {
		return a, b, err
	}
	defer p.place.Trace.Stage("msm-b2")()
	b, err = q.Sum(ctx, scalars)
	return a, b, err
}
