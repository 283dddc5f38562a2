package conformance

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
)

func TestMain(m *testing.M) { devicetest.Main(m, Source) }

type elem = m31.Element

// operation is the Go side of one case of the kernel. raw operands are any
// 32-bit words instead of canonical ones.
type operation struct {
	name string
	raw  bool
	f    func(x, y, z m31.QM31) m31.QM31
}

func quad(a, b, c, d elem) m31.QM31 { return m31.FromWords([4]elem{a, b, c, d}) }
func pair(a, b m31.CM31) m31.QM31   { return m31.QM31{A: a, B: b} }
func wide(x m31.QM31) uint64        { return uint64(x.A.Im)<<32 | uint64(x.A.Re) }
func ratio(x m31.CM31) m31.CM31     { return x.Mul(m31.CM31{Re: 2, Im: 1}) }
func squares(a elem, n uint32) elem { return a.Exp(1 << n) }
func lift(a elem) m31.QM31          { return m31.Lift(a) }
func first(f func(a, b elem) elem) func(x, y, z m31.QM31) m31.QM31 {
	return func(x, y, _ m31.QM31) m31.QM31 { return lift(f(x.A.Re, y.A.Re)) }
}

var operations = []operation{
	{"add", false, first(elem.Add)},
	{"sub", false, first(elem.Sub)},
	{"mul", false, first(elem.Mul)},
	{"neg, dbl, sqr, inv", false, func(x, _, _ m31.QM31) m31.QM31 {
		a := x.A.Re
		return quad(a.Neg(), a.Double(), a.Square(), a.Inverse())
	}},
	{"rotate, squares", false, func(x, y, _ m31.QM31) m31.QM31 {
		a, k := x.A.Re, uint32(y.A.Re)
		return quad(a.Mul(m31.New(1<<(k%31))), squares(a, k%40), 0, 0)
	}},
	{"reduce, partial, from_i32", true, func(x, _, _ m31.QM31) m31.QM31 {
		return quad(m31.New(wide(x)), m31.New(wide(x)), m31.FromInt(int64(int32(x.A.Re))), 0)
	}},
	{"cm31 add", false, func(x, y, _ m31.QM31) m31.QM31 { return pair(x.A.Add(y.A), m31.CM31{}) }},
	{"cm31 sub", false, func(x, y, _ m31.QM31) m31.QM31 { return pair(x.A.Sub(y.A), m31.CM31{}) }},
	{"cm31 mul", false, func(x, y, _ m31.QM31) m31.QM31 { return pair(x.A.Mul(y.A), m31.CM31{}) }},
	{"cm31 neg, conj", false, func(x, _, _ m31.QM31) m31.QM31 { return pair(x.A.Neg(), x.A.Conj()) }},
	{"cm31 sqr, mul_i", false, func(x, _, _ m31.QM31) m31.QM31 { return pair(x.A.Square(), x.A.MulI()) }},
	{"cm31 inv, mul_r", false, func(x, _, _ m31.QM31) m31.QM31 { return pair(x.A.Inverse(), ratio(x.A)) }},
	{"cm31 mul_base", false, func(x, y, _ m31.QM31) m31.QM31 { return pair(x.A.MulBase(y.A.Re), m31.CM31{}) }},
	{"qm31 add", false, func(x, y, _ m31.QM31) m31.QM31 { return x.Add(y) }},
	{"qm31 sub", false, func(x, y, _ m31.QM31) m31.QM31 { return x.Sub(y) }},
	{"qm31 mul", false, func(x, y, _ m31.QM31) m31.QM31 { return x.Mul(y) }},
	{"qm31 neg", false, func(x, _, _ m31.QM31) m31.QM31 { return x.Neg() }},
	{"qm31 dbl", false, func(x, _, _ m31.QM31) m31.QM31 { return x.Double() }},
	{"qm31 sqr", false, func(x, _, _ m31.QM31) m31.QM31 { return x.Square() }},
	{"qm31 inv", false, func(x, _, _ m31.QM31) m31.QM31 { return x.Inverse() }},
	{"qm31 mul_base", false, func(x, y, _ m31.QM31) m31.QM31 { return x.MulBase(y.A.Re) }},
	{"qm31 mul_cm31", false, func(x, y, _ m31.QM31) m31.QM31 { return x.MulCM31(y.A) }},
	{"qm31 add_base", false, func(x, y, _ m31.QM31) m31.QM31 { return x.Add(lift(y.A.Re)) }},
	{"qm31 sub_base", false, func(x, y, _ m31.QM31) m31.QM31 { return x.Sub(lift(y.A.Re)) }},
	{"qm31 fold", false, func(x, y, z m31.QM31) m31.QM31 { return x.Add(z.Mul(y.Sub(x))) }},
	{"qm31 fold_base", false, func(x, y, z m31.QM31) m31.QM31 {
		return lift(x.A.Re).Add(z.MulBase(y.A.Re.Sub(x.A.Re)))
	}},
	{"dot4", false, func(x, y, _ m31.QM31) m31.QM31 {
		v, w := x.Words(), y.Words()
		return lift(1).Add(lift(m31.Dot(v[:], w[:])))
	}},
	{"sums", false, func(x, y, z m31.QM31) m31.QM31 {
		return y.MulBase(x.A.Re).Add(z).MulBase(100)
	}},
	{"pair, b", false, func(x, y, _ m31.QM31) m31.QM31 { return pair(m31.CM31{Re: x.A.Re, Im: y.A.Re}, x.B) }},
	{"once", false, func(x, _, _ m31.QM31) m31.QM31 { return lift(x.A.Re) }},
}

