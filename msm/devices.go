package msm

import (
	"context"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// reside puts the bases on devices.
func (b *Bases[P, S]) reside(devices []*device.Device, points pointsFrom) error {
	if b.n == 0 {
		return nil
	}
	var err error
	if b.windows, err = chooseWindows(devices[0], b.curve.Group, b.n, len(devices), &b.options); err != nil {
		return err
	}
	for _, d := range devices {
		r, err := newResident(d, b.curve.Group, b.n, b.windows, &b.options, points)
		if err != nil {
			b.Close()
			return err
		}
		b.residents = append(b.residents, r)
	}
	return nil
}

// shares cuts the buckets so that each device has about as many entries: a window, or a
// fraction of one, counts by the part of its buckets.
func shares(w *plan.Windows, n, devices int) []plan.Range {
	sets := w.Sets()
	total := len(sets) - 1
	// at is the bucket where the i-th share begins.
	at := func(i int) int {
		set, rest := i*total/devices, i*total%devices
		if set == total {
			return sets[total]
		}
		return sets[set] + (sets[set+1]-sets[set])*rest/devices
	}
	out := make([]plan.Range, devices)
	for i := range out {
		out[i] = plan.Range{To: n, Low: at(i), High: at(i + 1)}
	}
	return out
}

// each calls f for 0 to n-1 side by side. The first failure ends the context of the
// others, and is what each returns.
func each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	if n == 1 {
		return f(ctx, 0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := f(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// collect is the parts of all devices' shares, which f gives.
func (b *Bases[P, S]) collect(ctx context.Context, f func(ctx context.Context, i int) ([]Part, error)) ([]Part, error) {
	out := make([][]Part, len(b.residents))
	err := each(ctx, len(out), func(ctx context.Context, i int) (err error) {
		out[i], err = f(ctx, i)
		return err
	})
	var all []Part
	for _, p := range out {
		all = append(all, p...)
	}
	return all, err
}

// parts does the devices' shares side by side.
func (b *Bases[P, S]) parts(ctx context.Context, src source) ([]Part, error) {
	ranges := shares(b.windows, b.n, len(b.residents))
	return b.collect(ctx, func(ctx context.Context, i int) ([]Part, error) {
		return b.residents[i].sums(ctx, src, ranges[i])
	})
}
