package prover_test

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/sumcheck/binary/prover"
)

// bigInstance is a random claim of any size, with its true value.
func bigInstance(b testing.TB, q *device.Queue, s binary.Shape) (prover.Instance, gf2.Element) {
	b.Helper()
	rng := rand.New(rand.NewPCG(24, uint64(s.Vars)))
	in := prover.Instance{Shape: s}
	var ext, eq []gf2.Element
	product := make([]uint32, gf2.BitWords(s.Vars))
	for i := range product {
		product[i] = ^gf2.PaddingMask(s.Vars)
	}
	for range s.Bits() {
		c := make([]uint32, len(product))
		for i := range c {
			c[i] = rng.Uint32() &^ gf2.PaddingMask(s.Vars)
			product[i] &= c[i]
		}
		in.Bits = append(in.Bits, devicetest.Upload(b, q, c))
	}
	if s.Kind == binary.EqBits {
		for range s.Vars {
			in.Z = append(in.Z, gf2.Element{Lo: rng.Uint64(), Hi: rng.Uint64()})
		}
		eq = make([]gf2.Element, 1<<s.Vars)
		eq[0] = gf2.One()
		ones := make([]gf2.Element, len(eq)/2)
		for i, z := range in.Z {
			gf2.ScaleVec(ones[:1<<i], eq[:1<<i], z)
			for x := 1<<i - 1; x >= 0; x-- {
				eq[2*x], eq[2*x+1] = eq[x].Add(ones[x]), ones[x]
			}
		}
	} else {
		ext = make([]gf2.Element, 1<<s.Vars)
		for i := range ext {
			ext[i] = gf2.Element{Lo: rng.Uint64(), Hi: rng.Uint64() | 1}
		}
		in.Ext = append(in.Ext, devicetest.Upload(b, q, ext))
		eq = ext
	}
	var value gf2.Element
	for i, w := range product {
		for ; w != 0; w &= w - 1 {
			value = value.Add(eq[32*i+bits.TrailingZeros32(w)])
		}
	}
	return in, value
}

// BenchmarkProve proves claims about 2^20 and 2^24 values on the CPU (more with
// ZKWARP_BINARY_VARS), and verifies them.
func BenchmarkProve(b *testing.B) {
	d := devicetest.Open(b, "cpu")
	d.Poison(false)
	q := devicetest.Queue(b, d)
	sizes := []int{20, 24}
	if v := os.Getenv("ZKWARP_BINARY_VARS"); v != "" {
		sizes = make([]int, 1)
		if _, err := fmt.Sscan(v, &sizes[0]); err != nil {
			b.Fatal(err)
		}
	}
	for _, n := range sizes {
		for _, kind := range []binary.Kind{binary.ExtBits, binary.EqBits} {
			for degree := 2; degree <= 5; degree++ {
				s := binary.Shape{Vars: n, Degree: degree, Kind: kind}
				b.Run(fmt.Sprintf("%v-n%d-d%d", kind, n, degree), func(b *testing.B) {
					in, value := bigInstance(b, q, s)
					for _, a := range prover.Algorithms() {
						b.Run(a.String(), func(b *testing.B) {
							for b.Loop() {
								proof, _, err := prover.Prove(context.Background(), q, newTranscript(), in, value, prover.Options{Algorithm: a})
								if err != nil {
									b.Fatal(err)
								}
								b.StopTimer()
								if _, err := binary.Verify(newTranscript(), in.Claim(value), proof); err != nil {
									b.Fatal(err)
								}
								b.StartTimer()
							}
						})
					}
				})
			}
		}
	}
}
