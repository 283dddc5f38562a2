package circom

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/ntt/scalar"
)

// quotient sums up the points H. For the polynomials a, b and c with given values on the
// domain of n elements, which are the even powers of a root of order 2n, their scalars are
// the values of a·b - c on the odd ones. Points are in bit-reversed order of these.
type quotient[G, S any] interface {
	// sum may change the values.
	sum(ctx context.Context, points *msm.Bases[G, S], a, b, c []S) (G, error)
	close()
}

// h is the sum of the points H for the witness w.
func (r *resident[G, H, S]) h(ctx context.Context, w []S) (G, error) {
	f := r.key.pairing.field
	a, b := r.key.a.times(f, w), r.key.b.times(f, w)
	c := make([]S, len(a))
	parallel.For(len(a), 1<<12, func(lo, hi int) { f.products(a[lo:hi], b[lo:hi], c[lo:hi]) })
	if err := ctx.Err(); err != nil {
		var none G
		return none, err
	}
	return r.quotient.sum(ctx, r.h1, a, b, c)
}

// times is m·w.
func (m *matrix[S]) times(f *scalars[S], w []S) []S {
	out := make([]S, len(m.start)-1)
	parallel.For(len(out), 1<<9, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from, to := m.start[i], m.start[i+1]
			out[i] = f.dot(m.value[from:to], m.wires[from:to], w)
		}
	})
	return out
}

// quotientOn is for a domain of n elements; shift is the root of order 2n.
func (p *pairing[G, H, S]) quotientOn(devices []*device.Device, n int, shift S) (quotient[G, S], error) {
	log, dev := log2(n), devices[0]
	if dev.Kind() == device.CPU || log >= scalar.MaxLog {
		return &hostQuotient[G, S]{p.field, p.transform(n, shift)}, nil
	}
	q, err := dev.NewQueue(context.Background())
	if err != nil {
		return nil, err
	}
	defer q.Close()
	d := &deviceQuotient[G, S]{group: p.g1, dev: dev, several: len(devices) > 1, n: n}
	for _, t := range []struct {
		to  **scalar.Transform
		log int
	}{{&d.even, log}, {&d.all, log + 1}} {
		domain, err := scalar.New(p.sum1.Group.Scalar, t.log)
		if err == nil {
			*t.to, err = domain.On(q)
		}
		if err != nil {
			d.close()
			return nil, err
		}
	}
	return d, nil
}

// hostQuotient is the CPU's.
type hostQuotient[G, S any] struct {
	field     *scalars[S]
	transform func([]S)
}

func (h *hostQuotient[G, S]) close() {}

func (h *hostQuotient[G, S]) sum(ctx context.Context, points *msm.Bases[G, S], a, b, c []S) (G, error) {
	for _, v := range [][]S{a, b, c} {
		if err := ctx.Err(); err != nil {
			var none G
			return none, err
		}
		h.transform(v)
	}
	parallel.For(len(a), 1<<12, func(lo, hi int) { h.field.quotient(a[lo:hi], b[lo:hi], c[lo:hi]) })
	reversed := reversal(len(a))
	parallel.For(len(a), 1<<12, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			b[i] = a[reversed(i)]
		}
	})
	return points.Sum(ctx, b)
}

// reversal reverses the bits of numbers below n, a power of two.
func reversal(n int) func(int) int {
	shift := bits.UintSize - (bits.Len(uint(n)) - 1)
	return func(i int) int { return int(bits.Reverse(uint(i)) >> shift) }
}

// deviceQuotient is that of other devices. With the polynomial h for which a·b - c is
// h·(x^n - 1) it takes one transform less than going to the odd powers with a, b and c: as
// x^n is -1 there, the scalars are those of h times -2. With n zeros behind its coefficients
// the odd powers are the second half of a bit-reversed transform of 2n.
type deviceQuotient[G, S any] struct {
	group     *group[G]
	dev       *device.Device
	several   bool // the points are on other devices too
	n         int
	even, all *scalar.Transform
}

func (d *deviceQuotient[G, S]) close() {
	for _, t := range []*scalar.Transform{d.even, d.all} {
		if t != nil {
			t.Free()
		}
	}
}

func (d *deviceQuotient[G, S]) sum(ctx context.Context, points *msm.Bases[G, S], a, b, c []S) (G, error) {
	var none G
	q, err := d.dev.NewQueue(ctx)
	if err != nil {
		return none, err
	}
	defer q.Close()
	whole, err := device.Alloc[S](q, 2*d.n)
	if err != nil {
		return none, fmt.Errorf("polynomials: %w", err)
	}
	defer whole.Free()
	first, second := whole.Slice(0, d.n), whole.Slice(d.n, 2*d.n)
	third, err := device.Upload(q, c)
	if err != nil {
		return none, fmt.Errorf("polynomials: %w", err)
	}
	defer third.Free()
	for _, step := range []func() error{
		func() error { return first.CopyFrom(q, a) },
		func() error { return second.CopyFrom(q, b) },
		func() error {
			return d.even.Quotient(q, device.View[uint64](first), device.View[uint64](second), device.View[uint64](third))
		},
		func() error { return d.even.Reverse(q, device.View[uint64](first)) },
		func() error { return second.Zero(q) },
		func() error { return d.all.Forward(q, device.View[uint64](whole), scalar.Natural, false) },
		q.Sync, // the sum has queues of its own
	} {
		if err := step(); err != nil {
			return none, err
		}
	}
	var sum G
	if d.several { // each of which takes a part of the scalars, from the host
		if err := second.CopyTo(q, a); err != nil {
			return none, err
		}
		if err := q.Sync(); err != nil {
			return none, err
		}
		sum, err = points.Sum(ctx, a)
	} else {
		sum, err = points.SumBuffer(ctx, second)
	}
	if err != nil {
		return none, err
	}
	return d.group.neg(d.group.add(sum, sum)), nil
}
