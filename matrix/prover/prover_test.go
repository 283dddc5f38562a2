package prover

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/matrix"
)

func TestMain(m *testing.M) { devicetest.Main(m, Source, ResidueSource) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// entries are n field elements: random ones, or all the same extreme.
func elements(g *devicetest.Gen, n int, kind string) []m31.Element {
	v := make([]m31.Element, n)
	switch kind {
	case "random":
		devicetest.Fill(g, v, m31.P)
	case "p-1":
		fill(v, m31.P-1)
	case "half": // the largest integers
		fill(v, m31.P/2)
	case "-half":
		fill(v, m31.P/2+1)
	case "signs": // and their signs mixed
		for i := range v {
			v[i] = m31.Element(m31.P/2 + g.Intn(2))
		}
	}
	return v
}

func fill[T any](v []T, x T) {
	for i := range v {
		v[i] = x
	}
}

func signedBytes(g *devicetest.Gen, n int, kind string) []int8 {
	v := make([]int8, n)
	for i := range v {
		switch kind {
		case "random":
			v[i] = int8(g.U32())
		case "-half", "signs":
			v[i] = -128
		default:
			v[i] = 127
		}
	}
	return v
}

// product is by definition, entry by entry.
func product[B matrix.Entry](a []m31.Element, b []B, s matrix.Shape) []m31.Element {
	c := make([]m31.Element, s.M*s.N)
	for i := range c {
		r, j := i/s.N, i%s.N
		for k := range s.K {
			at := k*s.N + j
			if s.Transposed {
				at = j*s.K + k
			}
			c[i] = c[i].Add(a[r*s.K+k].Mul(m31.FromInt(int64(b[at]))))
		}
	}
	return c
}

func transpose[B any](b []B, s matrix.Shape) []B {
	out := make([]B, len(b))
	for k := range s.K {
		for j := range s.N {
			out[j*s.K+k] = b[k*s.N+j]
		}
	}
	return out
}

type way[B matrix.Entry] struct {
	name string
	do   func(q *device.Queue, c, a device.Buffer[m31.Element], b device.Buffer[B], s matrix.Shape) error
}

func cut[B matrix.Entry](t tiling, m, k, n int) func(q *device.Queue, c, a device.Buffer[m31.Element], b device.Buffer[B], s matrix.Shape) error {
	return func(q *device.Queue, c, a device.Buffer[m31.Element], b device.Buffer[B], s matrix.Shape) error {
		if q.OnHost() {
			return Mul(q, c, a, b, s)
		}
		p := planFor(s, isBytes[B](), math.MaxInt, math.MaxInt)
		p.tiling = t
		if k < s.K {
			unbounded := s
			unbounded.Bounds.Sum = 0
			p = planFor(unbounded, isBytes[B](), math.MaxInt, math.MaxInt)
			p.tiling = t
		}
		p.m, p.k, p.n = min(m, s.M), min(k, s.K), min(n, s.N)
		return inPasses(q, c, a, b, s, p)
	}
}

func check[B matrix.Entry](t *testing.T, q *device.Queue, g *devicetest.Gen, s matrix.Shape, kind string, a []m31.Element, b []B, ways ...way[B]) {
	t.Helper()
	want := product(a, b, s)
	// An operand that starts at an odd word cannot be loaded in vectors.
	left := devicetest.Upload(t, q, append([]m31.Element{7}, a...)).Slice(1, 1+len(a))
	if s.K%2 == 0 {
		left = devicetest.Upload(t, q, a)
	}
	for _, transposed := range []bool{false, true} {
		s.Transposed = transposed
		right := devicetest.Upload(t, q, b)
		if transposed {
			right = devicetest.Upload(t, q, transpose(b, s))
		}
		for _, w := range ways {
			// One element on either side shows what is written beyond the ends.
			frame := elements(g, s.M*s.N+2, "random")
			c := devicetest.Upload(t, q, frame)
			must(t, w.do(q, c.Slice(1, 1+len(want)), left, right, s))
			got, err := c.Read(q)
			must(t, err)
			if got[0] != frame[0] || got[len(got)-1] != frame[len(got)-1] {
				t.Fatalf("%s of %+v writes outside its result", w.name, s)
			}
			for i, v := range got[1 : 1+len(want)] {
				if v != want[i] {
					t.Fatalf("%s of %+v, %T, %s: entry (%d, %d) is %v, want %v", w.name, s, right, kind, i/s.N, i%s.N, v, want[i])
				}
			}
		}
	}
}

func TestMul(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(1)
		for _, x := range []struct {
			m, k, n int
			kind    string
		}{
			{1, 1, 1, "p-1"}, {3, 5, 7, "random"}, {17, 33, 70, "half"}, {70, 1, 9, "-half"}, {65, 64, 63, "random"}, {2, 70, 3, "signs"},
			{129, 17, 131, "random"}, {31, 29, 1, "random"}, {1, 70, 37, "half"}, {1, 300, 1100, "random"}, {1, 1100, 5, "random"}, {1, 1030, 18, "signs"}, {3, 200, 333, "random"}, {40, 130, 24, "signs"},
		} {
			s := matrix.Shape{M: x.m, K: x.k, N: x.n}
			a := elements(g, x.m*x.k, x.kind)
			check(t, q, g, s, x.kind, a, elements(g, x.k*x.n, x.kind), way[m31.Element]{"Mul", Mul[m31.Element]}, way[m31.Element]{"MulPlain", MulPlain[m31.Element]})
			check(t, q, g, s, x.kind, a, signedBytes(g, x.k*x.n, x.kind), way[int8]{"Mul", Mul[int8]}, way[int8]{"MulPlain", MulPlain[int8]})
		}
	})
}

