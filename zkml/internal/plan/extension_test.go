package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

func randomPoint(rng *rand.Rand, n int) []m31.QM31 {
	point := make([]m31.QM31, n)
	for i, words := 0, m31.Words(point); i < len(words); i++ {
		words[i] = m31.New(rng.Uint64())
	}
	return point
}

// TestExtension compares extensions with those of the padded tensor, for shapes
// whose rows are shorter and longer than a piece, and for the extreme values.
func TestExtension(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][]int{
		{}, {1}, {7}, {8}, {3, 5}, {5, 4}, {6, 8, 1}, {1, 3, 1, 4}, {4, 4}, {2, 1, 3}, {3, 2100}, {2, 4096}, {5000}, {4099, 3}, {1 << 13}, {3, 1 << 12, 2},
	} {
		v := make([]int32, graph.Elements(shape))
		elements := make([]m31.Element, len(v))
		for i := range v {
			switch rng.IntN(8) {
			case 0:
				v[i] = math.MinInt32
			case 1:
				v[i] = math.MaxInt32
			default:
				v[i] = int32(rng.Uint32())
			}
			elements[i] = m31.FromInt(int64(v[i]))
		}
		point := randomPoint(rng, graph.Log2(graph.Elements(graph.PaddedShape(shape))))
		if got, want := Extension(shape, v, point), mle.EvaluateBase(graph.Pad(shape, elements), point); got != want {
			t.Errorf("shape %v: extension %v, want %v", shape, got, want)
		}
	}
}

// TestTableColumns compares columns of tables of all kinds and sizes with their
// definition, and their extensions at one point's last coordinates (50 ms).
func TestTableColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	point, eq := randomPoint(rng, 15), new(rowTables)
	check := func(what string, c *Column, want []int32) {
		t.Helper()
		elements := make([]m31.Element, len(want))
		c.Write(elements, 0)
		if !slices.Equal(elements, Embed(want)) {
			t.Errorf("%s: other entries", what)
		}
		from := rng.IntN(len(want))
		part := make([]int32, 1+rng.IntN(len(want)-from))
		if c.Read(part, from); !slices.Equal(part, want[from:from+len(part)]) {
			t.Errorf("%s: other entries from %d on", what, from)
		}
		vars := graph.Log2(len(want))
		eq.need(vars, point)
		at := point[len(point)-vars:]
		if got, want := eq.column(c, at), mle.EvaluateBase(elements, at); got != want {
			t.Errorf("%s: extension %v, want %v", what, got, want)
		}
	}
	for bits := 1; bits < 15; bits++ {
		y := make([]int32, 1<<bits)
		for i := range y {
			y[i] = int32(rng.Uint32())
		}
		check(fmt.Sprintf("list of %d bits", bits), &Column{Table: &graph.Table{Bits: uint8(bits), Y: y}}, y)
		half := int64(1) << (bits - 1)
		for _, r := range [][2]int64{{-half, half - 1}, {-half, -half}, {half - 1, half - 1}, {0, 0}, {-half / 2, half / 3}, {-5 * half, -5 * half}, {7 * half, 7 * half}, {-half, 0}, {-1, half - 1}} {
			for i := range y {
				y[i] = int32(min(max(int64(i)-half, r[0]), r[1]))
			}
			check(fmt.Sprintf("clamp of %d bits to %v", bits, r), &Column{Table: &graph.Table{Bits: uint8(bits), YLo: r[0], YHi: r[1], Clamp: true}}, y)
		}
	}
	for _, channels := range []int{1, 2, 3, 5} {
		for _, values := range []int{1, 2, 3, 8, 21} {
			table := &graph.Table{Kind: graph.Steps, Channels: channels, Limit: 40, YLo: -3, YHi: -4 + int64(values)}
			for range channels {
				th := make([]int32, values+1)
				for i := range th {
					th[i] = int32(rng.IntN(12)*8 - 48) // some buckets are empty
				}
				slices.Sort(th)
				for i := range th {
					th[i] = min(max(th[i], -40), 41)
				}
				th[0], th[values] = -40, 41
				table.Lo = append(table.Lo, th...)
			}
			pl := tableOf(table)
			var want [3][]int32
			for j := range table.Rows() {
				y, lo, hi := table.StepRow(j/graph.Pow2(values), j%graph.Pow2(values))
				for k, v := range []int32{y, lo, hi} {
					want[k] = append(want[k], v)
				}
			}
			for k := range want {
				check(fmt.Sprintf("part %d of %d channels of %d values", k, channels, values), &pl.Columns[1+k], want[k])
			}
		}
	}
}
