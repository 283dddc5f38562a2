package prover

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/ntt"
	"github.com/zkwarp/zkwarp/transcript"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// kernelTest is the operations by their definitions, over one pair of fields, and
// the kernels beside them.
type kernelTest[W field.Base[W], F field.Element[F], E field.Element[E]] struct {
	u    *unit
	lift func(F) E
	root func(n int) F
	v    *transcript.Variant[W, E]
}

// onKernels runs a test for every pair of fields on every device with kernels.
func onKernels(t *testing.T, m31s func(t *testing.T, k kernelTest[m31.Element, m31.CM31, m31.QM31], q *device.Queue),
	bb4 func(t *testing.T, k kernelTest[babybear.Element, babybear.Element, babybear.E4], q *device.Queue),
	bb5 func(t *testing.T, k kernelTest[babybear.Element, babybear.Element, babybear.E5], q *device.Queue),
	kb4 func(t *testing.T, k kernelTest[koalabear.Element, koalabear.Element, koalabear.E4], q *device.Queue),
	kb5 func(t *testing.T, k kernelTest[koalabear.Element, koalabear.Element, koalabear.E5], q *device.Queue)) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		t.Run("m31", func(t *testing.T) {
			m31s(t, kernelTest[m31.Element, m31.CM31, m31.QM31]{unitM31, m31.LiftPair, ntt.CM31{}.Root, transcript.M31()}, q)
		})
		t.Run("babybear4", func(t *testing.T) {
			bb4(t, kernelTest[babybear.Element, babybear.Element, babybear.E4]{unitBabyBear4,
				func(x babybear.Element) babybear.E4 { return babybear.E4{x} }, babybear.Root, transcript.BabyBear4()}, q)
		})
		t.Run("babybear5", func(t *testing.T) {
			bb5(t, kernelTest[babybear.Element, babybear.Element, babybear.E5]{unitBabyBear5,
				func(x babybear.Element) babybear.E5 { return babybear.E5{x} }, babybear.Root, transcript.BabyBear5()}, q)
		})
		t.Run("koalabear4", func(t *testing.T) {
			kb4(t, kernelTest[koalabear.Element, koalabear.Element, koalabear.E4]{unitKoalaBear4,
				func(x koalabear.Element) koalabear.E4 { return koalabear.E4{x} }, koalabear.Root, transcript.KoalaBear4()}, q)
		})
		t.Run("koalabear5", func(t *testing.T) {
			kb5(t, kernelTest[koalabear.Element, koalabear.Element, koalabear.E5]{unitKoalaBear5,
				func(x koalabear.Element) koalabear.E5 { return koalabear.E5{x} }, koalabear.Root, transcript.KoalaBear5()}, q)
		})
	})
}

// random is n elements without a zero word.
func random[T field.Element[T]](g *devicetest.Gen, n int) []T {
	var zero T
	words := make([]uint32, zero.Degree())
	out := make([]T, n)
	for i := range out {
		devicetest.Fill(g, words, 1<<30)
		v, err := zero.SetWords(words)
		if err != nil {
			panic(err)
		}
		out[i] = v
	}
	return out
}

// weight is the product of the factors of n variables at x.
func weight[E field.Element[E]](factors []E, n, x int) E {
	var zero E
	v := zero.One()
	for j := range n {
		v = v.Mul(factors[2*j+x>>(n-1-j)&1])
	}
	return v
}

func start[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k kernelTest[W, F, E], q *device.Queue) *onDevice[W, F, E] {
	t.Helper()
	d, err := newOnDevice[W, F, E](q, k.u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.free)
	return d
}

