package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
)

func TestMain(m *testing.M) { devicetest.Main(m, Sources()...) }

// extension is what the Go side of a case needs.
type extension[W field.Base[W], E any] interface {
	field.Element[E]
	MulBase(W) E
}

// words is the memory of v.
func words[W field.Base[W], E extension[W, E]](v []E) []W {
	var zero E
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(v))), zero.Degree()*len(v))
}

// element is the one with the words w, and zeros after them.
func element[W field.Base[W], E extension[W, E]](w ...W) E {
	var e [1]E
	copy(words[W](e[:]), w)
	return e[0]
}

// operation is the Go side of a case.
type operation[E any] struct {
	name string
	f    func(x, y, z E) E
}

// operations are the cases in their order. Symbols have symbol words.
func operations[W field.Base[W], E extension[W, E]](symbol int) []operation[E] {
	w := func(e E) []W { return words[W]([]E{e}) }
	sym := func(e E) E { return element[W, E](w(e)[:symbol]...) }
	var zero E
	var base W
	return []operation[E]{
		{"fp add, sub, mul", func(x, y, _ E) E {
			s, t := w(x)[0], w(y)[0]
			return element[W, E](s.Add(t), s.Sub(t), s.Mul(t), W(base.Modulus()-1))
		}},
		{"fp neg, dbl, sqr, inv", func(x, _, _ E) E {
			s := w(x)[0]
			return element[W, E](s.Neg(), s.Double(), s.Square(), s.Inverse())
		}},
		{"fp from, canonical, one, pow", func(x, y, _ E) E {
			s, t := w(x)[0], w(y)[0]
			return element[W, E](base.FromUint64(uint64(s)), W(s.Uint32()), base.One(), s.Exp(uint64(t)))
		}},
		{"add", func(x, y, _ E) E { return x.Add(y) }},
		{"sub", func(x, y, _ E) E { return x.Sub(y) }},
		{"neg", func(x, _, _ E) E { return x.Neg() }},
		{"mul", func(x, y, _ E) E { return x.Mul(y) }},
		{"sqr", func(x, _, _ E) E { return x.Square() }},
		{"mul_base", func(x, y, _ E) E { return x.MulBase(w(y)[0]) }},
		{"one, lift", func(_, y, _ E) E { return zero.One().Add(element[W, E](w(y)[0])) }},
		{"sym add", func(x, y, _ E) E { return sym(x).Add(sym(y)) }},
		{"sym sub", func(x, y, _ E) E { return sym(x).Sub(sym(y)) }},
		{"sym mul", func(x, y, _ E) E { return sym(x).Mul(sym(y)) }},
		{"mul_sym", func(x, y, _ E) E { return x.Mul(sym(y)) }},
		{"sym load, store", func(x, _, _ E) E { return sym(x) }},
		{"sums", func(x, y, z E) E {
			return x.Mul(y).Add(z.Mul(sym(y))).Add(y.Mul(z)).MulBase(base.FromUint64(50))
		}},
		{"a sum of one product", func(x, y, _ E) E { return x.Mul(y) }},
		{"fp mad", func(x, y, _ E) E {
			c := uint64(w(x)[2])<<32 | uint64(w(x)[1])
			c += uint64(w(x)[0]) * uint64(w(y)[0])
			return element[W, E](W(uint32(c)), W(uint32(c>>32)))
		}},
	}
}

// operands mixes words near 0 and P with random ones; some elements have P-1 in
// all places, where sums are largest.
func operands[W field.Base[W], E extension[W, E]](g *devicetest.Gen, n int) []E {
	var base W
	p := base.Modulus()
	edge := []W{0, 1, 2, W(p / 2), W(p/2 + 1), W(p - 2), W(p - 1), base.One()}
	out := make([]E, n)
	w := words[W](out)
	d := len(w) / n
	for i := range w {
		switch {
		case i/d%4 == 0:
			w[i] = W(p - 1)
		case g.Intn(2) == 0:
			w[i] = edge[g.Intn(len(edge))]
		default:
			w[i] = W(g.Below(p))
		}
	}
	return out
}

func launch[T any](t *testing.T, q *device.Queue, source *kernel.Source, name string, op int, in ...[]T) []T {
	t.Helper()
	n := len(in[0])
	out, err := device.Upload(q, make([]T, n))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Free()
	args := []device.Arg{out.Arg()}
	for _, v := range in {
		b, err := device.Upload(q, v)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Free()
		args = append(args, b.Arg())
	}
	args = append(args, device.U32(op), device.U32(n))
	if err := q.Launch(device.Kernel{Source: source, Name: name}, device.D1(device.Blocks(n, 128)), device.D1(128), 0, args...); err != nil {
		t.Fatal(err)
	}
	got, err := out.Read(q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func common[W field.Base[W], E extension[W, E]](t *testing.T, k field.Kernel, symbol int) {
	t.Run(k.Name, func(t *testing.T) {
		devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
			for op, o := range operations[W, E](symbol) {
				g := devicetest.Rand(uint64(op))
				n := 2003
				if strings.Contains(o.name, "sums") {
					n = 301
				}
				x, y, z := operands[W, E](g, n), operands[W, E](g, n), operands[W, E](g, n)
				got := launch(t, q, units[k.Name], "conformance_"+k.Name, op, x, y, z)
				for i := range got {
					if want := o.f(x[i], y[i], z[i]); got[i] != want {
						t.Fatalf("%s: item %d: of %v, %v, %v: got %v, want %v", o.name, i, x[i], y[i], z[i], got[i], want)
					}
				}
			}
		})
	})
}

