package conformance

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
)

func TestMain(m *testing.M) { devicetest.Main(m, Source) }

type elem = gf2.Element

// by is the product with a number.
func by(y uint64) func(x, _ elem) elem {
	return func(x, _ elem) elem { return x.Mul(elem{Lo: y}) }
}

// generator is the product with X_j.
func generator(j int) func(x, _ elem) elem {
	return func(x, _ elem) elem { return x.Mul(gf2.Basis(1 << j)) }
}

// blocks multiplies elements of the subfield of so many bits, one after another, of the
// low 32 bits.
func blocks(bits int, a, b uint32) uint32 {
	var r uint64
	for i := 0; i < 32; i += bits {
		mask := uint64(1)<<bits - 1
		x, y := elem{Lo: uint64(a) >> i & mask}, elem{Lo: uint64(b) >> i & mask}
		r |= x.Mul(y).Lo << i
	}
	return uint32(r)
}

// operations are the Go sides of the cases of the kernel.
var operations = []struct {
	name string
	f    func(x, y elem) elem
}{
	{"add", elem.Add},
	{"mul", elem.Mul},
	{"sqr", func(x, _ elem) elem { return x.Square() }},
	{"inv", func(x, _ elem) elem { return x.Inverse() }},
	{"mul_x 0", generator(0)},
	{"mul_x 1", generator(1)},
	{"mul_x 2", generator(2)},
	{"mul_x 3", generator(3)},
	{"mul_x 4", generator(4)},
	{"mul_x 5", generator(5)},
	{"mul_x 6", generator(6)},
	{"mul_small 2", by(2)},
	{"mul_small 3", by(3)},
	{"mul_small 4", by(4)},
	{"mul_small 5", by(5)},
	{"mul_small 1, 7", func(x, y elem) elem { return x.Add(y.Mul(elem{Lo: 7})) }},
	{"and", func(x, y elem) elem {
		m := y.Lo&0xffffffff | y.Lo<<32
		return elem{Lo: x.Lo & m, Hi: x.Hi & m}
	}},
	{"basis", func(_, y elem) elem { return gf2.Basis(int(y.Lo & 127)) }},
	{"equal, one, small", func(x, y elem) elem {
		if x == y {
			return gf2.One()
		}
		return elem{Lo: y.Lo >> 32}
	}},
	{"words", func(x, y elem) elem {
		u, v := x.AppendWords(nil), y.AppendWords(nil)
		return elem{
			Lo: uint64(blocks(4, u[0], v[0])) | uint64(blocks(8, u[1], v[1]))<<32,
			Hi: uint64(blocks(16, u[2]&0xffff, v[2]&0xffff)),
		}
	}},
}

// elements are random ones, every fourth of them in a subfield, 0 or 1.
func elements(seed uint64, n int) []elem {
	g := devicetest.Rand(seed)
	out := make([]elem, n)
	for i := range out {
		e := elem{Lo: g.U64(), Hi: g.U64()}
		if g.Intn(4) == 0 {
			switch bits := 1 << g.Intn(7); {
			case bits == 64:
				e.Hi = 0
			default:
				e = elem{Lo: e.Lo & (1<<bits - 1)}
			}
		}
		out[i] = e
	}
	return out
}

func TestOperations(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		const n = 1003
		x, y := elements(1, n), elements(2, n)
		copy(x[n-9:], y[n-9:]) // equal ones
		a, b := devicetest.Upload(t, q, x), devicetest.Upload(t, q, y)
		out, err := device.Alloc[elem](q, n)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Free()
		for op, o := range operations {
			if err := q.Launch(device.Kernel{Source: Source, Name: "gf2_conformance"}, device.D1(device.Blocks(n, 128)), device.D1(128), 0,
				out.Arg(), a.Arg(), b.Arg(), device.U32(op), device.U32(n)); err != nil {
				t.Fatal(err)
			}
			got, err := out.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if want := o.f(x[i], y[i]); got[i] != want {
					t.Fatalf("%s of %v, %v: got %v, want %v", o.name, x[i], y[i], got[i], want)
				}
			}
		}
	})
}

type polyval = gf2.Polyval

// polyvalOperations are those of the kernel of POLYVAL's basis.
var polyvalOperations = []struct {
	name string
	f    func(x, y polyval) polyval
}{
	{"mul", polyval.Mul},
	{"add, and", func(x, y polyval) polyval {
		m := x.Lo&0xffffffff | x.Lo<<32
		return x.Add(polyval{Lo: y.Lo & m, Hi: y.Hi & m})
	}},
	{"sqr", func(x, _ polyval) polyval { return x.Square() }},
	{"one", func(x, _ polyval) polyval { return x }},
	{"from", func(x, _ polyval) polyval { return elem(x).Polyval() }},
	{"to", func(x, _ polyval) polyval { return polyval(x.Element()) }},
}

