package prover

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

func randomWords(rng *rand.Rand, n int) []m31.Element {
	out := make([]m31.Element, n)
	for i := range out {
		out[i] = m31.New(rng.Uint64())
	}
	return out
}

func randomExt(rng *rand.Rand, n int) []m31.QM31 {
	out := make([]m31.QM31, n)
	for i := range out {
		out[i] = m31.FromWords([4]m31.Element(randomWords(rng, 4)))
	}
	return out
}

// slowFactor is a factor by its definition.
func slowFactor(of []m31.Element, keep []int, w []m31.QM31) []m31.QM31 {
	out := make([]m31.QM31, 1<<len(keep))
	for i, v := range of {
		z, f, n := 0, 0, 0
		for b := range graph.Log2(len(of)) {
			if k := slices.Index(keep, b); k >= 0 {
				z |= i >> b & 1 << (len(keep) - 1 - k)
			} else {
				f |= i >> b & 1 << n
				n++
			}
		}
		weight := m31.OneQM31()
		if w != nil {
			weight = w[f]
		}
		out[z] = out[z].Add(weight.MulBase(v))
	}
	return out
}

// factorCase is a tensor of 2^vars words of which bits are kept.
type factorCase struct {
	vars int
	keep []int
}

// newFactorJob is a factor of the bits that stay, first variable first.
func newFactorJob(c factorCase, of device.Buffer[m31.Element], eq int, out device.Buffer[m31.QM31]) factorJob {
	j := factorJob{of: of, vars: len(c.keep), freeVars: c.vars - len(c.keep), eq: eq, out: out}
	for i := range c.keep {
		j.keep = moveBit(j.keep, i, c.keep[len(c.keep)-1-i])
	}
	free := 0
	for b := range c.vars {
		if !slices.Contains(c.keep, b) {
			j.free = moveBit(j.free, free, b)
			free++
		}
	}
	return j
}

func factorCases() (cases []factorCase) {
	down := func(from, n int) (keep []int) {
		for i := range n {
			keep = append(keep, from+n-1-i)
		}
		return keep
	}
	for _, c := range [][3]int{ // vars, lowest kept bit, kept bits
		{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {3, 1, 1}, {5, 0, 5}, {6, 0, 2}, {6, 4, 2}, {7, 3, 2}, {9, 0, 9}, {9, 0, 0}, {10, 9, 1}, {11, 5, 3},
		{13, 0, 13}, {13, 0, 12}, {13, 1, 12}, {13, 0, 1}, {13, 12, 1}, {14, 0, 0}, {14, 6, 3}, {15, 3, 8}, {15, 10, 5}, {15, 0, 5}, {16, 2, 3},
	} {
		cases = append(cases, factorCase{c[0], down(c[1], c[2])})
	}
	rng := rand.New(rand.NewPCG(7, 0))
	for range 24 { // bits in any order
		vars := 1 + rng.IntN(14)
		cases = append(cases, factorCase{vars, rng.Perm(vars)[:rng.IntN(vars+1)]})
	}
	return cases
}

// TestRestrictFactors makes factors of every shape at once and one at a time, and
// compares them with the definition.
func TestRestrictFactors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cases := factorCases()
	var ofs [][]m31.Element
	var want [][]m31.QM31
	var eqs []int
	scratch := randomExt(rng, 3) // so that tables do not begin at 0
	for _, c := range cases {
		of := randomWords(rng, 1<<c.vars)
		var w []m31.QM31
		eq := -1
		if bound := c.vars - len(c.keep); bound > 0 {
			w = randomExt(rng, 1<<bound)
			eq = len(scratch)
			scratch = append(scratch, w...)
		}
		ofs, eqs, want = append(ofs, of), append(eqs, eq), append(want, slowFactor(of, c.keep, w))
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		s := &session{q: q, scratch: devicetest.Upload(t, q, scratch)}
		jobs := make([]factorJob, len(cases))
		for i, c := range cases {
			jobs[i] = newFactorJob(c, devicetest.Upload(t, q, ofs[i]), eqs[i], devicetest.Upload(t, q, make([]m31.QM31, len(want[i]))))
		}
		check := func(what string, list []int) {
			t.Helper()
			for _, i := range list {
				got, err := jobs[i].out.Read(q)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want[i]) {
					t.Errorf("%s: %d variables, kept %v: wrong", what, cases[i].vars, cases[i].keep)
				}
				if err := jobs[i].out.Zero(q); err != nil {
					t.Fatal(err)
				}
			}
		}
		all := make([]int, len(jobs))
		for i := range all {
			all[i] = i
		}
		for range 2 {
			if err := s.restrictFactors(jobs); err != nil {
				t.Fatal(err)
			}
			check("together", all)
		}
		for i := range jobs {
			if err := s.restrictFactors(jobs[i : i+1]); err != nil {
				t.Fatal(err)
			}
			check("alone", all[i:i+1])
		}
		if q.OnHost() {
			return
		}
		for _, enough := range []int{1, 3, 100, 1 << 14} { // few blocks of many passes, and many
			if err := restrictOnDevice(q, s.scratch, jobs, enough); err != nil {
				t.Fatal(err)
			}
			check(fmt.Sprintf("%d blocks", enough), all)
		}
	})
}

