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

// byBuckets cuts the buckets so that each device has as much to do, with fractions of a
// window where their number does not divide (DistMSM, ASPLOS 2024, section 3.2.2). The
// points of a window spread over its buckets, of which a narrow one that shares a set has
// fewer; a bucket costs 2.5 additions more in the reduction; and a device reads all digits
// of a window of which it has some buckets.
func byBuckets(w *plan.Windows, n, devices int) []share {
	pieces := piecesOf(w, n)
	var high float64 // is enough for one device to do all
	for _, p := range pieces {
		high += p.once + p.each*float64(p.buckets+1)
	}
	cuts := fill(pieces, high, devices)
	for low := high / float64(devices) / 2; high-low > 1e-6*high; {
		middle := (low + high) / 2
		if c := fill(pieces, middle, devices); c != nil {
			high, cuts = middle, c
		} else {
			low = middle
		}
	}
	out := make([]share, devices)
	for i := range out {
		out[i] = share{w, plan.Range{To: n, Low: cuts[i], High: cuts[i+1]}}
	}
	return out
}

// piece is buckets that cost the same, in additions, and what a device that has any of
// them does besides.
type piece struct {
	buckets    int
	each, once float64
}

func piecesOf(w *plan.Windows, n int) []piece {
	const bucket = plan.ReduceProducts / plan.AccumulateProducts
	var ends []int
	for _, x := range w.List {
		ends = append(ends, x.Base, x.Base+x.Buckets)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	var out []piece
	for i, from := range ends[:len(ends)-1] {
		p := piece{buckets: ends[i+1] - from, each: bucket}
		for _, x := range w.List {
			if x.Base <= from && from < x.Base+x.Buckets {
				p.each += float64(n) / float64(x.Buckets)
				p.once += plan.Pass * float64(n)
			}
		}
		out = append(out, p)
	}
	return out
}

// fill gives each device in turn all buckets that it can take without doing more than
// limit, and returns where each begins and the last one ends, nil if some are left over.
// A device whose own part of the limit one bucket exceeds takes that bucket.
func fill(pieces []piece, limit float64, devices int) []int {
	cuts := make([]int, 1, devices+1)
	at, k, done := 0, 0, 0 // the next bucket, its piece, and how many of that are taken
	for range devices {
		left, none := limit, true
		for k < len(pieces) {
			p := pieces[k]
			n := min(p.buckets-done, max(0, int((left-p.once)/p.each)))
			if n == 0 && !none {
				break
			}
			n = max(n, 1)
			left -= p.once + float64(n)*p.each
			at, done, none = at+n, done+n, false
			if done < p.buckets {
				break
			}
			k, done = k+1, 0
		}
		cuts = append(cuts, at)
	}
	if k < len(pieces) {
		return nil
	}
	return cuts
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
