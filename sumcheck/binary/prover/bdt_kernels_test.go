package prover

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
)

func bdtElements(g *devicetest.Gen, n int) []gf2.Element {
	out := make([]gf2.Element, n)
	for i := range out {
		out[i] = gf2.Element{Lo: g.U64(), Hi: g.U64()}
	}
	return out
}

// sliced is the table's groups in slices, as bdt.cuh has them.
func sliced(t []gf2.Element) []uint32 {
	out := make([]uint32, 4*len(t))
	for x, e := range t {
		group, k, batch := x/1024, x/32%32, x%32
		for s := range uint(128) {
			out[group*4096+int(s)*32+batch] |= uint32(e.Bit(int(s))) << k
		}
	}
	return out
}

func transposed(column []uint32) []uint32 {
	out := make([]uint32, len(column))
	for x := range 32 * len(column) {
		out[x/1024*32+x%32] |= (column[x/32] >> (x % 32) & 1) << (x / 32 % 32)
	}
	return out
}

// masksOf is elements in slices of zeros or ones.
func masksOf(t []gf2.Element) []uint32 {
	var out []uint32
	for _, e := range t {
		for s := range 128 {
			out = append(out, -uint32(e.Bit(s)))
		}
	}
	return out
}

func same[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestSlicing(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		const groups = 3
		g := devicetest.Rand(1)
		table, column := bdtElements(g, groups*1024), g.Words(groups*32)
		in := devicetest.Upload(t, q, table)
		slices, back := devicetest.Upload(t, q, make([]uint32, groups*4096)), devicetest.Upload(t, q, make([]gf2.Element, groups*1024))
		words, order := devicetest.Upload(t, q, column), devicetest.Upload(t, q, make([]uint32, groups*32))
		launch(t, q, bdtSource, "binary_slice", device.D1(2), 128, 0, slices.Arg(), in.Arg(), device.U32(groups))
		launch(t, q, bdtSource, "binary_unslice", device.D1(2), 128, 0, back.Arg(), slices.Arg(), device.U32(groups))
		launch(t, q, bdtSource, "binary_transpose_bits", device.D1(1), 256, 0, order.Arg(), words.Arg(), device.U32(groups))
		same(t, "slices", read(t, q, slices), sliced(table))
		same(t, "elements", read(t, q, back), table)
		same(t, "batches", read(t, q, order), transposed(column))
	})
}

// partsValue is the element whose parts' sums these are.
func partsValue(parts []uint32) gf2.Element {
	var all gf2.Element
	// Karatsuba's method for the values that the parts are products of is linear in
	// them: part 3 u + v with weights in the tower.
	x := func(i int) gf2.Element { return gf2.Basis(i) }
	one, x4, x5, x6 := gf2.One(), x(16), x(32), x(64)
	// (L L' + R R') + X_6 (S S' + L L' + R R' + X_5 R R')
	outer := [3]gf2.Element{one.Add(x6), one.Add(x6).Add(x6.Mul(x5)), x6}
	inner := [3]gf2.Element{one.Add(x5), one.Add(x5).Add(x5.Mul(x4)), x5}
	for t, p := range parts {
		all = all.Add(gf2.Element{Lo: uint64(p)}.Mul(outer[t/3]).Mul(inner[t%3]))
	}
	return all
}

func TestCompose(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		const half = 2
		g := devicetest.Rand(2)
		for degree := 2; degree <= 5; degree++ {
			for _, bound := range []int{-1, 0, 2} { // variables bound before a rebuilt round; -1: all tables are sliced
				tables := make([][]gf2.Element, degree)
				for k := range tables {
					tables[k] = bdtElements(g, 2*half*1024)
				}
				args := []device.Arg{}
				count, masks := 0, devicetest.Upload(t, q, make([]uint32, 4))
				if bound >= 0 {
					count = 2 << bound
					r := bdtElements(g, 1<<bound)
					var all []gf2.Element
					for _, y := range points(degree) {
						for m := range count {
							v := gf2.Element{Lo: uint64(y)}
							if m%2 == 0 {
								v = v.Add(gf2.One())
							}
							all = append(all, r[m/2].Mul(v))
						}
					}
					masks = devicetest.Upload(t, q, masksOf(all))
					for k := 1; k < degree; k++ {
						column := g.Words(len(tables[k]) / 32 << bound)
						clear(tables[k])
						for x := range tables[k] {
							for l := range r {
								if gf2.Bit(column, l*len(tables[k])+x) == 1 {
									tables[k][x] = tables[k][x].Add(r[l])
								}
							}
						}
						args = append(args, devicetest.Upload(t, q, transposed(column)).Arg())
					}
				} else {
					for k := 1; k < degree; k++ {
						args = append(args, devicetest.Upload(t, q, sliced(tables[k])).Arg())
					}
				}
				for len(args) < 4 {
					args = append(args, device.Null())
				}
				var want []gf2.Element
				for _, y := range points(degree) {
					var sum gf2.Element
					for x := range half * 1024 {
						product := gf2.One()
						for _, a := range tables {
							product = product.Mul(a[x].Add(gf2.Element{Lo: uint64(y)}.Mul(a[x].Add(a[x+half*1024]))))
						}
						sum = sum.Add(product)
					}
					want = append(want, sum)
				}
				for each := range 2 {
					sums := devicetest.Upload(t, q, make([]uint32, 9*degree))
					first := devicetest.Upload(t, q, sliced(tables[0]))
					all := append([]device.Arg{sums.Arg(), first.Arg()}, args...)
					all = append(all, masks.Arg(), device.U32(degree), device.U32(half), device.U32(count), device.U32(each))
					launch(t, q, bdtSource, "binary_compose", device.D2(2-each, degree), bdtThreads, bdtShared, all...)
					got := read(t, q, sums)
					for i := range want {
						if v := partsValue(got[9*i : 9*i+9]); v != want[i] {
							t.Fatalf("d = %d, bound %d, each %d: value %d is %v, want %v", degree, bound, each, i, v, want[i])
						}
					}
				}
			}
		}
	})
}