// operands mixes words near 0 and P (or 2^32) with random ones.
func operands(g *devicetest.Gen, n int, raw bool) []m31.QM31 {
	top := uint32(m31.P)
	edge := []uint32{0, 1, 2, top / 2, top/2 + 1, top - 2, top - 1}
	if raw {
		edge = append(edge, top, top+1, 1<<32-1, 1<<32-2)
	}
	out := make([]m31.QM31, n)
	w := m31.Words(out)
	for i := range w {
		switch {
		case g.Intn(2) == 0:
			w[i] = elem(edge[g.Intn(len(edge))])
		case raw:
			w[i] = elem(g.U32())
		default:
			w[i] = elem(g.Below(m31.P))
		}
	}
	return out
}

func TestOperations(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		const n = 5003
		for op, o := range operations {
			g := devicetest.Rand(uint64(op))
			var in [3][]m31.QM31
			var dev [3]device.Buffer[m31.QM31]
			for k := range in {
				in[k] = operands(g, n, o.raw)
				var err error
				if dev[k], err = device.Upload(q, in[k]); err != nil {
					t.Fatal(err)
				}
				defer dev[k].Free()
			}
			out, err := device.Alloc[m31.QM31](q, n)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Free()
			if err := q.Launch(device.Kernel{Source: Source, Name: "m31_conformance"}, device.D1(device.Blocks(n, 128)), device.D1(128), 0,
				out.Arg(), dev[0].Arg(), dev[1].Arg(), dev[2].Arg(), device.U32(op), device.U32(n)); err != nil {
				t.Fatal(err)
			}
			got, err := out.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if want := o.f(in[0][i], in[1][i], in[2][i]); got[i] != want {
					t.Fatalf("%s: of %v, %v, %v: got %v, want %v", o.name, in[0][i], in[1][i], in[2][i], got[i], want)
				}
			}
		}
	})
}

func TestSums(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, threads := range []int{32, 96, 256} {
			for _, n := range []int{1, 31, 300, 1000} {
				in := operands(devicetest.Rand(uint64(n)), n, false)
				a, err := device.Upload(q, in)
				if err != nil {
					t.Fatal(err)
				}
				defer a.Free()
				out, err := device.Alloc[m31.QM31](q, 2)
				if err != nil {
					t.Fatal(err)
				}
				defer out.Free()
				if err := q.Launch(device.Kernel{Source: Source, Name: "m31_conformance_sums"}, device.D1(1), device.D1(threads), 0,
					out.Arg(), a.Arg(), device.U32(n)); err != nil {
					t.Fatal(err)
				}
				got, err := out.Read(q)
				if err != nil {
					t.Fatal(err)
				}
				if want := m31.SumQM31(in); got[0] != want || got[1] != want {
					t.Fatalf("%d threads, %d elements: got %v, want %v twice", threads, n, got, want)
				}
			}
		}
	})
}

// No function of the header is without a case, and no case without a twin.
func TestEveryFunctionIsCovered(t *testing.T) {
	code := regexp.MustCompile(`//[^\n]*`).ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile(`DEVICE_INLINE \w+ (\w+)\(`).FindAllStringSubmatch(m31.Header.Text, -1) {
		if !regexp.MustCompile(`\b` + m[1] + `\(`).MatchString(code) {
			t.Errorf("%s is not called", m[1])
		}
	}
	if n := strings.Count(code, "case "); n != len(operations) || !strings.Contains(code, fmt.Sprintf("case %d:", n-1)) {
		t.Errorf("%d cases, %d operations", n, len(operations))
	}
}
