package prover

import (
	_ "embed"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
	logupprover "github.com/zkwarp/zkwarp/logup/prover"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
	sumcheckprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

//go:embed places.cuh
var placesText string

//go:embed zkml.cu
var text string

//go:embed claims.cu
var claimsText string

var places = &kernel.Source{Name: "zkml/prover/places.cuh", Text: placesText, Headers: []*kernel.Source{kernel.PTX}}

// Source is the kernels of the forward pass and of the lookups.
var Source = &kernel.Source{Name: "zkml/prover/zkml.cu", Text: text, Headers: []*kernel.Source{kernel.PTX, m31.Header, places}}

// ClaimsSource is the kernels for evaluations and claims.
var ClaimsSource = &kernel.Source{Name: "zkml/prover/claims.cu", Text: claimsText, Headers: []*kernel.Source{kernel.PTX, m31.Header, places}}

// preload compiles what a proof launches, all units at once: one after the
// other, as stages reach them, takes several times as long.
func preload(q *device.Queue) error {
	if err := whirprover.PreloadM31(q); err != nil {
		return err
	}
	units := append(sumcheckprover.Sources(), mleprover.Source, mleprover.RestrictSource, logupprover.Source, logupprover.TailSource)
	return q.Device().Preload(append(units, transcriptprover.Source, Source, ClaimsSource)...)
}

const threads = 256

// launch launches a thread for each of n things.
func (s *session) launch(unit *kernel.Source, name string, n int, args ...device.Arg) error {
	return s.blocks(unit, name, device.Blocks(n, threads), args...)
}

// blocks launches n blocks.
func (s *session) blocks(unit *kernel.Source, name string, n int, args ...device.Arg) error {
	return s.q.Launch(device.Kernel{Source: unit, Name: name}, device.D1(n), device.D1(threads), 0, args...)
}

// axesArg is the place of a shape's descriptor.
func (s *session) axesArg(a axesLayout) device.Arg {
	return s.key.desc.Slice(a.at, a.at+2*a.n).Arg()
}

// affine is k0*a + k1*b + c over tables of one length; b may be empty.
type affine struct {
	a, b      []m31.Element
	k0, k1, c m31.Element
}

func (s *session) affine(f plan.Affine) affine {
	out := affine{c: f.Const, a: s.polys[f.Terms[0].Of].Host(), k0: f.Terms[0].Coef}
	if len(f.Terms) > 1 {
		out.b, out.k1 = s.polys[f.Terms[1].Of].Host(), f.Terms[1].Coef
	}
	return out
}

func (f *affine) at(i int) m31.Element {
	v := f.k0.Mul(f.a[i]).Add(f.c)
	if len(f.b) > 0 {
		v = v.Add(f.k1.Mul(f.b[i]))
	}
	return v
}

// count adds all lookups to the multiplicities of their tables' rows. A value
// outside the table is not counted; its proof will not verify.
func (s *session) count() error {
	o := &s.leaves
	if !s.q.OnHost() {
		if o.counts == 0 {
			return nil
		}
		return s.blocks(Source, "zkml_count", o.counts, s.live.Arg(), s.key.words.Arg(), s.key.desc.Arg(), device.U32(o.blocks), device.U32(o.countAt))
	}
	for i := range s.plan.Leaves {
		if l := &s.plan.Leaves[i]; !l.Rows {
			if err := s.countOnHost(l); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *session) countOnHost(l *plan.Leaves) error {
	t := &s.plan.Tables[l.Table]
	f := s.affine(l.C0)
	f.c = f.c.Sub(m31.FromInt(t.First))
	m := s.polys[t.Mult].Host()
	var mu sync.Mutex
	return s.q.Parallel(1<<l.Vars, max(1<<14, len(m)), func(lo, hi int) {
		local := make([]m31.Element, len(m))
		for i := lo; i < hi; i++ {
			if r := f.at(i); int(r) < len(local) {
				local[r]++
			}
		}
		mu.Lock()
		defer mu.Unlock()
		m31.AddVec(m, m, local)
	})
}

// fractions writes the leaves of the fractional-sum tree: numerator 1 or minus
// the multiplicity, denominator alpha - tag - beta c0 - beta^2 c1, and 0/1
// beyond the blocks. ch is alpha and beta.
func (s *session) fractions(num device.Buffer[m31.Element], den, ch device.Buffer[m31.QM31]) error {
	if o := &s.leaves; !s.q.OnHost() {
		return s.blocks(Source, "zkml_leaves", o.leaves, num.Arg(), den.Arg(), ch.Arg(), s.key.words.Arg(), s.live.Arg(), s.key.desc.Arg(),
			device.U32(o.blocks), device.U32(o.leavesAt))
	}
	p, d := num.Host(), den.Host()
	used := 0
	for i := range s.plan.Leaves {
		l := &s.plan.Leaves[i]
		end := l.Offset + 1<<l.Vars
		if err := s.blockOnHost(l, p[l.Offset:end], d[l.Offset:end], ch.Host()); err != nil {
			return err
		}
		used = end
	}
	for i := range d[used:] {
		p[used+i], d[used+i] = 0, m31.OneQM31()
	}
	return nil
}

func (s *session) blockOnHost(l *plan.Leaves, p []m31.Element, d, ch []m31.QM31) error {
	t := &s.plan.Tables[l.Table]
	f := affine{c: m31.FromInt(t.First)}
	var y, m []m31.Element
	if l.Rows {
		m = s.polys[t.Mult].Host()
		if at := s.tables[l.Table]; at != nowhere {
			y = s.at(at, len(p)).Host()
		}
	} else {
		f = s.affine(l.C0)
		if l.C1 >= 0 {
			y = s.polys[l.C1].Host()
		}
	}
	base, beta := ch[0].Sub(m31.Lift(m31.Element(t.Tag))), ch[1]
	square := beta.Square()
	return s.q.Parallel(len(p), 1<<12, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c0 := f.c.Add(m31.New(uint64(i)))
			if f.a != nil {
				c0 = f.at(i)
			}
			v := base.Sub(beta.MulBase(c0))
			if y != nil {
				v = v.Sub(square.MulBase(y[i]))
			}
			d[i], p[i] = v, 1
			if m != nil {
				p[i] = m[i].Neg()
			}
		}
	})
}

// valid says whether index i of the padded layout is a real element.
func valid(i int, p *plan.Poly) bool {
	for a := len(p.Axes) - 1; a >= 0; a-- {
		if i&(1<<p.Axes[a]-1) >= p.Shape[a] {
			return false
		}
		i >>= p.Axes[a]
	}
	return true
}
