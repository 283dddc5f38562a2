package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// oddSizes are the axis lengths that tests of operations use.
var oddSizes = []int{1, 3, 5, 7, 33}

// agree runs a program both ways, compares every real element, and returns the padded values.
func agree(t *testing.T, p *Program, w *Weights, x []int32) (real, padded [][]int32) {
	t.Helper()
	real, err := Run(p, w, x)
	if err != nil {
		t.Fatal(err)
	}
	if padded, err = RunPadded(p, w, x); err != nil {
		t.Fatal(err)
	}
	for id := range p.Tensors {
		if got := Unpad(p.Tensors[id].Shape, padded[id]); !slices.Equal(got, real[id]) {
			t.Fatalf("tensor %q of shape %v: padded %v, real %v", p.Tensors[id].Name, p.Tensors[id].Shape, got, real[id])
		}
	}
	return real, padded
}

// coordinates of element i of a shape.
func coordinates(i int, shape []int) []int {
	at := make([]int, len(shape))
	for a := len(shape) - 1; a >= 0; a-- {
		at[a] = i % shape[a]
		i /= shape[a]
	}
	return at
}

func position(at, shape []int) int {
	i := 0
	for a := range shape {
		i = i*shape[a] + at[a]
	}
	return i
}

// einsumAt is an entry of an Einsum by its definition: labels of the result are fixed, the others run over their real extents.
func einsumAt(op Einsum, a, b []int32, as, bs []int, real map[uint8]int, fixed map[uint8]int) int64 {
	var sum func(rest []uint8) int64
	sum = func(rest []uint8) int64 {
		if len(rest) > 0 {
			total := int64(0)
			for i := range real[rest[0]] {
				fixed[rest[0]] = i
				total += sum(rest[1:])
			}
			return total
		}
		entry := func(data []int32, labels []uint8, shape []int) int64 {
			at := make([]int, len(labels))
			for i, l := range labels {
				at[i] = fixed[l]
			}
			return int64(data[position(at, shape)])
		}
		v := entry(a, op.AL, as)
		if op.B != None {
			v *= entry(b, op.BL, bs)
		}
		return v
	}
	return sum(op.Roles().Sum)
}

var formulas = []string{
	"->", "a->", "a->a", "ab->ba", "ab->b", "abc->ca", "abcd->", ",->", "a,->a", ",a->a", "a,a->", "a,a->a", "a,b->ab", "a,b->ba", "ab,bc->ac", "ab,cb->ca",
	"ab,ba->", "ab,ab->ab", "bik,bkj->bij", "bki,jbk->ibj", "bhqd,bhkd->bhqk", "bhqk,bhkd->bqhd", "abk,kc->abc", "ak,kcd->dac", "abkl,klc->cab", "abk,abk->ba",
	"abk,ak->ab", "gock,gck->go",
}

