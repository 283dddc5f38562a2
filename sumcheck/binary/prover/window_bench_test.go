package prover

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// noise is a buffer of n random words, which repeat after 2^22.
func noise(b *testing.B, q *device.Queue, n int) device.Buffer[uint32] {
	b.Helper()
	buf, err := device.Alloc[uint32](q, n)
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(buf.Free)
	done := min(n, 1<<22)
	if err := buf.Slice(0, done).CopyFrom(q, randomWords(rand.New(rand.NewPCG(uint64(n), 1)), done)); err != nil {
		b.Fatal(err)
	}
	for done < n {
		more := min(done, n-done)
		if err := device.Copy(q, buf.Slice(done, done+more), buf.Slice(0, more)); err != nil {
			b.Fatal(err)
		}
		done += more
	}
	return buf
}

// measure runs op on the device b.N times.
func measure(b *testing.B, q *device.Queue, bytes int, op func() error) {
	b.Helper()
	if err := op(); err != nil {
		b.Fatal(err)
	}
	if err := q.Sync(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(bytes))
	for b.Loop() {
		for range 10 { // launches overlap with the work
			if err := op(); err != nil {
				b.Fatal(err)
			}
		}
		if err := q.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(10*b.N), "us/launch")
}

// BenchmarkWindow: the parts of a window on a GPU, resident data.
func BenchmarkWindow(b *testing.B) {
	q := devicetest.Queue(b, devicetest.Open(b, "cuda"))
	for _, n := range []int{20, 24, 28} {
		elements := noise(b, q, 4<<n)
		for _, w := range windows {
			w.points = 1 << (n - w.k)
			columns := make([]device.Buffer[uint32], w.degree-1)
			for j := range columns {
				columns[j] = noise(b, q, 1<<(n-5))
			}
			masks, sums := noise(b, q, w.maskWords()), noise(b, q, w.sumWords(1<<w.k))
			patterns := device.View[uint8](noise(b, q, (w.degree-1)*w.patternBytes()/4))
			name := fmt.Sprintf("n%d/d%d/k%d/", n, w.degree, w.k)
			b.Run(name+"prepare", func(b *testing.B) {
				measure(b, q, 10*((w.degree-1)<<(n-3)+4*w.maskWords()+patterns.Len()), func() error { return w.prepare(q, masks, patterns, sums, columns) })
			})
			b.Run(name+"pass", func(b *testing.B) {
				measure(b, q, 10*(16<<n+4*w.maskWords()), func() error { return w.pass(q, sums, elements, masks) })
			})
		}
		for _, k := range foldChallenges {
			out, matrices := noise(b, q, 4<<(n-k)), noise(b, q, fragmentWords(k))
			b.Run(fmt.Sprintf("n%d/fold%d", n, k), func(b *testing.B) {
				measure(b, q, 10*(16<<n+16<<(n-k)), func() error { return fold(q, k, out, elements, matrices, 1<<(n-k)) })
			})
		}
	}
}

// product is p_1 and bit columns on a device, with the sums of p_1 times the first columns.
type product struct {
	p1     device.Buffer[gf2.Element]
	bits   []device.Buffer[uint32]
	values []gf2.Element // values[d]
}

func randomProduct(b *testing.B, q *device.Queue, n int) *product {
	b.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), 9))
	p := &product{values: make([]gf2.Element, binary.MaxDegree+1)}
	var host [][]uint32
	for range binary.MaxDegree - 1 {
		host = append(host, randomWords(rng, 1<<(n-5)))
		p.bits = append(p.bits, devicetest.Upload(b, q, host[len(host)-1]))
	}
	var err error
	if p.p1, err = device.Alloc[gf2.Element](q, 1<<n); err != nil {
		b.Skip(err)
	}
	b.Cleanup(p.p1.Free)
	part := make([]gf2.Element, min(1<<n, 1<<22))
	for from := 0; from < 1<<n; from += len(part) {
		for i := range part {
			part[i] = gf2.Element{Lo: rng.Uint64(), Hi: rng.Uint64()}
			for d := 2; d <= binary.MaxDegree && gf2.Bit(host[d-2], from+i) == 1; d++ {
				p.values[d] = p.values[d].Add(part[i])
			}
		}
		if err := p.p1.Slice(from, from+len(part)).CopyFrom(q, part); err != nil {
			b.Fatal(err)
		}
	}
	return p
}

