package prover

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

func cpu(t testing.TB) *device.Queue {
	t.Helper()
	q, err := host(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestProveAndVerify(t *testing.T) {
	q := cpu(t)
	for i, c := range zkmltest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			opts := &quick
			if i < 2 {
				opts = nil // the default parameters, with their work
			}
			t0 := time.Now()
			vk, pk, err := Setup(q, c.Program, c.Weights, opts)
			if err != nil {
				t.Fatal(err)
			}
			t1 := time.Now()
			r, err := Prove(q, pk, c.X, nil)
			if err != nil {
				t.Fatal(err)
			}
			t2 := time.Now()
			if !slices.Equal(r.Y, c.Output()) {
				t.Fatalf("proved %v, the interpreter gives %v", r.Y, c.Output())
			}
			if err := vk.Check(); err != nil {
				t.Fatal(err)
			}
			t3 := time.Now()
			if err := zkml.Verify(vk, c.X, r.Y, r.Proof, nil); err != nil {
				t.Fatal(err)
			}
			t.Logf("setup %v, prove %v %v, check %v, verify %v; proof %d bytes, key %d bytes", t1.Sub(t0), t2.Sub(t1), r.Timings, t3.Sub(t2), time.Since(t3), len(r.Proof), len(vk.Encode()))
			s := zkml.Security(vk)
			t.Logf("%.2f bits (%s), %.2f in all", s.Min, s.MinTerm, s.Sum)
		})
	}
}

// host is a queue for work that always runs on the CPU.
func host(ctx context.Context) (*device.Queue, error) {
	d, err := device.Open("cpu")
	if err != nil {
		return nil, err
	}
	return d.NewQueue(ctx)
}
