package models

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// thin keeps every k-th example where there are many, and fewer in short tests or where each example has many positions.
func thin(s *Set, most int) ([][]float64, [][]int) {
	if len(s.Labels[0]) > 1 {
		most /= 5
	}
	if testing.Short() {
		most = min(most, 20)
	}
	var inputs [][]float64
	var labels [][]int
	for i := range min(most, len(s.Inputs)) {
		k := i * len(s.Inputs) / min(most, len(s.Inputs))
		inputs, labels = append(inputs, s.Inputs[k]), append(labels, s.Labels[k])
	}
	return inputs, labels
}

// floor is the share of answers that the integer program may lose against the float model, beside a single one.
const floor = 0.02

// ceiling is what the integer program's perplexity may be of the float model's.
const ceiling = 1.01

// TestAccuracy prints the share of right answers on held-out examples: of onnxruntime (stored), of the reference executor, and of the
// integer program calibrated on training examples; and the perplexity of the latter two.
func TestAccuracy(t *testing.T) {
	var table strings.Builder
	some(t, func(t *testing.T, n *Network, file *File) {
		if testing.Short() && file.File != "model.onnx.gz" || file.File == "dynamo.onnx.gz" {
			t.Skip("left to longer tests, or the same network as another file's")
		}
		m, s := read(t, n, file), set(t, n)
		p, w, err := quant.Build(m, calibrated(t, n, file, m, s))
		if err != nil {
			t.Fatal(err)
		}
		inputs, labels := thin(s, 100)
		var float, integer, total int
		var floatBits, integerBits float64
		for i, x := range inputs {
			values, err := m.RunOne(x)
			if err != nil {
				t.Fatal(err)
			}
			float += Right(values[m.Outputs[0]], labels[i])
			floatBits += Bits(values[m.Outputs[0]], labels[i])
			q, err := quant.QuantizeInput(p, x)
			if err != nil {
				t.Fatal(err)
			}
			y, err := graph.Output(p, w, q)
			if err != nil {
				t.Fatal(err)
			}
			integer += Right(reals(y), labels[i])
			integerBits += Bits(scaled(y, p.Tensor(p.Outputs[0]).Scale), labels[i])
			total += len(labels[i])
		}
		a, b := float64(float)/float64(total), float64(integer)/float64(total)
		pa, pb := math.Exp2(floatBits/float64(total)), math.Exp2(integerBits/float64(total))
		fmt.Fprintf(&table, "%-14s %-12s %-12s %9d %8.3f %8.3f %8.3f %8.3f %8.3f\n", n.Name, strings.TrimSuffix(file.File, ".onnx.gz"), file.By, n.Parameters, file.Accuracy, a, b, pa, pb)
		if a-b > floor+1/float64(total) {
			t.Errorf("float accuracy %.3f, integer %.3f", a, b)
		}
		if pb > ceiling*pa {
			t.Errorf("float perplexity %.4f, integer %.4f", pa, pb)
		}
	})
	t.Logf("accuracy on held-out examples\n%-14s %-12s %-12s %9s %8s %8s %8s %17s\n%s", "network", "file", "made by", "weights", "runtime", "float", "integer", "their perplexity", table.String())
}

func reals(y []int32) []float64 { return scaled(y, 1) }

func scaled(y []int32, scale float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = float64(v) * scale
	}
	return out
}
