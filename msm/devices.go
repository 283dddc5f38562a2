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
	w, err := chooseWindows(devices[0], b.curve.Group, b.n, len(devices), &b.options)
	if err != nil {
		return err
	}
	b.windows = w
	for _, d := range devices {
		r, err := newResident(d, b.curve.Group, b.n, w, &b.options, points)
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

// parts does the devices' shares side by side. The first failure stops the others.
func (b *Bases[P, S]) parts(ctx context.Context, src source) ([]Part, error) {
	ranges := shares(b.windows, b.n, len(b.residents))
	if len(ranges) == 1 {
		return b.residents[0].sums(ctx, src, ranges[0])
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([][]Part, len(ranges))
	var wg sync.WaitGroup
	for i, r := range b.residents {
		wg.Go(func() {
			var err error
			if out[i], err = r.sums(ctx, src, ranges[i]); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	var all []Part
	for _, p := range out {
		all = append(all, p...)
	}
	return all, nil
}
