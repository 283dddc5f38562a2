package prover_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/mle/prover"
)

func TestMain(m *testing.M) { devicetest.Main(m, prover.Source, prover.RestrictSource) }

func ext(g *devicetest.Gen, n int) []m31.QM31 {
	v := make([]m31.QM31, n)
	devicetest.Fill(g, m31.Words(v), m31.P)
	return v
}

func base(g *devicetest.Gen, n int) []m31.Element {
	v := make([]m31.Element, n)
	devicetest.Fill(g, v, m31.P)
	return v
}

func lift(v []m31.Element) []m31.QM31 {
	out := make([]m31.QM31, len(v))
	for i, x := range v {
		out[i] = m31.Lift(x)
	}
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func blank(t testing.TB, q *device.Queue, n int) device.Buffer[m31.QM31] {
	t.Helper()
	b, err := device.Alloc[m31.QM31](q, n)
	must(t, err)
	t.Cleanup(b.Free)
	return b
}

func equal(t testing.TB, q *device.Queue, what string, got device.Buffer[m31.QM31], want []m31.QM31) {
	t.Helper()
	have, err := got.Read(q)
	must(t, err)
	if len(have) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(have), len(want))
	}
	for i := range want {
		if have[i] != want[i] {
			t.Fatalf("%s: element %d: got %v, want %v", what, i, have[i], want[i])
		}
	}
}

func TestEq(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(1)
		for n := range 14 {
			point, scale, before := ext(g, n), ext(g, 1), ext(g, 1<<n)
			z, s := devicetest.Upload(t, q, point), devicetest.Upload(t, q, scale)
			out := blank(t, q, 1<<n)
			must(t, prover.Eq(q, out, z, s))
			want := mle.ScaledEqTable(point, scale[0])
			equal(t, q, fmt.Sprint("scaled eq ", n), out, want)
			must(t, prover.EqHost(q, out, point))
			equal(t, q, fmt.Sprint("eq ", n), out, mle.EqTable(point))
			out = devicetest.Upload(t, q, before)
			must(t, prover.AddEq(q, out, z, s))
			m31.AddVecQM31(want, want, before)
			equal(t, q, fmt.Sprint("added eq ", n), out, want)
		}
	})
}

func TestFold(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(2)
		for _, h := range []int{0, 1, 2, 3, 255, 256, 1000, 5000} {
			e, b, r := ext(g, 2*h), base(g, 2*h), ext(g, 1)
			c := devicetest.Upload(t, q, r)
			// By definition: (1-r) times the value at 0, plus r times that at 1.
			one, want := m31.OneQM31().Sub(r[0]), make([]m31.QM31, h)
			for i := range want {
				want[i] = one.Mul(e[i]).Add(r[0].Mul(e[h+i]))
			}
			buf, out := devicetest.Upload(t, q, e), blank(t, q, h)
			must(t, prover.Fold(q, out, buf, c))
			equal(t, q, "fold", out, want)
			must(t, prover.Fold(q, buf.Slice(0, h), buf, c))
			equal(t, q, "fold in place", buf.Slice(0, h), want)
			for i := range want {
				want[i] = one.MulBase(b[i]).Add(r[0].MulBase(b[h+i]))
			}
			must(t, prover.Fold(q, out, devicetest.Upload(t, q, b), c))
			equal(t, q, "base fold", out, want)
		}
	})
}

