package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// BenchmarkProve is a perceptron of the size of a digit classifier.
func BenchmarkProve(b *testing.B) {
	q := cpu(b)
	c := zkmltest.MLP(1, 1, 784, 128, 10)
	vk, pk, err := Setup(q, c.Program, c.Weights, nil)
	if err != nil {
		b.Fatal(err)
	}
	var r *Result
	for b.Loop() {
		if r, err = Prove(q, pk, c.X, nil); err != nil {
			b.Fatal(err)
		}
	}
	for _, t := range r.Timings {
		b.ReportMetric(float64(t.Time.Microseconds())/1000, string(t.Stage[:4])+"-ms")
	}
	b.ReportMetric(float64(len(r.Proof)), "bytes")
	if err := zkml.Verify(vk, c.X, r.Y, r.Proof, nil); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSetup makes the keys of the same program.
func BenchmarkSetup(b *testing.B) {
	q := cpu(b)
	c := zkmltest.MLP(1, 1, 784, 128, 10)
	for b.Loop() {
		if _, _, err := Setup(q, c.Program, c.Weights, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVerify verifies a proof of the same program.
func BenchmarkVerify(b *testing.B) {
	q := cpu(b)
	c := zkmltest.MLP(1, 1, 784, 128, 10)
	vk, pk, err := Setup(q, c.Program, c.Weights, nil)
	if err != nil {
		b.Fatal(err)
	}
	r, err := Prove(q, pk, c.X, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := zkml.Verify(vk, c.X, r.Y, r.Proof, nil); err != nil {
			b.Fatal(err)
		}
	}
}
