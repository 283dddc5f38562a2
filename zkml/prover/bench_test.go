package prover

import (
	"context"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// digitSized is a perceptron of the size of a digit classifier.
func digitSized() *zkmltest.Case { return zkmltest.MLP(1, 1, 784, 128, 10) }

// devices runs a benchmark on the CPU and on the first GPU, if there is one.
func devices(b *testing.B, f func(b *testing.B, q *device.Queue)) {
	for _, name := range []string{"cpu", "cuda:0"} {
		b.Run(name, func(b *testing.B) {
			d, err := device.Open(name)
			if err != nil {
				b.Skip(err)
			}
			q, err := d.NewQueue(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			defer q.Close()
			f(b, q)
		})
	}
}

func BenchmarkProve(b *testing.B) {
	c := digitSized()
	devices(b, func(b *testing.B, q *device.Queue) {
		vk, pk, err := Setup(q, c.Program, c.Weights, nil)
		if err != nil {
			b.Fatal(err)
		}
		key, err := pk.Load(q)
		if err != nil {
			b.Fatal(err)
		}
		defer key.Evict()
		r, err := key.Prove(q, c.X, nil) // warm: kernels compiled, weights committed
		if err != nil {
			b.Fatal(err)
		}
		before := q.Stats()
		for b.Loop() {
			if r, err = key.Prove(q, c.X, nil); err != nil {
				b.Fatal(err)
			}
		}
		n, s := float64(b.N), q.Stats().Since(before)
		for _, t := range r.Timings {
			b.ReportMetric(float64(t.Time.Microseconds())/1000, string(t.Stage[:4])+"-ms")
		}
		b.ReportMetric(float64(s.Launches)/n, "launches")
		b.ReportMetric(float64(s.Syncs)/n, "syncs")
		b.ReportMetric(float64(s.BytesIn)/n, "bytes-in")
		b.ReportMetric(float64(s.BytesOut)/n, "bytes-out")
		b.ReportMetric(float64(len(r.Proof)), "proof-bytes")
		if err := zkml.Verify(vk, c.X, r.Y, r.Proof, nil); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkSetup(b *testing.B) {
	c := digitSized()
	devices(b, func(b *testing.B, q *device.Queue) {
		for b.Loop() {
			if _, _, err := Setup(q, c.Program, c.Weights, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// scores is a program with the statement of a language model: 64 rows of 50257
// outputs, of few columns each.
func scores() *zkmltest.Case { return zkmltest.Product(1, 64, 4, 50257, false) }

func BenchmarkVerify(b *testing.B) {
	b.Run("digits", func(b *testing.B) { verifyBenchmark(b, digitSized()) })
	b.Run("scores", func(b *testing.B) { verifyBenchmark(b, scores()) })
	b.Run("decoder", func(b *testing.B) { verifyBenchmark(b, zkmltest.Decoder(2, 16, 64, 4, true)) })
}

func verifyBenchmark(b *testing.B, c *zkmltest.Case) {
	q := cpu(b)
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

// BenchmarkMatMul multiplies in the forward pass: a layer of a language model,
// with rows for every token and with one, both ways that weights are stored.
func BenchmarkMatMul(b *testing.B) {
	for _, s := range []struct {
		rows  int
		trans bool
	}{{64, false}, {64, true}, {1, false}, {1, true}} {
		c := zkmltest.Product(1, s.rows, 768, 3072, s.trans)
		pl, err := plan.ForProgram(c.Program, plan.Commits{})
		if err != nil {
			b.Fatal(err)
		}
		l, err := newLayout(pl, c.Program)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.Name, func(b *testing.B) {
			devices(b, func(b *testing.B, q *device.Queue) {
				key, err := loadKey(q, l, &ProvingKey{of: c.Program, weights: c.Weights}, nil)
				if err != nil {
					b.Fatal(err)
				}
				defer key.free()
				s, err := newSession(q, nil, &zkml.Argument{Plan: pl}, l, key, nil)
				if err != nil {
					b.Fatal(err)
				}
				defer s.free()
				if err := s.input(c.Program, c.X); err != nil {
					b.Fatal(err)
				}
				const batch = 20 // launches between two waits
				for b.Loop() {
					for range batch {
						if err := s.forward(c.Program); err != nil {
							b.Fatal(err)
						}
					}
					if err := q.Sync(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/batch*1e6, "us/product")
			})
		})
	}
}
