//go:build !purego

package prover

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// TestWithoutVectors compares proofs made with vectors and without. Sizes are large
// enough for whole blocks of each pass.
func TestWithoutVectors(t *testing.T) {
	if !wide {
		t.Skip("no vectors on this machine")
	}
	defer func() { wide = true }()
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	rng := rand.New(rand.NewPCG(9, 10))
	for _, kind := range []binary.Kind{binary.ExtBits, binary.EqBits} {
		for degree := 2; degree <= 5; degree++ {
			in := Instance{Shape: binary.Shape{Vars: 13, Degree: degree, Kind: kind}}
			for range in.Shape.Ext() {
				in.Ext = append(in.Ext, devicetest.Upload(t, q, randomTable(rng, 1<<in.Vars)))
			}
			if kind == binary.EqBits {
				in.Z = randomTable(rng, in.Vars)
			}
			for range in.Shape.Bits() {
				c := make([]uint32, gf2.BitWords(in.Vars))
				for i := range c {
					c[i] = rng.Uint32()
				}
				in.Bits = append(in.Bits, devicetest.Upload(t, q, c))
			}
			var proofs [2]*binary.Proof
			for _, a := range []Algorithm{Window, SumCATS2} {
				t.Run(fmt.Sprintf("%v-d%d-%v", kind, degree, a), func(t *testing.T) {
					for i, w := range []bool{true, false} {
						wide = w
						p, _, err := Prove(t.Context(), q, tower.New(tower.LabelTest), in, sumOf(in), Options{Algorithm: a})
						if err != nil {
							t.Fatal(err)
						}
						proofs[i] = p
					}
					if !reflect.DeepEqual(proofs[0], proofs[1]) {
						t.Fatal("not the same proof")
					}
				})
			}
		}
	}
}

// sumOf is an instance's sum, by its definition.
func sumOf(in Instance) (sum gf2.Element) {
	first := eqValues(in.Z, gf2.One())
	if len(in.Ext) > 0 {
		first = in.Ext[0].Host()
	}
	for x, v := range first {
		for _, c := range in.Bits {
			v = v.MulBit(gf2.Bit(c.Host(), x))
		}
		sum = sum.Add(v)
	}
	return sum
}
