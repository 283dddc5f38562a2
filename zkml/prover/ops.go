package prover

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
	logupprover "github.com/zkwarp/zkwarp/logup/prover"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
	sumcheckprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

//go:embed zkml.cu
var text string

// Source is the package's kernels.
var Source = &kernel.Source{Name: "zkml/prover/zkml.cu", Text: text, Headers: []*kernel.Source{kernel.PTX, m31.Header}}

// preload compiles what a proof launches, all units at once: one after the
// other, as stages reach them, takes several times as long.
func preload(d *device.Device) error {
	return d.Preload(sumcheckprover.Source, mleprover.Source, logupprover.Source, transcriptprover.Source, Source)
}

const threads = 256

func (s *session) launch(name string, n int, args ...device.Arg) error {
	return s.q.Launch(device.Kernel{Source: Source, Name: name}, device.D1(device.Blocks(n, threads)), device.D1(threads), 0, args...)
}

// affine is k0*a + k1*b + c over tables of one length; b may be empty.
type affine struct {
	a, b      device.Buffer[m31.Element]
	k0, k1, c m31.Element
}

func (s *session) affine(f plan.Affine) (affine, error) {
	out := affine{c: f.Const}
	switch len(f.Terms) {
	case 2:
		out.b, out.k1 = s.polys[f.Terms[1].Of], f.Terms[1].Coef
		fallthrough
	case 1:
		out.a, out.k0 = s.polys[f.Terms[0].Of], f.Terms[0].Coef
		return out, nil
	}
	return out, fmt.Errorf("a lookup of %d terms", len(f.Terms))
}

func (f *affine) at(i int, a, b []m31.Element) m31.Element {
	v := f.k0.Mul(a[i]).Add(f.c)
	if len(b) > 0 {
		v = v.Add(f.k1.Mul(b[i]))
	}
	return v
}

// count adds a block's lookups to the multiplicities of its table's rows. A
// value outside the table is not counted; its proof will not verify.
func (s *session) count(l *plan.Leaves) error {
	t := &s.plan.Tables[l.Table]
	f, err := s.affine(l.C0)
	if err != nil {
		return err
	}
	f.c = f.c.Sub(m31.FromInt(t.First))
	n, mult := 1<<l.Vars, s.polys[t.Mult]
	if !s.q.OnHost() {
		return s.launch("zkml_count", n, mult.Arg(), f.a.Arg(), f.b.Arg(), device.U32(f.k0), device.U32(f.k1), device.U32(f.c), device.U32(mult.Len()), device.U32(n))
	}
	a, b, m := f.a.Host(), f.b.Host(), mult.Host()
	var mu sync.Mutex
	return s.q.Parallel(n, max(1<<14, len(m)), func(lo, hi int) {
		local := make([]m31.Element, len(m))
		for i := lo; i < hi; i++ {
			if r := f.at(i, a, b); int(r) < len(local) {
				local[r]++
			}
		}
		mu.Lock()
		defer mu.Unlock()
		m31.AddVec(m, m, local)
	})
}

// fractions are the leaves of the fractional-sum tree.
func (s *session) fractions(alpha, beta m31.QM31) (num device.Buffer[m31.Element], den device.Buffer[m31.QM31], err error) {
	n := 1 << s.plan.TreeVars
	if num, err = device.Alloc[m31.Element](s.q, n); err != nil {
		return num, den, err
	}
	if den, err = device.Alloc[m31.QM31](s.q, n); err != nil {
		return num, den, err
	}
	used := 0
	for i := range s.plan.Leaves {
		l := &s.plan.Leaves[i]
		end := l.Offset + 1<<l.Vars
		if err := s.block(l, num.Slice(l.Offset, end), den.Slice(l.Offset, end), alpha, beta); err != nil {
			return num, den, err
		}
		used = end
	}
	if err := s.fillLeaves(num.Slice(used, n), den.Slice(used, n)); err != nil {
		return num, den, err
	}
	return num, den, nil
}

// fillLeaves writes the fraction 0/1.
func (s *session) fillLeaves(num device.Buffer[m31.Element], den device.Buffer[m31.QM31]) error {
	n := num.Len()
	if n == 0 {
		return nil
	}
	if err := num.Zero(s.q); err != nil {
		return err
	}
	if !s.q.OnHost() {
		return s.launch("zkml_ones", n, den.Arg(), device.U32(n))
	}
	d := den.Host()
	for i := range d {
		d[i] = m31.OneQM31()
	}
	return nil
}