func TestResidues(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(2)
		for _, x := range []struct {
			tiling
			m, k, n int
			kind    string
		}{
			{slim, 1, 1, 1, "p-1"}, {slim, 33, 70, 65, "random"}, {slim, 64, 130, 129, "half"}, {slim, 65, 64, 20, "signs"},
			{slim, 20, 257, 36, "-half"}, {wide, 195, 65, 130, "random"},
		} {
			s := matrix.Shape{M: x.m, K: x.k, N: x.n}
			a := elements(g, x.m*x.k, x.kind)
			check(t, q, g, s, x.kind, a, elements(g, x.k*x.n, x.kind), way[m31.Element]{x.name, cut[m31.Element](x.tiling, x.m, x.k, x.n)})
			check(t, q, g, s, x.kind, a, signedBytes(g, x.k*x.n, x.kind), way[int8]{x.name, cut[int8](x.tiling, x.m, x.k, x.n)})
		}
	})
}

// Mul must take the way by residues by itself, and not for few rows.
func TestMulPacks(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(7)
		s := matrix.Shape{M: 64, K: 1024, N: 64}
		a, b := elements(g, s.M*s.K, "random"), elements(g, s.K*s.N, "random")
		left, right, c := devicetest.Upload(t, q, a), devicetest.Upload(t, q, b), devicetest.Upload(t, q, make([]m31.Element, s.M*s.N))
		before := q.Device().Launches()
		must(t, Mul(q, c, left, right, s))
		got, err := c.Read(q)
		must(t, err)
		if !slices.Equal(got, product(a, b, s)) {
			t.Error("the product is wrong")
		}
		few := matrix.Shape{M: 7, K: s.K, N: s.N}
		must(t, Mul(q, c.Slice(0, few.M*few.N), left.Slice(0, few.M*few.K), right, few))
		if n := q.Device().LaunchesSince(before); !q.OnHost() && (n["matrix_gemm_slim"] != 1 || n["matrix_row"] != 7) {
			t.Errorf("launches: %v", n)
		}
		if Memory[m31.Element](few) != 0 || Memory[m31.Element](s) == 0 {
			t.Error("Memory says otherwise")
		}
	})
}

// Parts of any sizes give the same product.
func TestPasses(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(3)
		s := matrix.Shape{M: 70, K: 150, N: 140}
		a, b := elements(g, s.M*s.K, "random"), elements(g, s.K*s.N, "random")
		check(t, q, g, s, "random", a, b, way[m31.Element]{"passes", cut[m31.Element](slim, 64, 64, 128)})
		check(t, q, g, s, "random", a, signedBytes(g, len(b), "random"), way[int8]{"passes", cut[int8](slim, 64, 128, 128)})
	})
}

