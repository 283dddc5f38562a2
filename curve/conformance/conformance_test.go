package conformance

import (
	"math/big"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/mont"
)

// Where simt runs under a sanitizer or in another order, two fields stand for all.
func init() {
	if os.Getenv("ZKWARP_SIMT_ORDER") != "" || os.Getenv("ZKWARP_SIMT_SANITIZE") != "" {
		fields = []*mont.Field{curve.Toy61Fp, curve.BN254Fp}
		quadratic = []*curve.Group{curve.BN254G2}
	}
}

func TestMain(m *testing.M) { devicetest.Main(m, sources(fields, quadratic)...) }

// number is an element of Fp[u]/(u² + minus), or of Fp where the degree is 1.
type number []*big.Int

// algebra computes with numbers.
type algebra struct {
	f      *mont.Field
	degree int
	minus  int64
}

func (k algebra) make(f func(i int) *big.Int) number {
	out := make(number, k.degree)
	for i := range out {
		v := f(i)
		out[i] = v.Mod(v, k.f.Modulus)
	}
	return out
}

func (k algebra) add(a, b number) number {
	return k.make(func(i int) *big.Int { return new(big.Int).Add(a[i], b[i]) })
}

func (k algebra) sub(a, b number) number {
	return k.make(func(i int) *big.Int { return new(big.Int).Sub(a[i], b[i]) })
}

func (k algebra) zero() number {
	return k.make(func(int) *big.Int { return new(big.Int) })
}

func (k algebra) one() number {
	return k.make(func(i int) *big.Int { return big.NewInt(int64(1 - i)) })
}

func (k algebra) mul(a, b number) number {
	t := func(i, j int) *big.Int { return new(big.Int).Mul(a[i], b[j]) }
	return k.make(func(i int) *big.Int {
		switch {
		case k.degree == 1:
			return t(0, 0)
		case i == 0:
			v := t(1, 1)
			return v.Sub(t(0, 0), v.Mul(v, big.NewInt(k.minus)))
		default:
			return new(big.Int).Add(t(0, 1), t(1, 0))
		}
	})
}

func (k algebra) isZero(a number) bool {
	return !slices.ContainsFunc(a, func(v *big.Int) bool { return v.Sign() != 0 })
}

func (k algebra) words(v []number) []uint32 {
	var out []uint32
	for _, a := range v {
		for _, x := range a {
			out = append(out, k.f.Words(x)...)
		}
	}
	return out
}

// scale multiplies a's components by v.
func (k algebra) scale(a number, v *big.Int) number {
	return k.make(func(i int) *big.Int { return new(big.Int).Mul(a[i], v) })
}

// operands are elements whose words, in Montgomery form, are what hides mistakes: 0, 1,
// p-1, (p±1)/2, words of ones or of zeros, besides random ones.
func (k algebra) operands(g *devicetest.Gen, n int) []number {
	p := k.f.Modulus
	half := new(big.Int).Rsh(p, 1)
	edge := []*big.Int{
		new(big.Int), big.NewInt(1), big.NewInt(2), new(big.Int).Sub(p, big.NewInt(1)), new(big.Int).Sub(p, big.NewInt(2)),
		half, new(big.Int).Add(half, big.NewInt(1)), k.f.Int(k.f.Montgomery(big.NewInt(1))),
		new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(p.BitLen()-1)), big.NewInt(1)), // ones in all words
		new(big.Int).Lsh(big.NewInt(1), uint(p.BitLen()-1)),
	}
	random := func() *big.Int {
		w := g.Words(k.f.Limbs)
		for i := range w {
			switch g.Intn(12) {
			case 0:
				w[i] = 0
			case 1:
				w[i] = 1<<32 - 1
			}
		}
		v := k.f.Int(w)
		return v.Mod(v, p)
	}
	out := make([]number, n)
	for i := range out {
		out[i] = k.make(func(int) *big.Int {
			if g.Intn(3) == 0 {
				return new(big.Int).Set(edge[g.Intn(len(edge))])
			}
			return random()
		})
	}
	return out
}

