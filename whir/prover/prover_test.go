package prover

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
)

func queue(t testing.TB) *device.Queue {
	t.Helper()
	dev, err := device.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	q, err := dev.NewQueue(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

type source struct{ *rand.Rand }

func newSource(seed uint64) source { return source{rand.New(rand.NewPCG(seed, 7))} }

func (s source) base() m31.Element { return m31.Element(1 + s.Uint32N(m31.P-1)) }
func (s source) cm31() m31.CM31    { return m31.CM31{Re: s.base(), Im: s.base()} }
func (s source) qm31() m31.QM31    { return m31.QM31{A: s.cm31(), B: s.cm31()} }

func many[T any](n int, f func() T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = f()
	}
	return out
}

// packed is a random table under parameters for 2^vars values, committed, with
// two true claims.
type packed struct {
	p      *whir.M31Params
	c      *CommittedM31
	claims []whir.M31Claim
}

func newPacked(t testing.TB, q *device.Queue, s source, vars int, o whir.Options) *packed {
	t.Helper()
	o.Claims = 2
	p, err := whir.ChooseM31(vars, o)
	if err != nil {
		t.Fatal(err)
	}
	table := many(1<<vars, s.base)
	k := &packed{p: p}
	if k.c, err = CommitM31(q, p, table); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		point := many(vars, s.qm31)
		k.claims = append(k.claims, whir.M31Claim{Point: point, Value: mle.EvaluateBase(table, point)})
	}
	return k
}

// open proves the claims on a transcript that has absorbed nothing yet.
func (k *packed) open(t testing.TB, q *device.Queue, tr TranscriptM31) *whir.M31Proof {
	t.Helper()
	tr.Absorb(words(t, k.c))
	pf, err := OpenM31(q, tr, k.c, k.claims)
	if err != nil {
		t.Fatal(err)
	}
	return pf
}

func TestM31AllSizes(t *testing.T) {
	q := queue(t)
	for vars := 1; vars <= 14; vars++ {
		t.Run(fmt.Sprint(vars), func(t *testing.T) {
			k := newPacked(t, q, newSource(uint64(vars)), vars, whir.Options{FoldWork: 4, QueryWork: 4, Lambda: 60})
			p, c, claims := k.p, k.c, k.claims
			tr := transcript.New(transcript.TagTest)
			pf := k.open(t, q, tr)
			enc, err := p.AppendProof(nil, pf)
			if err != nil {
				t.Fatal(err)
			}
			dec, err := p.DecodeProof(2, enc)
			if err != nil {
				t.Fatal(err)
			}
			vt := transcript.New(transcript.TagTest)
			o, err := whir.ReceiveM31(vt, p, rootOf(t, c))
			if err != nil {
				t.Fatal(err)
			}
			if err := o.Verify(claims, dec); err != nil {
				t.Fatal(err)
			}
			if vt.State() != tr.State() {
				t.Fatal("prover's and verifier's transcripts end differently")
			}
		})
	}
}

func BenchmarkM31(b *testing.B) {
	q := queue(b)
	for _, vars := range []int{15, 19, 22} {
		p, err := whir.ChooseM31(vars, whir.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Log(p)
		s := newSource(uint64(vars))
		table := many(1<<vars, s.base)
		point := many(vars, s.qm31)
		claims := []whir.M31Claim{{Point: point, Value: mle.EvaluateBase(table, point)}}
		var c *CommittedM31
		b.Run(fmt.Sprintf("commit/2^%d", vars), func(b *testing.B) {
			for b.Loop() {
				c, err = CommitM31(q, p, table)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
		var pf *whir.M31Proof
		b.Run(fmt.Sprintf("open/2^%d", vars), func(b *testing.B) {
			for b.Loop() {
				tr := transcript.New(transcript.TagTest)
				tr.Absorb(words(b, c))
				pf, err = OpenM31(q, tr, c, claims)
				if err != nil {
					b.Fatal(err)
				}
			}
			enc, _ := p.AppendProof(nil, pf)
			b.ReportMetric(float64(len(enc)), "bytes")
		})
		b.Run(fmt.Sprintf("verify/2^%d", vars), func(b *testing.B) {
			for b.Loop() {
				o, err := whir.ReceiveM31(transcript.New(transcript.TagTest), p, rootOf(b, c))
				if err != nil {
					b.Fatal(err)
				}
				if err := o.Verify(claims, pf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkModel opens what a small model's proof opens: 2^18 weights and 2^17
// multiplicities.
func BenchmarkModel(b *testing.B) {
	q := queue(b)
	for _, vars := range []int{18, 17} {
		fold := vars - 13
		p, err := whir.NewM31Params(vars, params(b, whir.Config{
			Spec: whir.SpecCM31(), Vars: vars - 1, LogInvRate: 1, Batch: 1, Arity: 2, Claims: 2, Lambda: 96,
			Rounds: []whir.Round{{Fold: 5, Shrink: 4, Queries: 208, QueryWork: 14}, {Fold: 3, Multiplicity: 2 + fold, Samples: 1, Queries: 96, FoldWork: 6, QueryWork: 14}},
		}))
		if err != nil {
			b.Fatal(err)
		}
		s := newSource(uint64(vars))
		table := many(1<<vars, s.base)
		point := many(vars, s.qm31)
		claims := []whir.M31Claim{{Point: point, Value: mle.EvaluateBase(table, point)}}
		c, err := CommitM31(q, p, table)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("commit/2^%d", vars), func(b *testing.B) {
			for b.Loop() {
				if _, err := CommitM31(q, p, table); err != nil {
					b.Fatal(err)
				}
			}
		})
		i := 0
		b.Run(fmt.Sprintf("open/2^%d", vars), func(b *testing.B) {
			for b.Loop() {
				i++ // so that the work varies as it does from proof to proof
				tr := transcript.New(transcript.TagTest)
				tr.Absorb([]m31.Element{m31.Element(i % 64)})
				tr.Absorb(words(b, c))
				if _, err = OpenM31(q, tr, c, claims); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
