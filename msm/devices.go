package msm

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// share is what one device does of a multiplication: the points and buckets of a range.
type share struct {
	windows *plan.Windows
	plan.Range
}

// reside puts the bases on devices: everywhere the same points, or points[i] on device i.
func (b *Bases[P, S]) reside(devices []*device.Device, points ...pointsFrom) error {
	if b.n == 0 {
		return nil
	}
	err := b.resideIn(devices, points)
	if errors.Is(err, device.ErrNoMemory) && !b.options.given && form(b.curve.Group, &b.options) != b.curve.Group {
		// The form in which additions are faster takes half as much memory again, and the
		// caller may hold the points themselves.
		b.options.given = true
		err = b.resideIn(devices, points)
	}
	if err != nil {
		b.Close()
	}
	return err
}

// resideIn does it in the form that the options ask for, on all devices or none.
func (b *Bases[P, S]) resideIn(devices []*device.Device, points []pointsFrom) error {
	var err error
	there := points[0].stay(b.curve.Group, &b.options)
	if b.windows, err = chooseWindows(devices[0], b.curve.Group, b.n, len(devices), &b.options, there); err != nil {
		return err
	}
	for i, d := range devices {
		from := points[min(i, len(points)-1)]
		from.checked = i > 0 && len(points) == 1
		r, err := newResident(d, b.curve.Group, b.n, b.windows, &b.options, from)
		if err != nil {
			for _, r := range b.residents {
				r.free()
			}
			b.residents = nil
			return err
		}
		b.residents = append(b.residents, r)
	}
	return nil
}

// windowsFor is the windows for a part of the points, or for other numbers of devices.
// Copies of points are for one distance of windows: with them there is no choice.
func (b *Bases[P, S]) windowsFor(n, devices int) (*plan.Windows, error) {
	if b.windows.Copies > 1 || n == b.n && devices == len(b.residents) {
		return b.windows, nil
	}
	k := [2]int{n, devices}
	if w, ok := b.others.Load(k); ok {
		return w.(*plan.Windows), nil
	}
	o := b.options
	o.Tables, o.Digits = 0, nil
	w, err := chooseWindows(b.residents[0].dev, b.curve.Group, n, devices, &o, true)
	if err == nil {
		b.others.Store(k, w)
	}
	return w, err
}

// byBuckets cuts the buckets so that each device has as much to add, with fractions of a
// window where their number does not divide (DistMSM, ASPLOS 2024, section 3.2.2). The
// points of a window spread over its buckets, of which a narrow one that shares a set has
// fewer; and a bucket costs 2.5 additions more in the reduction.
func byBuckets(w *plan.Windows, n, devices int) []share {
	const bucket = plan.ReduceProducts / plan.AccumulateProducts
	var ends []int // of pieces in which all buckets cost the same
	for _, x := range w.List {
		ends = append(ends, x.Base, x.Base+x.Buckets)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	before := make([]float64, len(ends)) // the cost of all pieces before
	for i, from := range ends[:len(ends)-1] {
		each := bucket
		for _, x := range w.List {
			if x.Base <= from && from < x.Base+x.Buckets {
				each += float64(n) / float64(x.Buckets)
			}
		}
		before[i+1] = before[i] + each*float64(ends[i+1]-from)
	}
	last := len(ends) - 1
	fair := before[last] / float64(devices)
	// at is the bucket where the i-th share begins.
	at := func(i int) int {
		want, k := fair*float64(i), 0
		for k+1 < last && before[k+1] <= want {
			k++
		}
		size, rest := before[k+1]-before[k], want-before[k]
		// A sliver of a window is not worth the passes over its digits.
		const sliver = 0.03
		switch {
		case rest < sliver*min(fair, size):
			return ends[k]
		case size-rest < sliver*min(fair, size):
			return ends[k+1]
		}
		return ends[k] + int(float64(ends[k+1]-ends[k])*rest/size)
	}
	out := make([]share, devices)
	for i := range out {
		out[i] = share{w, plan.Range{To: n, Low: at(i), High: at(i + 1)}}
	}
	out[devices-1].High = ends[last]
	return out
}

// byPoints gives each device as many of the points, and all buckets: each then needs
// its own scalars alone, which have a long way from the host.
func byPoints(w *plan.Windows, n, devices int) []share {
	out := make([]share, devices)
	for i := range out {
		out[i] = share{w, plan.Range{From: i * n / devices, To: (i + 1) * n / devices, High: w.Buckets()}}
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

// parts does the devices' shares side by side, with scalars from src[i] or from the
// only one.
func (b *Bases[P, S]) parts(ctx context.Context, src []source) ([]Part, error) {
	devices := len(b.residents)
	all := byBuckets(b.windows, b.n, devices)
	if devices > 1 && src[0].upload() {
		w, err := b.windowsFor((b.n+devices-1)/devices, 1)
		if err != nil {
			return nil, err
		}
		all = byPoints(w, b.n, devices)
	}
	return b.collect(ctx, func(ctx context.Context, i int) ([]Part, error) {
		return b.residents[i].sums(ctx, src[min(i, len(src)-1)], all[i])
	})
}
