package srs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm"
)

const (
	// operation is what thresholds call commitments (device.Prefer).
	operation = "kzg"
	// shareOf5 is, in fifths, the part of a device's free memory that points may take: sums
	// need the rest for sorting and buckets.
	shareOf5 = 3
	// atATime is how many sums go on together: scalars of one come while another's points
	// are added up, and the host adds up the windows of a third.
	atATime = 3
	// tile is how many points there is no use in cutting a sum below, where memory is short.
	tile = 1 << 14
)

// Points are the powers of a reference string, in the monomial or in a Lagrange basis. They
// are safe for concurrent use.
type Points[P, S any] struct {
	curve   *msm.Curve[P, S]
	points  []P
	add     func(a, b *P) P
	o       *Options
	devices []*device.Device
	turns   *semaphore.Weighted // of sums

	mu     sync.RWMutex // held for reading by sums, for writing by Close
	closed bool
	there  []device.Buffer[P] // the points on each device; nil on the CPU, or if they do not fit
	lists  *lists[P, S]       // nil if there is nothing there
}

// affine is what points can do.
type affine[P any] interface {
	*P
	Add(a, b *P) *P
}

// New puts points, which must be in the subgroup of prime order, on the devices that the
// options name. They must not change before Close.
func New[A affine[P], P, S any](c *msm.Curve[P, S], points []P, o *Options) (*Points[P, S], error) {
	if len(points) == 0 {
		return nil, fmt.Errorf("%w: a reference string without points", ErrInput)
	}
	p := &Points[P, S]{curve: c, points: points, o: o, turns: semaphore.NewWeighted(atATime), add: func(a, b *P) P {
		var sum P
		A(&sum).Add(a, b)
		return sum
	}}
	name := o.Device
	if p.small(len(points)) {
		name = "cpu"
	}
	var err error
	if p.devices, err = device.OpenList(name); err != nil {
		return nil, fmt.Errorf("kzg: %w", err)
	}
	if p.onCPU() {
		return p, nil
	}
	if err = p.load(); err != nil && p.replaceable(err) {
		o.Logger.Warn("kzg: the GPU failed, going on with the CPU", "device", p.devices[0].Name(), "reason", err)
		p.devices, err = device.OpenList("cpu")
	}
	if err != nil {
		return nil, fmt.Errorf("kzg: %w", err)
	}
	return p, nil
}

// load makes kernels ready and uploads the points, on all devices or none.
func (p *Points[P, S]) load() error {
	// Without it kernels are compiled one after the other as they are first used. The
	// emulator is left to make those that are used.
	for _, d := range p.devices {
		if d.Kind() == device.CUDA {
			if err := d.Preload(p.curve.Units()...); err != nil {
				return err
			}
		}
	}
	free, limited, err := p.room()
	if err != nil {
		return err
	}
	size := int64(len(p.points)) * int64(unsafe.Sizeof(p.points[0]))
	if limited && size > free {
		return nil
	}
	var there []device.Buffer[P]
	for _, d := range p.devices {
		buffer, err := upload(d, p.points)
		if err == nil {
			there = append(there, buffer)
			continue
		}
		for _, b := range there {
			b.Free()
		}
		if errors.Is(err, device.ErrNoMemory) {
			return nil
		}
		return err
	}
	p.there = there
	p.lists = &lists[P, S]{curve: p.curve, devices: p.devices, there: there, limited: limited, left: free - size}
	return nil
}

// room is how many bytes of each device points may take, if there is a limit.
func (p *Points[P, S]) room() (free int64, limited bool, err error) {
	if p.o.Memory > 0 {
		return p.o.Memory, true, nil
	}
	for _, d := range p.devices {
		budget, err := d.Budget()
		if err != nil {
			return 0, false, err
		}
		if budget == 0 {
			continue
		}
		if here := max(0, budget-d.InUse()) / 5 * shareOf5; !limited || here < free {
			free, limited = here, true
		}
	}
	return free, limited, nil
}

func upload[P any](d *device.Device, points []P) (device.Buffer[P], error) {
	q, err := d.NewQueue(context.Background())
	if err != nil {
		return device.Buffer[P]{}, err
	}
	defer q.Close()
	b, err := device.Upload(q, points)
	if err == nil {
		err = q.Sync()
	}
	if err != nil {
		b.Free()
	}
	return b, err
}

func (p *Points[P, S]) onCPU() bool { return p.devices[0].Kind() == device.CPU }

// small says whether the CPU is to sum so many points because they are few.
func (p *Points[P, S]) small(n int) bool {
	return device.Automatic(p.o.Device) && !device.Prefer(operation, n)
}

// replaceable says whether the CPU is to do what a device could not: where the choice of
// the device is the program's, and the failure is the device's.
func (p *Points[P, S]) replaceable(err error) bool {
	return device.Automatic(p.o.Device) && !p.onCPU() &&
		(errors.Is(err, device.ErrNoMemory) || errors.Is(err, device.ErrFault) || errors.Is(err, device.ErrUnavailable))
}

// Checked says whether sums are to be checked: where they are a device's, and it was asked
// for.
func (p *Points[P, S]) Checked() bool { return p.o.Check && !p.onCPU() }

// Len is the number of points.
func (p *Points[P, S]) Len() int { return len(p.points) }

// Bytes is how much of each device's memory the points take.
func (p *Points[P, S]) Bytes() int64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.lists == nil {
		return 0
	}
	return int64(len(p.points))*int64(unsafe.Sizeof(p.points[0])) + p.lists.bytes()
}

