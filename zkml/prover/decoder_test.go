package prover

import (
	"fmt"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestSameBytesDecoder proves a small decoder of odd sizes.
func TestSameBytesDecoder(t *testing.T) { sameBytes(t, zkmltest.Decoder(1, 5, 12, 3, true), &quick) }

// TestDecoderLaunches: what a proof launches besides its forward pass grows with
// the sizes of a program's tensors, not with their number.
func TestDecoderLaunches(t *testing.T) {
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		var launches []int64
		for _, blocks := range []int{1, 4} {
			c := zkmltest.Decoder(blocks, 4, 8, 2, true)
			_, pk, err := Setup(q, c.Program, c.Weights, &quick)
			if err != nil {
				t.Fatal(err)
			}
			key, err := pk.Load(q)
			if err != nil {
				t.Fatal(err)
			}
			before := q.Stats().Launches
			forward := int64(0)
			_, err = key.Prove(q, c.X, &Options{Progress: func(stage Stage, done bool) {
				if stage == StageForward && done {
					forward = q.Stats().Launches - before
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			launches = append(launches, q.Stats().Launches-before-forward)
			if err := key.Close(); err != nil {
				t.Fatal(err)
			}
		}
		// Four times the leaves and the witness are two more layers of the tree,
		// and two more rounds of merging and of openings.
		t.Logf("%d launches for one block, %d for four", launches[0], launches[1])
		if launches[1] > launches[0]+24 {
			t.Errorf("%d launches for one block, %d for four", launches[0], launches[1])
		}
	})
}

// TestDecoderPlan plans a decoder of the size of GPT-2's smallest, and looks at
// what the costs of a proof follow from.
func TestDecoderPlan(t *testing.T) {
	c := zkmltest.Decoder(12, 64, 768, 12, false)
	pl, err := plan.ForProgram(c.Program, plan.Commits{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLayout(pl, c.Program)
	if err != nil {
		t.Fatal(err)
	}
	// Everything between lookups is reduced to columns at once.
	if len(pl.Layers) != 1 {
		t.Errorf("%d layers", len(pl.Layers))
	}
	leaves, witness := 1<<pl.TreeVars, 1<<pl.Stacks[plan.Witness].Vars
	if n := len(l.desc); n > (leaves+witness)/64 {
		t.Errorf("%d words of descriptors for %d leaves and a witness of %d", n, leaves, witness)
	}
	// Tables of eq are small beside what they weigh.
	if n := l.scratch; n > witness/16 {
		t.Errorf("%d elements of tables of eq for a witness of %d", n, witness)
	}
	for i := range pl.Layers[0].Instances {
		in := &pl.Layers[0].Instances[i]
		for k, f := range l.layers[0].instances[i].factors {
			p := &pl.Polys[pl.Evals[in.Factors[k]].Poly]
			if f.freeVars+in.Vars != p.Vars {
				t.Fatalf("%q: %d variables of %d and %d bound", in.Name, in.Vars, p.Vars, f.freeVars)
			}
		}
	}
}

// BenchmarkDecoder proves decoders with warm keys, on a card the size of GPT-2's
// smallest.
func BenchmarkDecoder(b *testing.B) {
	for _, size := range []struct{ blocks, tokens, width, heads int }{{2, 16, 64, 4}, {12, 64, 768, 12}} {
		b.Run(fmt.Sprintf("%dx%d", size.blocks, size.width), func(b *testing.B) {
			devices(b, func(b *testing.B, q *device.Queue) {
				if q.OnHost() && size.width > 64 {
					b.Skip("takes minutes on a CPU")
				}
				c := zkmltest.Decoder(size.blocks, size.tokens, size.width, size.heads, true)
				vk, pk, err := Setup(q, c.Program, c.Weights, nil)
				if err != nil {
					b.Fatal(err)
				}
				key, err := pk.Load(q)
				if err != nil {
					b.Fatal(err)
				}
				defer key.Evict()
				r, err := key.Prove(q, c.X, nil)
				if err != nil {
					b.Fatal(err)
				}
				before := q.Stats().Launches
				for b.Loop() {
					if r, err = key.Prove(q, c.X, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(q.Stats().Launches-before)/float64(b.N), "launches")
				for _, t := range r.Timings {
					b.ReportMetric(float64(t.Time.Microseconds())/1000, string(t.Stage[:4])+"-ms")
				}
				if err := zkml.Verify(vk, c.X, r.Y, r.Proof, nil); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}