// With bounds fewer moduli do, up to the bounds themselves.
func TestBounds(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(4)
		for _, bounds := range []matrix.Bounds{{Left: 100, Right: 3}, {Left: 127, Right: 127}, {Left: 127, Right: 128}, {Left: 1 << 15, Right: 1 << 15}, {Left: 1 << 20, Right: 1 << 19, Sum: 1 << 28}} {
			s := matrix.Shape{M: 33, K: 66, N: 35, Bounds: bounds}
			a, b := make([]m31.Element, s.M*s.K), make([]m31.Element, s.K*s.N)
			for i := range a {
				a[i] = m31.FromInt(bounds.Left)
				if i%7 == 0 {
					a[i] = a[i].Neg()
				}
				if bounds.Sum > 0 && i%s.K > 0 {
					a[i] = 0 // sums of one product
				}
			}
			for i := range b {
				b[i] = m31.FromInt(bounds.Right)
				if bounds.Sum > 0 {
					b[i] = m31.FromInt(bounds.Sum / bounds.Left)
				}
				if i%2 == 0 {
					b[i] = b[i].Neg()
				}
			}
			ways := []way[m31.Element]{{"bounded", cut[m31.Element](slim, s.M, s.K, s.N)}, {"bounded, in passes", cut[m31.Element](slim, 32, 64, 32)}}
			if bounds.Left == 127 {
				ways = append(ways, way[m31.Element]{"wide", cut[m31.Element](wide, s.M, s.K, s.N)})
			}
			check(t, q, g, s, fmt.Sprint(bounds), a, b, ways...)
		}
	})
}

// Products too large for a definition by entries: against packages' own twin.
func TestSizes(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		if q.Device().Kind() == device.SIMT {
			t.Skip("a test for cards")
		}
		g := devicetest.Rand(5)
		for _, s := range []matrix.Shape{{M: 500, K: 1000, N: 700}, {M: 64, K: 5120, N: 3000}, {M: 97, K: 70000, N: 130}, {M: 1, K: 4096, N: 5000}, {M: 300, K: 300, N: 300, Transposed: true}} {
			a, b := elements(g, s.M*s.K, "random"), elements(g, s.K*s.N, "random")
			small := signedBytes(g, s.K*s.N, "random")
			left, right, narrow := devicetest.Upload(t, q, a), devicetest.Upload(t, q, b), devicetest.Upload(t, q, small)
			c := devicetest.Upload(t, q, make([]m31.Element, s.M*s.N))
			want := make([]m31.Element, s.M*s.N)
			compare := func(name string, err error) {
				t.Helper()
				must(t, err)
				got, err := c.Read(q)
				must(t, err)
				if !slices.Equal(got, want) {
					t.Errorf("%s of %+v is wrong", name, s)
				}
			}
			must(t, matrix.Mul(want, a, b, s))
			compare("Mul", Mul(q, c, left, right, s))
			compare("MulPlain", MulPlain(q, c, left, right, s))
			must(t, matrix.Mul(want, a, small, s))
			compare("Mul of bytes", Mul(q, c, left, narrow, s))
		}
	})
}

func TestEach(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(6)
		for _, n := range []int{0, 1, 3, 4, 255, 1030} {
			for _, offset := range []int{0, 1} { // aligned, and not
				a, b := elements(g, n, "random"), elements(g, n, "random")
				for i, v := range []m31.Element{0, m31.P / 2, m31.P/2 + 1, m31.P - 1} {
					if i < n {
						a[i] = v
					}
				}
				load := func(v []m31.Element) device.Buffer[m31.Element] {
					return devicetest.Upload(t, q, append(make([]m31.Element, offset), v...)).Slice(offset, offset+n)
				}
				x, y := load(a), load(b)
				equal := func(name string, got device.Buffer[m31.Element], f func(i int) m31.Element) {
					t.Helper()
					v, err := got.Read(q)
					must(t, err)
					for i := range v {
						if want := f(i); v[i] != want {
							t.Fatalf("%s of %d, offset %d: entry %d is %v, want %v", name, n, offset, i, v[i], want)
						}
					}
				}
				out := load(b)
				must(t, Add(q, out, x, y))
				equal("add", out, func(i int) m31.Element { return m31.New(uint64(a[i]) + uint64(b[i])) })
				must(t, Multiply(q, out, x, y))
				equal("multiply", out, func(i int) m31.Element { return m31.New(uint64(a[i]) * uint64(b[i])) })
				must(t, ReLU(q, out, x))
				equal("relu", out, func(i int) m31.Element { return m31.FromInt(max(0, a[i].Int())) })
				must(t, Add(q, x, x, y))
				equal("add in place", x, func(i int) m31.Element { return a[i].Add(b[i]) })
			}
		}
	})
}

