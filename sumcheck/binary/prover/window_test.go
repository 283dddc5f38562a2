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

// windows are all that there are kernels for.
var windows = []window{{k: 4, degree: 2}, {k: 4, degree: 3}, {k: 3, degree: 4}, {k: 4, degree: 4}, {k: 3, degree: 5}}

// foldChallenges is how many challenges fold takes at once.
var foldChallenges = []int{1, 3, 4}

func randomElements(rng *rand.Rand, n int) []gf2.Element {
	e := make([]gf2.Element, n)
	for i := range e {
		e[i] = gf2.Element{Lo: rng.Uint64(), Hi: rng.Uint64()}
	}
	return e
}

func randomWords(rng *rand.Rand, n int) []uint32 {
	w := make([]uint32, n)
	for i := range w {
		w[i] = rng.Uint32()
	}
	return w
}

// coefficient is the coefficient, at one point, of the monomial that has the digits of
// e, in base len(columns)+1, as exponents: by its definition, the product of the columns'
// polynomials in the window's variables.
func (w window) coefficient(columns [][]uint32, e, x int) (sum uint) {
	// A choice of one subset of the variables for each column, disjoint or not, whose
	// characteristic vectors add up to the exponents.
	var walk func(j int, left []int) uint
	walk = func(j int, left []int) uint {
		if j == len(columns) {
			if slices.Max(left) > 0 {
				return 0
			}
			return 1
		}
		var total uint
	subsets:
		for s := range 1 << w.k {
			rest := slices.Clone(left)
			for v := range rest {
				if rest[v] -= s >> v & 1; rest[v] < 0 {
					continue subsets
				}
			}
			// The column's coefficient at s is its sum over the points below s.
			var c uint
			for u := range 1 << w.k {
				if u&s == u {
					c ^= gf2.Bit(columns[j], u*w.points+x)
				}
			}
			if c == 1 {
				total ^= walk(j+1, rest)
			}
		}
		return total
	}
	left := make([]int, w.k)
	for v := range left {
		left[v] = e % w.degree
		e /= w.degree
	}
	return walk(0, left)
}

// TestWindowPass: masks, patterns and sums against their definitions.
func TestWindowPass(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, w := range windows {
			for _, points := range []int{256, 768} { // no power of two: the kernels do not ask for one
				if w.points = points; points > 256 && w.k == 4 {
					continue
				}
				t.Run(fmt.Sprintf("k%d_d%d_%d", w.k, w.degree, points), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(w.k), uint64(w.degree)))
					p1 := randomElements(rng, points<<w.k)
					var columns [][]uint32
					var onDevice []device.Buffer[uint32]
					for range w.degree - 1 {
						c := randomWords(rng, points<<w.k/32)
						columns, onDevice = append(columns, c), append(onDevice, devicetest.Upload(t, q, c))
					}
					masks := devicetest.Upload(t, q, make([]uint32, w.maskWords()))
					patterns := devicetest.Upload(t, q, make([]uint8, (w.degree-1)*w.patternBytes()))
					sums := devicetest.Upload(t, q, randomWords(rng, w.sumWords(1<<w.k)))
					elements := device.View[uint32](devicetest.Upload(t, q, p1))
					if err := w.prepare(q, masks, patterns, sums, onDevice); err != nil {
						t.Fatal(err)
					}
					if err := w.pass(q, sums, elements, masks); err != nil {
						t.Fatal(err)
					}
					got, err := device.View[gf2.Element](sums).Read(q)
					if err != nil {
						t.Fatal(err)
					}
					for e := range w.masks() {
						if w.masks() > 100 && e%7 != 3 && e < w.masks()-8 {
							continue // some of many, and the last group
						}
						want := make([]gf2.Element, 1<<w.k)
						for x := range points {
							if w.coefficient(columns, e, x) == 1 {
								for u := range want {
									want[u] = want[u].Add(p1[u*points+x])
								}
							}
						}
						for u := range want {
							if g := got[u*8*w.groups()+e]; g != want[u] {
								t.Fatalf("sum of prefix %d, coefficient %d: %v, want %v", u, e, g, want[u])
							}
						}
					}
					bytes, err := patterns.Read(q)
					if err != nil {
						t.Fatal(err)
					}
					for j, c := range columns {
						for x := range points {
							want := 0
							for u := range 1 << w.k {
								want |= int(gf2.Bit(c, u*points+x)) << u
							}
							got := 0
							if w.k == 4 {
								i := j*w.patternBytes() + 2*x
								got = int(bytes[i]) | int(bytes[i+1])<<8
							} else {
								got = int(bytes[j*w.patternBytes()+x])
							}
							if got != want {
								t.Fatalf("pattern of column %d at %d: %x, want %x", j, x, got, want)
							}
						}
					}
				})
			}
		}
	})
}

// TestStretches: rows of sums that select from the same elements.
func TestStretches(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(3, 4))
		w := window{k: 3, degree: 3, points: 512 * 8}
		const rows = 3
		elements, masks := randomElements(rng, 512), randomWords(rng, w.maskWords())
		sums := devicetest.Upload(t, q, randomWords(rng, w.sumWords(1<<rows)))
		if err := w.stretches(q, sums, device.View[uint32](devicetest.Upload(t, q, elements)), devicetest.Upload(t, q, masks), rows); err != nil {
			t.Fatal(err)
		}
		got, err := device.View[gf2.Element](sums).Read(q)
		if err != nil {
			t.Fatal(err)
		}
		for row := range 1 << rows {
			for m := range 8 * w.groups() {
				var want gf2.Element
				for x := range elements {
					word := (row*512 + x) / 32
					i := word/8*w.groups()*64 + m/8*64 + (4*(m%8)+word%4)*2 + word/4%2
					if masks[i]>>(x%32)&1 == 1 {
						want = want.Add(elements[x])
					}
				}
				if got[row*8*w.groups()+m] != want {
					t.Fatalf("row %d, mask %d: %v, want %v", row, m, got[row*8*w.groups()+m], want)
				}
			}
		}
	})
}

// fragments are the matrices of the products by the weights, as the fold takes them.
func fragments(weights []gf2.Element) []uint32 {
	f := make([]uint32, 512*len(weights))
	for u, c := range weights {
		for i := range 128 {
			p := c.Mul(gf2.Basis(i))
			for o := range 128 {
				limb, column, tile := o/32, o/16%2, o%16
				lane := 4*(2*limb+column) + i/32
				f[((u/2*16+tile)*32+lane)*2+u%2] |= uint32(p.Bit(o)) << (i % 32)
			}
		}
	}
	return f
}

// TestFold: sums of prefixes times constants.
func TestFold(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, k := range foldChallenges {
			for _, entries := range []int{64, 1088} {
				weights, in := randomElements(rng, 1<<k), randomElements(rng, entries<<k)
				out := devicetest.Upload(t, q, make([]gf2.Element, entries))
				if err := fold(q, k, device.View[uint32](out), device.View[uint32](devicetest.Upload(t, q, in)), devicetest.Upload(t, q, fragments(weights)), entries); err != nil {
					t.Fatal(err)
				}
				got, err := out.Read(q)
				if err != nil {
					t.Fatal(err)
				}
				for x := range got {
					var want gf2.Element
					for u, c := range weights {
						want = want.Add(c.Mul(in[u*entries+x]))
					}
					if got[x] != want {
						t.Fatalf("k = %d: entry %d of %d: %v, want %v", k, x, entries, got[x], want)
					}
				}
			}
		}
	})
}
