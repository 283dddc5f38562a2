package msm

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/mont"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
	"github.com/zkwarp/zkwarp/msm/internal/scatter"
)

// Digits is how bases cut scalars. Bases of other groups with the same scalars that are
// made with it (Options.Digits) can share the sorting of scalars.
type Digits struct {
	windows *plan.Windows
	field   *mont.Field
	n       int
}

// Digits is how b cuts scalars, nil on the CPU.
func (b *Bases[P, S]) Digits() *Digits {
	if b.windows == nil {
		return nil
	}
	return &Digits{b.windows, b.curve.Group.Scalar, b.n}
}

// Prepared is scalars, sorted for bases on the same devices with the same digits. It
// takes 10 bytes of device memory a scalar and window.
type Prepared[S any] struct {
	windows *plan.Windows
	n       int
	scalars []S // on the CPU
	shares  []*prepared

	mu     sync.RWMutex
	closed bool
}

// prepared is one device's share.
type prepared struct {
	dev      *device.Device
	schedule *schedule
	lists    []plan.Sorted
	sorts    []*scatter.Workspace
}

// forGroup is the schedule for additions in another group, over the same scalars, which
// are sorted.
func (s *schedule) forGroup(g *curve.Group, info device.Info, adder int) *schedule {
	c := *s
	c.group, c.affine = g, batchAffine(g, adder)
	c.bytes = c.memory(info, 0)
	return &c
}

// Prepare sorts scalars for sums over b, and over bases that share its digits. On the
// CPU it keeps the slice, which must not change until Close.
func (b *Bases[P, S]) Prepare(ctx context.Context, scalars []S) (*Prepared[S], error) {
	return b.prepare(ctx, len(scalars), func() []S { return scalars }, hostSource{words(scalars), b.curve.Group.Scalar.Limbs})
}

// PrepareBuffer is Prepare for scalars on the bases' device, where there is one. Those of a
// view that does not begin at a multiple of 16 bytes are copied first. On a GPU they may
// change once it returns.
func (b *Bases[P, S]) PrepareBuffer(ctx context.Context, scalars device.Buffer[S]) (*Prepared[S], error) {
	if n := max(1, len(b.options.Devices)); n > 1 {
		return nil, fmt.Errorf("msm: %w: scalars on one device, bases on %d", ErrInput, n)
	}
	return b.prepare(ctx, scalars.Len(), scalars.Host, bufferSource{device.View[uint32](scalars), b.curve.Group.Scalar.Limbs})
}

// prepare is Prepare with scalars from src, or on the CPU from host.
func (b *Bases[P, S]) prepare(ctx context.Context, n int, host func() []S, src source) (*Prepared[S], error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return nil, ErrClosed
	}
	if err := sameLength(n, b.n); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &Prepared[S]{windows: b.windows, n: b.n}
	if len(b.residents) == 0 {
		scalars := host()
		if len(scalars) != n {
			return nil, fmt.Errorf("msm: %w: scalars on another device than the bases", ErrInput)
		}
		if err := checkScalars(b.curve.Group.Scalar, scalars); err != nil {
			return nil, err
		}
		p.scalars = scalars
		return p, nil
	}
	ranges := byBuckets(b.windows, b.n, len(b.residents))
	p.shares = make([]*prepared, len(ranges))
	err := each(ctx, len(ranges), func(ctx context.Context, i int) (err error) {
		p.shares[i], err = b.residents[i].prepare(ctx, src, ranges[i].Range)
		return err
	})
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close gives the memory back, once running sums are done.
func (p *Prepared[S]) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, s := range p.shares {
		if s == nil {
			continue
		}
		for _, w := range s.sorts {
			w.Free()
		}
	}
	p.shares, p.scalars = nil, nil
}

