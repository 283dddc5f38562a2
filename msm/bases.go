package msm

import (
	"context"
	"fmt"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// Bases are points that stay on their devices, for any number of sums. They are safe
// for concurrent use; a device does one sum at a time.
type Bases[P, S any] struct {
	curve     *Curve[P, S]
	options   Options
	n         int
	points    []P           // on the CPU: the caller's
	residents []*resident   // on other devices
	windows   *plan.Windows // of all residents

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
	if o.Check || o.Subgroup == Verify {
		if err := c.Host.Check(points, o.Subgroup == Verify); err != nil {
			return nil, fmt.Errorf("msm: %s: bases: %w: %w", c.Group.Name, ErrInput, err)
		}
	}
	if devices[0].Kind() == device.CPU {
		b.points = points
		return b, nil
	}
	return b, b.reside(devices, pointsFrom{host: words(points)})
}

// NewBuffer makes bases of points that a device has already. Without tables they are
// used where they lie, and must not be freed or change before Close. The points are
// taken as they are: Options.Check and Verify are for New.
func NewBuffer[P, S any](dev *device.Device, c *Curve[P, S], points device.Buffer[P], o Options) (*Bases[P, S], error) {
	b, devices, err := start(dev, c, points.Len(), o)
	if err != nil {
		return nil, err
	}
	if o.Check || o.Subgroup == Verify {
		return nil, fmt.Errorf("msm: %s: %w: points on a device are not checked", c.Group.Name, ErrInput)
	}
	if len(devices) > 1 {
		return nil, fmt.Errorf("msm: %s: %w: points of one device for %d", c.Group.Name, ErrInput, len(devices))
	}
	if devices[0].Kind() == device.CPU {
		b.points = points.Host()
		return b, nil
	}
	return b, b.reside(devices, pointsFrom{device: device.View[uint32](points)})
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

// SumBuffer is Sum for scalars on the bases' device.
func (b *Bases[P, S]) SumBuffer(ctx context.Context, scalars device.Buffer[S]) (P, error) {
	return b.sum(ctx, scalars.Len(), scalars.Host, bufferSource{device.View[uint32](scalars), b.curve.Group.Scalar.Limbs})
}

// SumPinned is Sum for scalars in page-locked memory, from where they are copied to the
// device while it works. They must not change before the sum is there.
func (b *Bases[P, S]) SumPinned(ctx context.Context, scalars device.Pinned[S]) (P, error) {
	return b.sum(ctx, scalars.Len(), scalars.Host, pinnedSource[S]{scalars})
}

// SumMany is Sum for several lists of scalars. While the host adds up the windows of one
// the device works on the next.
func (b *Bases[P, S]) SumMany(ctx context.Context, scalars [][]S) ([]P, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([]P, len(scalars))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(2, len(scalars)) {
		wg.Go(func() {
			for i := range next {
				var err error
				if out[i], err = b.Sum(ctx, scalars[i]); err != nil {
					cancel(fmt.Errorf("msm: sum %d: %w", i, err))
				}
			}
		})
	}
	for i := range scalars {
		next <- i
	}
	close(next)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return out, nil
}

// sum is the sum with scalars from src, or on the CPU from host.
func (b *Bases[P, S]) sum(ctx context.Context, n int, host func() []S, src source) (P, error) {
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
	if err != nil {
		return none, err
	}
	return b.curve.Host.Combine(parts), nil
}
