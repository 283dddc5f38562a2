package prover_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/sumcheck/binary/binarytest"
	"github.com/zkwarp/zkwarp/sumcheck/binary/prover"
)

// TestSecondWindow: a second window changes no message, for first windows of all sizes
// that there are kernels for, and points that fill no step of a block, one, or several.
func TestSecondWindow(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		host, err := device.Open("cpu")
		if err != nil {
			t.Fatal(err)
		}
		cpu := devicetest.Queue(t, host)
		for _, c := range []struct {
			degree, first, vars int
			kind                binary.Kind
		}{
			{2, 4, 15, binary.ExtBits}, {2, 3, 15, binary.EqBits},
			{3, 3, 13, binary.ExtBits}, {3, 3, 14, binary.EqBits}, {3, 4, 14, binary.ExtBits},
			{4, 2, 12, binary.ExtBits}, {4, 2, 13, binary.EqBits}, {4, 3, 13, binary.ExtBits},
			{2, 4, 20, binary.ExtBits}, {3, 3, 19, binary.ExtBits}, {4, 2, 19, binary.ExtBits}, {4, 2, 18, binary.EqBits},
		} {
			if c.vars > 16 && q.Device().Kind() != device.CUDA {
				continue
			}
			t.Run(fmt.Sprintf("%s/d%d/n%d/k%d", c.kind, c.degree, c.vars, c.first), func(t *testing.T) {
				in := binarytest.NewInstance(uint64(c.vars), binary.Shape{Vars: c.vars, Degree: c.degree, Kind: c.kind})
				tr := newTranscript()
				want, _, err := prover.Prove(context.Background(), cpu, tr, upload(t, cpu, in), in.Claim.Value, prover.Options{})
				if err != nil {
					t.Fatal(err)
				}
				tr = newTranscript()
				in.Claim.Absorb(tr)
				got, err := prover.ProveWindows(q, tr, upload(t, q, in), in.Claim.Value, c.first, prover.SecondRounds(c.degree))
				if err != nil {
					t.Fatal(err)
				}
				for i := range want.Rounds {
					if !reflect.DeepEqual(got.Rounds[i], want.Rounds[i]) {
						t.Fatalf("round %d: %v, want %v", i, got.Rounds[i], want.Rounds[i])
					}
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("evaluations %v, want %v", got.Evals, want.Evals)
				}
			})
		}
	})
}