// block writes one block of leaves: numerator 1 or minus the multiplicity,
// denominator alpha - tag - beta c0 - beta^2 c1.
func (s *session) block(l *plan.Leaves, num device.Buffer[m31.Element], den device.Buffer[m31.QM31], alpha, beta m31.QM31) error {
	t := &s.plan.Tables[l.Table]
	n := num.Len()
	f := affine{c: m31.FromInt(t.First)}
	var c1, mult device.Buffer[m31.Element]
	if l.Rows {
		mult = s.polys[t.Mult]
		if t.Y != nil {
			var err error
			if c1, err = s.tableY(t); err != nil {
				return err
			}
		}
	} else {
		var err error
		if f, err = s.affine(l.C0); err != nil {
			return err
		}
		if l.C1 >= 0 {
			c1 = s.polys[l.C1]
		}
	}
	base := alpha.Sub(m31.Lift(m31.Element(t.Tag)))
	square := beta.Square()
	if !s.q.OnHost() {
		ch, err := device.Upload(s.q, []m31.QM31{base, beta, square})
		if err != nil {
			return err
		}
		defer ch.Free()
		return s.launch("zkml_leaves", n, num.Arg(), den.Arg(), f.a.Arg(), f.b.Arg(), c1.Arg(), mult.Arg(), ch.Arg(),
			device.U32(f.k0), device.U32(f.k1), device.U32(f.c), device.U32(n))
	}
	a, b, y, m, p, d := f.a.Host(), f.b.Host(), c1.Host(), mult.Host(), num.Host(), den.Host()
	return s.q.Parallel(n, 1<<12, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c0 := f.c.Add(m31.New(uint64(i)))
			if a != nil {
				c0 = f.at(i, a, b)
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

// tableY is a table's second column on the device.
func (s *session) tableY(t *plan.Table) (device.Buffer[m31.Element], error) {
	if b, ok := s.tables[t.Mult]; ok {
		return b, nil
	}
	y := make([]m31.Element, len(t.Y))
	for i, v := range t.Y {
		y[i] = m31.FromInt(int64(v))
	}
	b, err := upload(s, y)
	if err == nil {
		s.tables[t.Mult] = b
	}
	return b, err
}

// addEq adds scale*eq(point, x) to w[x].
func (s *session) addEq(w device.Buffer[m31.QM31], point []m31.QM31, scale m31.QM31) error {
	n := len(point)
	z, err := device.Upload(s.q, append(append(make([]m31.QM31, 0, n+1), point...), scale))
	if err != nil {
		return err
	}
	defer z.Free()
	return mleprover.AddEq(s.q, w, z.Slice(0, n), z.Slice(n, n+1))
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

// axes is a polynomial's axes as pairs of variables and extent, last first.
func (s *session) axes(p *plan.Poly) (device.Buffer[uint32], error) {
	var v []uint32
	for a := len(p.Axes) - 1; a >= 0; a-- {
		v = append(v, uint32(p.Axes[a]), uint32(p.Shape[a]))
	}
	return upload(s, v)
}

// mask zeroes a table outside the real elements of p.
func (s *session) mask(t device.Buffer[m31.QM31], p plan.Poly) error {
	if s.q.OnHost() {
		h := t.Host()
		return s.q.Parallel(len(h), 1<<12, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				if !valid(i, &p) {
					h[i] = m31.QM31{}
				}
			}
		})
	}
	axes, err := s.axes(&p)
	if err != nil {
		return err
	}
	return s.launch("zkml_mask", t.Len(), t.Arg(), axes.Arg(), device.U32(len(p.Axes)), device.U32(t.Len()))
}

// guard writes 1 outside the real elements of p and 0 at them.
func (s *session) guard(t device.Buffer[m31.Element], p plan.Poly) error {
	if s.q.OnHost() {
		h := t.Host()
		return s.q.Parallel(len(h), 1<<12, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				h[i] = 1
				if valid(i, &p) {
					h[i] = 0
				}
			}
		})
	}
	axes, err := s.axes(&p)
	if err != nil {
		return err
	}
	return s.launch("zkml_guard", t.Len(), t.Arg(), axes.Arg(), device.U32(len(p.Axes)), device.U32(t.Len()))
}
