package prover_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/mle/prover"
)

// matrix is a random matrix, by bytes or words, and its entries.
type matrix struct {
	rows, cols int
	bytes      []int8
	words      []m31.Element
}

func newMatrix(g *devicetest.Gen, rows, cols int, bytes bool) matrix {
	a := matrix{rows: rows, cols: cols, words: base(g, rows*cols)}
	if bytes {
		a.bytes = make([]int8, rows*cols)
		for i, w := range a.words {
			a.bytes[i] = int8(w)
			if w%5 == 0 {
				a.bytes[i] = -128
			}
			a.words[i] = m31.Element(int32(a.bytes[i]) & m31.P)
			if a.bytes[i] < 0 {
				a.words[i] = m31.Element(0).Sub(m31.Element(-int32(a.bytes[i])))
			}
		}
	}
	return a
}

// naive is the restriction by definition.
func (a matrix) naive(side prover.Side, w []m31.QM31, length int) []m31.QM31 {
	out := make([]m31.QM31, length)
	for i := range a.rows {
		for k := range a.cols {
			v := a.words[i*a.cols+k]
			if side == prover.Rows {
				out[k] = out[k].Add(w[i].MulBase(v))
			} else {
				out[i] = out[i].Add(w[k].MulBase(v))
			}
		}
	}
	return out
}

// upload puts the matrix at an offset of so many entries into a buffer.
func (a matrix) upload(t testing.TB, q *device.Queue, r *prover.Restriction, offset int) {
	r.Rows, r.Cols = a.rows, a.cols
	if a.bytes != nil {
		b := devicetest.Upload(t, q, append(make([]int8, offset), a.bytes...))
		r.Bytes = b.Slice(offset, b.Len())
		return
	}
	b := devicetest.Upload(t, q, append(make([]m31.Element, offset), a.words...))
	r.Words = b.Slice(offset, b.Len())
}

// One call restricts matrices of both storages on both sides, of sizes around
// the kernels' tiles, aligned or not, by weights and by points.
func TestRestrictMany(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(6)
		var list []prover.Restriction
		var want [][]m31.QM31
		var names []string
		sizes := [][2]int{{1, 1}, {1, 3}, {3, 1}, {2, 16}, {16, 32}, {5, 100}, {100, 5}, {33, 130}, {65, 48}, {70, 513},
			{1, 1040}, {1030, 1}, {40, 1029}, {521, 33}, {260, 20}, {4, 2064}, {0, 3}, {3, 0}}
		for i, s := range sizes {
			for j := range 8 {
				side, bytes, point := prover.Side(j&1), j&2 != 0, j&4 != 0
				if point && i%2 == 1 && s[0] > 4 { // every second of the larger ones
					continue
				}
				a := newMatrix(g, s[0], s[1], bytes)
				var r prover.Restriction
				a.upload(t, q, &r, []int{0, 16, 1, 5}[(i+j)%4])
				r.Side = side
				count, length := s[0], s[1]
				if side == prover.Columns {
					count, length = length, count
				}
				var w []m31.QM31
				if point {
					z := ext(g, mle.Log(count)+j%3)
					w = mle.EqTable(z)
					r.Point = devicetest.Upload(t, q, z)
				} else {
					w = ext(g, count+1)
					r.Weights = devicetest.Upload(t, q, w)
				}
				r.Out = blank(t, q, length+j)
				list = append(list, r)
				want = append(want, a.naive(side, w, length+j))
				names = append(names, fmt.Sprintf("%d x %d, side %d, bytes %v, point %v", s[0], s[1], side, bytes, point))
			}
		}
		before := q.Stats().Launches
		must(t, prover.Restrict(q, list))
		if n := q.Stats().Launches - before; !q.OnHost() && n != 5 {
			t.Errorf("%d launches, want one for each of four kernels and one for the sums", n)
		}
		for i := range list {
			equal(t, q, names[i], list[i].Out, want[i])
		}
	})
}