// TestRestrictMatrices makes factors that are large enough for the kernels of
// matrices.
func TestRestrictMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	const vars = matrixBits
	of, scratch := randomWords(rng, 1<<vars), randomExt(rng, 1<<12)
	low, high := make([]int, 6), make([]int, 7)
	for i := range low {
		low[i] = len(low) - 1 - i
	}
	for i := range high {
		high[i] = vars - 1 - i
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		s := &session{q: q, scratch: devicetest.Upload(t, q, scratch)}
		in := devicetest.Upload(t, q, of)
		var jobs []factorJob
		for _, keep := range [][]int{low, high} {
			jobs = append(jobs, newFactorJob(factorCase{vars, keep}, in, 0, devicetest.Upload(t, q, make([]m31.QM31, 1<<len(keep)))))
		}
		if z, f := jobs[1].bits(); len(z) != len(high) {
			t.Fatalf("%d bits kept", len(z))
		} else if _, ok := jobs[1].asMatrix(z, f, s.scratch); !ok {
			t.Fatal("not the matrix that the test is about")
		}
		if err := s.restrictFactors(jobs); err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			got, err := jobs[i].out.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, slowFactor(of, [][]int{low, high}[i], scratch)) {
				t.Errorf("matrix %d: wrong", i)
			}
		}
	})
}

// TestDivide looks at tiles of large tensors, which the emulator has no time for:
// blocks cover every word once, lines are whole, and parts are few.
func TestDivide(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		vars := 1 + rng.IntN(26)
		perm := rng.Perm(vars)
		z := perm[:rng.IntN(vars+1)]
		f := slices.Sorted(slices.Values(perm[len(z):]))
		blocks := rng.IntN(12)
		d := divide(z, f, leastBits+rng.IntN(tileBits-leastBits+1), blocks)
		inside := d.bound + len(d.zIn)
		if inside > tileBits || d.bound > boundBits || inside < min(lineBits, vars) || d.splits() < 0 || d.splits() > mostSplits {
			t.Fatalf("z %v, f %v: %+v", z, f, d)
		}
		if d.passes > 0 && len(d.zIn) > 8 {
			t.Errorf("z %v, f %v: %d results of a tile with several passes", z, f, 1<<len(d.zIn))
		}
		if d.splits() > 0 && len(d.zIn) > 8 {
			t.Errorf("z %v, f %v: %d results of a tile that is added up", z, f, 1<<len(d.zIn))
		}
		var low []int
		for _, i := range d.zIn {
			low = append(low, z[i])
		}
		low = append(low, f[:d.bound]...)
		slices.Sort(low)
		if n := min(lineBits, vars); inOrder(low) < n {
			t.Errorf("z %v, f %v: the lowest %d bits are not in the tile", z, f, n)
		}
		if vars >= 16 && len(f) >= 8 && d.splits() > 0 && d.bound < lineBits {
			t.Errorf("z %v, f %v: parts as large as the words", z, f)
		}
	}
}

// axisCase is a part of a public factor.
func axisCases() map[string][]plan.Axis {
	at := func(first, n int) (p plan.Point) {
		for i := range n {
			p = append(p, int32(first+i))
		}
		return p
	}
	window := plan.Axis{Kind: plan.AxisMap, Vars: 3, At: at(1, 5), Shape: []int{5, 3}, Index: []int32{0, 1, 2, -1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5, -1}}
	one := plan.Axis{Kind: plan.AxisMap, Vars: 6, At: plan.Point{}, Shape: nil, Index: []int32{33}}
	same := plan.Axis{Kind: plan.AxisMap, Vars: 0, At: at(2, 9), Shape: []int{300}, Index: make([]int32, 300)}
	none := plan.Axis{Kind: plan.AxisMap, Vars: 2, At: at(2, 2), Shape: []int{3}, Index: []int32{-1, -1, -1}}
	long := plan.Axis{Kind: plan.AxisMap, Vars: 5, At: at(0, 12), Shape: []int{33, 50}, Index: make([]int32, 33*50)}
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range long.Index {
		long.Index[i] = int32(rng.IntN(30) - 1)
	}
	return map[string][]plan.Axis{
		"nothing":    {},
		"one":        {{Vars: 3, Extent: 8}},
		"guard":      {{Vars: 3, Extent: 5}},
		"guards":     {{Vars: 2, Extent: 3}, {Vars: 0, Extent: 1}, {Vars: 4, Extent: 16, At: at(3, 4)}, {Vars: 3, Extent: 7, At: at(0, 3)}},
		"long eq":    {{Vars: 13, Extent: 8000, At: at(1, 13)}},
		"window":     {window},
		"windows":    {{Vars: 1, Extent: 2, At: at(4, 1)}, window, {Vars: 2, Extent: 3}, window},
		"select":     {one},
		"repeat":     {same, {Vars: 1, Extent: 2, At: at(0, 1)}},
		"never":      {none, window},
		"long lists": {long},
		"moved":      {{Kind: plan.AxisMoved, Vars: 6, At: at(2, 6), From: []int{3, 5, 2}, Shape: []int{5, 6}}},
		"moved more": {{Vars: 2, Extent: 3}, {Kind: plan.AxisMoved, Vars: 10, At: at(0, 9), From: []int{7, 33, 2}, Shape: []int{462}}},
		"tokens":     {{Kind: plan.AxisTokens, Vars: 6, At: at(1, 5), Shape: []int{3, 7}, Tokens: 0}},
		"rows":       {{Kind: plan.AxisTokens, Vars: 9, At: at(2, 9), Shape: []int{300}, Tokens: 1}},
	}
}