// equal compares a buffer with what it should hold.
func equal[T comparable](t *testing.T, q *device.Queue, what string, b device.Buffer[T], want []T) {
	t.Helper()
	got, err := b.Read(q)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		at := 0
		for at < len(got) && at < len(want) && got[at] == want[at] {
			at++
		}
		t.Errorf("%s: entry %d of %d differs: %v, want %v", what, at, len(want), got[min(at, len(got)-1)], want[min(at, len(want)-1)])
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func testPoints[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k kernelTest[W, F, E], q *device.Queue) {
	d, g := start(t, k, q), devicetest.Rand(1)
	x := random[E](g, 1)
	at := devicetest.Upload(t, q, x)
	for _, n := range []int{0, 1, 7, 27} {
		dst := devicetest.Upload(t, q, make([]E, 2*n))
		must(t, d.eqPowers(dst, at))
		want := make([]E, 2*n)
		p := x[0]
		for j := n - 1; j >= 0; j-- {
			want[2*j], want[2*j+1] = p.One().Sub(p), p
			p = p.Square()
		}
		equal(t, q, "factors", dst, want)
	}
	for _, c := range [][2]int{{0, 1}, {1, 5}, {3, 300}} {
		dst := devicetest.Upload(t, q, make([]E, c[1]))
		must(t, d.geometric(dst, at, c[0]))
		want := make([]E, c[1])
		for j := range want {
			want[j] = x[0].Exp(uint64(c[0] + j))
		}
		equal(t, q, "geometric", dst, want)
	}
}

func testBlocks[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k kernelTest[W, F, E], q *device.Queue) {
	d, g := start(t, k, q), devicetest.Rand(2)
	for _, c := range []struct{ vars, fold, claims int }{
		{1, 0, 1}, {1, 1, 2}, {2, 1, 1}, {4, 1, 9}, {5, 3, 3}, {9, 2, 1}, {8, 8, 2}, {11, 0, 1}, {12, 1, 1}, {13, 0, 2},
	} {
		name := fmt.Sprintf("2^%d, fold %d, %d claims", c.vars, c.fold, c.claims)
		f, e, factors := random[F](g, 1<<c.vars), random[E](g, 1<<c.vars), random[E](g, 2*c.vars*c.claims)
		fb, eb, at := devicetest.Upload(t, q, f), devicetest.Upload(t, q, e), devicetest.Upload(t, q, factors)
		stride, column := c.claims+2, 1
		before := random[E](g, stride<<c.fold)
		want, wantExt := slices.Clone(before), slices.Clone(before)
		n := c.vars - c.fold
		for j := range c.claims {
			own := factors[2*c.vars*j+2*c.fold:][:2*n]
			weights := make([]E, 1<<n)
			for b := range weights {
				weights[b] = weight(own, n, b)
			}
			for u := range 1 << c.fold {
				var s, x E
				for b, w := range weights {
					s, x = s.Add(w.Mul(k.lift(f[u<<n+b]))), x.Add(w.Mul(e[u<<n+b]))
				}
				want[u*stride+column+j], wantExt[u*stride+column+j] = s, x
			}
		}
		sums, sumsExt := devicetest.Upload(t, q, before), devicetest.Upload(t, q, before)
		must(t, d.blockSums(sums, stride, column, fb, at, c.fold))
		must(t, d.blockSumsExt(sumsExt, stride, column, eb, at, c.fold))
		equal(t, q, "sums, "+name, sums, want)
		equal(t, q, "sums of challenges, "+name, sumsExt, wantExt)

		coeffs := random[E](g, c.claims)
		for u := range 1 << c.fold {
			for j, v := range coeffs {
				want[u*stride+column+j] = v.Mul(weight(factors[2*c.vars*j:], c.fold, u))
			}
		}
		must(t, d.blockWeights(sums, stride, column, at, devicetest.Upload(t, q, coeffs), c.fold, c.vars))
		equal(t, q, "weights, "+name, sums, want)

		challenges := random[E](g, c.fold)
		folded := make([]E, 1<<n)
		for u, w := range eqTable(challenges) {
			for b := range folded {
				folded[b] = folded[b].Add(w.Mul(k.lift(f[u<<n+b])))
			}
		}
		dst := devicetest.Upload(t, q, make([]E, 1<<n))
		must(t, d.foldBlocks(dst, fb, devicetest.Upload(t, q, challenges)))
		equal(t, q, "fold, "+name, dst, folded)
	}
	// A table that does not begin where vectors do.
	f, factors := random[F](g, 1<<6+1), random[E](g, 2*6)
	at := devicetest.Upload(t, q, f).Slice(1, 1<<6+1)
	sums, folded := devicetest.Upload(t, q, make([]E, 4)), devicetest.Upload(t, q, make([]E, 16))
	own, challenges := devicetest.Upload(t, q, factors), random[E](g, 2)
	must(t, d.blockSums(sums, 1, 0, at, own, 2))
	must(t, d.foldBlocks(folded, at, devicetest.Upload(t, q, challenges)))
	want, wantFolded := make([]E, 4), make([]E, 16)
	for x, v := range f[1:] {
		want[x>>4] = want[x>>4].Add(weight(factors[4:], 4, x&15).Mul(k.lift(v)))
		wantFolded[x&15] = wantFolded[x&15].Add(eqTable(challenges)[x>>4].Mul(k.lift(v)))
	}
	equal(t, q, "unaligned sums", sums, want)
	equal(t, q, "unaligned fold", folded, wantFolded)
}

func testCombine[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k kernelTest[W, F, E], q *device.Queue) {
	d, g := start(t, k, q), devicetest.Rand(3)
	for _, c := range [][2]int{{1, 1}, {3, 2}, {2, 7}, {1030, 5}} { // tables, entries
		coeffs, want := random[E](g, c[0]), make([]E, c[1])
		tables := make([]device.Buffer[F], c[0])
		all := random[F](g, c[0]*c[1])
		whole := devicetest.Upload(t, q, all)
		for a := range tables {
			tables[a] = whole.Slice(a*c[1], (a+1)*c[1])
			for b := range want {
				want[b] = want[b].Add(coeffs[a].Mul(k.lift(all[a*c[1]+b])))
			}
		}
		dst := devicetest.Upload(t, q, make([]E, c[1]))
		must(t, d.combine(dst, tables, devicetest.Upload(t, q, coeffs)))
		equal(t, q, fmt.Sprintf("%d tables of %d", c[0], c[1]), dst, want)
	}
	f := random[F](g, 300)
	dst := devicetest.Upload(t, q, make([]E, len(f)))
	must(t, d.lift(dst, devicetest.Upload(t, q, f)))
	want := make([]E, len(f))
	for i, v := range f {
		want[i] = k.lift(v)
	}
	equal(t, q, "lift", dst, want)
}

func testWeights[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k kernelTest[W, F, E], q *device.Queue) {
	d, g := start(t, k, q), devicetest.Rand(4)
	for _, c := range []struct{ n, vars, claims int }{{0, 1, 1}, {0, 3, 5}, {1, 1, 2}, {5, 7, 9}, {8, 8, 4}, {9, 10, 1}, {14, 15, 1}} {
		w, factors, coeffs := random[E](g, 1<<c.n), random[E](g, 2*c.vars*c.claims), random[E](g, c.claims)
		set := make([]E, 1<<c.n)
		for j, v := range coeffs {
			own := factors[2*c.vars*j+2*(c.vars-c.n):]
			for b := range set {
				set[b] = set[b].Add(v.Mul(weight(own, c.n, b)))
			}
		}
		added := make([]E, 1<<c.n)
		for b := range added {
			added[b] = set[b].Add(w[b])
		}
		name := fmt.Sprintf("2^%d of %d variables, %d claims", c.n, c.vars, c.claims)
		at, cs := devicetest.Upload(t, q, factors), devicetest.Upload(t, q, coeffs)
		for i, want := range [][]E{added, set} {
			dst := devicetest.Upload(t, q, w)
			must(t, d.addWeights(dst, at, c.vars, cs, i == 1))
			equal(t, q, name, dst, want)
		}
	}
	w, table, coeff := random[E](g, 300), random[E](g, 300), random[E](g, 1)
	dst := devicetest.Upload(t, q, w)
	must(t, d.addTable(dst, devicetest.Upload(t, q, table), devicetest.Upload(t, q, coeff)))
	for b := range w {
		w[b] = w[b].Add(coeff[0].Mul(table[b]))
	}
	equal(t, q, "table", dst, w)
}

func testQueries[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k kernelTest[W, F, E], q *device.Queue) {
	d, g := start(t, k, q), devicetest.Rand(5)
	for _, c := range []struct{ n, leaves, indices int }{{0, 1, 1}, {0, 5, 3}, {3, 9, 70}, {6, 6, 5}, {9, 10, 3}, {11, 24, 1}, {7, 11, 300}, {10, 11, 40}, {11, 11, 600}} {
		w, gamma, indices := random[E](g, 1<<c.n), random[E](g, 1), make([]uint32, c.indices)
		want := slices.Clone(w)
		coeff := gamma[0].Square()
		for j := range indices {
			indices[j] = uint32(g.Intn(1 << c.leaves))
			if j%3 == 2 {
				indices[j] = indices[j-1]
			}
			x, power := k.root(c.leaves).Exp(uint64(indices[j])), coeff
			for b := range want {
				want[b] = want[b].Add(power)
				power = power.Mul(k.lift(x))
			}
			coeff = coeff.Mul(gamma[0])
		}
		dst := devicetest.Upload(t, q, w)
		must(t, d.addPoints(dst, c.leaves, devicetest.Upload(t, q, indices), devicetest.Upload(t, q, gamma), 2))
		equal(t, q, fmt.Sprintf("2^%d, 2^%d leaves, %d indices", c.n, c.leaves, c.indices), dst, want)
	}
}

// bound binds both tables to r and returns the message of the next round.
func bound[E field.Element[E]](g, w []E, challenge *E) (newG, newW []E, message [2]E) {
	if challenge != nil {
		r := *challenge
		h := len(g) / 2
		for i := range h {
			g[i], w[i] = g[i].Add(r.Mul(g[h+i].Sub(g[i]))), w[i].Add(r.Mul(w[h+i].Sub(w[i])))
		}
		g, w = g[:h], w[:h]
	}
	h := len(g) / 2
	for i := range h {
		message[0] = message[0].Add(g[i].Mul(w[i]))
		message[1] = message[1].Add(g[h+i].Sub(g[i]).Mul(w[h+i].Sub(w[i])))
	}
	return g, w, message
}

func testRounds[W field.Base[W], F field.Element[F], E field.Element[E]](t *testing.T, k kernelTest[W, F, E], q *device.Queue) {
	d, gen := start(t, k, q), devicetest.Rand(6)
	for _, c := range []struct {
		length, rounds int
		bind, draw     bool
	}{
		{2, 1, false, false}, {4, 1, true, false}, {2, 1, false, true}, {6, 1, false, true}, {24, 2, true, true}, {64, 6, false, true},
		{2048, 1, false, false}, {3 << 10, 1, true, false}, {1 << 14, 3, true, true},
	} {
		name := fmt.Sprintf("%d entries, %d rounds, bind %v, draw %v", c.length, c.rounds, c.bind, c.draw)
		g, w, r := random[E](gen, c.length), random[E](gen, c.length), random[E](gen, 1)
		gb, wb, msgs := devicetest.Upload(t, q, g), devicetest.Upload(t, q, w), devicetest.Upload(t, q, make([]E, 2*c.rounds))
		var rb, challenges device.Buffer[E]
		var tr sponge[W, E]
		host := k.v.New(7)
		host.Absorb(random[W](gen, 3))
		var on *transcriptprover.Of[W, E]
		if c.bind {
			rb = devicetest.Upload(t, q, r)
		}
		if c.draw {
			var err error
			on, err = transcriptprover.FromHost(q, host)
			must(t, err)
			tr, challenges = on, devicetest.Upload(t, q, make([]E, c.rounds))
		}
		must(t, d.rounds(gb, wb, rb, msgs, tr, challenges))

		var pending *E
		if c.bind {
			pending = &r[0]
		}
		var want, drawn []E
		for range c.rounds {
			var m [2]E
			g, w, m = bound(g, w, pending)
			want = append(want, m[0], m[1])
			host.AbsorbExt(m[:])
			drawn = append(drawn, host.Challenge())
			pending = &drawn[len(drawn)-1]
		}
		equal(t, q, name+": messages", msgs, want)
		equal(t, q, name+": g", gb.Slice(0, len(g)), g)
		equal(t, q, name+": w", wb.Slice(0, len(w)), w)
		if c.draw {
			equal(t, q, name+": challenges", challenges, drawn)
			state, err := on.Host()
			must(t, err)
			if state.State() != host.State() {
				t.Errorf("%s: the transcript differs", name)
			}
		}
		if len(g) < 2 {
			continue
		}
		rb = devicetest.Upload(t, q, r)
		must(t, d.fold(gb.Slice(0, len(g)), wb.Slice(0, len(w)), rb))
		g, w, _ = bound(g, w, &r[0])
		equal(t, q, name+": folded g", gb.Slice(0, len(g)), g)
		equal(t, q, name+": folded w", wb.Slice(0, len(w)), w)
	}
	a, b := random[E](gen, 3000), random[E](gen, 3000)
	ab, bb, dst := devicetest.Upload(t, q, a), devicetest.Upload(t, q, b), devicetest.Upload(t, q, make([]E, 1))
	for _, c := range [][2]int{{1, 0}, {7, 3}, {3001, 3000}} {
		must(t, d.dot(dst, ab, bb, c[0], c[1]))
		var sum E
		for i := c[1]; i < len(a); i += c[0] {
			sum = sum.Add(a[i].Mul(b[i]))
		}
		equal(t, q, "dot", dst, []E{sum})
	}
}

func TestKernelsPoints(t *testing.T) {
	onKernels(t, testPoints, testPoints, testPoints, testPoints, testPoints)
}
func TestKernelsBlocks(t *testing.T) {
	onKernels(t, testBlocks, testBlocks, testBlocks, testBlocks, testBlocks)
}
func TestKernelsCombine(t *testing.T) {
	onKernels(t, testCombine, testCombine, testCombine, testCombine, testCombine)
}
func TestKernelsWeights(t *testing.T) {
	onKernels(t, testWeights, testWeights, testWeights, testWeights, testWeights)
}
func TestKernelsQueries(t *testing.T) {
	onKernels(t, testQueries, testQueries, testQueries, testQueries, testQueries)
}
func TestKernelsRounds(t *testing.T) {
	onKernels(t, testRounds, testRounds, testRounds, testRounds, testRounds)
}

func TestKernelsHalves(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		d, err := newOnDevice[m31.Element, m31.CM31, m31.QM31](q, unitM31)
		must(t, err)
		t.Cleanup(d.free)
		g := devicetest.Rand(7)
		for _, c := range [][2]int{{2, 0}, {2, 1}, {4, 2}, {9, 3}, {12, 0}, {13, 2}, {10, 9}} { // variables, fold
			m, fold := c[0]-1, c[1]
			words, factors := random[m31.Element](g, 2<<m), random[m31.QM31](g, 2*m)
			const stride, column = 5, 2
			want := random[m31.QM31](g, stride<<fold)
			sums, halves := devicetest.Upload(t, q, want), devicetest.Upload(t, q, make([]m31.QM31, 2))
			want = slices.Clone(want)
			var values [2]m31.QM31
			for u := range 1 << fold {
				var parts [2]m31.QM31
				for b := range 1 << (m - fold) {
					w := weight(factors[2*fold:], m-fold, b)
					for i := range parts {
						parts[i] = parts[i].Add(w.Mul(m31.Lift(words[2*(u<<(m-fold)+b)+i])))
					}
				}
				io := parts[1].MulI()
				want[stride*u+column], want[stride*u+column+1] = parts[0].Add(io), parts[0].Sub(io).FrobeniusInverse()
				for i := range parts {
					values[i] = values[i].Add(parts[i].Mul(weight(factors, fold, u)))
				}
			}
			must(t, d.halves(sums, stride, column, devicetest.Upload(t, q, words), devicetest.Upload(t, q, factors), fold, halves))
			name := fmt.Sprintf("2^%d, fold %d", c[0], fold)
			equal(t, q, "sums, "+name, sums, want)
			equal(t, q, "halves, "+name, halves, values[:])
		}
	})
}