func TestPolyval(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		const n = 1003
		x, y := elements(21, n), elements(22, n)
		x[0], y[0] = elem{Lo: 1<<64 - 1, Hi: 1<<64 - 1}, elem{Lo: 1<<64 - 1, Hi: 1<<64 - 1} // most products in a place
		to, from := gf2.PolyvalTables()
		a, b, tables := devicetest.Upload(t, q, x), devicetest.Upload(t, q, y), devicetest.Upload(t, q, append(to, from...))
		out, err := device.Alloc[polyval](q, n)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Free()
		for op, o := range polyvalOperations {
			if err := q.Launch(device.Kernel{Source: Source, Name: "gf2_conformance_polyval"}, device.D1(device.Blocks(n, 128)), device.D1(128), 0,
				out.Arg(), a.Arg(), b.Arg(), tables.Arg(), device.U32(op), device.U32(n)); err != nil {
				t.Fatal(err)
			}
			got, err := out.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if want := o.f(polyval(x[i]), polyval(y[i])); got[i] != want {
					t.Fatalf("%s of %v, %v: got %v, want %v", o.name, x[i], y[i], got[i], want)
				}
			}
		}
	})
}

func TestWarpProducts(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		const pairs, power = 101, 3
		x, y := elements(3, 2*pairs), elements(4, 2*pairs)
		a, b := devicetest.Upload(t, q, x), devicetest.Upload(t, q, y)
		out, err := device.Alloc[elem](q, 3*pairs)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Free()
		if err := q.Launch(device.Kernel{Source: Source, Name: "gf2_conformance_warp"}, device.D1(device.Blocks(pairs, 4)), device.D1(128), 0,
			out.Arg(), a.Arg(), b.Arg(), device.U32(pairs), device.U32(power)); err != nil {
			t.Fatal(err)
		}
		got, err := out.Read(q)
		if err != nil {
			t.Fatal(err)
		}
		for i := range pairs {
			p, r := x[2*i].Mul(y[2*i].Exp(power)), x[2*i+1].Mul(y[2*i+1])
			if want := [3]elem{p, r, x[2*i].Mul(y[2*i]).Add(r)}; [3]elem(got[3*i:]) != want {
				t.Fatalf("pair %d: got %v, want %v", i, got[3*i:3*i+3], want)
			}
		}
	})
}

func TestTranspose(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		const matrices = 9
		in := devicetest.Rand(5).Words(32 * matrices)
		want := make([]uint32, len(in))
		for i := range in {
			for j := range 32 {
				want[i] |= in[i&^31+j] >> (i & 31) & 1 << j
			}
		}
		a := devicetest.Upload(t, q, in)
		out, own := devicetest.Upload(t, q, make([]uint32, len(in))), devicetest.Upload(t, q, make([]uint32, len(in)))
		if err := q.Launch(device.Kernel{Source: Source, Name: "gf2_conformance_transpose"}, device.D1(device.Blocks(len(in), 128)), device.D1(128), 0,
			out.Arg(), own.Arg(), a.Arg(), device.U32(matrices)); err != nil {
			t.Fatal(err)
		}
		for by, buffer := range map[string]device.Buffer[uint32]{"warp": out, "thread": own} {
			got, err := buffer.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("by a %s: word %d is %#x, want %#x", by, i, got[i], want[i])
				}
			}
		}
	})
}

func TestDot(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, n := range []int{1, 255, 256, 1025, 4000} {
			const blocks = 2
			x, y := elements(uint64(n), n), elements(uint64(n)+1, n)
			a, b := devicetest.Upload(t, q, x), devicetest.Upload(t, q, y)
			out, err := device.Alloc[elem](q, blocks)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Free()
			if err := q.Launch(device.Kernel{Source: Source, Name: "gf2_conformance_dot"}, device.D1(blocks), device.D1(256), 0,
				out.Arg(), a.Arg(), b.Arg(), device.U64(n)); err != nil {
				t.Fatal(err)
			}
			got, err := out.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			var want elem
			for i := range x {
				want = want.Add(x[i].Mul(y[i]))
			}
			if s := got[0].Add(got[1]); s != want {
				t.Fatalf("%d products: got %v, want %v", n, s, want)
			}
		}
	})
}

// The benchmarks are for a card: products by threads, a chain of products by a warp, and
// inner products. Their results are compared as well.

func benchmark(b *testing.B, run func(b *testing.B, q *device.Queue)) {
	d := devicetest.Open(b, "cuda")
	run(b, devicetest.Queue(b, d))
}

// launches times b.N launches.
func launches(b *testing.B, q *device.Queue, per float64, launch func() error) {
	b.Helper()
	for range 3 { // the first compiles
		if err := launch(); err != nil {
			b.Fatal(err)
		}
	}
	if err := q.Sync(); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		if err := launch(); err != nil {
			b.Fatal(err)
		}
	}
	if err := q.Sync(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/per, "ns/product")
}

