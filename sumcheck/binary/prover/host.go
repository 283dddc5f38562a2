package prover

import (
	"context"
	"errors"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// The host's tables are in POLYVAL's basis, where products are cheap; what is sent and
// drawn, and the caller's tables, are in the tower's.

// hostChunk is the number of elements that the host's loops take at a time: a few
// blocks of them fit a core's first cache.
const hostChunk = 512

// host is a proof in the making on the CPU.
type host struct {
	ctx context.Context
	q   *device.Queue
	tr  *tower.Transcript

	in    Instance
	n, d  int
	claim gf2.Element // the sum that is left, S(0) + S(1) of the next round
	point []gf2.Element
	proof *binary.Proof

	tiles *tiles // p_1, if it is not in memory

	product, folded []gf2.Polyval // working memory of BDT-1 by tables

	memory []device.Buffer[gf2.Polyval]
}

func newHost(ctx context.Context, q *device.Queue, tr *tower.Transcript, in Instance, value gf2.Element) *host {
	return &host{ctx: ctx, q: q, tr: tr, in: in, n: in.Vars, d: in.Degree, claim: value, proof: &binary.Proof{}}
}

func proveHost(ctx context.Context, q *device.Queue, tr *tower.Transcript, in Instance, value gf2.Element, a Algorithm) (*binary.Proof, error) {
	h := newHost(ctx, q, tr, in, value)
	defer h.free()
	var err error
	switch {
	case a == Window && in.Kind == binary.AllExt:
		err = h.allExt()
	case a == Window:
		err = h.window(windowVars(h.n, h.d))
	case in.Kind == binary.AllExt:
		err = h.bdt1(h.extTables(), byTables)
	case a == BDT1:
		err = h.bdt(hostPlan{sum: byTables})
	case a == BDT2:
		err = h.bdt(hostPlan{expand: switchover(h.d), sum: byTables})
	case a == SumCATS1:
		err = h.bdt(hostPlan{expand: switchover(h.d), sum: byBlocks})
	default:
		err = h.bdt(hostPlan{expand: 1, rebuild: rebuildUntil(h.d), sum: byBlocks})
	}
	if err != nil {
		return nil, err
	}
	return h.proof, nil
}

// alloc is working memory within the device's budget, freed when the proof is
// done.
func (h *host) alloc(n int) ([]gf2.Polyval, error) {
	b, err := device.Alloc[gf2.Polyval](h.q, n)
	if err != nil {
		return nil, err
	}
	h.memory = append(h.memory, b)
	return b.Host(), nil
}

func (h *host) free() {
	for _, m := range h.memory {
		m.Free()
	}
}

// stopped is the error of a context that is done, or of a table that is read.
func (h *host) stopped() error {
	if h.tiles != nil {
		if err := h.tiles.failed(); err != nil {
			return err
		}
	}
	return errors.Join(h.ctx.Err(), h.q.Err())
}

// round is the number of the next round, from 0.
func (h *host) round() int { return len(h.point) }

// left is the number of variables that are not bound.
func (h *host) left() int { return h.n - len(h.point) }

// send ends a round: values are S(0), S(2), .., S(d). It returns the challenge.
func (h *host) send(values []gf2.Element) gf2.Element {
	h.proof.Rounds = append(h.proof.Rounds, values)
	h.tr.Absorb(values)
	r := h.tr.Challenge()
	at := append([]gf2.Element{values[0], h.claim.Add(values[0])}, values[1:]...)
	h.claim = binary.Interpolate(at, r)
	h.point = append(h.point, r)
	return r
}

// sendCoefficients is send for S's d+1 coefficients, the constant first.
func (h *host) sendCoefficients(c []gf2.Element) gf2.Element {
	values := []gf2.Element{c[0]}
	for y := 2; y <= h.d; y++ {
		values = append(values, evaluate(c, small(y)))
	}
	return h.send(values)
}

// small is the element whose number is y.
func small(y int) gf2.Element { return gf2.Element{Lo: uint64(y)} }

// evaluate is the value at y of a polynomial, by Horner's rule.
func evaluate(c []gf2.Element, y gf2.Element) (v gf2.Element) {
	for i := len(c) - 1; i >= 0; i-- {
		v = v.Mul(y).Add(c[i])
	}
	return v
}

// sums adds up m values over the indices [0, n): body adds those of [lo, hi), which
// is a multiple of hostChunk long but at the end, to sum. It is called on all cores.
// Addition in a field of characteristic two is exact, so their order does not matter.
func sums[T gf2.Words](h *host, n, m int, body func(lo, hi int, sum []T)) ([]T, error) {
	all := make([]T, m)
	var mu sync.Mutex
	err := h.chunks(n, func(lo, hi int) {
		sum := make([]T, m)
		body(lo, hi, sum)
		mu.Lock()
		defer mu.Unlock()
		addTo(all, sum)
	})
	return all, err
}

// chunks calls body on ranges that cover [0, n), on all cores: multiples of chunk
// long, but at the end.
func (h *host) chunks(n int, body func(lo, hi int)) error {
	if err := h.stopped(); err != nil {
		return err
	}
	err := h.q.Parallel((n+hostChunk-1)/hostChunk, 1, func(lo, hi int) {
		// A long pass ends soon when nobody waits for it any more.
		for ; lo < hi && h.stopped() == nil; lo += passes {
			body(lo*hostChunk, min(min(lo+passes, hi)*hostChunk, n))
		}
	})
	if err == nil {
		err = h.stopped()
	}
	return err
}

// passes is the number of chunks between two looks at the context.
const passes = 256