// median is the middle of the times that op takes, with the wait for the device.
func median(b *testing.B, q *device.Queue, op func() error) time.Duration {
	b.Helper()
	var times []time.Duration
	for range 11 {
		start := time.Now()
		if err := op(); err != nil {
			b.Fatal(err)
		}
		if err := q.Sync(); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// plans are ways to divide the rounds, by the degree.
var plans = [binary.MaxDegree + 1][]windowPlan{
	2: {{4, 0, 0}, {4, secondRounds, 0}, {4, 0, 18}, {4, 0, 17}},
	3: {{4, 0, 0}, {4, 0, 18}, {4, 0, 17}},
	4: {{3, 0, 0}, {4, 0, 0}, {4, 0, 18}, {3, 0, 18}, {3, 0, 17}},
	5: {{3, 0, 0}},
}

// BenchmarkProof: whole proofs on a GPU from resident data, which verify: the launches one
// by one, as a graph, and Prove itself.
func BenchmarkProof(b *testing.B) {
	q := devicetest.Queue(b, devicetest.Open(b, "cuda"))
	for _, n := range []int{20, 22, 24, 28} {
		p := randomProduct(b, q, n)
		for d := 2; d <= binary.MaxDegree; d++ {
			b.Run(fmt.Sprintf("n%d/d%d", n, d), func(b *testing.B) {
				in := Instance{Shape: binary.Shape{Vars: n, Degree: d, Kind: binary.ExtBits}, Ext: []device.Buffer[gf2.Element]{p.p1}, Bits: p.bits[:d-1]}
				tr := tower.New(tower.LabelTest)
				prove := func() (*binary.Proof, error) {
					proof, _, err := Prove(context.Background(), q, tr.Clone(), in, p.values[d], Options{})
					return proof, err
				}
				proof, err := prove()
				if err != nil {
					b.Fatal(err)
				}
				if _, err := binary.Verify(tr.Clone(), in.Claim(p.values[d]), proof); err != nil {
					b.Fatal(err)
				}
				state, err := newState(q, tr, d, p.values[d])
				if err != nil {
					b.Fatal(err)
				}
				defer state.Free()
				r, err := newWindowProof(q, in, state)
				if err != nil {
					b.Fatal(err)
				}
				defer r.free()
				for _, part := range []struct {
					name string
					op   func() error
				}{{"prepare", r.prepare}, {"pass", r.pass}, {"finish", r.finish}, {"fold", r.fold}, {"second", r.second}, {"masked", r.masked}, {"tail", func() error { return r.tail.launch(context.Background()) }}, {"launches", r.launch}} {
					b.ReportMetric(float64(median(b, q, part.op).Nanoseconds())/1e3, part.name+"-us")
				}
				graph, err := q.Record(r.launch)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(median(b, q, graph.Launch).Nanoseconds())/1e3, "graph-us")
				if err := graph.Free(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(median(b, q, func() error { _, err := prove(); return err }).Nanoseconds())/1e3, "prove-us")
				for _, ks := range plans[d] {
					r, err := newWindows(q, in, state, ks)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(median(b, q, r.launch).Nanoseconds())/1e3, fmt.Sprintf("%d+%d+%d-us", ks.first, ks.second, ks.masksFrom))
					r.free()
				}
				recorded, err := Record(q, in)
				if err != nil {
					b.Fatal(err)
				}
				defer recorded.Free()
				b.ReportMetric(float64(median(b, q, func() error {
					_, _, err := recorded.Prove(context.Background(), tr.Clone(), p.values[d])
					return err
				}).Nanoseconds())/1e3, "recorded-us")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
