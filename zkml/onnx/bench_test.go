package onnx_test

import (
	"fmt"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// BenchmarkMatMul multiplies activations of a transformer with one of its weights; GOMAXPROCS=1 shows one core.
func BenchmarkMatMul(b *testing.B) {
	for _, s := range [][3]int64{{64, 768, 3072}, {1024, 768, 768}, {8, 64, 64}} {
		b.Run(fmt.Sprint(s), func(b *testing.B) {
			f := onnxtest.New(17, "x", s[0], s[1])
			m, err := onnx.Parse(f.Output(f.Node("MatMul", []string{"x", f.Random(1, "w", 0.1, s[1], s[2])})).Bytes(), onnx.Options{})
			if err != nil {
				b.Fatal(err)
			}
			x := m.Values[m.Inputs[0]].Tensor(make([]float64, s[0]*s[1]))
			for b.Loop() {
				if err := m.Visit([]*onnx.Tensor{x}, func(int, *onnx.Tensor) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(2*s[0]*s[1]*s[2])*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
