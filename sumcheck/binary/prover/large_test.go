package prover_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/sumcheck/binary/prover"
)

// TestLarge compares a GPU's proofs with the CPU's, at sizes where GPUs take other
// kernels than at those that the naive prover can do.
func TestLarge(t *testing.T) {
	card := devicetest.Queue(t, devicetest.Open(t, "cuda"))
	d := devicetest.Open(t, "cpu")
	d.Poison(false)
	cpu := devicetest.Queue(t, d)
	for _, kind := range []binary.Kind{binary.ExtBits, binary.EqBits} {
		for _, n := range []int{19, 22, 23} {
			for degree := 2; degree <= 5; degree++ {
				t.Run(fmt.Sprintf("%v-n%d-d%d", kind, n, degree), func(t *testing.T) {
					host, value := bigInstance(t, cpu, binary.Shape{Vars: n, Degree: degree, Kind: kind})
					want, _, err := prover.Prove(context.Background(), cpu, newTranscript(), host, value, prover.Options{})
					if err != nil {
						t.Fatal(err)
					}
					if _, err := binary.Verify(newTranscript(), host.Claim(value), want); err != nil {
						t.Fatal(err)
					}
					in := prover.Instance{Shape: host.Shape, Z: host.Z}
					for _, b := range host.Ext {
						in.Ext = append(in.Ext, devicetest.Upload(t, card, b.Host()))
					}
					for _, b := range host.Bits {
						in.Bits = append(in.Bits, devicetest.Upload(t, card, b.Host()))
					}
					for _, a := range prover.Algorithms() {
						got, _, err := prover.Prove(context.Background(), card, newTranscript(), in, value, prover.Options{Algorithm: a})
						if errors.Is(err, prover.ErrNotOnDevice) {
							continue
						}
						if err != nil {
							t.Errorf("%v: %v", a, err)
						} else if !reflect.DeepEqual(got, want) {
							t.Errorf("%v: not the CPU's proof", a)
						}
					}
				})
			}
		}
	}
}
