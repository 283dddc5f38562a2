package prover

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestOddPrograms proves random programs of odd shapes in both modes, and
// has other outputs, other inputs and other columns rejected.
func TestOddPrograms(t *testing.T) {
	q := cpu(t)
	const programs = 60
	for seed := range uint64(programs) {
		c := zkmltest.Odd(seed)
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
		for i := range y {
			bad := slices.Clone(y)
			if bad[i]++; int64(bad[i]) > c.Program.Tensor(c.Program.Outputs[0]).Hi {
				bad[i] -= 2
			}
			if int64(bad[i]) < c.Program.Tensor(c.Program.Outputs[0]).Lo {
				continue // the output is constant
			}
			forged, err := zkml.EncodeProof(again, c.X, bad, decoded(t, again, r.Proof))
			if err != nil {
				t.Fatal(err)
			}
			if err := zkml.Verify(again, c.X, bad, forged, options); zkml.FailedCheck(err) == "" {
				t.Fatalf("%s: output %d can be %d as well as %d: %v", c.Name, i, bad[i], y[i], err)
			}
			break
		}
		bad := slices.Clone(c.X)
		bad[len(bad)-1] ^= 1
		forged, err := zkml.EncodeProof(again, bad, y, decoded(t, again, r.Proof))
		if err != nil {
			t.Fatal(err)
		}
		if err := zkml.Verify(again, bad, y, forged, options); zkml.FailedCheck(err) == "" {
			t.Fatalf("%s: the input can be another: %v", c.Name, err)
		}
		columns := c.Program.Columns()
		if len(columns) == 0 {
			continue
		}
		rng := rand.New(rand.NewPCG(seed, 13))
		id, at, by := columns[rng.IntN(len(columns))], 0, m31.Element(1+rng.IntN(m31.P-1))
		forger := &Options{Context: options.Context, hooks: hooks{witness: set(id, func(_ *session, v []m31.Element) {
			at = rng.IntN(len(v)) // padding too
			v[at] = v[at].Add(by)
		})}}
		if r, err = Prove(q, pk, c.X, forger); err != nil {
			continue // a prover sees at once that a column of one entry is not the output
		}
		if err := zkml.Verify(again, c.X, y, r.Proof, options); zkml.FailedCheck(err) == "" {
			t.Fatalf("%s: entry %d of %q can be %d more: %v", c.Name, at, c.Program.Tensor(id).Name, by, err)
		}
	}
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