// All extremes at once: sums of bytes and of words reach their bounds.
func TestRestrictExtremes(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		const rows, cols = 2100, 2100
		for _, v := range []m31.Element{m31.P - 1, 1 << 30, 1<<30 - 1, 0x7f7f7f7f, 0x40808080} {
			w := make([]m31.QM31, rows)
			for i := range m31.Words(w) {
				m31.Words(w)[i] = v
			}
			weights := devicetest.Upload(t, q, w)
			for _, b := range []int8{-128, 127} {
				for _, side := range []prover.Side{prover.Rows, prover.Columns} {
					bytes := make([]int8, 20*rows)
					words := make([]m31.Element, len(bytes))
					for i := range bytes {
						bytes[i], words[i] = b, m31.P-1
					}
					x := prover.Restriction{Bytes: devicetest.Upload(t, q, bytes), Rows: rows, Cols: 20, Side: side, Weights: weights, Out: blank(t, q, 20)}
					if side == prover.Columns {
						x.Rows, x.Cols = 20, cols
					}
					y := x
					y.Bytes, y.Words, y.Out = device.Buffer[int8]{}, devicetest.Upload(t, q, words), blank(t, q, 20)
					must(t, prover.Restrict(q, []prover.Restriction{x, y}))
					one := m31.FromWords([4]m31.Element{v, v, v, v}).MulBase(m31.New(rows))
					byByte := one.MulBase(m31.New(127))
					if b < 0 {
						byByte = m31.QM31{}.Sub(one.MulBase(m31.New(128)))
					}
					for i, want := range []m31.QM31{byByte, m31.QM31{}.Sub(one)} {
						all := make([]m31.QM31, 20)
						for k := range all {
							all[k] = want
						}
						equal(t, q, fmt.Sprint("weights ", v, ", side ", side, ", byte ", b, ", matrix ", i), []prover.Restriction{x, y}[i].Out, all)
					}
				}
			}
		}
	})
}

// Tiles of several passes, which launches of very many tiles have.
func TestRestrictPasses(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(12)
		z := ext(g, 2)
		point, w := devicetest.Upload(t, q, z), mle.EqTable(z)
		var list []prover.Restriction
		var all []matrix
		for _, rows := range []int{1, 255, 257, 1024, 1300} {
			for _, bytes := range []bool{false, true} {
				a := newMatrix(g, rows, 3, bytes)
				r := prover.Restriction{Side: prover.Columns, Point: point, Out: blank(t, q, rows+2)}
				a.upload(t, q, &r, 0)
				list, all = append(list, r), append(all, a)
			}
		}
		must(t, prover.RestrictInPasses(q, list))
		for i, a := range all {
			equal(t, q, fmt.Sprint(a.rows, " rows, bytes ", a.bytes != nil), list[i].Out, a.naive(prover.Columns, w, a.rows+2))
		}
	})
}

