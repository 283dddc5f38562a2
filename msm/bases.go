package msm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// Bases are points that stay on their devices, for any number of sums. They are safe
// for concurrent use.
type Bases[P, S any] struct {
	curve     *Curve[P, S]
	options   Options
	n         int
	points    []P           // on the CPU: the caller's
	residents []*resident   // on other devices
	windows   *plan.Windows // of all residents
	others    sync.Map      // [2]int{points, devices} -> *plan.Windows for other numbers of them

	mu     sync.RWMutex // held for reading by sums, for writing by Close
	closed bool
}

// New makes bases of points on a device. The CPU uses the caller's slice, which must
// not change until Close; other devices have copied it when New returns.
func New[P, S any](dev *device.Device, c *Curve[P, S], points []P, o Options) (*Bases[P, S], error) {
	b, devices, err := start(dev, c, len(points), o)
	if err != nil {
		return nil, err
	}
	if devices[0].Kind() == device.CPU {
		b.points = points
		err = b.checkPoints()
	} else {
		err = b.reside(devices, pointsFrom{host: words(points)})
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// NewBuffer makes bases of points that a device has already. Without tables they are
// used where they lie, and must not be freed or change before Close; those of a view that
// does not begin at a multiple of 16 bytes are copied.
func NewBuffer[P, S any](dev *device.Device, c *Curve[P, S], points device.Buffer[P], o Options) (*Bases[P, S], error) {
	o.Devices = nil
	return NewBuffers([]*device.Device{dev}, c, []device.Buffer[P]{points}, o)
}

// NewBuffers is NewBuffer for several devices that share the work: points[i] are all the
// points, on devices[i]. Options.Devices does not count.
func NewBuffers[P, S any](devices []*device.Device, c *Curve[P, S], points []device.Buffer[P], o Options) (*Bases[P, S], error) {
	if len(points) == 0 || len(points) != len(devices) {
		return nil, fmt.Errorf("msm: %w: points on %d devices for %d", ErrInput, len(points), len(devices))
	}
	o.Devices = devices
	b, devices, err := start(nil, c, points[0].Len(), o)
	if err != nil {
		return nil, err
	}
	var from []pointsFrom
	for i, p := range points {
		if p.Len() != b.n {
			return nil, fmt.Errorf("msm: %w: %d points on device %d, %d on the first", ErrInput, p.Len(), i, b.n)
		}
		from = append(from, pointsFrom{device: device.View[uint32](p)})
	}
	if devices[0].Kind() == device.CPU {
		if b.points = points[0].Host(); len(b.points) != b.n {
			return nil, fmt.Errorf("msm: %w: points on another device than the CPU", ErrInput)
		}
		err = b.checkPoints()
	} else {
		err = b.reside(devices, from...)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// checkPoints does the checks that the options ask for, on the CPU.
func (b *Bases[P, S]) checkPoints() error {
	if !b.options.checks() {
		return nil
	}
	if err := b.curve.Host.Check(b.points, b.options.Subgroup == Verify); err != nil {
		return badPoints(b.curve.Group, err)
	}
	return nil
}

func badPoints(g *curve.Group, err error) error {
	return fmt.Errorf("msm: %s: bases: %w: %w", g.Name, ErrInput, err)
}

// start checks what all kinds of bases have in common.
func start[P, S any](dev *device.Device, c *Curve[P, S], n int, o Options) (*Bases[P, S], []*device.Device, error) {
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	devices := o.Devices
	if len(devices) == 0 {
		if dev == nil {
			return nil, nil, fmt.Errorf("msm: %w: no device", ErrInput)
		}
		devices = []*device.Device{dev}
	}
	return &Bases[P, S]{curve: c, options: o, n: n}, devices, nil
}

// Len is the number of bases.
func (b *Bases[P, S]) Len() int { return b.n }

// Curve is what the bases were made for.
func (b *Bases[P, S]) Curve() *Curve[P, S] { return b.curve }

// Close gives the bases' memory back, once running sums are done.
func (b *Bases[P, S]) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.points = true, nil
	for _, r := range b.residents {
		r.free()
	}
	b.residents = nil
}

// Sum is Σ scalars[i] bases[i]; there must be a scalar for every base. The sum over no
// bases is infinity. When ctx is done the sum stops with its error, and the bases stay
// as they are.
func (b *Bases[P, S]) Sum(ctx context.Context, scalars []S) (P, error) {
	return b.sum(ctx, len(scalars), func() []S { return scalars }, hostSource{words(scalars), b.curve.Group.Scalar.Limbs})
}

// SumBuffer is Sum for scalars on the bases' device. Those of a view that does not begin at
// a multiple of 16 bytes are copied first.
func (b *Bases[P, S]) SumBuffer(ctx context.Context, scalars device.Buffer[S]) (P, error) {
	return b.SumBuffers(ctx, []device.Buffer[S]{scalars})
}

// SumBuffers is Sum for scalars on the bases' devices: scalars[i] are all of them, on
// device i of those that the bases were made for.
func (b *Bases[P, S]) SumBuffers(ctx context.Context, scalars []device.Buffer[S]) (P, error) {
	if want := max(1, len(b.options.Devices)); len(scalars) != want {
		var none P
		return none, fmt.Errorf("msm: %w: scalars on %d devices, bases on %d", ErrInput, len(scalars), want)
	}
	var src []source
	for _, s := range scalars {
		if err := sameLength(s.Len(), b.n); err != nil {
			var none P
			return none, err
		}
		src = append(src, bufferSource{device.View[uint32](s), b.curve.Group.Scalar.Limbs})
	}
	return b.sum(ctx, b.n, scalars[0].Host, src...)
}

// SumPinned is Sum for scalars in page-locked memory, from where they are copied to the
// device while it works. They must not change before the sum is there.
func (b *Bases[P, S]) SumPinned(ctx context.Context, scalars device.Pinned[S]) (P, error) {
	return b.sum(ctx, scalars.Len(), scalars.Host, pinnedSource[S]{scalars})
}

// sum is the sum with scalars from src (one, or one for each device), or on the CPU
// from host.
func (b *Bases[P, S]) sum(ctx context.Context, n int, host func() []S, src ...source) (P, error) {
	var none P
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return none, ErrClosed
	}
	if err := sameLength(n, b.n); err != nil {
		return none, err
	}
	if err := ctx.Err(); err != nil || n == 0 {
		return none, err
	}
	if len(b.residents) == 0 {
		scalars := host()
		if len(scalars) != n {
			return none, fmt.Errorf("msm: %w: scalars on another device than the bases", ErrInput)
		}
		if err := checkScalars(b.curve.Group.Scalar, scalars); err != nil {
			return none, err
		}
		return b.curve.Host.Sum(ctx, b.points, scalars)
	}
	parts, err := b.parts(ctx, src)
	if errors.Is(err, ErrInput) && len(b.residents) > 1 {
		// Another device may have an earlier bad scalar, and have been stopped before it
		// could tell.
		if scalars := host(); len(scalars) == n {
			err = cmp.Or(checkScalars(b.curve.Group.Scalar, scalars), err)
		}
	}
	if err != nil {
		return none, err
	}
	return b.curve.Host.Combine(parts), nil
}
