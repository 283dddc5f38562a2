package prover

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
)

// sumsByDefinition are a window's rows, from the values of all factors at each
// prefix: products' coefficients in one variable after the other.
func sumsByDefinition(d, k, size, n int, values []gf2.Element, cols []hostColumn) []gf2.Element {
	rows := make([]gf2.Element, power(d+1, k))
	products := windowProducts(d)
	for x := range n {
		for t := range power(len(products), k) {
			// The forms of each factor, variable by variable from the last.
			a := make([]gf2.Element, 1<<k)
			for u := range a {
				a[u] = values[u*size+x]
			}
			b := [][]uint{} // bits of each column
			for _, c := range cols {
				v := make([]uint, 1<<k)
				for u := range v {
					v[u] = gf2.Bit(c, u*size+x)
				}
				b = append(b, v)
			}
			row := 0
			forms := make([]windowProduct, k)
			for v, rest := k-1, t; v >= 0; v, rest = v-1, rest/len(products) {
				forms[v] = products[rest%len(products)]
				row += forms[v].row * power(d+1, k-1-v)
			}
			for v := k - 1; v >= 0; v-- {
				for u := range len(a) / 2 {
					switch forms[v].a {
					case atZero:
						a[u] = a[2*u]
					case atOne:
						a[u] = a[2*u+1]
					default:
						a[u] = a[2*u].Add(a[2*u+1])
					}
				}
				a = a[:len(a)/2]
			}
			if coefficientOf(b, forms, d)&1 == 1 {
				rows[row] = rows[row].Add(a[0])
			}
		}
	}
	return rows
}

// coefficientOf is the sum over all ways to choose, for each variable, a coefficient
// that its form counts of the product of lines: by choosing from each factor's line.
func coefficientOf(b [][]uint, forms []windowProduct, d int) (sum uint) {
	k, m := len(forms), len(b)
	for choice := range 1 << (k * m) { // bit v of factor j: its slope or its value at 0
		product := uint(1)
		for j, values := range b {
			c := choice >> (k * j) & (1<<k - 1)
			var v uint
			for u := range values { // slope: values at both; otherwise that at 0
				if u&^c == 0 {
					v ^= values[u]
				}
			}
			product &= v
		}
		for v := range k {
			e := 0
			for j := range m {
				e += choice >> (k*j + k - 1 - v) & 1
			}
			if forms[v].b != d && forms[v].b != e {
				product = 0
			}
		}
		sum ^= product
	}
	return sum & 1
}

func randomTable(rng *rand.Rand, n int) []gf2.Element {
	v := make([]gf2.Element, n)
	for i := range v {
		v[i] = gf2.Element{Lo: rng.Uint64(), Hi: rng.Uint64()}
	}
	return v
}

// TestWindowSums compares a block's rows, by vectors and without, with the
// definition.
func TestWindowSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range [][2]int{{2, 1}, {2, 2}, {2, 3}, {2, 4}, {3, 2}, {3, 3}, {4, 2}, {4, 3}, {5, 1}, {5, 2}} {
		d, k := c[0], c[1]
		t.Run(fmt.Sprintf("d%d-k%d", d, k), func(t *testing.T) {
			size := hostChunk
			values := randomTable(rng, size<<k)
			var cols []hostColumn
			for range d - 1 {
				col := make([]uint32, size<<k/32)
				for i := range col {
					col[i] = rng.Uint32()
				}
				cols = append(cols, col)
			}
			n := hostChunk
			if d > 3 || k > 2 {
				n = 40 >> max(0, k-2) // the definition is slow: of the rest, bits are zero
				for _, col := range cols {
					for x := range size << k {
						if x%size >= n {
							gf2.SetBit(col, x, 0)
						}
					}
				}
			}
			want := sumsByDefinition(d, k, size, n, values, cols)
			s := newScheme(d, k, false)
			w := newWindowBlock(s)
			got := make([]gf2.Element, len(want))
			w.generic(s.masks(w.masks, cols, size, 0, hostChunk), values, size, hostChunk)
			w.result(got)
			if !slices.Equal(got, want) {
				t.Fatal("sums differ from the definition's")
			}
			if !hasVectors() || !w.vectors() {
				return
			}
			w = newWindowBlock(s)
			clear(got)
			w.add(s.masks(w.masks, cols, size, 0, hostChunk), values, size, hostChunk)
			w.result(got)
			if !slices.Equal(got, want) {
				t.Fatal("sums by vectors differ from the definition's")
			}
		})
	}
}

// TestMasked compares sums under masks with the definition, for all lengths of the
// last word.
func TestMasked(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	a := randomTable(rng, 200)
	for n := range len(a) {
		words := make([]uint32, (n+31)/32)
		var want gf2.Element
		for i := range words {
			words[i] = rng.Uint32()
		}
		for i, v := range a[:n] {
			want = want.Add(v.MulBit(gf2.Bit(words, i)))
		}
		start := gf2.Element{Lo: 5, Hi: 9}
		got := start
		addMasked(&got, a[:n], words)
		if got != want.Add(start) {
			t.Fatalf("%d elements: %v, want %v", n, got.Add(start), want)
		}
	}
}

// TestBatch compares columns with bound variables with sums of weights.
func TestBatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for k := 0; k <= 4; k++ {
		for _, size := range []int{1, 2, 8, 32, 64, 512} {
			weights := randomTable(rng, 1<<k)
			col := make([]uint32, max(1, size<<k/32))
			for i := range col {
				col[i] = rng.Uint32()
			}
			for from := 0; from < size; from += max(1, size/4) {
				got := make([]gf2.Polyval, max(1, size/4))
				hostColumn(col).batch(got, polyvals(weights), size, from)
				for x := range got {
					var want gf2.Element
					for u, w := range weights {
						want = want.Add(w.MulBit(gf2.Bit(col, u*size+from+x)))
					}
					if got[x].Element() != want {
						t.Fatalf("k = %d, entry %d of %d: %v, want %v", k, from+x, size, got[x].Element(), want)
					}
				}
			}
		}
	}
}

// TestCombine compares tables with bound variables with products.
func TestCombine(t *testing.T) {
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	rng := rand.New(rand.NewPCG(7, 8))
	for k := 0; k <= 3; k++ {
		for _, size := range []int{1, 32, 64, 1024} {
			weights, values := randomTable(rng, 1<<k), randomTable(rng, size<<k)
			got := make([]gf2.Polyval, size)
			h := &host{ctx: t.Context(), q: q, in: Instance{Ext: []device.Buffer[gf2.Element]{devicetest.Upload(t, q, values)}}}
			if err := h.combine(got, weights); err != nil {
				t.Fatal(err)
			}
			for x := range got {
				var want gf2.Element
				for u, w := range weights {
					want = want.Add(w.Mul(values[u*size+x]))
				}
				if got[x].Element() != want {
					t.Fatalf("k = %d, entry %d of %d: %v, want %v", k, x, size, got[x].Element(), want)
				}
			}
		}
	}
}
