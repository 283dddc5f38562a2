package prover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/sumcheck/binary/binarytest"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// TestBDTPlans has the paper's algorithms switch in all places, also where nothing is left
// of one of them, and compares with the CPU's window.
func TestBDTPlans(t *testing.T) {
	plans := []bdtPlan{{each: true}, {expand: 1}, {expand: 3, each: true}, {rebuild: 2}, {expand: 1, rebuild: 3}, {expand: 2, rebuild: 9}, {expand: 9}}
	type key struct {
		kind binary.Kind
		d    int
	}
	want := map[key]*binary.Proof{}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, kind := range []binary.Kind{binary.ExtBits, binary.EqBits, binary.AllExt} {
			for d := 2; d <= 5; d++ {
				n := 13
				if d > 2 {
					n = 12 // two passes; BDT-2 has up to 2^(2 d) terms in the second
				}
				in := binarytest.NewInstance(uint64(d), binary.Shape{Vars: n, Degree: d, Kind: kind})
				start := tower.New(tower.LabelTest)
				if want[key{kind, d}] == nil {
					cpu := devicetest.Queue(t, devicetest.Open(t, "cpu"))
					p, _, err := Prove(context.Background(), cpu, start.Clone(), uploadInstance(t, cpu, in), in.Claim.Value, Options{})
					if err != nil {
						t.Fatal(err)
					}
					want[key{kind, d}] = p
				}
				in.Claim.Absorb(start)
				for _, plan := range plans {
					if kind == binary.AllExt && plan != plans[0] || plan.expand > 8 && d > 3 || plan.expand == 3 && d > 2 {
						continue
					}
					got, err := proveBDT(context.Background(), q, start, uploadInstance(t, q, in), in.Claim.Value, plan)
					if err != nil {
						t.Fatal(err)
					}
					comparePlan(t, fmt.Sprintf("%v, d = %d, %+v", kind, d, plan), got, want[key{kind, d}])
				}
			}
		}
	})
}

func comparePlan(t *testing.T, what string, got, want *binary.Proof) {
	t.Helper()
	for i := range want.Rounds {
		if !slices.Equal(got.Rounds[i], want.Rounds[i]) {
			t.Fatalf("%s: round %d is %v, want %v", what, i, got.Rounds[i], want.Rounds[i])
		}
	}
	if !slices.Equal(got.Evals, want.Evals) {
		t.Fatalf("%s: evaluations %v, want %v", what, got.Evals, want.Evals)
	}
}

func uploadInstance(t *testing.T, q *device.Queue, in *binarytest.Instance) Instance {
	out := Instance{Shape: in.Claim.Shape, Z: in.Claim.Z}
	for _, v := range in.Ext {
		out.Ext = append(out.Ext, devicetest.Upload(t, q, v))
	}
	for _, v := range in.Bits {
		out.Bits = append(out.Bits, devicetest.Upload(t, q, v))
	}
	return out
}

// TestBDTMemory: a proof that does not fit says so, with the bytes, before it starts, and
// leaves nothing behind; one that is stopped too.
func TestBDTMemory(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		in := binarytest.NewInstance(1, binary.Shape{Vars: 12, Degree: 3, Kind: binary.EqBits})
		up := uploadInstance(t, q, in)
		start := tower.New(tower.LabelTest)
		d := q.Device()
		used := d.InUse()
		d.SetBudget(used + 1<<16)
		_, err := proveSeedDevice(context.Background(), q, start, up, in.Claim.Value, SumCATS2)
		d.SetBudget(0)
		var memory *device.Error
		if !errors.As(err, &memory) || !errors.Is(err, device.ErrNoMemory) || memory.Bytes < 2<<16 {
			t.Fatalf("error %v, want one for want of memory with the bytes of two tables", err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		stopped, err := d.NewQueue(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer stopped.Close()
		cancel()
		if _, err := proveSeedDevice(ctx, stopped, start, up, in.Claim.Value, BDT2); !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v, want the context's", err)
		}
		if got := d.InUse(); got != used {
			t.Fatalf("%d bytes are in use, %d before", got, used)
		}
	})
}
