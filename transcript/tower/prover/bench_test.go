package prover

import (
	"context"
	"os"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// on runs a benchmark on the device that ZKWARP_TEST_DEVICES names, the CPU by default.
func on(b *testing.B, f func(b *testing.B, q *device.Queue, tr *Transcript)) {
	b.Helper()
	name := os.Getenv("ZKWARP_TEST_DEVICES")
	if name == "" {
		name = "cpu"
	}
	q := devicetest.Queue(b, devicetest.Open(b, name))
	tr, err := New(q, tower.LabelTest)
	if err != nil {
		b.Fatal(err)
	}
	defer tr.Free()
	f(b, q, tr)
}

// A step after the other in one launch, which draws challenges: what a step takes where
// its code is at hand.
func BenchmarkSteps(b *testing.B) {
	on(b, func(b *testing.B, q *device.Queue, tr *Transcript) {
		const steps = 4096
		dst := devicetest.Upload(b, q, make([]gf2.Element, 2*steps))
		for b.Loop() {
			if err := tr.Challenge(dst); err != nil {
				b.Fatal(err)
			}
			if err := q.Sync(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/steps, "ns/step")
	})
}

// Blocks of a list of a chunk: as steps, but with a message.
func BenchmarkBlocks(b *testing.B) {
	on(b, func(b *testing.B, q *device.Queue, tr *Transcript) {
		const lists, blocks = 64, 16
		list := devicetest.Upload(b, q, devicetest.Rand(1).Words(16*blocks))
		run := graph(b, q, func() error {
			for range lists {
				if err := tr.AbsorbWords(list); err != nil {
					return err
				}
			}
			return nil
		})
		for b.Loop() {
			if err := run(); err != nil {
				b.Fatal(err)
			}
			if err := q.Sync(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(lists*blocks), "ns/block")
	})
}

// graph is run as one graph, where there are graphs.
func graph(b *testing.B, q *device.Queue, run func() error) func() error {
	b.Helper()
	if q.OnHost() {
		return run
	}
	g, err := q.Record(run)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := g.Free(); err != nil {
			b.Error(err)
		}
	})
	return g.Launch
}

// A message of four elements and a challenge a launch, launches as one graph: what a
// round's transcript takes by itself.
func BenchmarkRounds(b *testing.B) {
	on(b, func(b *testing.B, q *device.Queue, tr *Transcript) {
		const rounds = 256
		dst := devicetest.Upload(b, q, make([]gf2.Element, 1))
		message := devicetest.Upload(b, q, make([]uint32, 16))
		run := graph(b, q, func() error {
			for range rounds {
				if err := tr.AbsorbChallenge(message, dst); err != nil {
					return err
				}
			}
			return nil
		})
		for b.Loop() {
			if err := run(); err != nil {
				b.Fatal(err)
			}
			if err := q.Sync(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rounds, "ns/round")
	})
}

func BenchmarkGrind(b *testing.B) {
	on(b, func(b *testing.B, q *device.Queue, tr *Transcript) {
		bits := 16
		if !q.OnHost() {
			bits = 28
		}
		nonce := devicetest.Upload(b, q, make([]uint32, 2))
		tried := uint64(0)
		for b.Loop() {
			if err := tr.Grind(context.Background(), bits, nonce, device.Buffer[gf2.Element]{}); err != nil {
				b.Fatal(err)
			}
			n, err := nonce.Read(q)
			if err != nil {
				b.Fatal(err)
			}
			tried += uint64(n[0]) | uint64(n[1])<<32
		}
		b.ReportMetric(float64(tried)/b.Elapsed().Seconds()/1e6, "Mnonces/s")
	})
}
