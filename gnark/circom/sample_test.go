package circom_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/circom"
	"github.com/zkwarp/zkwarp/gnark/circom/internal/sample"
)

func load(t testing.TB, c *sample.Circuit) (*circom.R1CS, *circom.Witness, *circom.ZKey) {
	t.Helper()
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	b, err := c.ZKey(1)
	if err != nil {
		t.Fatal(err)
	}
	return must[*circom.R1CS](t)(readR1CS(c.R1CS())), must[*circom.Witness](t)(readWitness(c.WTNS())), must[*circom.ZKey](t)(readZKey(b))
}

// Circuits of many shapes, with keys of a setup of our own: without public signals, with
// many, domains that are full to the last row, wires of no constraint.
func TestShapes(t *testing.T) {
	seed := uint64(0)
	for _, curve := range []ecc.ID{ecc.BN254, ecc.BLS12_381} {
		for _, shape := range [][3]int{ // outputs, public inputs, other constraints
			{0, 0, 1}, {0, 0, 2}, {0, 0, 3}, {0, 0, 4}, {1, 0, 1}, {1, 0, 0}, {0, 1, 2}, {3, 2, 7}, {0, 14, 1}, {2, 0, 3}, {1, 1, 12}, {1, 1, 13}, {5, 40, 80},
		} {
			seed++
			c := sample.Random(curve, seed, shape[0], shape[1], shape[2])
			t.Run(fmt.Sprintf("%s/%d_%d_%d", curve, shape[0], shape[1], shape[2]), func(t *testing.T) {
				r, w, key := load(t, c)
				if err := r.Check(w); err != nil {
					t.Error(err)
				}
				proof, err := circom.Prove(context.Background(), key, w, circom.Options{Device: "cpu", Rand: seeded(1)})
				if err != nil {
					t.Fatal(err)
				}
				public := w.Public(key.NumPublic())
				if err := circom.Verify(key.VerifyingKey(), public, proof); err != nil {
					t.Error(err)
				}
				// All that is written is read again.
				var p, s, k bytes.Buffer
				for _, err := range []error{circom.WriteJSON(&p, proof), circom.WriteJSON(&s, public), circom.WriteJSON(&k, *key.VerifyingKey())} {
					if err != nil {
						t.Fatal(err)
					}
				}
				vk := must[circom.VerifyingKey](t)(circom.ReadJSON[circom.VerifyingKey]("k", &k))
				if err := circom.Verify(&vk, must[circom.Public](t)(circom.ReadJSON[circom.Public]("s", &s)),
					must[circom.Proof](t)(circom.ReadJSON[circom.Proof]("p", &p))); err != nil {
					t.Error(err)
				}
				// With another value of any wire that is in a constraint there is no proof.
				for i := 1; i < len(w.Values); i++ {
					w.Values[i][0] ^= 1
					if bad := r.Check(w); errors.Is(bad, circom.ErrUnsatisfied) && i%5 == 1 {
						if _, err := circom.Prove(context.Background(), key, w, circom.Options{Device: "cpu"}); !errors.Is(err, circom.ErrUnsatisfied) {
							t.Errorf("wire %d: %v, %v", i, err, bad)
						}
					}
					w.Values[i][0] ^= 1
				}
			})
		}
	}
}

// A key that is not of the circuit makes no proof, whatever the witness.
func TestKeyOfOtherCircuit(t *testing.T) {
	_, _, key := load(t, sample.Random(ecc.BN254, 101, 1, 1, 10))
	other := sample.Random(ecc.BN254, 102, 1, 1, 10)
	other.Witness = append(other.Witness, other.Witness...)[:key.NumWires()]
	w := must[*circom.Witness](t)(readWitness(other.WTNS()))
	if _, err := circom.Prove(context.Background(), key, w, circom.Options{Device: "cpu"}); !errors.Is(err, circom.ErrUnsatisfied) {
		t.Error(err)
	}
}

// A domain of several passes of the device's transforms.
func TestLargeOnDevices(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	_, w, key := load(t, sample.Chain(ecc.BN254, 3000))
	want, err := circom.Prove(context.Background(), key, w, circom.Options{Device: "cpu", Rand: seeded(1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, dev := range []string{"simt", "cuda"} {
		t.Run(dev, func(t *testing.T) {
			devicetest.Open(t, dev)
			var log strings.Builder
			got, err := circom.Prove(context.Background(), key, w, circom.Options{Device: dev, Rand: seeded(1), Log: logger(&log)})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) || log.Len() > 0 {
				t.Errorf("another proof than the CPU's; %s", &log)
			}
		})
	}
}

// Proofs of chains, whose witnesses are dense; reading the key is not counted.
func BenchmarkProve(b *testing.B) {
	for _, dev := range []string{"cpu", "cuda"} {
		for _, log := range []int{12, 16, 18, 20, 22} {
			b.Run(fmt.Sprintf("%s/bn254-2^%d", dev, log), func(b *testing.B) {
				devicetest.Open(b, dev).Poison(false)
				_, w, key := load(b, sample.Chain(ecc.BN254, 1<<log-3))
				p, err := circom.NewProver(key, circom.Options{Device: dev})
				if err != nil {
					b.Fatal(err)
				}
				defer p.Close()
				for b.Loop() {
					if _, err := p.Prove(context.Background(), w); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
