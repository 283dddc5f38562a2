package msm

import (
	"context"
	"fmt"
	"sync"

	"github.com/zkwarp/zkwarp/device"
)

// Bases are points that stay on their devices, for any number of sums. They are safe
// for concurrent use.
type Bases[P, S any] struct {
	curve   *Curve[P, S]
	options Options
	points  []P // the caller's

	mu     sync.RWMutex // held for reading by sums, for writing by Close
	closed bool
}

// New makes bases of points on a device. The CPU uses the caller's slice, which must
// not change until Close; other devices have copied it when New returns.
func New[P, S any](dev *device.Device, c *Curve[P, S], points []P, o Options) (*Bases[P, S], error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if dev == nil && len(o.Devices) == 0 {
		return nil, fmt.Errorf("msm: %w: no device", ErrInput)
	}
	if o.Check || o.Subgroup == Verify {
		if err := c.Host.Check(points, o.Subgroup == Verify); err != nil {
			return nil, fmt.Errorf("msm: %s: bases: %w: %w", c.Group.Name, ErrInput, err)
		}
	}
	return &Bases[P, S]{curve: c, options: o, points: points}, nil
}

// Len is the number of bases.
func (b *Bases[P, S]) Len() int { return len(b.points) }

// Curve is what the bases were made for.
func (b *Bases[P, S]) Curve() *Curve[P, S] { return b.curve }

// Close gives the bases' memory back, once running sums are done.
func (b *Bases[P, S]) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.points = true, nil
}

// Sum is Σ scalars[i] bases[i]; there must be a scalar for every base. The sum over no
// bases is infinity.
func (b *Bases[P, S]) Sum(ctx context.Context, scalars []S) (P, error) {
	var none P
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return none, ErrClosed
	}
	if err := sameLength(len(scalars), len(b.points)); err != nil {
		return none, err
	}
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if len(scalars) == 0 {
		return none, nil
	}
	if err := checkScalars(b.curve.Group.Scalar, scalars); err != nil {
		return none, err
	}
	return b.curve.Host.Sum(ctx, b.points, scalars)
}
