package prover

import (
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// corners are programs at the ends of what Validate allows: parameters that are looked up, tables of one row, thresholds of the limit 0,
// axes of one entry, maps that select nothing, values that are outputs under two shapes. Each takes the input x, of [3, 5] in [-8, 7].
var corners = map[string]func(b *graph.Builder, x graph.TensorID) []graph.TensorID{
	"pairs with a parameter": func(b *graph.Builder, x graph.TensorID) []graph.TensorID {
		w := b.Param("w", []int{3, 5}, []int32{-8, 7, 1, 0, 3, -5, 2, 2, 7, -1, 4, -3, 6, 5, -7}, 1)
		v := make([]int32, 1<<8)
		for i := range v {
			v[i] = int32(i*i%97 - 30)
		}
		t := b.PairTable("t", 4, 4, v)
		return []graph.TensorID{b.Pair("right", x, w, t, 1), b.Pair("left", w, x, t, 1), b.Pair("both", x, x, t, 1)}
	},
	"tables of few rows": func(b *graph.Builder, x graph.TensorID) []graph.TensorID {
		zero := b.Rearrange("nothing", x, []graph.AxisMap{{Axis: 1, Index: []int32{-1}}, {Axis: 0, Shape: []int{3}}}, nil)
		none := b.Linear("none", []graph.Term{{Coef: 1, T: x}, {Coef: -1, T: x}}, 0, 1)
		one := b.Threshold("one", b.Lookup("small", zero, 0, b.Table("zeros", 5, make([]int32, 32)), 1), 0, b.StepsTable("limit 0", 3, 4, 0, []int32{0, 1, 0, 1, 0, 1}), 1)
		return []graph.TensorID{one, b.Lookup("off", none, 1, b.Table("all", 5, slices.Repeat([]int32{9}, 32)), 1)}
	},
	"axes of one entry": func(b *graph.Builder, x graph.TensorID) []graph.TensorID {
		picked := b.Rearrange("picked", x, []graph.AxisMap{{Axis: 1, Shape: []int{1, 1}, Index: []int32{4}}, {Axis: 0, Index: []int32{2}}}, nil)
		th := b.Threshold("th", picked, 1, b.StepsTable("steps", 1, -1, 8, []int32{-8, -8, 0, 9}), 1)
		square := b.Einsum("square", "ab,ab->a", th, picked, 1)
		scalar := b.Einsum("scalar", "a,a->", square, square, 1)
		spread := b.Linear("spread", []graph.Term{{Coef: 1, T: scalar}, {Coef: 2, T: x}}, 3, 1)
		return []graph.TensorID{spread, b.Rearrange("copies", b.Reshape("row", th, []int{1}), []graph.AxisMap{{Axis: 0, Shape: []int{2, 3}, Index: []int32{0, -1, 0, 0, -1, 0}}}, nil)}
	},
	"outputs of two shapes": func(b *graph.Builder, x graph.TensorID) []graph.TensorID {
		table := make([]int32, 32)
		for i := range table {
			table[i] = int32(5 + i)
		}
		y := b.Lookup("y", x, 0, b.Table("t", 5, table), 1)
		even := b.Rearrange("even", y, []graph.AxisMap{{Axis: 0, Shape: []int{3}}, {Axis: 1, Shape: []int{4}, Index: []int32{0, 1, 2, 3}}}, nil)
		full := b.Rearrange("full", y, []graph.AxisMap{{Axis: 1, Shape: []int{2}, Index: []int32{1, 0}}, {Axis: 0, Shape: []int{2}, Index: []int32{2, 0}}}, nil)
		return []graph.TensorID{y, even, b.Reshape("flat", even, []int{12}), b.Reshape("moved", y, []int{5, 3}), full, b.Reshape("line", full, []int{4})}
	},
	"parameters of one bit": func(b *graph.Builder, x graph.TensorID) []graph.TensorID {
		w := b.Param("w", []int{3, 5}, []int32{-1, 0, -1, -1, 0, 0, 0, -1, 0, -1, -1, -1, 0, 0, -1}, 1)
		y := b.Lookup("y", x, 1, b.Table("t", 4, []int32{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3}), 1)
		return []graph.TensorID{b.Einsum("rows", "ij,ij->i", y, w, 1), b.Einsum("all", "ij,ij->ji", w, y, 1), b.Einsum("sum", "ij->", y, graph.None, 1)}
	},
}

// TestCorners proves them in both modes. A prover who states any other output, or who commits to a column with any entry changed, real or
// padding, is rejected.
func TestCorners(t *testing.T) {
	q := cpu(t)
	for name, body := range corners {
		t.Run(name, func(t *testing.T) {
			b := graph.NewBuilder(name)
			outputs := body(b, b.Input("x", []int{3, 5}, -8, 7, 1))
			p, w, err := b.BuildAll(outputs, nil)
			if err != nil {
				t.Fatal(err)
			}
			c := &zkmltest.Case{Name: name, Program: p, Weights: w, X: []int32{-8, 7, 0, 1, -1, 3, -4, 5, 6, 2, -2, -6, 4, -7, 7}}
			y, err := zkml.Mock(p, w, c.X)
			if err != nil {
				t.Fatal(err)
			}
			for _, mode := range []zkml.Mode{zkml.Committed, zkml.PublicWeights} {
				opts, options := quick, &zkml.Options{Weights: w}
				opts.Mode = mode
				k := &keyed{Case: c}
				if k.vk, k.pk, err = Setup(q, p, w, &opts); err != nil {
					t.Fatal(err)
				}
				r := k.prove(t, hooks{})
				if !slices.Equal(r.Y, y) {
					t.Fatalf("proved %v, the interpreter gives %v", r.Y, y)
				}
				if err := zkml.Verify(k.vk, c.X, y, r.Proof, options); err != nil {
					t.Fatal(err)
				}
				if mode == zkml.PublicWeights {
					continue
				}
				if n := k.forgeOutputs(t, options) + k.forgeColumns(t, options); n < 3 {
					t.Errorf("only %d forgeries", n)
				}
			}
		})
	}
}

// forgeOutputs states outputs with the first or last entry of each changed, and counts them.
func (k *keyed) forgeOutputs(t *testing.T, options *zkml.Options) (forged int) {
	t.Helper()
	first := 0
	for _, id := range k.Program.Outputs {
		out := k.Program.Tensor(id)
		if out.Lo < out.Hi {
			at := first + (out.Len()-1)*int(id%2)
			r := k.prove(t, hooks{statement: func(_ *session, x, y []int32) ([]int32, []int32) {
				if y[at]++; int64(y[at]) > out.Hi {
					y[at] -= 2
				}
				return x, y
			}})
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, options), zkml.CheckSumcheck, zkml.CheckMerge, zkml.CheckRelation, zkml.CheckOutputBind)
			forged++
		}
		first += out.Len()
	}
	return forged
}

// forgeColumns changes the first and the last entry of each column, and counts them.
func (k *keyed) forgeColumns(t *testing.T, options *zkml.Options) (forged int) {
	t.Helper()
	for _, id := range k.Program.Columns() {
		for _, end := range []bool{false, true} {
			r, err := Prove(cpu(t), k.pk, k.X, &Options{hooks: hooks{witness: set(id, func(_ *session, v []m31.Element) {
				at := 0
				if end {
					at = len(v) - 1
				}
				v[at] = v[at].Add(1)
			})}})
			if err != nil {
				t.Fatalf("%s: %v", k.Program.Tensor(id).Name, err)
			}
			err = zkml.Verify(k.vk, k.X, r.Y, r.Proof, options)
			if got := zkml.FailedCheck(err); got != zkml.CheckNumerator && got != zkml.CheckOutput {
				t.Fatalf("%s, last entry %t: rejected by %q (%v), expected %q", k.Program.Tensor(id).Name, end, got, err, zkml.CheckNumerator)
			}
			forged++
		}
	}
	return forged
}