func BenchmarkThreads(b *testing.B) {
	benchmark(b, func(b *testing.B, q *device.Queue) {
		const n = 1 << 20
		x, y := elements(11, n), elements(12, n)
		dx, dy, out := devicetest.Upload(b, q, x), devicetest.Upload(b, q, y), devicetest.Upload(b, q, make([]elem, n))
		launches(b, q, n, func() error {
			return q.Launch(device.Kernel{Source: Source, Name: "gf2_conformance"}, device.D1(n/128), device.D1(128), 0,
				out.Arg(), dx.Arg(), dy.Arg(), device.U32(1), device.U32(n))
		})
		got, err := out.Read(q)
		if err != nil {
			b.Fatal(err)
		}
		want := make([]elem, n)
		gf2.MulVec(want, x, y)
		for i := range want {
			if got[i] != want[i] {
				b.Fatalf("product %d is %v, want %v", i, got[i], want[i])
			}
		}
	})
}

func BenchmarkPolyval(b *testing.B) {
	benchmark(b, func(b *testing.B, q *device.Queue) {
		const n = 1 << 20
		x, y := elements(17, n), elements(18, n)
		dx, dy, out := devicetest.Upload(b, q, x), devicetest.Upload(b, q, y), devicetest.Upload(b, q, make([]polyval, n))
		launches(b, q, n, func() error {
			return q.Launch(device.Kernel{Source: Source, Name: "gf2_conformance_polyval"}, device.D1(n/128), device.D1(128), 0,
				out.Arg(), dx.Arg(), dy.Arg(), dx.Arg(), device.U32(0), device.U32(n))
		})
		got, err := out.Read(q)
		if err != nil {
			b.Fatal(err)
		}
		for i := range got {
			if want := polyval(x[i]).Mul(polyval(y[i])); got[i] != want {
				b.Fatalf("product %d is %v, want %v", i, got[i], want)
			}
		}
	})
}

func BenchmarkWarp(b *testing.B) {
	benchmark(b, func(b *testing.B, q *device.Queue) {
		const power = 10000
		x, y := elements(13, 2), elements(14, 2)
		dx, dy, out := devicetest.Upload(b, q, x), devicetest.Upload(b, q, y), devicetest.Upload(b, q, make([]elem, 3))
		launches(b, q, power, func() error {
			return q.Launch(device.Kernel{Source: Source, Name: "gf2_conformance_warp"}, device.D1(1), device.D1(32), 0,
				out.Arg(), dx.Arg(), dy.Arg(), device.U32(1), device.U32(power))
		})
		got, err := out.Read(q)
		if err != nil {
			b.Fatal(err)
		}
		if want := x[0].Mul(y[0].Exp(power)); got[0] != want {
			b.Fatalf("got %v, want %v", got[0], want)
		}
	})
}

func BenchmarkDot(b *testing.B) {
	benchmark(b, func(b *testing.B, q *device.Queue) {
		const n, blocks = 1 << 24, 264
		x, y := elements(15, n), elements(16, n)
		dx, dy, out := devicetest.Upload(b, q, x), devicetest.Upload(b, q, y), devicetest.Upload(b, q, make([]elem, blocks))
		launches(b, q, n, func() error {
			return q.Launch(device.Kernel{Source: Source, Name: "gf2_conformance_dot"}, device.D1(blocks), device.D1(256), 0,
				out.Arg(), dx.Arg(), dy.Arg(), device.U64(n))
		})
		got, err := out.Read(q)
		if err != nil {
			b.Fatal(err)
		}
		var sum elem
		for _, v := range got {
			sum = sum.Add(v)
		}
		if want := gf2.Dot(x, y); sum != want {
			b.Fatalf("got %v, want %v", sum, want)
		}
	})
}

// No function of the headers is without a case, and no case without a twin.
func TestEveryFunctionIsCovered(t *testing.T) {
	headers := gf2.Header.Text + gf2.PolyvalHeader.Text
	code := regexp.MustCompile(`//[^\n]*`).ReplaceAllString(text+headers, "")
	for _, m := range regexp.MustCompile(`DEVICE_(?:INLINE|CALL|LARGE) \w+ (\w+)\(`).FindAllStringSubmatch(headers, -1) {
		if len(regexp.MustCompile(`\b`+m[1]+`(?:<\w+>)?\(`).FindAllString(code, 2)) < 2 {
			t.Errorf("%s is not called", m[1])
		}
	}
	all := len(operations) + len(polyvalOperations)
	if n := strings.Count(text, "case "); n != all || !strings.Contains(text, fmt.Sprintf("case %d:", len(operations)-1)) {
		t.Errorf("%d cases, %d operations", n, all)
	}
}