// operation is the meaning of a kernel's case, for elements given by their words as
// numbers: r is 1/2^(32N), so that a product of words is mul(mul(x, y), r).
type operation struct {
	name string
	f    func(x, y, z, w number) number
}

func (k algebra) operations() []operation {
	radix := new(big.Int).Lsh(big.NewInt(1), uint(32*k.f.Limbs))
	inverse := new(big.Int).ModInverse(radix, k.f.Modulus)
	mul := func(a, b number) number { return k.scale(k.mul(a, b), inverse) }
	neg := func(a number) number { return k.sub(k.zero(), a) }
	ops := []operation{
		{"mul", func(x, y, _, _ number) number { return mul(x, y) }},
		{"sqr", func(x, _, _, _ number) number { return mul(x, x) }},
		{"mul_sub", func(x, y, z, w number) number { return k.sub(mul(x, y), mul(z, w)) }},
		{"mul_add", func(x, y, z, w number) number { return k.add(mul(x, y), mul(z, w)) }},
		{"add", func(x, y, _, _ number) number { return k.add(x, y) }},
		{"sub", func(x, y, _, _ number) number { return k.sub(x, y) }},
		{"neg", func(x, _, _, _ number) number { return neg(x) }},
		{"dbl", func(x, _, _, _ number) number { return k.add(x, x) }},
		{"is_zero, equal", func(x, y, _, _ number) number {
			bits := int64(0)
			if k.isZero(x) {
				bits |= 1
			}
			if k.isZero(k.sub(x, y)) {
				bits |= 14
			}
			return k.make(func(i int) *big.Int { return big.NewInt(bits * int64(1-i)) })
		}},
		{"canonical", func(x, _, _, _ number) number { return x }},
	}
	if k.degree == 1 {
		ops = append(ops,
			operation{"from_montgomery", func(x, _, _, _ number) number { return k.scale(x, inverse) }},
			operation{"to_montgomery", func(x, _, _, _ number) number { return k.scale(x, radix) }})
	}
	ops = append(ops,
		operation{"a sum of products", func(x, y, _, _ number) number { return k.add(mul(x, y), mul(x, x)) }},
		operation{"a difference of products", func(x, y, _, _ number) number { return k.sub(mul(x, y), mul(x, x)) }})
	if k.degree == 1 {
		sum := func(x, y, z, w number) number { return k.add(mul(x, y), mul(z, w)) }
		ops = append(ops,
			operation{"mul_interleaved", func(x, y, _, _ number) number { return mul(x, y) }},
			operation{"wide_mul, reduce", func(x, y, _, _ number) number { return mul(x, y) }},
			operation{"mul_sum_interleaved", sum}, operation{"add_products", sum})
	}
	return append(ops,
		operation{"set_one", func(_, _, _, _ number) number { return k.scale(k.one(), radix) }},
		operation{"all together", func(x, y, _, _ number) number {
			n := neg(x)
			s := mul(n, n)
			s = k.sub(mul(k.add(x, y), k.sub(x, y)), k.add(s, s))
			return k.sub(mul(s, k.sub(y, s)), mul(k.add(s, s), k.add(y, y)))
		}})
}