func TestErrors(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		v := devicetest.Upload(t, q, make([]m31.Element, 12))
		for _, s := range []matrix.Shape{{M: 3, K: 4, N: 3}, {M: 3, K: 4, N: 4}, {M: -1, K: 4, N: 3}, {M: 3, K: 4, N: 3, Bounds: matrix.Bounds{Sum: -1}}} {
			if err := Mul(q, v, v, v, s); !errors.Is(err, matrix.ErrShape) || !errors.Is(err, device.ErrUsage) {
				t.Errorf("%+v: %v", s, err)
			}
		}
		if err := Add(q, v, v, v.Slice(0, 11)); !errors.Is(err, matrix.ErrShape) {
			t.Error(err)
		}
		four, other, two := v.Slice(0, 4), v.Slice(4, 8), matrix.Shape{M: 2, K: 2, N: 2}
		for i, err := range []error{
			Mul(q, v.Slice(0, 4), v.Slice(3, 7), v.Slice(8, 12), two), Mul(q, v.Slice(5, 9), v.Slice(0, 4), v.Slice(8, 12), two),
			MulPlain(q, v.Slice(0, 4), v.Slice(0, 4), v.Slice(8, 12), two),
		} {
			if !errors.Is(err, device.ErrUsage) {
				t.Errorf("overlap %d: %v", i, err)
			}
		}
		must(t, Mul(q, v.Slice(0, 4), v.Slice(4, 8), v.Slice(4, 8), two)) // factors may be the same
		for name, x := range devicetest.Strange[m31.Element](t, q, 4) {
			for i, err := range []error{
				Mul(q, x, four, other, two), Mul(q, four, x, other, two), Mul(q, four, other, x, two), MulPlain(q, four, x, other, two),
				Mul(q, x, v.Slice(0, 0), v.Slice(0, 0), matrix.Shape{M: 2, N: 2}), Add(q, x, four, four), Multiply(q, four, x, four), ReLU(q, four, x),
			} {
				if !errors.Is(err, device.ErrUsage) {
					t.Errorf("%s buffer, operation %d: %v", name, i, err)
				}
			}
		}
		// An empty inner dimension gives zeros; an empty result needs nothing.
		c := devicetest.Upload(t, q, []m31.Element{1, 2, 3, 4, 5, 6})
		must(t, Mul(q, c, v.Slice(0, 0), v.Slice(0, 0), matrix.Shape{M: 2, K: 0, N: 3}))
		got, err := c.Read(q)
		must(t, err)
		if !slices.Equal(got, make([]m31.Element, 6)) {
			t.Errorf("no products sum to %v", got)
		}
		must(t, Mul(q, v.Slice(0, 0), v.Slice(0, 0), v, matrix.Shape{M: 0, K: 4, N: 3}))
	})
}

func TestPlansKeepToMemory(t *testing.T) {
	s := matrix.Shape{M: 1000, K: 3000, N: 5000}
	whole := planFor(s, false, math.MaxInt, math.MaxInt).bytes()
	if int64(whole) != Memory[m31.Element](s) || whole < 10*(s.M*s.K+s.K*s.N+s.M*s.N) {
		t.Fatalf("a product of %+v takes %d bytes, Memory says %d", s, whole, Memory[m31.Element](s))
	}
	for limit := whole; limit > 4<<20; limit = limit * 2 / 3 {
		p := planFor(s, false, limit, math.MaxInt)
		if p.bytes() > limit {
			t.Errorf("limit %d: plan %d x %d x %d takes %d", limit, p.m, p.k, p.n, p.bytes())
		}
		if p.m%32 != 0 && p.m != s.M || p.k%32 != 0 && p.k != s.K || p.n%32 != 0 && p.n != s.N {
			t.Errorf("limit %d: parts of %d x %d x %d", limit, p.m, p.k, p.n)
		}
	}
	if p := planFor(s, false, math.MaxInt, 64<<10); p.name != slim.name {
		t.Errorf("%s for a card of less shared memory", p.name)
	}
	if p := planFor(matrix.Shape{M: 500, K: 1 << 17, N: 500}, false, math.MaxInt, math.MaxInt); p.k != matrix.MaxDepth {
		t.Errorf("%d products in one sum", p.k)
	}
}