// Close gives the devices' memory back, once running sums are done.
func (p *Points[P, S]) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.lists != nil {
		p.lists.close()
	}
	for _, b := range p.there {
		b.Free()
	}
	p.there, p.lists = nil, nil
}

// Sum is Σ scalars[i] points[i] over as many points as there are scalars. A device's sum is
// checked to be in the group. One that is not is made again on the CPU, and the fault
// logged, as is one of a device that failed if nobody asked for it by name.
func (p *Points[P, S]) Sum(ctx context.Context, scalars []S) (P, error) {
	return p.sum(ctx, scalars, p.small(len(scalars)))
}

// SumOnCPU is Sum without the devices.
func (p *Points[P, S]) SumOnCPU(ctx context.Context, scalars []S) (P, error) {
	return p.sum(ctx, scalars, true)
}

func (p *Points[P, S]) sum(ctx context.Context, scalars []S, onCPU bool) (P, error) {
	var none P
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return none, ErrClosed
	}
	if len(scalars) > len(p.points) {
		return none, fmt.Errorf("%w: %d scalars for %d points", ErrInput, len(scalars), len(p.points))
	}
	if err := ctx.Err(); err != nil || len(scalars) == 0 {
		return none, err
	}
	if onCPU || p.onCPU() {
		return p.cpu(ctx, scalars)
	}
	sum, err := p.device(ctx, scalars)
	var wrong error
	if err == nil {
		if wrong = p.curve.Host.Check([]P{sum}, true); wrong == nil {
			return sum, nil
		}
	} else if !p.replaceable(err) {
		return none, classify(err)
	}
	p.Fault(wrong != nil, errors.Join(err, wrong))
	return p.cpu(ctx, scalars)
}

// Fault reports one of a device.
func (p *Points[P, S]) Fault(wrong bool, reason error) {
	p.o.Logger.Error("kzg: a sum failed on the device, making it again on the CPU", "device", p.devices[0].Name(), "devices", len(p.devices), "wrong", wrong, "reason", reason)
}

// classify is an error of this package, where it is the caller's.
func classify(err error) error {
	if errors.Is(err, msm.ErrInput) {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	return fmt.Errorf("kzg: %w", err)
}

func (p *Points[P, S]) cpu(ctx context.Context, scalars []S) (P, error) {
	var none P
	d, err := device.Open("cpu")
	if err != nil {
		return none, fmt.Errorf("kzg: %w", err)
	}
	if err := p.turns.Acquire(ctx, 1); err != nil {
		return none, err
	}
	defer p.turns.Release(1)
	sum, err := msm.Sum(ctx, d, p.curve, p.points[:len(scalars)], scalars, msm.Options{})
	if err != nil {
		return none, classify(err)
	}
	return sum, nil
}

// device is a sum on the devices. Where others that go on leave too little memory it is
// made alone.
func (p *Points[P, S]) device(ctx context.Context, scalars []S) (P, error) {
	sum, err := p.inTurn(ctx, scalars, 1)
	if errors.Is(err, device.ErrNoMemory) {
		sum, err = p.inTurn(ctx, scalars, atATime)
	}
	return sum, err
}

func (p *Points[P, S]) inTurn(ctx context.Context, scalars []S, turns int64) (P, error) {
	if err := p.turns.Acquire(ctx, turns); err != nil {
		var none P
		return none, err
	}
	defer p.turns.Release(turns)
	return p.once(ctx, scalars, turns == atATime)
}

func (p *Points[P, S]) once(ctx context.Context, scalars []S, alone bool) (P, error) {
	if p.there == nil {
		return p.tiled(ctx, p.points[:len(scalars)], scalars)
	}
	if alone {
		p.lists.drop()
	}
	l, err := p.lists.take(len(scalars))
	if err != nil {
		var none P
		return none, err
	}
	defer p.lists.release(l)
	return l.bases.Sum(ctx, scalars)
}

// tiled is a sum over points that are uploaded for it, in halves where it is too large for
// the memory, and these again.
func (p *Points[P, S]) tiled(ctx context.Context, points []P, scalars []S) (P, error) {
	whole, err := msm.Sum(ctx, p.devices[0], p.curve, points, scalars, msm.Options{Devices: p.devices, Subgroup: msm.Asserted})
	if !errors.Is(err, device.ErrNoMemory) || len(points) < 2*tile {
		return whole, err
	}
	half := len(points) / 2
	low, err := p.tiled(ctx, points[:half], scalars[:half])
	if err != nil {
		return whole, err
	}
	high, err := p.tiled(ctx, points[half:], scalars[half:])
	if err != nil {
		return whole, err
	}
	return p.add(&low, &high), nil
}

// SumMany is Sum for several lists of scalars, also of different lengths, which come to the
// device and are sorted while points of others are added up. Its error names the list.
func (p *Points[P, S]) SumMany(ctx context.Context, scalars [][]S) ([]P, error) {
	out := make([]P, len(scalars))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	for i, s := range scalars {
		g.Go(func() (err error) {
			if out[i], err = p.Sum(ctx, s); err != nil {
				return fmt.Errorf("polynomial %d: %w", i, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}

// edwards says whether sums over a group are made in another form of its points, of half as
// much memory again.
func edwards(g *curve.Group) bool { return g == curve.BLS12377G1 }