func TestRestrictWrong(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		e, b := blank(t, q, 8), devicetest.Upload(t, q, make([]int8, 6))
		good := prover.Restriction{Bytes: b, Rows: 2, Cols: 3, Point: e.Slice(0, 1), Out: e.Slice(0, 3)}
		must(t, prover.Restrict(q, []prover.Restriction{good}))
		for name, spoil := range map[string]func(*prover.Restriction){
			"entries":            func(r *prover.Restriction) { r.Cols = 4 },
			"negative":           func(r *prover.Restriction) { r.Rows, r.Cols = -2, -3 },
			"both storages":      func(r *prover.Restriction) { r.Words = devicetest.Upload(t, q, make([]m31.Element, 6)) },
			"short result":       func(r *prover.Restriction) { r.Out = e.Slice(0, 2) },
			"short point":        func(r *prover.Restriction) { r.Point = e.Slice(0, 0) },
			"short weights":      func(r *prover.Restriction) { r.Point, r.Weights = e.Slice(0, 0), e.Slice(0, 1) },
			"weights and point":  func(r *prover.Restriction) { r.Weights = e.Slice(0, 2) },
			"short for columns":  func(r *prover.Restriction) { r.Side = prover.Columns },
			"result for columns": func(r *prover.Restriction) { r.Side, r.Point, r.Out = prover.Columns, e.Slice(0, 2), e.Slice(0, 1) },
		} {
			bad := good
			spoil(&bad)
			if err := prover.Restrict(q, []prover.Restriction{good, bad}); !errors.Is(err, device.ErrUsage) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Buffers that were given back, or are of another device, are refused before
// anything reads them.
func TestStrangeBuffers(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		e, w, none := blank(t, q, 8), devicetest.Upload(t, q, make([]m31.Element, 4)), device.Buffer[m31.QM31]{}
		for name, x := range devicetest.Strange[m31.QM31](t, q, 8) {
			words := device.View[m31.Element](x.Slice(0, 1))
			restrict := func(r prover.Restriction) error {
				r.Rows, r.Cols = 2, 2
				return prover.Restrict(q, []prover.Restriction{r})
			}
			table := prover.EqTable{Out: e.Slice(0, 2), Point: e.Slice(2, 3)}
			for what, err := range map[string]error{
				"matrix":        restrict(prover.Restriction{Words: words, Point: e.Slice(0, 1), Out: e.Slice(1, 3)}),
				"weights":       restrict(prover.Restriction{Words: w, Weights: x.Slice(0, 2), Out: e.Slice(1, 3)}),
				"point":         restrict(prover.Restriction{Words: w, Point: x.Slice(0, 1), Out: e.Slice(1, 3)}),
				"result":        restrict(prover.Restriction{Words: w, Point: e.Slice(0, 1), Out: x.Slice(1, 3)}),
				"ext":           prover.RestrictRows(q, e.Slice(0, 2), x.Slice(0, 4), 2, 2, e.Slice(2, 4)),
				"eq":            prover.EqTables(q, []prover.EqTable{table, {Out: x.Slice(0, 2), Point: e.Slice(2, 3)}}),
				"eq point":      prover.Eq(q, e.Slice(0, 2), x.Slice(2, 3), none),
				"fold":          prover.Fold(q, e.Slice(0, 2), x.Slice(0, 4), e.Slice(2, 3)),
				"fold words":    prover.FoldM31(q, w.Slice(0, 2), words, w.Slice(3, 4)),
				"dot":           prover.Dot(q, e.Slice(0, 1), x.Slice(0, 2), e.Slice(2, 4)),
				"evaluate":      prover.Evaluate(q, e.Slice(0, 1), x.Slice(0, 4), e.Slice(2, 4)),
				"table":         prover.Evaluations(q, e.Slice(0, 1), []prover.Evaluation{{Table: words, Point: e.Slice(2, 4)}}),
				"at":            prover.Evaluations(q, e.Slice(0, 1), []prover.Evaluation{{Table: w, Point: x.Slice(2, 4)}}),
				"evaluation of": prover.Evaluations(q, x.Slice(0, 1), []prover.Evaluation{{Table: w, Point: e.Slice(2, 4)}}),
			} {
				if !errors.Is(err, device.ErrUsage) {
					t.Errorf("%s %s: %v", name, what, err)
				}
			}
		}
	})
}

// A point may have many more coordinates than a matrix needs; nothing of the
// size of its table of eq is made.
func TestRestrictFar(t *testing.T) {
	g := devicetest.Rand(41)
	words := make([]m31.Element, 15)
	devicetest.Fill(g, words, m31.P)
	point := make([]m31.QM31, 31)
	for i := range point {
		point[i] = m31.FromWords([4]m31.Element{m31.New(g.U64()), m31.New(g.U64()), m31.New(g.U64()), m31.New(g.U64())})
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		a, z := devicetest.Upload(t, q, words), devicetest.Upload(t, q, point)
		for _, side := range []prover.Side{prover.Rows, prover.Columns} {
			for _, vars := range []int{3, 4, 31} {
				out := blank(t, q, 6)
				must(t, prover.Restrict(q, []prover.Restriction{{Words: a, Rows: 3, Cols: 5, Side: side, Point: z.Slice(0, vars), Out: out}}))
				got, err := out.Read(q)
				must(t, err)
				want := make([]m31.QM31, 6)
				for i := range 3 {
					for k := range 5 {
						to, of := k, i
						if side == prover.Columns {
							to, of = i, k
						}
						want[to] = want[to].Add(mle.EqIndex(point[:vars], uint64(of)).MulBase(words[5*i+k]))
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("side %d, %d coordinates: got %v, want %v", side, vars, got, want)
				}
			}
		}
	})
}

