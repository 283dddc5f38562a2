package prover

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestOddPrograms proves random programs of odd shapes in both modes, and
// has other outputs, other inputs and other columns rejected.
func TestOddPrograms(t *testing.T) {
	for seed := range uint64(60) {
		oddProgram(t, seed, zkmltest.Odd(seed))
	}
}

// TestWidePrograms does it with operations of every kind and several inputs and
// outputs.
func TestWidePrograms(t *testing.T) {
	n := uint64(60)
	if testing.Short() {
		n = 20
	}
	for seed := range n {
		oddProgram(t, seed, zkmltest.Wide(seed))
	}
}

func oddProgram(t *testing.T, seed uint64, c *zkmltest.Case) {
	t.Helper()
	q := cpu(t)
	y, err := zkml.Mock(c.Program, c.Weights, c.X)
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	opts, options := quick, &zkml.Options{Context: []byte{byte(seed)}}
	if seed%4 == 3 {
		opts.Mode, options.Weights = zkml.PublicWeights, c.Weights
	}
	vk, pk, err := Setup(q, c.Program, c.Weights, &opts)
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	r, err := Prove(q, pk, c.X, &Options{Context: options.Context})
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	if !slices.Equal(r.Y, y) {
		t.Fatalf("%s: proved %v, the interpreter gives %v", c.Name, r.Y, y)
	}
	again, err := zkml.DecodeVerifyingKey(vk.Encode())
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	if err := zkml.Verify(again, c.X, y, r.Proof, options); err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	if s := zkml.Security(again); !(s.Sum >= zkml.MinSecurity) {
		t.Errorf("%s: %.2f bits", c.Name, s.Sum)
	}
	rng := rand.New(rand.NewPCG(seed, 13))
	forge := func(what string, x, y []int32) {
		t.Helper()
		forged, err := zkml.EncodeProof(again, zkml.DigestsOf(x, y), decoded(t, again, r.Proof))
		if err != nil {
			t.Fatal(err)
		}
		if err := zkml.Verify(again, x, y, forged, options); zkml.FailedCheck(err) == "" {
			t.Fatalf("%s: %s: %v", c.Name, what, err)
		}
	}
	if bad, i, ok := another(rng, c.Program, c.Program.Outputs, y); ok {
		forge(fmt.Sprintf("output %d can be %d as well as %d", i, bad[i], y[i]), c.X, bad)
	}
	if bad, i, ok := another(rng, c.Program, c.Program.Inputs, c.X); ok {
		forge(fmt.Sprintf("input %d can be another", i), bad, y)
	}
	columns := c.Program.Columns()
	if len(columns) == 0 {
		return
	}
	id, at, by := columns[rng.IntN(len(columns))], 0, m31.Element(1+rng.IntN(m31.P-1))
	forger := &Options{Context: options.Context, hooks: hooks{witness: set(id, func(_ *session, v []m31.Element) {
		at = rng.IntN(len(v)) // padding too
		v[at] = v[at].Add(by)
	})}}
	if r, err = Prove(q, pk, c.X, forger); err != nil {
		return // a prover sees at once that a column of one entry is not the output
	}
	if err := zkml.Verify(again, c.X, y, r.Proof, options); zkml.FailedCheck(err) == "" {
		t.Fatalf("%s: entry %d of %q can be %d more: %v", c.Name, at, c.Program.Tensor(id).Name, by, err)
	}
}

// another changes one value that can be another within its tensor's bounds.
func another(rng *rand.Rand, p *graph.Program, ids []graph.TensorID, v []int32) (bad []int32, at int, ok bool) {
	bad = slices.Clone(v)
	var places []int
	lo := map[int]int64{}
	for _, id := range ids {
		t := p.Tensor(id)
		for range t.Len() {
			if i := len(lo); t.Lo < t.Hi {
				places = append(places, i)
			}
			lo[len(lo)] = t.Lo
		}
	}
	if len(places) == 0 {
		return nil, 0, false
	}
	at = places[rng.IntN(len(places))]
	if bad[at]--; int64(bad[at]) < lo[at] {
		bad[at] += 2
	}
	return bad, at, true
}

func decoded(t *testing.T, vk *zkml.VerifyingKey, proof []byte) *zkml.Proof {
	t.Helper()
	_, body, err := zkml.DecodeProofHeader(proof)
	if err != nil {
		t.Fatal(err)
	}
	p, err := vk.Inference().DecodeProof(body)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