func launch(t *testing.T, q *device.Queue, k device.Kernel, n int, in [][]uint32, scalars ...device.Arg) []uint32 {
	t.Helper()
	out := devicetest.Upload(t, q, make([]uint32, len(in[0])))
	args := []device.Arg{out.Arg()}
	for _, v := range in {
		args = append(args, devicetest.Upload(t, q, v).Arg())
	}
	args = append(append(args, scalars...), device.U32(n))
	if err := q.Launch(k, device.D1(device.Blocks(n, 64)), device.D1(64), 0, args...); err != nil {
		t.Fatal(err)
	}
	got, err := out.Read(q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (k algebra) check(t *testing.T, what string, n int, got []uint32, want func(i int) number) {
	t.Helper()
	words := len(got) / n
	for i := range n {
		if have, w := got[i*words:(i+1)*words], k.words([]number{want(i)}); !slices.Equal(have, w) {
			t.Fatalf("%s: item %d: got %#x, want %#x", what, i, have, w)
		}
	}
}

func (k algebra) test(t *testing.T, unit *kernel.Source, kernel, inverse string) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		const n = 259
		for op, o := range k.operations() {
			g := devicetest.Rand(uint64(op))
			x, y, z, w := k.operands(g, n), k.operands(g, n), k.operands(g, n), k.operands(g, n)
			// The largest numbers, in all combinations of what they are raised to.
			top := k.make(func(int) *big.Int { return big.NewInt(-1) })
			for i := range 16 {
				x[i], y[i], z[i], w[i] = top, top, top, top
				x[16+i], y[16+i], z[16+i], w[16+i] = top, top, k.zero(), top
			}
			for i := 35; i < n; i += 5 { // equal and opposite ones
				y[i] = x[i]
				if i%2 == 0 {
					w[i] = k.sub(k.zero(), z[i])
				}
			}
			got := launch(t, q, device.Kernel{Source: unit, Name: kernel}, n,
				[][]uint32{k.words(x), k.words(y), k.words(z), k.words(w)}, device.U32(op))
			k.check(t, o.name, n, got, func(i int) number { return o.f(x[i], y[i], z[i], w[i]) })
		}
		const few = 130
		x := k.operands(devicetest.Rand(99), few)
		got := launch(t, q, device.Kernel{Source: unit, Name: inverse}, few, [][]uint32{k.words(x)})
		radix := new(big.Int).Lsh(big.NewInt(1), uint(64*k.f.Limbs))
		k.check(t, "inverse", few, got, func(i int) number {
			// v conj(v) is the norm, a number.
			conj := k.make(func(j int) *big.Int { return new(big.Int).Mul(x[i][j], big.NewInt(int64(1-2*j))) })
			if k.degree == 1 {
				conj = k.one()
			}
			norm := k.mul(x[i], conj)[0]
			if norm.Sign() == 0 {
				return k.zero()
			}
			return k.scale(k.scale(conj, new(big.Int).ModInverse(norm, k.f.Modulus)), radix)
		})
	})
}

func TestFields(t *testing.T) {
	for _, f := range fields {
		t.Run(f.Name, func(t *testing.T) {
			algebra{f: f, degree: 1}.test(t, units[f.Name], "conformance_field_"+f.Name, "conformance_inverse_"+f.Name)
		})
	}
}

func TestExtensions(t *testing.T) {
	for _, g := range quadratic {
		t.Run(g.Name, func(t *testing.T) {
			algebra{f: g.Base, degree: 2, minus: int64(g.Minus)}.test(t, units[g.Name], "conformance_fp2_"+g.Name, "conformance_fp2_inverse_"+g.Name)
		})
	}
}

// parts of the functions that have cases.
var parts = []string{
	"add_masked", "add_words", "five_times", "less", "less_wide", "negative", "sub_words", "times",
}

var functions = regexp.MustCompile(`template <class P[^>]*>\s+DEVICE_(?:INLINE|LARGE|CALL) [\w<>, ]+? (\w+)\(`)

// No function of the headers is without a case.
func TestEveryFunctionIsCovered(t *testing.T) {
	for text, h := range map[string]*kernel.Source{fieldText: mont.Header, fp2Text: curve.Fp2} {
		found := functions.FindAllStringSubmatch(h.Text, -1)
		if len(found) < 12 {
			t.Errorf("%s: found %d functions", h.Name, len(found))
		}
		for _, m := range found {
			if slices.Contains(parts, m[1]) || strings.HasSuffix(m[1], "_called") || strings.HasSuffix(m[1], "_here") {
				continue
			}
			if !regexp.MustCompile(`\b` + m[1] + `\(`).MatchString(text) {
				t.Errorf("%s: %s is not called", h.Name, m[1])
			}
		}
	}
}
