package sumcheck_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
	"github.com/zkwarp/zkwarp/transcript"
)

// newTranscript has absorbed something, as it would have in a real protocol.
func newTranscript() *transcript.Transcript {
	tr := transcript.New(transcript.TagTest)
	tr.Absorb([]m31.Element{3, 1, 4})
	return tr
}

// batches in a fixed order, each with fresh random data.
func batches(seed uint64, f func(name string, b *sumchecktest.Batch)) {
	all := sumchecktest.Batches()
	maps.Copy(all, sumchecktest.ExprBatches())
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, name := range names {
		f(name, sumchecktest.NewBatch(rng, all[name]))
	}
}

func TestCompleteness(t *testing.T) {
	batches(1, func(name string, b *sumchecktest.Batch) {
		shapes := sumcheck.Shapes(b.Claims)
		ptr, vtr := newTranscript(), newTranscript()
		proof := sumchecktest.Prove(ptr, b.Claims, b.Tables, sumchecktest.Cheat{})
		data, err := proof.AppendBinary(nil)
		if err != nil || len(data) != 4*sumcheck.Words(shapes) {
			t.Fatalf("%s: %d bytes, %v", name, len(data), err)
		}
		decoded, err := sumcheck.DecodeProof(shapes, data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r, err := sumcheck.Verify(vtr, b.Claims, decoded)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for j, c := range b.Claims {
			for k, e := range r.Evals[j] {
				if mle.Evaluate(b.Tables[j][k], r.PointOf(c.Vars)) != e {
					t.Errorf("%s: claim %d: factor %d is not its extension's value", name, j, k)
				}
			}
		}
		if ptr.Challenge() != vtr.Challenge() {
			t.Errorf("%s: transcripts ended in different states", name)
		}
	})
}

func TestInterpolate(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for d := range sumcheck.MaxExprDegree + 2 {
		coeffs, r := sumchecktest.Random(rng, d+1), sumchecktest.Random(rng, 1)[0]
		eval := func(x m31.QM31) (v m31.QM31) {
			for i := d; i >= 0; i-- {
				v = v.Mul(x).Add(coeffs[i])
			}
			return v
		}
		at := make([]m31.QM31, d+1)
		for i := range at {
			at[i] = eval(m31.Lift(m31.Element(i)))
		}
		if got, want := sumcheck.Interpolate(at, r), eval(r); got != want {
			t.Errorf("degree %d: got %v, want %v", d, got, want)
		}
	}
}

func TestShapes(t *testing.T) {
	for _, s := range []sumcheck.Shape{
		{Vars: -1, Factors: 1},
		{Vars: sumcheck.MaxVars + 1, Factors: 1},
		{Factors: 0},
		{Factors: 4},
		{Factors: 2, Terms: [][]int{}},
		{Factors: 2, Terms: [][]int{{0, 1}, {}}},
		{Factors: 2, Terms: [][]int{{0, 1, 0, 1}}},
		{Factors: 2, Terms: [][]int{{0, 2}}},
		{Factors: 2, Terms: [][]int{{0, -1}}},
		{Factors: 2, Terms: [][]int{{1, 1}}}, // factor 0 would be free
		{Factors: sumcheck.MaxFactors + 1, Terms: [][]int{{0}}},
	} {
		if s.Check() == nil {
			t.Errorf("%+v passed", s)
		}
	}
	shapes := []sumcheck.Shape{sumcheck.Product(7, 2), sumcheck.EqProduct(9, 3), sumcheck.Product(3, 1)}
	if n, d, e := sumcheck.Rounds(shapes), sumcheck.Degree(shapes), sumcheck.Evaluations(shapes); n != 9 || d != 4 || e != 6 {
		t.Errorf("rounds %d, degree %d, evaluations %d", n, d, e)
	}
	if got := sumcheck.ErrorNumerator(shapes); got != 9*4+2 {
		t.Errorf("error numerator %v", got)
	}
}
