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

// TestSecondWindow: a second window changes no message, for points that fill no step of a
// block, one, or several.
func TestSecondWindow(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		host, err := device.Open("cpu")
		if err != nil {
			t.Fatal(err)
		}
		cpu := devicetest.Queue(t, host)
		for _, c := range []struct {
			vars int
			kind binary.Kind
		}{{15, binary.ExtBits}, {16, binary.EqBits}, {20, binary.ExtBits}, {20, binary.EqBits}} {
			if c.vars > 16 && q.Device().Kind() != device.CUDA {
				continue
			}
			t.Run(fmt.Sprintf("%s/n%d", c.kind, c.vars), func(t *testing.T) {
				in := binarytest.NewInstance(uint64(c.vars), binary.Shape{Vars: c.vars, Degree: 2, Kind: c.kind})
				tr := newTranscript()
				want, _, err := prover.Prove(context.Background(), cpu, tr, upload(t, cpu, in), in.Claim.Value, prover.Options{})
				if err != nil {
					t.Fatal(err)
				}
				tr = newTranscript()
				in.Claim.Absorb(tr)
				got, err := prover.ProveTwoWindows(q, tr, upload(t, q, in), in.Claim.Value)
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
