package prover_test

import (
	"errors"
	"fmt"
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

func upload(t testing.TB, q *device.Queue, kind string, num, den []m31.QM31) prover.Leaves {
	t.Helper()
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
	return leaves
}

func TestAgainstDefinition(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(1, 1))
		for n := range 8 {
			for _, kind := range []string{"ext", "base", "ones"} {
				num, den := fractions(rng, n, kind)
				leaves := upload(t, q, kind, num, den)
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

// Layers that are large enough for launches of their own only because one block
// is made to take on little: every number of rounds before and after, one
// block, several, and more shares of the work than blocks.
func TestLargeLayers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	type want struct {
		num, den []m31.QM31
		proof    []byte
		state    transcript.State
	}
	cases := map[string]want{}
	for n := 2; n < 9; n++ {
		for _, kind := range []string{"ext", "base", "ones"} {
			num, den := fractions(rng, n, kind)
			tr := transcript.New(transcript.TagTest)
			proof, err := loguptest.Prove(tr, num, den, loguptest.Cheat{}).AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			cases[fmt.Sprint(n, kind)] = want{num, den, proof, tr.State()}
		}
	}
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		for _, size := range []struct{ tail, blocks, n int }{
			{1, 64, 5}, {1, 1, 4}, {2, 5, 6}, {3, 2, 8}, {3, 64, 7}, {4, 3, 6}, {1, 1, 2}, {5, 2, 8},
		} {
			for _, kind := range []string{"ext", "base", "ones"} {
				c := cases[fmt.Sprint(size.n, kind)]
				tr, err := tprover.FromHost(q, transcript.New(transcript.TagTest))
				if err != nil {
					t.Fatal(err)
				}
				leaves := upload(t, q, kind, c.num, c.den)
				proof, claim, err := prover.ProveSized(q, tr, size.n, leaves, size.tail, size.blocks)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := proof.AppendBinary(nil); err != nil || !slices.Equal(got, c.proof) {
					t.Fatalf("%v, %s: proof differs from the definition's (%v)", size, kind, err)
				}
				if after, err := tr.Host(); err != nil || after.State() != c.state {
					t.Fatalf("%v, %s: transcripts ended in different states (%v)", size, kind, err)
				}
				tr.Free()
				want, err := logup.Verify(transcript.New(transcript.TagTest), size.n, proof)
				if err != nil {
					t.Fatal(err)
				}
				if want.P != claim.P || want.Q != claim.Q || !slices.Equal(want.Point, claim.Point) {
					t.Fatalf("%v, %s: prover and verifier disagree on the claim", size, kind)
				}
				// The leaves are the caller's.
				if den, err := leaves.Den.Read(q); err != nil || !slices.Equal(den, c.den) {
					t.Fatalf("%v, %s: denominators changed (%v)", size, kind, err)
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
		tr, err := tprover.FromHost(q, transcript.New(transcript.TagTest))
		if err != nil {
			t.Fatal(err)
		}
		for name, x := range devicetest.Strange[m31.QM31](t, q, 16) {
			for what, l := range map[string]prover.Leaves{"denominators": {Den: x.Slice(0, 8)}, "numerators": {Den: e, Ext: x.Slice(0, 8)}, "words": {Den: e, Base: device.View[m31.Element](x.Slice(0, 2))}} {
				if _, _, err := prover.Prove(q, tr, 3, l); !errors.Is(err, device.ErrUsage) {
					t.Errorf("%s %s: %v", name, what, err)
				}
			}
			for what, err := range map[string]error{
				"result":  prover.Denominators(q, x.Slice(0, 8), e.Slice(0, 2), w),
				"weights": prover.Denominators(q, e, x.Slice(0, 2), w),
				"column":  prover.Denominators(q, e, e.Slice(0, 2), device.View[m31.Element](x.Slice(0, 2))),
				"proof":   prover.Run(q, tr, 0, prover.Leaves{Den: e.Slice(0, 1)}, x.Slice(0, prover.Elements(0))),
			} {
				if !errors.Is(err, device.ErrUsage) {
					t.Errorf("%s %s: %v", name, what, err)
				}
			}
		}
		if _, _, err := prover.Prove(q, nil, 3, prover.Leaves{Den: e}); !errors.Is(err, device.ErrUsage) {
			t.Errorf("no transcript: %v", err)
		}
	})
}

// Trees as deep as the device at hand takes on in short time, against the CPU's
// proof, without a wait between the first kernel and the last.
func TestDeep(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	host, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	hq := devicetest.Queue(t, host)
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		depths := []int{13, 14, 16, 19}
		if q.Device().Kind() == device.SIMT {
			depths = []int{12}
		}
		for _, n := range depths {
			for _, kind := range []string{"base", "ext", "ones"} {
				if q.Device().Kind() == device.SIMT && kind != "base" {
					continue
				}
				num, den := fractions(rng, n, "base")
				if kind == "ext" { // whose sum is not zero, which is no matter here
					num = sumchecktest.Random(rng, 1<<n)
				}
				want, _, state := prove(t, hq, n, upload(t, hq, kind, num, den))
				leaves := upload(t, q, kind, num, den)
				before := q.Stats()
				got, _, after := prove(t, q, n, leaves)
				launches, waits := q.Stats().Launches-before.Launches, q.Stats().Syncs-before.Syncs
				a, err := got.AppendBinary(nil)
				if err != nil {
					t.Fatal(err)
				}
				b, err := want.AppendBinary(nil)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(a, b) || after != state {
					t.Fatalf("depth %d, %s: proof or transcript differs from the CPU's", n, kind)
				}
				// One for the proof, one for the transcript.
				if waits > 2 {
					t.Errorf("depth %d: %d waits", n, waits)
				}
				// The small layers are one launch, a large one is one for each round but
				// the last ten, and one for those.
				if large := int64(n - 11); launches > 1+int64(n-9)/3+large*(large+3)/2 {
					t.Errorf("depth %d: %d launches", n, launches)
				}
			}
		}
	})
}

func TestDenominators(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(5, 1))
		for width := 1; width <= prover.MaxColumns; width++ {
			for _, n := range []int{0, 1, 255, 1000} {
				w := sumchecktest.Random(rng, width+1)
				columns := make([][]m31.Element, width)
				buffers := make([]device.Buffer[m31.Element], width)
				for j := range columns {
					columns[j] = make([]m31.Element, n)
					for x := range columns[j] {
						columns[j][x] = m31.Element(rng.Uint32N(m31.P))
						if x%7 == 3 {
							columns[j][x] = m31.P - 1
						}
					}
					buffers[j] = devicetest.Upload(t, q, columns[j])
				}
				out := devicetest.Upload(t, q, sumchecktest.Random(rng, n))
				if err := prover.Denominators(q, out, devicetest.Upload(t, q, w), buffers...); err != nil {
					t.Fatal(err)
				}
				got, err := out.Read(q)
				if err != nil {
					t.Fatal(err)
				}
				for x := range got {
					want := w[0]
					for j := range columns {
						want = want.Sub(w[j+1].MulBase(columns[j][x]))
					}
					if got[x] != want {
						t.Fatalf("%d columns, row %d of %d: %v, want %v", width, x, n, got[x], want)
					}
				}
			}
		}
		e, c := devicetest.Upload(t, q, make([]m31.QM31, 8)), devicetest.Upload(t, q, make([]m31.Element, 8))
		for name, err := range map[string]error{
			"no columns":       prover.Denominators(q, e, e.Slice(0, 1)),
			"too many columns": prover.Denominators(q, e, e.Slice(0, 6), c, c, c, c, c),
			"weights":          prover.Denominators(q, e, e.Slice(0, 2), c, c),
			"rows":             prover.Denominators(q, e, e.Slice(0, 3), c, c.Slice(0, 7)),
		} {
			if !errors.Is(err, prover.ErrColumns) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func BenchmarkProve(b *testing.B) {
	d, err := device.Open("auto")
	if err != nil {
		b.Fatal(err)
	}
	q := devicetest.Queue(b, d)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{10, 16, 20, 24} {
		words := make([]m31.Element, 1<<n)
		den := make([]m31.QM31, 1<<n)
		for i := range den {
			words[i] = m31.Element(rng.Uint32N(m31.P))
			den[i] = m31.QM31{A: m31.CM31{Re: words[i], Im: m31.Element(rng.Uint32N(m31.P))}, B: m31.CM31{Re: m31.Element(rng.Uint32N(m31.P)), Im: 7}}
		}
		leaves := prover.Leaves{Base: devicetest.Upload(b, q, words), Den: devicetest.Upload(b, q, den)}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				prove(b, q, n, leaves)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "ms")
		})
	}
}
