package prover

import (
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle/prover"
	"github.com/zkwarp/zkwarp/sumcheck"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
)

// host is a batch on the CPU.
type host struct {
	q    *device.Queue
	tr   *transcript.Transcript
	n, d int // rounds and degree of the batch
	out  Output
	inst []*hostInstance
	// weights are the batching coefficients, nil until they are drawn.
	weights []m31.QM31

	memory []device.Buffer[m31.QM31]
}

// alloc is working memory, within the device's budget, until the run ends.
func (b *host) alloc(n int) (device.Buffer[m31.QM31], error) {
	buf, err := device.Alloc[m31.QM31](b.q, n)
	b.memory = append(b.memory, buf)
	return buf, err
}

// hostTable is a factor's current table: entry x is base[x*stride] until the
// first fold of a base table, ext[x*stride] otherwise.
type hostTable struct {
	base   []m31.Element
	ext    []m31.QM31
	stride int
}

func (t *hostTable) at(x int) m31.QM31 {
	if t.base != nil {
		return m31.Lift(t.base[x*t.stride])
	}
	return t.ext[x*t.stride]
}

// hostInstance is one instance. Its message is
//
//	weight * scale * eq(z_i, X) * inner(X)
//
// in round i, with inner(X) = sum_x eq(z_{i+1..}, x) * summand(r, X, x), whose
// degree is one less (Gruen's trick). claim is inner's value at the challenge of
// the round before: it gives inner's value at one of 0 and 1 from the other.
type hostInstance struct {
	vars   int
	degree int // of inner
	eq     bool
	terms  []hostTerm
	expr   *hostExpr // instead of terms
	tables []hostTable
	folded [][]m31.QM31            // memory of the folded tables
	z      device.Buffer[m31.QM31] // eq's point
	point  []m31.QM31              // the same
	rest   []m31.QM31              // eq(z_{i+1..}, x)
	window *hostWindow             // in the first rounds, of some instances
	ahead  *sums                   // of the next round, if they are known

	weight m31.QM31 // gamma^j
	scale  m31.QM31 // eq of the bound variables
	claim  m31.QM31
	inner  [sumcheck.MaxExprDegree + 1]m31.QM31 // the round's inner at 0..degree
}

type hostTerm struct {
	factors []int
	coeff   m31.QM31
	plain   bool // coeff is 1
}

func newHost(q *device.Queue, tr *transcript.Transcript, instances []Instance, n, d int, out Output) *host {
	b := &host{q: q, tr: tr, n: n, d: d, out: out}
	for _, in := range instances {
		h := &hostInstance{vars: in.Vars, degree: in.InnerDegree(), eq: in.Eq, z: in.Point, point: in.Point.Host()}
		coeffs := in.Coeffs.Host()
		if in.Expr != nil {
			h.expr = newHostExpr(in.Expr, coeffs)
		}
		for i := range in.NumTerms() {
			if in.Expr != nil {
				break
			}
			t := hostTerm{factors: in.Term(i), coeff: m31.OneQM31()}
			if coeffs != nil {
				t.coeff = coeffs[i]
			}
			t.plain = t.coeff == m31.OneQM31()
			h.terms = append(h.terms, t)
		}
		for _, t := range in.Tables {
			h.tables = append(h.tables, hostTable{t.Base.Host(), t.Ext.Host(), t.stride()})
		}
		b.inst = append(b.inst, h)
	}
	return b
}

func (b *host) free() {
	for _, buf := range b.memory {
		buf.Free()
	}
}

func (b *host) start(values device.Buffer[m31.QM31]) error {
	if b.weights == nil {
		gamma, err := device.Alloc[m31.QM31](b.q, 1)
		if err != nil {
			return err
		}
		defer gamma.Free()
		if err := b.tr.AbsorbChallenge(device.View[m31.Element](values), gamma); err != nil {
			return err
		}
		b.weights = powers(gamma.Host()[0], len(b.inst))
	}
	for j, h := range b.inst {
		h.weight, h.scale, h.claim = b.weights[j], m31.OneQM31(), values.Host()[j]
	}
	return nil
}

// powers are the first n powers of gamma.
func powers(gamma m31.QM31, n int) []m31.QM31 {
	out := make([]m31.QM31, n)
	weight := m31.OneQM31()
	for j := range out {
		out[j] = weight
		weight = weight.Mul(gamma)
	}
	return out
}

func (b *host) round(i int) (next int, err error) {
	message, r := b.out.Rounds.Slice(i*b.d, (i+1)*b.d), b.out.Point.Slice(i, i+1)
	if err := b.message(i, message); err != nil {
		return i, err
	}
	if err := b.tr.AbsorbChallenge(device.View[m31.Element](message), r); err != nil {
		return i, err
	}
	return i + 1, b.fold(i, r.Host()[0])
}