func TestScale(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		const half = 3
		g := devicetest.Rand(3)
		r := bdtElements(g, 1)
		factor := devicetest.Upload(t, q, r)
		for count := 1; count <= 5; count++ {
			var args []device.Arg
			var tables [][]gf2.Element
			var got []device.Buffer[uint32]
			for k := range 5 {
				if k >= count {
					args = append(args, device.Null())
					continue
				}
				tables = append(tables, bdtElements(g, 2*half*1024))
				got = append(got, devicetest.Upload(t, q, sliced(tables[k])))
				args = append(args, got[k].Arg())
			}
			args = append(args, factor.Arg(), device.U32(half))
			launch(t, q, bdtSource, "binary_scale", device.D2(2, count), bdtThreads, bdtShared, append(args[:7:7], device.U32(0))...)
			for k, a := range tables {
				for x := range half * 1024 {
					a[x] = a[x].Add(r[0].Mul(a[x].Add(a[x+half*1024])))
				}
				same(t, fmt.Sprintf("table %d folded", k), read(t, q, got[k]), sliced(a))
			}
			launch(t, q, bdtSource, "binary_scale", device.D2(2, count), bdtThreads, bdtShared, append(args[:7:7], device.U32(1))...)
			for k, a := range tables {
				for x := range half * 1024 {
					a[x+half*1024] = r[0].Mul(a[x])
					a[x] = a[x].Add(a[x+half*1024])
				}
				same(t, fmt.Sprintf("table %d grown", k), read(t, q, got[k]), sliced(a))
			}
		}
	})
}

func TestGetBatches(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		const groups = 2
		g := devicetest.Rand(4)
		for count := 1; count <= 8; count *= 2 {
			column, r := g.Words(groups*32*count), bdtElements(g, count)
			want := make([]gf2.Element, groups*1024)
			for x := range want {
				for l := range r {
					if gf2.Bit(column, l*len(want)+x) == 1 {
						want[x] = want[x].Add(r[l])
					}
				}
			}
			out := devicetest.Upload(t, q, make([]uint32, groups*4096))
			words, masks := devicetest.Upload(t, q, transposed(column)), devicetest.Upload(t, q, masksOf(r))
			launch(t, q, bdtSource, "binary_get_batches", device.D1(1), 256, 0, out.Arg(), words.Arg(), masks.Arg(), device.U32(count), device.U32(groups))
			same(t, fmt.Sprintf("%d values", 1<<bits.TrailingZeros(uint(count))), read(t, q, out), sliced(want))
		}
	})
}

func TestTerms(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		const groups = 3
		g := devicetest.Rand(5)
		for _, c := range []struct{ degree, bound int }{{2, 1}, {2, 2}, {2, 3}, {3, 2}, {4, 1}, {4, 2}, {5, 1}} {
			values := 1 << c.bound
			p1 := bdtElements(g, values*groups*1024)
			args := []device.Arg{devicetest.Upload(t, q, p1).Arg()}
			var columns [][]uint32
			for k := 1; k < c.degree; k++ {
				columns = append(columns, g.Words(values*groups*32))
				args = append(args, devicetest.Upload(t, q, transposed(columns[k-1])).Arg())
			}
			for len(args) < 5 {
				args = append(args, device.Null())
			}
			terms := 1 << ((c.degree - 1) * c.bound)
			want := make([]gf2.Element, values*terms)
			for j := range want {
				for x := range groups * 1024 {
					bit := uint(1)
					for k := range columns {
						value := j >> ((c.degree - 2 - k) * c.bound) % values
						bit &= gf2.Bit(columns[k], value*groups*1024+x)
					}
					if bit == 1 {
						want[j] = want[j].Add(p1[j/terms*groups*1024+x])
					}
				}
			}
			got := devicetest.Upload(t, q, make([]gf2.Element, len(want)))
			name, width := termsKernel(terms)
			args = append([]device.Arg{got.Arg()}, append(args, device.U32(c.degree), device.U32(c.bound), device.U32(groups))...)
			launch(t, q, bdtTermsSource, name, device.D2(1, values*device.Blocks(terms, width)), 256, 0, args...)
			same(t, fmt.Sprintf("d = %d, %d variables", c.degree, c.bound), read(t, q, got), want)
		}
	})
}

func TestWiden(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, n := range []int{1, 32, 300} {
			column := devicetest.Rand(6).Words(device.Blocks(n, 32))
			got := devicetest.Upload(t, q, make([]gf2.Element, n))
			words := devicetest.Upload(t, q, column)
			launch(t, q, bdtTermsSource, "binary_widen", device.D1(device.Blocks(n, 256)), 256, 0, got.Arg(), words.Arg(), device.U32(n))
			for x, v := range read(t, q, got) {
				if want := (gf2.Element{Lo: uint64(gf2.Bit(column, x))}); v != want {
					t.Fatalf("%d bits: element %d is %v, want %v", n, x, v, want)
				}
			}
		}
	})
}