// TestEinsum compares every formula with the definition, over random odd extents, with every choice of parameters, in both layouts.
func TestEinsum(t *testing.T) {
	rng := newRand(20)
	for _, formula := range formulas {
		for round := range 12 {
			al, bl, _, err := ParseEinsum(formula)
			if err != nil {
				t.Fatal(err)
			}
			extent := map[uint8]int{}
			shape := func(labels []uint8) []int {
				s := make([]int, len(labels))
				for i, l := range labels {
					if extent[l] == 0 {
						if extent[l] = oddSizes[rng.IntN(4)]; round == 0 && len(extent) == 1 {
							extent[l] = 33
						}
					}
					s[i] = extent[l]
				}
				return s
			}
			as, bs := shape(al), shape(bl)
			two := slices.Contains([]byte(formula), ',')
			b := NewBuilder(formula)
			operand := func(name string, s []int, param bool) TensorID {
				if param {
					return b.Param(name, s, randomValues(rng, Elements(s), -128, 127), 1)
				}
				// A lookup whose value at 0 is not 0, so that padding is not.
				x := b.Input(name, s, -100, 100, 1)
				table := make([]int32, 256)
				for i := range table {
					table[i] = int32(i*37%201) - 99
				}
				return b.Lookup(name+".junk", x, 0, b.Table("junk", 8, table), 1)
			}
			x, y := operand("x", as, two && round%3 == 1), None
			if two {
				y = operand("y", bs, round%3 == 2)
			}
			out := b.Einsum("out", formula, x, y, 1)
			p, w, err := b.Build(out, NoPost, nil)
			if err != nil {
				t.Fatalf("%s: %v", formula, err)
			}
			real, padded := agree(t, p, w, randomValues(rng, p.InputLen(), -100, 100))
			op := p.Ops[len(p.Ops)-1].(Einsum)
			if op.Formula() != formula {
				t.Fatalf("%s reads as %s", formula, op.Formula())
			}
			for _, v := range []struct {
				values [][]int32
				lay    func([]int) []int
			}{{real, slices.Clone[[]int]}, {padded, PaddedShape}} {
				var second []int32
				if two {
					second = v.values[y]
				}
				os := v.lay(p.Tensor(out).Shape)
				for i, got := range v.values[out] {
					fixed := map[uint8]int{}
					for k, c := range coordinates(i, os) {
						fixed[op.OL[k]] = c
					}
					if want := einsumAt(op, v.values[x], second, v.lay(as), v.lay(bs), extent, fixed); int64(got) != want {
						t.Fatalf("%s over %v, %v: entry %d of %v is %d, expected %d", formula, as, bs, i, os, got, want)
					}
				}
			}
		}
	}
}

// TestMatMul compares with sums written out, for both ways of storing the matrix.
func TestMatMul(t *testing.T) {
	rng := newRand(21)
	for _, m := range oddSizes {
		for _, k := range oddSizes {
			const n = 5
			b := NewBuilder("both")
			x := b.Input("x", []int{m, k}, -127, 127, 1)
			w := randomValues(rng, n*k, -127, 127)
			turned := make([]int32, len(w))
			for i, v := range w {
				turned[i%n*k+i/n] = v
			}
			plain := b.MatMul("plain", x, b.Param("w", []int{k, n}, w, 1), false, 1)
			y := b.Linear("y", []Term{{1, plain}, {2, b.MatMul("turned", x, b.Param("t", []int{n, k}, turned, 1), true, 1)}}, 0, 1)
			p, weights, err := b.Build(y, NoPost, nil)
			if err != nil {
				t.Fatal(err)
			}
			input := randomValues(rng, m*k, -127, 127)
			real, _ := agree(t, p, weights, input)
			for i, got := range real[y] {
				want := int32(0)
				for j := range k {
					want += 3 * input[i/n*k+j] * w[j*n+i%n]
				}
				if got != want {
					t.Fatalf("%d x %d, entry %d: %d, want %d", m, k, i, got, want)
				}
			}
		}
	}
	b := NewBuilder("scalar")
	b.MatMul("y", b.Input("x", nil, -1, 1, 1), b.Param("w", []int{1, 1}, []int32{1}, 1), false, 1)
	if b.Err() == nil {
		t.Error("a scalar is multiplied by a matrix")
	}
}

// rearrangements of tensors of rank 0 to 4: a map for each axis and a permutation, both random.
func randomRearrange(rng *rand.Rand, shape []int) (maps []AxisMap, perm []int) {
	n := 0
	for _, a := range rng.Perm(len(shape)) {
		m := AxisMap{Axis: a}
		if rng.IntN(3) == 0 || n >= 5 {
			m.Shape = []int{shape[a]}
		} else {
			for range rng.IntN(3) {
				m.Shape = append(m.Shape, oddSizes[rng.IntN(4)])
			}
			m.Index = make([]int32, Elements(m.Shape))
			for e := range m.Index {
				m.Index[e] = int32(rng.IntN(shape[a]+1)) - 1
			}
		}
		n += len(m.Shape)
		maps = append(maps, m)
	}
	if rng.IntN(3) > 0 {
		perm = rng.Perm(n)
	}
	return maps, perm
}