func TestOperations(t *testing.T) {
	common[m31.Element, m31.QM31](t, m31.KernelQM31, 2)
	common[babybear.Element, babybear.E4](t, babybear.Kernel4, 1)
	common[babybear.Element, babybear.E5](t, babybear.Kernel5, 1)
	common[koalabear.Element, koalabear.E4](t, koalabear.Kernel4, 1)
	common[koalabear.Element, koalabear.E5](t, koalabear.Kernel5, 1)
}

func montgomery[W field.Base[W], E extension[W, E]](t *testing.T, k field.Kernel, w uint64) {
	t.Run(k.Name, func(t *testing.T) {
		var base W
		p := uint64(base.Modulus())
		unshift := base.FromUint64(1 << 32).Inverse()
		devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
			g := devicetest.Rand(p)
			// Sums below 2^33 P, of which some are next to multiples of 2^32 P.
			sums := []uint64{0, 1, 1<<32 - 1, p<<32 - 1, p << 32, p<<32 + 1, p<<33 - 1, 4 * (p - 1) * (p - 1), 2 * (p - 1) * (p - 1)}
			for len(sums) < 1000 {
				sums = append(sums, g.U64()%(p<<33))
			}
			in := make([]E, len(sums))
			for i, s := range sums {
				in[i] = element[W, E](W(uint32(s)), W(uint32(s>>32)))
			}
			for i, e := range launch(t, q, bearUnits[k.Name], "conformance_bear_"+k.Name, 0, in) {
				fold := sums[i] % (p << 32)
				want := element[W, E](W(uint32(fold)), W(uint32(fold>>32)), base.FromUint64(sums[i]).Mul(unshift).Mul(unshift), W(uint32(sums[i]>>32)%uint32(p)))
				if e != want {
					t.Fatalf("%d: got %v, want %v", sums[i], e, want)
				}
			}
			x := operands[W, E](g, 1000)
			for i, e := range launch(t, q, bearUnits[k.Name], "conformance_bear_"+k.Name, 1, x) {
				if s := words[W](x[i : i+1])[0]; e != element[W, E](s.Mul(base.FromUint64(w))) {
					t.Fatalf("%d times %v is not %v", w, s, e)
				}
			}
			for i, e := range launch(t, q, bearUnits[k.Name], "conformance_bear_"+k.Name, 2, x) {
				if want := x[i].Mul(element[W, E](0, base.One())); e != want {
					t.Fatalf("X times %v: got %v, want %v", x[i], e, want)
				}
			}
		})
	})
}

func TestMontgomery(t *testing.T) {
	montgomery[babybear.Element, babybear.E4](t, babybear.Kernel4, 11)
	montgomery[babybear.Element, babybear.E5](t, babybear.Kernel5, 11)
	montgomery[koalabear.Element, koalabear.E4](t, koalabear.Kernel4, 3)
	montgomery[koalabear.Element, koalabear.E5](t, koalabear.Kernel5, 3)
}

var functions = regexp.MustCompile(`DEVICE_INLINE \w+ (\w+)\(`)

// No function of the headers is without a case, and all headers have those of the
// common ones.
func TestEveryFunctionIsCovered(t *testing.T) {
	code := regexp.MustCompile(`//[^\n]*`).ReplaceAllString(text+bearText, "")
	all := map[string][]string{}
	for _, k := range append([]field.Kernel{m31.KernelQM31}, bears...) {
		for _, h := range append(k.Header.Closure(), k.Header) {
			if h == m31.Header || h == kernel.PTX {
				continue
			}
			for _, m := range functions.FindAllStringSubmatch(h.Text, -1) {
				all[m[1]] = append(all[m[1]], k.Name)
			}
		}
	}
	for name, in := range all {
		switch {
		case slices.Contains([]string{"acc_two", "sym_pair", "sym_make"}, name): // parts of others
		case !regexp.MustCompile(`\b` + name + `\(`).MatchString(code):
			t.Errorf("%s is not called", name)
		case strings.Contains(text, name+"(") && len(in) != len(bears)+1:
			t.Errorf("%s is only in %v", name, in)
		}
	}
	cases := len(regexp.MustCompile(`case \d+:`).FindAllString(text, -1))
	if n := len(operations[m31.Element, m31.QM31](2)); cases != n || !strings.Contains(text, fmt.Sprintf("case %d:", n-1)) {
		t.Errorf("%d cases, %d operations", cases, n)
	}
}
