package prover_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/logup"
	"github.com/zkwarp/zkwarp/logup/loguptest"
	"github.com/zkwarp/zkwarp/logup/prover"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
	"github.com/zkwarp/zkwarp/transcript"
	tprover "github.com/zkwarp/zkwarp/transcript/prover"
)

func prove(t testing.TB, q *device.Queue, n int, leaves prover.Leaves) (*logup.Proof, *logup.Claim, transcript.State) {
	t.Helper()
	tr, err := tprover.FromHost(q, transcript.New(transcript.TagTest))
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Free()
	proof, claim, err := prover.Prove(q, tr, n, leaves)
	if err != nil {
		t.Fatal(err)
	}
	after, err := tr.Host()
	if err != nil {
		t.Fatal(err)
	}
	return proof, claim, after.State()
}

// fractions are 2^n of them with sum zero; kind is base, ext or ones.
func fractions(rng *rand.Rand, n int, kind string) (num, den []m31.QM31) {
	num, den = sumchecktest.Random(rng, 1<<n), sumchecktest.Random(rng, 1<<n)
	switch kind {
	case "ext":
		loguptest.ZeroSum(num, den)
	case "base": // the second half takes the first back
		for i := range num {
			num[i] = m31.Lift(num[i].A.Re)
			if h := len(num) / 2; i >= h {
				num[i], den[i] = num[i&(h-1)].Neg(), den[i&(h-1)]
			}
		}
		if n == 0 {
			num[0] = m31.QM31{}
		}
	case "ones":
		for i := range num {
			num[i] = m31.OneQM31()
			if h := len(num) / 2; i >= h {
				den[i] = den[i&(h-1)].Neg()
			}
		}
	}
	return num, den
}

func TestAgainstDefinition(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(1, 1))
		for n := range 8 {
			for _, kind := range []string{"ext", "base", "ones"} {
				num, den := fractions(rng, n, kind)
				leaves := prover.Leaves{Den: devicetest.Upload(t, q, den)}
				switch kind {
				case "ext":
					leaves.Ext = devicetest.Upload(t, q, num)
				case "base":
					words := make([]m31.Element, len(num))
					for i := range num {
						words[i] = num[i].A.Re
					}
					leaves.Base = devicetest.Upload(t, q, words)
				}
				got, claim, state := prove(t, q, n, leaves)
				tr := transcript.New(transcript.TagTest)
				want := loguptest.Prove(tr, num, den, loguptest.Cheat{})
				a, err := got.AppendBinary(nil)
				if err != nil {
					t.Fatal(err)
				}
				b, err := want.AppendBinary(nil)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(a, b) {
					t.Fatalf("depth %d, %s: proof differs from the definition's", n, kind)
				}
				if state != tr.State() {
					t.Fatalf("depth %d, %s: transcripts ended in different states", n, kind)
				}
				c, err := logup.Verify(transcript.New(transcript.TagTest), n, got)
				if n == 0 && kind == "ones" { // a single 1/x is not zero
					if !errors.Is(err, logup.ErrNumerator) {
						t.Fatalf("a single one: %v", err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("depth %d, %s: %v", n, kind, err)
				}
				if c.P != claim.P || c.Q != claim.Q || !slices.Equal(c.Point, claim.Point) {
					t.Fatalf("depth %d, %s: prover and verifier disagree on the claim", n, kind)
				}
			}
		}
	})
}

func TestBadLeaves(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		e, w := devicetest.Upload(t, q, make([]m31.QM31, 8)), devicetest.Upload(t, q, make([]m31.Element, 8))
		for name, c := range map[string]struct {
			n int
			l prover.Leaves
		}{
			"depth":               {-1, prover.Leaves{Den: e}},
			"denominators":        {2, prover.Leaves{Den: e}},
			"numerators":          {3, prover.Leaves{Den: e, Ext: e.Slice(0, 7)}},
			"base numerators":     {3, prover.Leaves{Den: e, Base: w.Slice(0, 4)}},
			"two kinds":           {3, prover.Leaves{Den: e, Base: w.Slice(0, 4), Ext: e.Slice(0, 4)}},
			"no denominators":     {0, prover.Leaves{}},
			"too deep for memory": {logup.MaxVars + 1, prover.Leaves{Den: e}},
		} {
			tr, err := tprover.FromHost(q, transcript.New(transcript.TagTest))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := prover.Prove(q, tr, c.n, c.l); !errors.Is(err, logup.ErrDepth) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func BenchmarkTree(b *testing.B) {
	d, err := device.Open("auto")
	if err != nil {
		b.Fatal(err)
	}
	q := devicetest.Queue(b, d)
	const n = 18
	leaves := prover.Leaves{Den: devicetest.Upload(b, q, sumchecktest.Random(rand.New(rand.NewPCG(1, 2)), 1<<n))}
	for b.Loop() {
		prove(b, q, n, leaves)
	}
	b.ReportMetric(float64(int(1)<<n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mleaves/s")
}