// joined says whether the instance takes part in round i, and the size of
// its tables' halves.
func (b *host) joined(h *hostInstance, i int) (half int, ok bool) {
	k := i - (b.n - h.vars)
	if k < 0 {
		return 0, false
	}
	return 1 << (h.vars - 1 - k), true
}

// message writes the combined round polynomial of round i at 0, 2, ..., d.
func (b *host) message(i int, out device.Buffer[m31.QM31]) error {
	message := make([]m31.QM31, b.d)
	for _, h := range b.inst {
		half, ok := b.joined(h, i)
		if !ok {
			// Constant in this and in the later variables before it joins.
			v := h.claim.Mul(h.weight)
			for range b.n - 1 - i - h.vars {
				v = v.Double()
			}
			for e := range message {
				message[e] = message[e].Add(v)
			}
			continue
		}
		if err := b.sums(h, i, half); err != nil {
			return err
		}
		h.addTo(message, i-(b.n-h.vars))
	}
	copy(out.Host(), message)
	return nil
}

// sums fills h.inner for round i.
func (b *host) sums(h *hostInstance, i, half int) error {
	k := i - (b.n - h.vars)
	one := m31.OneQM31()
	z := m31.QM31{}
	if h.eq {
		z = h.point[k]
		if k == 0 {
			rest, err := b.alloc(half)
			if err != nil {
				return err
			}
			if err := prover.Eq(b.q, rest, h.z.Slice(1, h.vars), device.Buffer[m31.QM31]{}); err != nil {
				return err
			}
			h.rest = rest.Host()
		}
	}
	if k == 0 && h.windowed() {
		var err error
		if h.window, err = newHostWindow(b.q, h); err != nil {
			return err
		}
	}
	if h.window != nil {
		var two m31.QM31
		if h.inner[0], two = h.window.message(); h.degree == 2 {
			h.inner[2] = two
		}
		h.inner[1] = h.claim.Sub(h.inner[0])
		return nil
	}
	first := h.first(k)
	total := h.ahead
	if total == nil {
		var err error
		if total, err = b.over(h, half, first, nil); err != nil {
			return err
		}
	}
	h.ahead = nil
	h.inner[first] = total[0]
	copy(h.inner[2:], total[1:h.degree])
	switch {
	case !h.eq:
		h.inner[1] = h.claim.Sub(h.inner[0])
	case first == 1:
		h.inner[0] = h.claim
	default:
		h.inner[1] = h.claim.Sub(one.Sub(z).Mul(h.inner[0])).Mul(z.Inverse())
	}
	return nil
}

// first is where the sums of the instance's round k start. The one at 1 is
// worked out, and the one at 0 derived, only where the claim says nothing about
// the value at 1.
func (h *hostInstance) first(k int) int {
	if h.eq && h.point[k].IsZero() {
		return 1
	}
	return 0
}

// over sums over the tables' halves. Before a stretch of them is read, ready, if
// it is not nil, makes it.
func (b *host) over(h *hostInstance, half, first int, ready func(lo, hi int)) (*sums, error) {
	if h.expr != nil {
		h.expr.layOut(h.tables)
	}
	kernel := h.kernel()
	var mu sync.Mutex
	total := new(sums)
	err := b.q.Parallel(half, 2048, func(lo, hi int) {
		var c columns
		var s sums
		add := func(to, part *sums) {
			for e := range h.degree {
				to[e] = to[e].Add(part[e])
			}
		}
		if ready == nil {
			s = kernel(h, &c, lo, hi, half, first)
		}
		for x := lo; ready != nil && x < hi; x += aheadSpan {
			end := min(x+aheadSpan, hi)
			ready(x, end)
			part := kernel(h, &c, x, end, half, first)
			add(&s, &part)
		}
		mu.Lock()
		defer mu.Unlock()
		add(total, &s)
	})
	return total, err
}

// aheadSpan entries of the folded tables are summed while they are in cache.
const aheadSpan = 512

// addTo adds the instance's share of the round's message.
func (h *hostInstance) addTo(message []m31.QM31, k int) {
	one := m31.OneQM31()
	factor := h.weight.Mul(h.scale)
	for e := range message {
		at := m31.Element(e)
		if e > 0 {
			at++
		}
		var v m31.QM31
		if int(at) <= h.degree {
			v = h.inner[at]
		} else {
			known := h.inner
			v = sumcheck.Interpolate(known[:h.degree+1], m31.Lift(at))
		}
		if h.eq { // eq(z, X) = 1 - z + X (2z - 1)
			z := h.point[k]
			v = v.Mul(one.Sub(z).Add(z.Double().Sub(one).MulBase(at)))
		}
		message[e] = message[e].Add(v.Mul(factor))
	}
}

func (b *host) finish() error {
	o := b.out.Evals.Host()
	for _, h := range b.inst {
		for k := range h.tables {
			o[k] = h.tables[k].at(0)
		}
		o = o[len(h.tables):]
	}
	return b.tr.AbsorbExt(b.out.Evals)
}
