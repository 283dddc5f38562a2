package resident

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/pick"
)

// Values are what a proof's sums are made of: all wires, K's among them, and the values of
// A, B and C on the domain, where those that are not given are zero.
type Values[S any] struct {
	Wires   []S
	K       *List
	A, B, C []S
}

// Sums are the five multi-scalar multiplications of a proof.
type Sums[P, Q any] struct {
	A, B, K, Z P
	B2         Q
}

// work is a proof under way.
type work[P, Q, S any] struct {
	k *Key[P, Q, S]
	v Values[S]

	mu    sync.Mutex
	sums  Sums[P, Q]
	left  [queries]int // parts of each query that are not summed yet
	haveB func(b P, b2 Q) error
}

// Sum makes a proof's sums. CPU computes h, the coefficients of the quotient in bit-reversed
// order, where no device does, and may work in place of the values. HaveB, if not nil, is called when the sums over B
// are there, beside others; an error of it is Sum's.
func (k *Key[P, Q, S]) Sum(ctx context.Context, v Values[S], cpu func() ([]S, error), haveB func(b P, b2 Q) error) (*Sums[P, Q], error) {
	select {
	case k.proofs <- struct{}{}:
		defer func() { <-k.proofs }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	cpu = sync.OnceValues(cpu) // it may have worked in place of the values when memory runs short
	if !k.place.OnCPU() && !k.fromHost {
		sums, err := k.onDevices(ctx, v, cpu, haveB)
		if !errors.Is(err, device.ErrNoMemory) || ctx.Err() != nil {
			return sums, err
		}
		// Somebody else has the memory. Sums with scalars of the host need less.
	}
	return k.onHost(ctx, v, cpu, haveB)
}

func (k *Key[P, Q, S]) begin(v Values[S], haveB func(b P, b2 Q) error) *work[P, Q, S] {
	w := &work[P, Q, S]{k: k, v: v, haveB: haveB}
	for _, s := range k.shares {
		for _, b := range s.bundles {
			for _, q := range b.queries {
				w.left[q]++
			}
		}
	}
	return w
}

// add takes a device's part of a query's sum.
func (w *work[P, Q, S]) add(q query, part any) error {
	w.mu.Lock()
	s := &w.sums
	switch q {
	case queryB2:
		x := part.(Q)
		s.B2 = w.k.g2.add(&s.B2, &x)
	default:
		x := part.(P)
		to := map[query]*P{queryA: &s.A, queryB: &s.B, queryK: &s.K, queryZ: &s.Z}[q]
		*to = w.k.g1.add(to, &x)
	}
	w.left[q]--
	call := (q == queryB || q == queryB2) && w.left[queryB] == 0 && w.left[queryB2] == 0 && w.haveB != nil
	b, b2 := s.B, s.B2
	w.mu.Unlock()
	if call {
		return w.haveB(b, b2)
	}
	return nil
}

// listOf is the wires of a bundle.
func (w *work[P, Q, S]) listOf(b *bundle[S]) List {
	if b.unknown {
		return w.v.K.part(b.first, b.first+b.members[0].length())
	}
	return b.list
}

// onHost makes the sums with scalars of the host, one after the other on each device, two
// on the CPU.
func (k *Key[P, Q, S]) onHost(ctx context.Context, v Values[S], cpu func() ([]S, error), haveB func(b P, b2 Q) error) (*Sums[P, Q], error) {
	w := k.begin(v, haveB)
	g, ctx := errgroup.WithContext(ctx)
	trace := k.place.Trace
	switch {
	case k.place.Serial:
		g.SetLimit(1)
	case k.place.OnCPU():
		g.SetLimit(2) // each has all cores; a second fills the ends of the first
	}
	g.Go(func() error {
		var h []S
		var err error
		done := false
		if k.quotient != nil {
			end := trace.Stage("ntt")
			err = k.compute(ctx, [3][]S{v.A, v.B, v.C}, free0, func(q *device.Queue, x device.Buffer[S]) (err error) {
				h, err = x.Read(q)
				return err
			})
			end()
			if err != nil && !errors.Is(err, device.ErrNoMemory) {
				return err
			}
			done = err == nil
		}
		if !done {
			end := trace.Stage("ntt")
			h, err = cpu()
			end()
			if err != nil {
				return err
			}
		}
		defer trace.Stage(stages[queryZ])()
		return k.each(ctx, func(ctx context.Context, s *share[S]) error {
			if s.zlo == s.zhi {
				return nil
			}
			if err := s.gate.Acquire(ctx, s.room); err != nil {
				return err
			}
			defer s.gate.Release(s.room)
			part, err := s.z.fromHost(ctx, h[s.zlo:s.zhi])
			if err != nil {
				return queryError(queryZ, err)
			}
			return w.add(queryZ, part)
		})
	})
	for i := range k.most() {
		g.Go(func() error {
			return k.each(ctx, func(ctx context.Context, s *share[S]) error {
				if i >= len(s.bundles) {
					return nil
				}
				b := s.bundles[i]
				list := w.listOf(b)
				end := trace.Stage("wires")
				scalars := scalarsOf(&list, v.Wires)
				end()
				if !k.place.OnCPU() {
					if err := s.gate.Acquire(ctx, s.room); err != nil {
						return err
					}
					defer s.gate.Release(s.room)
				}
				for j, m := range b.members {
					end := trace.Stage(stages[b.queries[j]])
					part, err := m.fromHost(ctx, scalars)
					end()
					if err != nil {
						return queryError(b.queries[j], err)
					}
					if err := w.add(b.queries[j], part); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return &w.sums, nil
}

// free0 says that links are free.
func free0(int) <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// most is how many bundles a share has at most.
func (k *Key[P, Q, S]) most() (n int) {
	for _, s := range k.shares {
		n = max(n, len(s.bundles))
	}
	return n
}

// each calls f for all shares side by side, or one after the other where stages are.
func (k *Key[P, Q, S]) each(ctx context.Context, f func(ctx context.Context, s *share[S]) error) error {
	g, ctx := errgroup.WithContext(ctx)
	if k.place.Serial {
		g.SetLimit(1)
	}
	for _, s := range k.shares {
		g.Go(func() error { return f(ctx, s) })
	}
	return g.Wait()
}

// onDevices makes the sums with scalars that go to the devices once. On each device those
// over A, B and K begin when its wires are there; beside them values go up and become h; Z
// comes last.
func (k *Key[P, Q, S]) onDevices(ctx context.Context, v Values[S], cpu func() ([]S, error), haveB func(b P, b2 Q) error) (*Sums[P, Q], error) {
	w := k.begin(v, haveB)
	g, gctx := errgroup.WithContext(ctx)
	up := make([]chan struct{}, len(k.shares)) // closed when a share's wires are on their way
	for i := range up {
		up[i] = make(chan struct{})
	}
	sums := func(ctx context.Context) error {
		return k.each(ctx, func(ctx context.Context, s *share[S]) error { return w.wires(ctx, s, up[s.at]) })
	}
	h := func(ctx context.Context) error { return w.quotient(ctx, up, cpu) }
	if k.place.Serial || k.inTurn {
		if err := sums(ctx); err != nil {
			return nil, err
		}
		if err := h(ctx); err != nil {
			return nil, err
		}
		return &w.sums, nil
	}
	g.Go(func() error { return sums(gctx) })
	g.Go(func() error { return h(gctx) })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return &w.sums, nil
}

// wires takes a share's wires to its device, and makes the sums over A, B and K there.
func (w *work[P, Q, S]) wires(ctx context.Context, s *share[S], up chan struct{}) error {
	sent := sync.OnceFunc(func() { close(up) })
	defer sent()
	if len(s.bundles) == 0 {
		return nil
	}
	trace := w.k.place.Trace
	end := sync.OnceFunc(trace.Stage("wires"))
	defer end()
	q, err := s.dev.NewQueue(ctx)
	if err != nil {
		return err
	}
	defer q.Close()
	wires, err := device.Alloc[S](q, s.hi-s.lo)
	if err != nil {
		return err
	}
	defer wires.Free()
	if err := wires.CopyFrom(q, w.v.Wires[s.lo:s.hi]); err != nil {
		return err
	}
	sent()
	scalars := make([]device.Buffer[S], len(s.bundles))
	for i, b := range s.bundles {
		if scalars[i], err = w.pick(q, s, b, wires); err != nil {
			return err
		}
		if b.unknown || b.list.Index != nil {
			defer scalars[i].Free()
		}
	}
	if err := q.Sync(); err != nil {
		return err
	}
	end()
	g, ctx := errgroup.WithContext(ctx)
	if w.k.place.Serial {
		g.SetLimit(1)
	}
	var late error
	for i, b := range s.bundles {
		if late = s.gate.Acquire(ctx, b.need); late != nil {
			break // as another sum has failed, or the caller's context is done
		}
		g.Go(func() error {
			defer s.gate.Release(b.need)
			return w.bundle(ctx, s, b, scalars[i])
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return late
}

// pick is the scalars of a bundle on its device, a buffer of their own if its list has
// gaps.
func (w *work[P, Q, S]) pick(q *device.Queue, s *share[S], b *bundle[S], wires device.Buffer[S]) (device.Buffer[S], error) {
	list := w.listOf(b)
	if !b.unknown && list.Index == nil {
		return wires.Slice(list.From-s.lo, list.From-s.lo+list.N), nil
	}
	out, err := device.Alloc[S](q, list.N)
	if err != nil || list.N == 0 {
		return out, err
	}
	index := b.index
	if b.unknown {
		index, err = b.indexOf(s, w.v.K, &list)
	}
	switch {
	case err != nil:
	case index.Len() > 0:
		err = pick.From(q, out, wires, index)
	default:
		err = out.CopyFrom(q, scalarsOf(&list, w.v.Wires))
	}
	if err != nil {
		out.Free()
	}
	return out, err
}

// indexOf puts the first circuit's list to the device, where it stays. There is none for
// those of other circuits, and where it has wires of other shares.
func (b *bundle[S]) indexOf(s *share[S], all, list *List) (device.Buffer[uint32], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil && list.Index != nil && int(list.Index[0]) >= s.lo && int(list.Index[list.N-1]) < s.hi {
		index, err := upload(s, list)
		if err != nil {
			return index, err
		}
		b.known, b.index = all, index
	}
	if b.known != all {
		return device.Buffer[uint32]{}, nil
	}
	return b.index, nil
}

// bundle makes the sums over a share's queries of the same wires.
func (w *work[P, Q, S]) bundle(ctx context.Context, s *share[S], b *bundle[S], scalars device.Buffer[S]) error {
	trace := w.k.place.Trace
	if scalars.Len() == 0 {
		for _, q := range b.queries {
			if err := w.none(q); err != nil {
				return err
			}
		}
		return nil
	}
	// B in G2, which takes longest, goes first.
	left := make([]int, 0, len(b.members))
	for i := len(b.members) - 1; i >= 0; i-- {
		left = append(left, i)
	}
	if b.lists {
		end := trace.Stage("msm-digits")
		lists, err := b.members[0].prepare(ctx, scalars)
		end()
		switch {
		case err == nil:
			left, err = w.members(b, left, b.need == s.room, func(m member[S]) (any, error) { return m.fromPrepared(ctx, lists) })
			lists.Close()
			if err != nil {
				return err
			}
		case errors.Is(err, device.ErrNoMemory), errors.Is(err, msm.ErrInput):
			// Too many to sort ahead: each sum sorts its own. Scalars that are bad fail there
			// again.
		default:
			return err
		}
	}
	left, err := w.members(b, left, b.need == s.room, func(m member[S]) (any, error) { return m.fromBuffer(ctx, scalars) })
	if err == nil && len(left) > 0 {
		left, err = w.members(b, left, true, func(m member[S]) (any, error) { return m.fromBuffer(ctx, scalars) })
	}
	if err == nil && len(left) > 0 {
		err = queryError(b.queries[left[0]], device.ErrNoMemory)
	}
	return err
}

// members makes the sums of some of a bundle's members, one after the other if so. It
// returns those for which there was too little memory.
func (w *work[P, Q, S]) members(b *bundle[S], which []int, inTurn bool, sum func(m member[S]) (any, error)) (short []int, err error) {
	var mu sync.Mutex
	var g errgroup.Group
	if inTurn || w.k.place.Serial {
		g.SetLimit(1)
	}
	for _, i := range which {
		g.Go(func() error {
			end := w.k.place.Trace.Stage(stages[b.queries[i]])
			part, err := sum(b.members[i])
			end()
			if errors.Is(err, device.ErrNoMemory) {
				mu.Lock()
				defer mu.Unlock()
				short = append(short, i)
				return nil
			}
			if err != nil {
				return queryError(b.queries[i], err)
			}
			return w.add(b.queries[i], part)
		})
	}
	err = g.Wait()
	return short, err
}

// none is a part of a query without points.
func (w *work[P, Q, S]) none(q query) error {
	if q == queryB2 {
		var x Q
		return w.add(q, x)
	}
	var x P
	return w.add(q, x)
}

// quotient makes h and the sums over Z.
func (w *work[P, Q, S]) quotient(ctx context.Context, up []chan struct{}, cpu func() ([]S, error)) error {
	k := w.k
	trace := k.place.Trace
	end := sync.OnceFunc(trace.Stage("ntt"))
	defer end()
	if k.quotient == nil {
		h, err := cpu()
		if err != nil {
			return err
		}
		end()
		return k.each(ctx, func(ctx context.Context, s *share[S]) error {
			return w.z(ctx, s, func() (any, error) { return s.z.fromHost(ctx, h[s.zlo:s.zhi]) })
		})
	}
	ready := func(at int) <-chan struct{} { return up[at] }
	return k.compute(ctx, [3][]S{w.v.A, w.v.B, w.v.C}, ready, func(_ *device.Queue, h device.Buffer[S]) error {
		end()
		return k.each(ctx, func(ctx context.Context, s *share[S]) error {
			if s.zlo == s.zhi {
				return nil
			}
			part := h.Slice(s.zlo, s.zhi)
			if s.at != k.quotient.of[0] {
				there, free, err := w.send(ctx, s, part)
				if err != nil {
					return err
				}
				defer free()
				part = there
			}
			return w.z(ctx, s, func() (any, error) { return s.z.fromBuffer(ctx, part) })
		})
	})
}

// send takes a part of h from the first device, where it is, to a share's.
func (w *work[P, Q, S]) send(ctx context.Context, s *share[S], part device.Buffer[S]) (there device.Buffer[S], free func(), err error) {
	from, err := w.k.place.devices[w.k.quotient.of[0]].NewQueue(ctx)
	if err != nil {
		return there, nil, err
	}
	defer from.Close()
	to, err := s.dev.NewQueue(ctx)
	if err != nil {
		return there, nil, err
	}
	defer to.Close()
	if there, err = device.Alloc[S](to, part.Len()); err != nil {
		return there, nil, err
	}
	if err = w.k.relay(to, from, there, part); err == nil {
		err = to.Sync()
	}
	if err != nil {
		there.Free()
		return there, nil, err
	}
	return there, there.Free, nil
}

// z is a share's part of the sum over Z.
func (w *work[P, Q, S]) z(ctx context.Context, s *share[S], sum func() (any, error)) error {
	if s.zlo == s.zhi {
		return nil
	}
	if err := s.gate.Acquire(ctx, s.zNeed); err != nil {
		return err
	}
	defer s.gate.Release(s.zNeed)
	defer w.k.place.Trace.Stage(stages[queryZ])()
	part, err := sum()
	if err != nil {
		return queryError(queryZ, err)
	}
	return w.add(queryZ, part)
}
