package prover

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/sumcheck/binary/binarytest"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// TestMaskRounds: as many rounds by masks as there can be, from small tables on, against
// the CPU's proof.
func TestMaskRounds(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		host, err := device.Open("cpu")
		if err != nil {
			t.Fatal(err)
		}
		cpu := devicetest.Queue(t, host)
		for _, kind := range []binary.Kind{binary.ExtBits, binary.EqBits} {
			for d := 2; d <= maskDegree; d++ {
				for rounds := 1; rounds <= 3; rounds++ {
					ks := windowPlan{first: smallWindows[d].first, masksFrom: 9}
					n := ks.first + 8 + rounds
					if kind == binary.EqBits && rounds == 2 && d < 4 {
						continue
					}
					t.Run(fmt.Sprintf("%s/d%d/n%d", kind, d, n), func(t *testing.T) {
						in := binarytest.NewInstance(uint64(n), binary.Shape{Vars: n, Degree: d, Kind: kind})
						tables := func(q *device.Queue) Instance {
							out := Instance{Shape: in.Claim.Shape, Z: in.Claim.Z}
							for _, v := range in.Ext {
								out.Ext = append(out.Ext, devicetest.Upload(t, q, v))
							}
							for _, v := range in.Bits {
								out.Bits = append(out.Bits, devicetest.Upload(t, q, v))
							}
							return out
						}
						want, _, err := Prove(context.Background(), cpu, tower.New(tower.LabelTest), tables(cpu), in.Claim.Value, Options{})
						if err != nil {
							t.Fatal(err)
						}
						tr := tower.New(tower.LabelTest)
						in.Claim.Absorb(tr)
						state, err := newState(q, tr, d, in.Claim.Value)
						if err != nil {
							t.Fatal(err)
						}
						defer state.Free()
						r, err := newWindows(q, tables(q), state, ks)
						if err != nil {
							t.Fatal(err)
						}
						defer r.free()
						if r.mask == nil || r.mask.rounds != min(rounds, stateWeights-ks.first) {
							t.Fatalf("%d rounds by masks, want %d", r.mask.rounds, rounds)
						}
						if err := r.launch(); err != nil {
							t.Fatal(err)
						}
						got, err := readState(q, state, in.Claim.Shape)
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
			}
		}
	})
}

// TestInverseXX: the constant is what it is called.
func TestInverseXX(t *testing.T) {
	x := gf2.OnePolyval()
	x = gf2.Polyval{Lo: x.Lo << 1, Hi: x.Hi<<1 | x.Lo>>63}.Add(gf2.Polyval{Lo: 1, Hi: 0xc2 << 56})
	if got := x.Mul(x).Add(x).Mul(inverseXX()); got != gf2.OnePolyval() {
		t.Fatalf("(X^2 + X) times its inverse is %v", got)
	}
}