func TestEqTables(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(7)
		var list []prover.EqTable
		var want [][]m31.QM31
		for n := range 15 {
			point, scale, before := ext(g, n), ext(g, 1), ext(g, 1<<n)
			e := prover.EqTable{Out: devicetest.Upload(t, q, before), Point: devicetest.Upload(t, q, point), Add: n%2 == 1}
			table := mle.EqTable(point)
			if n%3 == 1 {
				e.Scale = devicetest.Upload(t, q, scale)
				table = mle.ScaledEqTable(point, scale[0])
			}
			if e.Add {
				m31.AddVecQM31(table, table, before)
			}
			list, want = append(list, e), append(want, table)
		}
		must(t, prover.EqTables(q, list))
		for n := range list {
			equal(t, q, fmt.Sprint("eq ", n), list[n].Out, want[n])
		}
		must(t, prover.EqTables(q, nil))
		point := ext(g, 20) // a thread makes more of a large table
		large := blank(t, q, 1<<20)
		must(t, prover.Eq(q, large, devicetest.Upload(t, q, point), device.Buffer[m31.QM31]{}))
		got, err := large.Read(q)
		must(t, err)
		for x := 0; x < len(got); x += 1237 {
			if got[x] != mle.EqIndex(point, uint64(x)) {
				t.Fatalf("eq of 20 variables: entry %d", x)
			}
		}
		list[3].Out = list[3].Out.Slice(0, 7)
		if err := prover.EqTables(q, list); !errors.Is(err, device.ErrUsage) {
			t.Errorf("table of the wrong size: %v", err)
		}
	})
}

func TestFoldM31(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(8)
		for _, h := range []int{0, 1, 2, 3, 4, 255, 256, 1000, 1023, 5000} {
			table, c := base(g, 2*h), base(g, 1)
			want := make([]m31.Element, h)
			for i := range want {
				want[i] = m31.One().Sub(c[0]).Mul(table[i]).Add(c[0].Mul(table[h+i]))
			}
			buf, r := devicetest.Upload(t, q, table), devicetest.Upload(t, q, c)
			out := devicetest.Upload(t, q, make([]m31.Element, h))
			must(t, prover.FoldM31(q, out, buf, r))
			must(t, prover.FoldM31(q, buf.Slice(0, h), buf, r)) // in place
			for _, b := range []device.Buffer[m31.Element]{out, buf.Slice(0, h)} {
				got, err := b.Read(q)
				must(t, err)
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("fold of %d: entry %d: got %v, want %v", 2*h, i, got[i], want[i])
					}
				}
			}
		}
		e := devicetest.Upload(t, q, make([]m31.Element, 6))
		if err := prover.FoldM31(q, e.Slice(0, 2), e, e.Slice(0, 1)); !errors.Is(err, device.ErrUsage) {
			t.Errorf("fold of 6 into 2: %v", err)
		}
	})
}

func TestEvaluations(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(9)
		var list []prover.Evaluation
		var want []m31.QM31
		for _, n := range []int{0, 1, 2, 3, 255, 256, 257, 1023, 3000, 9000} {
			for _, more := range []int{0, 2} {
				table, point := base(g, n), ext(g, mle.Log(n)+more)
				list = append(list, prover.Evaluation{Table: devicetest.Upload(t, q, table), Point: devicetest.Upload(t, q, point)})
				want = append(want, mle.EvaluateBase(table, point))
			}
		}
		out := blank(t, q, len(list))
		before := q.Stats().Launches
		must(t, prover.Evaluations(q, out, list))
		if n := q.Stats().Launches - before; !q.OnHost() && n > 3 {
			t.Errorf("%d launches", n)
		}
		equal(t, q, "evaluations", out, want)
		must(t, prover.Evaluations(q, out.Slice(0, 0), nil))
		if err := prover.Evaluations(q, out, list[1:]); !errors.Is(err, device.ErrUsage) {
			t.Errorf("one table fewer: %v", err)
		}
		list[8].Point = list[8].Point.Slice(0, 7)
		if err := prover.Evaluations(q, out, list); !errors.Is(err, device.ErrUsage) {
			t.Errorf("table longer than the cube: %v", err)
		}
	})
}