// TestPublicFactors makes public factors of every kind at once and compares them
// with the definition.
func TestPublicFactorTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	point := randomExt(rng, 16)
	tokens := [][]m31.Element{make([]m31.Element, 32), make([]m31.Element, 512)}
	for k, rows := range []int{40, 512} {
		for i := range tokens[k] {
			tokens[k][i] = m31.New(uint64(rng.IntN(rows) / (1 + i%2*7)))
		}
	}
	cases := axisCases()
	var names []string
	for name := range cases {
		names = append(names, name)
	}
	slices.Sort(names)
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		l := &layout{plan: &plan.Plan{Stacks: make([]plan.Stack, plan.FirstCommitted), InputPolys: []int{0, 1}}}
		var scratch []m31.QM31
		table := func(p plan.Point) (at int) {
			z := make([]m31.QM31, len(p))
			for i, c := range p {
				z[i] = point[c]
			}
			at = len(scratch)
			scratch = append(scratch, mle.EqTable(z)...)
			return at
		}
		var jobs []publicJob
		for _, name := range names {
			j := publicJob{in: &plan.Instance{Public: cases[name]}, o: new(instanceLayout)}
			vars := 0
			for i := range j.in.Public {
				a := &j.in.Public[i]
				p := axisPart{eq: -1, lists: l.axisLists(a)}
				if a.At != nil {
					p.eq = table(a.At)
				}
				j.o.axes = append(j.o.axes, p)
				vars += a.Vars
			}
			j.out = devicetest.Upload(t, q, make([]m31.QM31, 1<<vars))
			jobs = append(jobs, j)
		}
		s := &session{layout: l, q: q, key: new(keyMemory), scratch: devicetest.Upload(t, q, scratch)}
		if !q.OnHost() {
			s.key.desc = devicetest.Upload(t, q, []uint64(l.desc))
		}
		for _, v := range tokens {
			s.polys = append(s.polys, devicetest.Upload(t, q, v))
		}
		check := func(j *publicJob, name string) {
			t.Helper()
			got, err := j.out.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			if want := slowPublic(j.in.Public, point, tokens); !slices.Equal(got, want) {
				t.Errorf("%s: wrong", name)
			}
			if err := j.out.Zero(q); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.publicFactors(jobs); err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			check(&jobs[i], names[i])
		}
		for i := range jobs {
			if err := s.publicFactors(jobs[i : i+1]); err != nil {
				t.Fatal(err)
			}
			check(&jobs[i], names[i]+" alone")
		}
	})
}

// slowPublic is a public factor by its definition: sums of eq evaluated at every
// pair of indices.
func slowPublic(axes []plan.Axis, coords []m31.QM31, tokens [][]m31.Element) []m31.QM31 {
	out := []m31.QM31{m31.OneQM31()}
	for _, a := range axes {
		r := make([]m31.QM31, len(a.At))
		for i, c := range a.At {
			r[i] = coords[c]
		}
		var next []m31.QM31
		for _, v := range out {
			for z := range 1 << a.Vars {
				var w m31.QM31
				switch a.Kind {
				case plan.AxisGuard:
					if z < a.Extent {
						w = m31.OneQM31()
						if a.At != nil {
							w = mle.EqIndex(r, uint64(z))
						}
					}
				default:
					for e := range graph.Elements(a.Shape) {
						o, at := graph.PaddedIndex(a.Shape, e), -1
						switch a.Kind {
						case plan.AxisMap:
							at = int(a.Index[e])
						case plan.AxisTokens:
							at = int(tokens[a.Tokens][o])
						case plan.AxisMoved:
							at = graph.PaddedIndex(a.From, e)
						}
						if at == z {
							w = w.Add(mle.EqIndex(r, uint64(o)))
						}
					}
				}
				next = append(next, v.Mul(w))
			}
		}
		out = next
	}
	return out
}

// inOrder is how many of the bits are the index's lowest, in order.
func inOrder(bits []int) (n int) {
	for n < len(bits) && bits[n] == n {
		n++
	}
	return n
}
