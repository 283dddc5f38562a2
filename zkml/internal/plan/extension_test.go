package plan

import (
	"math"
	"math/rand/v2"
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

// TestTableColumns compares listed columns of all sizes at one point's last
// coordinates.
func TestTableColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	point, eq := randomPoint(rng, 15), new(rowTables)
	for vars := range 15 {
		y := make([]int32, 1<<vars)
		for i := range y {
			y[i] = int32(rng.Uint32())
		}
		eq.need(vars, point)
		at := point[len(point)-vars:]
		if got, want := eq.column(y, at), mle.EvaluateBase(Embed(y), at); got != want {
			t.Errorf("column of 2^%d entries: %v, want %v", vars, got, want)
		}
	}
}
