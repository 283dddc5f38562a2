package prover_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/logup"
	"github.com/zkwarp/zkwarp/logup/prover"
	"github.com/zkwarp/zkwarp/transcript"
	tprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// What Run leaves decodes to Prove's proof and claim; nothing waits before.
func TestRun(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(5, 1))
		for n := range 8 {
			num, den := fractions(rng, n, "ext")
			leaves := prover.Leaves{Ext: devicetest.Upload(t, q, num), Den: devicetest.Upload(t, q, den)}
			want, claim, state := prove(t, q, n, leaves)
			tr, err := tprover.FromHost(q, transcript.New(transcript.TagTest))
			if err != nil {
				t.Fatal(err)
			}
			out, err := device.Alloc[m31.QM31](q, prover.Elements(n))
			if err != nil {
				t.Fatal(err)
			}
			before := q.Stats().Syncs
			if err := prover.Run(q, tr, n, leaves, out); err != nil {
				t.Fatal(err)
			}
			if waits := q.Stats().Syncs - before; waits != 0 {
				t.Errorf("depth %d: %d waits", n, waits)
			}
			host, err := out.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			proof, at, err := prover.Decode(n, host)
			if err != nil {
				t.Fatal(err)
			}
			after, err := tr.Host()
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(proof, want) || !reflect.DeepEqual(at, claim) || after.State() != state {
				t.Errorf("depth %d: Run and Prove differ", n)
			}
			if n > 0 && prover.Run(q, tr, n, leaves, out.Slice(1, out.Len())) == nil {
				t.Errorf("depth %d: a buffer that is too short", n)
			}
			if _, _, err := prover.Decode(n, host[1:]); !errors.Is(err, logup.ErrDepth) {
				t.Errorf("depth %d: too few elements: %v", n, err)
			}
			tr.Free()
			out.Free()
		}
		if _, _, err := prover.Decode(-1, nil); !errors.Is(err, logup.ErrDepth) {
			t.Errorf("depth -1: %v", err)
		}
	})
}