// SumPrepared is Sum with scalars that were prepared by bases which share b's digits.
func (b *Bases[P, S]) SumPrepared(ctx context.Context, p *Prepared[S]) (P, error) {
	var none P
	if p == nil {
		return none, fmt.Errorf("msm: %w: no prepared scalars", ErrInput)
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	p.mu.RLock()
	defer p.mu.RUnlock()
	if b.closed || p.closed {
		return none, ErrClosed
	}
	if err := sameLength(p.n, b.n); err != nil {
		return none, err
	}
	if err := ctx.Err(); err != nil || b.n == 0 {
		return none, err
	}
	if (b.windows == nil) != (p.windows == nil) || len(p.shares) != len(b.residents) {
		return none, fmt.Errorf("msm: %w: scalars that were prepared for other devices", ErrInput)
	}
	if len(b.residents) == 0 {
		return b.curve.Host.Sum(ctx, b.points, p.scalars)
	}
	if !slices.Equal(b.windows.List, p.windows.List) {
		return none, fmt.Errorf("msm: %w: scalars that were prepared for other digits (Options.Digits)", ErrInput)
	}
	for i, s := range p.shares {
		if s.dev != b.residents[i].dev {
			return none, fmt.Errorf("msm: %w: scalars that were prepared for other devices", ErrInput)
		}
	}
	ranges := byBuckets(b.windows, b.n, len(b.residents))
	parts, err := b.collect(ctx, func(ctx context.Context, i int) ([]Part, error) {
		return b.residents[i].sumsOf(ctx, nil, p.shares[i], ranges[i])
	})
	if err != nil {
		return none, err
	}
	return b.curve.Host.Combine(parts), nil
}

// prepare sorts a share's scalars, all groups.
func (r *resident) prepare(ctx context.Context, src source, rng plan.Range) (*prepared, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	stop, err := r.start(ctx, func(int64) bool { return false })
	if err != nil {
		return nil, err
	}
	defer stop()
	free, err := memory(r.dev)
	if err != nil {
		return nil, err
	}
	l := limits{info: r.dev.Info(), groups: r.options.groups, upload: src.upload()}
	n := rng.To - rng.From
	s, err := layOut(r.group, r.windows, rng, n, l.groupsFor(len(r.windows.Sets())-1), false, l)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, fmt.Errorf("msm: %w: %d points in %d windows are too many entries to sort ahead", ErrInput, n, len(r.windows.List))
	}
	need := int64(0)
	if s.upload {
		need += int64(n) * int64(r.group.Scalar.Bytes())
	}
	for _, x := range s.layouts[0] {
		need += scatter.Bytes(x)
	}
	if free > 0 && need > free {
		return nil, &device.Error{Device: r.dev.Name(), Op: "sort scalars for " + r.group.Name, Bytes: need, Class: device.ErrNoMemory,
			Text: fmt.Sprintf("%d bytes are left", free)}
	}
	q, err := r.dev.NewQueue(ctx)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	x := &run{schedule: s, main: q, side: q, uploads: q}
	p := &prepared{dev: r.dev, schedule: s}
	if err := x.prepare(src, p); err != nil {
		x.free()
		for _, w := range p.sorts {
			w.Free()
		}
		return nil, err
	}
	x.free()
	return p, nil
}

// prepare sorts each group into lists that stay, and looks for bad scalars.
func (r *run) prepare(src source, p *prepared) error {
	var err error
	if r.out, err = alloc(r, r.side, 1); err != nil {
		return err
	}
	if err := r.out.Fill(r.side, 0xffffffff); err != nil {
		return err
	}
	if r.upload {
		b, err := alloc(r, r.side, (r.rng.To-r.rng.From)*r.group.Scalar.Limbs)
		if err != nil {
			return err
		}
		r.scalars = append(r.scalars, b)
	}
	for g, l := range r.layouts[0] {
		w, err := scatter.NewWorkspace(r.side, l)
		if err != nil {
			return err
		}
		r.sorts, p.sorts = append(r.sorts, w), append(p.sorts, w)
		list, err := r.sort(item{0, g}, g, src)
		if err != nil {
			return err
		}
		p.lists = append(p.lists, list)
	}
	words, err := r.out.Read(r.side)
	if err == nil && words[0] != 0xffffffff {
		err = badScalar(r.rng.From + int(words[0]))
	}
	return err
}