// TestRearrange compares with the definition, over the padded layout.
func TestRearrange(t *testing.T) {
	rng := newRand(22)
	for round := range 200 {
		shape := make([]int, round%5)
		for a := range shape {
			shape[a] = oddSizes[rng.IntN(4)]
		}
		maps, perm := randomRearrange(rng, shape)
		b := NewBuilder("rearrange")
		x := b.Lookup("x", b.Input("in", shape, -100, 100, 1), 0, b.Table("plus", 8, clampTable(8, 1, 90)), 1) // not 0 in padding
		y := b.Rearrange("y", x, maps, perm)
		p, w, err := b.Build(y, NoPost, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, padded := agree(t, p, w, randomValues(rng, p.InputLen(), -100, 100))
		var before []int // axes before the permutation
		for _, m := range maps {
			before = append(before, m.Shape...)
		}
		out := PaddedShape(p.Tensor(y).Shape)
		for i, got := range padded[y] {
			at := make([]int, len(before))
			for k, c := range coordinates(i, out) {
				if perm == nil {
					at[k] = c
				} else {
					at[perm[k]] = c
				}
			}
			from, zero := make([]int, len(shape)), false
			for _, m := range maps {
				own := at[:len(m.Shape)]
				at = at[len(m.Shape):]
				if m.Index == nil {
					from[m.Axis] = own[0]
					continue
				}
				inside := true
				for k, c := range own {
					inside = inside && c < m.Shape[k]
				}
				if !inside || m.Index[position(own, m.Shape)] < 0 {
					zero = true
					continue
				}
				from[m.Axis] = int(m.Index[position(own, m.Shape)])
			}
			want := int32(0)
			if !zero {
				want = padded[x][position(from, PaddedShape(shape))]
			}
			if got != want {
				t.Fatalf("%v through %v, permuted %v: entry %d is %d, expected %d", shape, maps, perm, i, got, want)
			}
		}
	}
}

func TestTranspose(t *testing.T) {
	b := NewBuilder("transpose")
	x := b.Input("x", []int{2, 3, 5}, -100, 100, 0.25)
	p, w, err := b.Build(b.Transpose("y", x, []int{2, 0, 1}), NoPost, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := randomValues(newRand(23), 30, -100, 100)
	y, err := Output(p, w, in)
	if err != nil {
		t.Fatal(err)
	}
	if out := p.Tensor(p.Outputs[0]); !slices.Equal(out.Shape, []int{5, 2, 3}) || out.Scale != 0.25 {
		t.Fatalf("%+v", out)
	}
	for i, v := range y {
		at := coordinates(i, []int{5, 2, 3})
		if want := in[position([]int{at[1], at[2], at[0]}, []int{2, 3, 5})]; v != want {
			t.Fatalf("element %d is %d, expected %d", i, v, want)
		}
	}
}

// TestPair looks up every pair of a table's domain, and an operand that is a parameter.
func TestPair(t *testing.T) {
	const bits, bits2 = 3, 5
	table := make([]int32, 1<<(bits+bits2))
	for a := -4; a < 4; a++ {
		for c := -16; c < 16; c++ {
			table[(a+4)<<bits2|(c+16)] = int32(1000*a + c)
		}
	}
	b := NewBuilder("pair")
	x := b.Input("x", []int{8, 32}, -4, 3, 1)
	z := b.Input("z", []int{8, 32}, -16, 15, 1)
	values := randomValues(newRand(24), 256, -16, 15)
	w := b.Param("w", []int{8, 32}, values, 1)
	pairs := b.PairTable("pairs", bits, bits2, table)
	y := b.Pair("y", x, z, pairs, 1)
	v := b.Pair("v", x, w, pairs, 1)
	p, weights, err := b.BuildAll([]TensorID{v, y}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := make([]int32, 512)
	for i := range 256 {
		in[i], in[256+i] = int32(i>>5-4), int32(i&31-16)
	}
	real, _ := agree(t, p, weights, in)
	for i := range 256 {
		if got, want := real[y][i], 1000*in[i]+in[256+i]; got != want {
			t.Fatalf("(%d, %d) gave %d, expected %d", in[i], in[256+i], got, want)
		}
		if got, want := real[v][i], 1000*in[i]+values[i]; got != want {
			t.Fatalf("(%d, %d) gave %d, expected %d", in[i], values[i], got, want)
		}
	}
	if out, err := Output(p, weights, in); err != nil || !slices.Equal(out, slices.Concat(real[v], real[y])) {
		t.Fatalf("the outputs are %v (%v)", out, err)
	}
}

// steps makes thresholds of a channel: non-decreasing, with values that never occur.
func steps(rng *rand.Rand, values int, limit int64) []int32 {
	th := randomValues(rng, values+1, -limit, limit+1)
	th[0], th[values] = int32(-limit), int32(limit)+1
	for i := 1; i < values; i++ {
		if rng.IntN(4) == 0 {
			th[i] = th[i-1+2*rng.IntN(2)]
		}
	}
	slices.Sort(th)
	return th
}

// TestThreshold compares with a search from the front, at every edge of a bucket and at random places, channels along every axis.
func TestThreshold(t *testing.T) {
	rng := newRand(25)
	for round, shape := range [][]int{{64}, {1, 64}, {3, 64}, {64, 3}, {5, 7, 33}, {7, 64, 3}, {3, 5, 64}, {1, 1}, {}} {
		for axis := -1; axis < len(shape); axis++ {
			channels := 1
			if axis >= 0 {
				channels = shape[axis]
			}
			limit := []int64{BoundLimit - 1, 9, 100000}[round%3]
			const values, yLo = 7, -3
			var lo []int32
			for range channels {
				lo = append(lo, steps(rng, values, limit)...)
			}
			b := NewBuilder("threshold")
			x := b.Input("x", shape, -limit, limit, 1)
			y := b.Threshold("y", x, axis, b.StepsTable("steps", channels, yLo, limit, lo), 1)
			p, w, err := b.Build(y, NoPost, nil)
			if err != nil {
				t.Fatal(err)
			}
			in := randomValues(rng, p.InputLen(), -limit, limit)
			for i := range in {
				if i%2 == 0 {
					in[i] = min(max(lo[rng.IntN(len(lo))]-int32(i/2%2), int32(-limit)), int32(limit))
				}
			}
			_, padded := agree(t, p, w, in)
			op := p.Ops[0].(Threshold)
			ps := PaddedShape(shape)
			for i, v := range padded[x] {
				ch := 0
				if axis >= 0 {
					if ch = coordinates(i, ps)[axis]; ch >= channels {
						ch = 0
					}
				}
				th := lo[ch*(values+1) : (ch+1)*(values+1)]
				k := 0
				for th[k+1] <= v {
					k++
				}
				d := int64(padded[op.D[1]][i])<<16 + int64(padded[op.D[0]][i])
				e := int64(padded[op.E[1]][i])<<16 + int64(padded[op.E[0]][i])
				if got := padded[y][i]; got != int32(yLo+k) || d != int64(v-th[k]) || e != int64(th[k+1]-1-v) {
					t.Fatalf("%v axis %d: %d in channel %d gave %d with distances %d, %d; expected %d in [%d, %d)", shape, axis, v, ch, got, d, e, yLo+k, th[k], th[k+1])
				}
			}
		}
	}
}

// TestSparseStepRows has a table of as many values as there may be, of which only the last one ever occurs, so that each row looks for it. A
// key may hold many such tables, and whoever reads it makes their rows.
func TestSparseStepRows(t *testing.T) {
	const n = 1 << MaxTableBits
	table := Table{Kind: Steps, YLo: 0, YHi: n - 1, Channels: 1, Limit: 5, Lo: slices.Repeat([]int32{-5}, n+1)}
	table.Lo[n] = 6
	if err := table.validate(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for i := range n {
		if y, lo, hi := table.StepRow(0, i); y != n-1 || lo != -5 || hi != 6 {
			t.Fatalf("row %d is (%d, %d, %d)", i, y, lo, hi)
		}
		if i%(1<<10) == 0 && time.Since(start) > time.Minute { // milliseconds, unless the search is one through all rows
			t.Fatalf("%d rows took %v", i, time.Since(start))
		}
	}
}

// TestStepRows checks that a proof's rows are exactly the buckets that have values in them.
func TestStepRows(t *testing.T) {
	rng := newRand(26)
	for _, channels := range []int{1, 3, 8} {
		for _, values := range []int{1, 2, 5, 16} {
			table := Table{Kind: Steps, YLo: -2, YHi: int64(values) - 3, Channels: channels, Limit: 50}
			for range channels {
				table.Lo = append(table.Lo, steps(rng, values, 50)...)
			}
			if err := table.validate(); err != nil {
				t.Fatal(err)
			}
			for ch := range Pow2(channels) {
				have := map[[3]int32]bool{}
				for i := range Pow2(values) {
					y, lo, hi := table.StepRow(ch, i)
					if lo >= hi {
						t.Fatalf("row (%d, %d) is the empty bucket [%d, %d)", ch, i, lo, hi)
					}
					have[[3]int32{y, lo, hi}] = true
				}
				need := map[[3]int32]bool{}
				for x := int64(-50); x <= 50; x++ {
					y, lo, hi := table.StepAt(ch, x)
					need[[3]int32{y, lo, hi}] = true
				}
				if fmt.Sprint(have) != fmt.Sprint(need) {
					t.Fatalf("channel %d: rows %v, buckets %v", ch, have, need)
				}
			}
			if table.Rows() != Pow2(channels)*Pow2(values) {
				t.Fatalf("%d rows", table.Rows())
			}
		}
	}
}

func TestEmbed(t *testing.T) {
	rng := newRand(27)
	for _, shape := range [][]int{{}, {1}, {7}, {3, 5}} {
		for _, width := range oddSizes {
			const rows = 11
			b := NewBuilder("embed")
			tokens := b.Input("tokens", shape, 0, rows-1, 1)
			table := randomValues(rng, rows*width, 1, 127)
			y := b.Embed("y", tokens, b.Param("w", []int{rows, width}, table, 1), 0.5)
			p, w, err := b.Build(y, NoPost, nil)
			if err != nil {
				t.Fatal(err)
			}
			in := randomValues(rng, p.InputLen(), 0, rows-1)
			real, padded := agree(t, p, w, in)
			for i, token := range in {
				if got, want := real[y][i*width:(i+1)*width], table[int(token)*width:int(token+1)*width]; !slices.Equal(got, want) {
					t.Fatalf("token %d gave %v, expected %v", token, got, want)
				}
			}
			if !slices.Equal(padded[y], Pad(p.Tensor(y).Shape, real[y])) {
				t.Fatalf("%v: padding is not zero", shape)
			}
		}
	}
}

// TestBroadcastComputed adds tensors that repeat along different axes.
func TestBroadcastComputed(t *testing.T) {
	rng := newRand(28)
	b := NewBuilder("broadcast")
	x := b.Input("x", []int{3, 1, 5}, -50, 50, 1)
	y := b.Input("y", []int{7, 1}, -50, 50, 1)
	c := b.Param("c", []int{2, 1, 1, 1}, []int32{100, -100}, 1)
	z := b.Linear("z", []Term{{2, x}, {-3, y}, {1, c}}, 7, 1)
	p, w, err := b.Build(z, NoPost, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := randomValues(rng, 22, -50, 50)
	_, padded := agree(t, p, w, in)
	shape := []int{2, 3, 7, 5}
	if !slices.Equal(p.Tensor(z).Shape, shape) {
		t.Fatal(p.Tensor(z).Shape)
	}
	for i, got := range padded[z] {
		at := coordinates(i, PaddedShape(shape))
		if want := 2*padded[x][at[1]*8+at[3]] - 3*padded[y][at[2]] + padded[c][at[0]] + 7; got != want {
			t.Fatalf("entry %v is %d, expected %d", at, got, want)
		}
	}
}
