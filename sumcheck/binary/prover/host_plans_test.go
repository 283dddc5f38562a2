package prover

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// BenchmarkPlans is what the switch-overs and the window's size were chosen by: the
// paper's rounds by prefixes, then by rebuilt batches, for all numbers of both; and
// windows. ZKWARP_BINARY_VARS is the number of variables, 20 if it is not set.
func BenchmarkPlans(b *testing.B) {
	d := devicetest.Open(b, "cpu")
	d.Poison(false)
	q := devicetest.Queue(b, d)
	n := 20
	if v := os.Getenv("ZKWARP_BINARY_VARS"); v != "" {
		if _, err := fmt.Sscan(v, &n); err != nil {
			b.Fatal(err)
		}
	}
	upload := func(in *Instance, rng *rand.Rand) {
		table, err := device.Upload(q, randomTable(rng, 1<<n))
		if err != nil {
			b.Fatal(err)
		}
		in.Ext = []device.Buffer[gf2.Element]{table}
		for range in.Shape.Bits() {
			c := make([]uint32, gf2.BitWords(n))
			for i := range c {
				c[i] = rng.Uint32()
			}
			column, err := device.Upload(q, c)
			if err != nil {
				b.Fatal(err)
			}
			in.Bits = append(in.Bits, column)
		}
	}
	for degree := 2; degree <= 5; degree++ {
		in := Instance{Shape: binary.Shape{Vars: n, Degree: degree}}
		upload(&in, rand.New(rand.NewPCG(5, 6)))
		run := func(name string, prove func(h *host) error) {
			b.Run(fmt.Sprintf("n%d-d%d-%s", n, degree, name), func(b *testing.B) {
				for b.Loop() {
					h := &host{ctx: b.Context(), q: q, tr: tower.New(tower.LabelTest), in: in, n: n, d: degree, proof: &binary.Proof{}}
					if err := prove(h); err != nil {
						b.Fatal(err)
					}
					h.free()
				}
			})
		}
		for expand := range 3 {
			for rebuild := 1; rebuild < 7; rebuild++ {
				run(fmt.Sprintf("expand%d-rebuild%d", expand, rebuild), func(h *host) error {
					return h.bdt(hostPlan{expand: expand, rebuild: rebuild, sum: byBlocks})
				})
			}
		}
		for k := 2; k <= 4 && (k == 2 || degree < 5); k++ {
			run(fmt.Sprintf("window%d", k), func(h *host) error { return h.window(k) })
		}
	}
}