func TestDotAndEvaluate(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(3)
		out := blank(t, q, 1)
		for _, n := range []int{0, 1, 2, 3, 255, 256, 257, 1023, 3000, 9000} {
			e, b, w := ext(g, n), base(g, n), ext(g, n+1)
			must(t, prover.Dot(q, out, devicetest.Upload(t, q, e), devicetest.Upload(t, q, w)))
			equal(t, q, fmt.Sprint("dot ", n), out, []m31.QM31{m31.DotQM31(e, w)})
			must(t, prover.Dot(q, out, devicetest.Upload(t, q, b), devicetest.Upload(t, q, w)))
			equal(t, q, fmt.Sprint("base dot ", n), out, []m31.QM31{m31.DotBase(b, w)})
			for _, vars := range []int{mle.Log(n), mle.Log(n) + 2} {
				point := ext(g, vars)
				z := devicetest.Upload(t, q, point)
				must(t, prover.Evaluate(q, out, devicetest.Upload(t, q, e), z))
				equal(t, q, fmt.Sprint("evaluate ", n, " entries at ", vars), out, []m31.QM31{mle.Evaluate(e, point)})
				must(t, prover.Evaluate(q, out, devicetest.Upload(t, q, b), z))
				equal(t, q, fmt.Sprint("evaluate base ", n, " entries at ", vars), out, []m31.QM31{mle.EvaluateBase(b, point)})
			}
		}
	})
}

func TestRestrict(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(4)
		for _, s := range [][2]int{{1, 1}, {1, 7}, {5, 1}, {3, 33}, {33, 3}, {100, 10}, {17, 300}, {2, 1025}, {600, 2}, {0, 4}, {4, 0}} {
			rows, cols := s[0], s[1]
			words := base(g, rows*cols)
			wide := lift(words)
			wr, wc := ext(g, rows+1), ext(g, cols+1) // longer than need be
			const more = 3                           // beyond the result: zeros
			byRows, byCols := make([]m31.QM31, cols+more), make([]m31.QM31, rows+more)
			for i := range rows {
				for k := range cols {
					byRows[k] = byRows[k].Add(wr[i].Mul(wide[i*cols+k]))
					byCols[i] = byCols[i].Add(wc[k].Mul(wide[i*cols+k]))
				}
			}
			a, e := devicetest.Upload(t, q, words), devicetest.Upload(t, q, wide)
			r, c := devicetest.Upload(t, q, wr), devicetest.Upload(t, q, wc)
			what := fmt.Sprint(rows, " x ", cols)
			out := blank(t, q, cols+more)
			must(t, prover.RestrictRows(q, out, a, rows, cols, r))
			equal(t, q, "rows of base "+what, out, byRows)
			out = blank(t, q, cols+more)
			must(t, prover.RestrictRows(q, out, e, rows, cols, r))
			equal(t, q, "rows of ext "+what, out, byRows)
			out = blank(t, q, rows+more)
			must(t, prover.RestrictCols(q, out, a, rows, cols, c))
			equal(t, q, "columns of base "+what, out, byCols)
			out = blank(t, q, rows+more)
			must(t, prover.RestrictCols(q, out, e, rows, cols, c))
			equal(t, q, "columns of ext "+what, out, byCols)
		}
	})
}

func TestWrongSizes(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		e := blank(t, q, 8)
		for name, err := range map[string]error{
			"eq":        prover.Eq(q, e.Slice(0, 7), e.Slice(0, 3), e.Slice(0, 1)),
			"scales":    prover.Eq(q, e, e.Slice(0, 3), e.Slice(0, 2)),
			"fold":      prover.Fold(q, e.Slice(0, 3), e.Slice(0, 7), e.Slice(0, 1)),
			"challenge": prover.Fold(q, e.Slice(0, 3), e.Slice(0, 6), e.Slice(0, 2)),
			"dot":       prover.Dot(q, e.Slice(0, 1), e, e.Slice(0, 7)),
			"evaluate":  prover.Evaluate(q, e.Slice(0, 1), e, e.Slice(0, 2)),
			"rows":      prover.RestrictRows(q, e.Slice(0, 1), e, 4, 2, e),
			"columns":   prover.RestrictCols(q, e.Slice(0, 4), e, 4, 2, e.Slice(0, 1)),
			"matrix":    prover.RestrictCols(q, e, e, 3, 3, e),
			"negative":  prover.RestrictRows(q, e, e, -4, -2, e),
		} {
			if !errors.Is(err, device.ErrUsage) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
