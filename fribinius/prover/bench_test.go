package prover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/fribinius"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// BenchmarkOpening commits to 2^n random bits and opens them on every device. Each proof
// is verified; stages are waited for, so that the whole takes a little less than their
// sum.
func BenchmarkOpening(b *testing.B) {
	for _, n := range []int{16, 20, 24, 28} {
		for _, rate := range []int{1, 2} {
			for _, name := range []string{"cpu", "cuda"} {
				b.Run(fmt.Sprintf("n=%d/rate=%d/%s", n, rate, name), func(b *testing.B) {
					benchmark(b, instance(b, n, rate, 1), devicetest.Queue(b, devicetest.Open(b, name)))
				})
			}
		}
	}
}

func benchmark(b *testing.B, n *naive, q *device.Queue) {
	ctx := context.Background()
	q.Device().Poison(false)
	bits := devicetest.Upload(b, q, n.bits)
	var encode, tree, commit, open, verification time.Duration
	var size int
	step := func(d *time.Duration, f func() error) {
		b.Helper()
		start := time.Now()
		if err := errors.Join(f(), q.Sync()); err != nil {
			b.Fatal(err)
		}
		*d += time.Since(start)
	}
	for b.Loop() {
		var c *Committed
		var root fribinius.Root
		step(&commit, func() (err error) {
			c, root, err = Commit(ctx, q, n.p, bits)
			return err
		})
		step(&encode, func() error { return c.encoder.Encode(c.word, c.message) })
		step(&tree, func() error {
			t, err := hashTree(q, n.p, 0, c.word)
			if err == nil {
				t.Free()
			}
			return err
		})
		var pf *fribinius.Proof
		var value gf2.Element
		step(&open, func() (err error) {
			pf, value, err = c.Open(ctx, tower.New(tower.LabelFRIBinius), n.point)
			return err
		})
		step(&verification, func() error { return verify(n, root, value, pf) })
		data, err := n.p.AppendProof(nil, pf)
		if err != nil {
			b.Fatal(err)
		}
		size = len(data)
		c.Free()
	}
	for name, d := range map[string]time.Duration{"encode": encode, "tree": tree, "commit": commit, "open": open, "verify": verification} {
		b.ReportMetric(float64(d.Microseconds())/1000/float64(b.N), name+"-ms")
	}
	b.ReportMetric(float64(size)/1024, "KiB")
	b.ReportMetric(0, "ns/op")
}

// TestLarge compares the devices' proofs for 2^19 bits, or as many as largeVars says; with
// -short it is left out.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds on simt")
	}
	n := instance(t, largeVars(t), 2, 5)
	devicetest.Same(t, func(t *testing.T, q *device.Queue) []byte {
		root, value, pf := open(t, q, n)
		if err := verify(n, root, value, pf); err != nil {
			t.Fatal(err)
		}
		data, err := n.p.AppendProof(nil, pf)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Join([][]byte{data, fmt.Append(nil, root, value)}, nil)
	})
}

// largeVars is for runs on a card: ZKWARP_TEST_VARS bits and more.
func largeVars(t *testing.T) int {
	v := os.Getenv("ZKWARP_TEST_VARS")
	if v == "" {
		return 19
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// kernelTimes sums up what a queue's kernels and copies took, by name.
type kernelTimes map[string]time.Duration

func (k kernelTimes) Trace(e device.Event) { k[e.Category+" "+e.Name] += e.Duration }

// BenchmarkKernels prints what each kernel takes in a commitment to 2^n bits and an
// opening.
func BenchmarkKernels(b *testing.B) {
	for _, n := range []int{24, 28} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			in := instance(b, n, 2, 1)
			d := devicetest.Open(b, "cuda")
			d.Poison(false)
			times := kernelTimes{}
			q, err := d.NewQueue(device.WithTracer(context.Background(), times))
			if err != nil {
				b.Fatal(err)
			}
			defer q.Close()
			bits := devicetest.Upload(b, q, in.bits)
			rounds := 0
			for b.Loop() {
				if rounds == 1 {
					clear(times) // the first one loads kernels
				}
				rounds++
				c, _, err := Commit(context.Background(), q, in.p, bits)
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := c.Open(context.Background(), tower.New(tower.LabelFRIBinius), in.point); err != nil {
					b.Fatal(err)
				}
				c.Free()
				if err := q.Sync(); err != nil {
					b.Fatal(err)
				}
			}
			var table strings.Builder
			for _, name := range slices.Sorted(maps.Keys(times)) {
				fmt.Fprintf(&table, "\n%-36s %8.3f ms", name, float64(times[name].Microseconds())/1000/float64(max(1, rounds-1)))
			}
			b.Log(table.String())
		})
	}
}
