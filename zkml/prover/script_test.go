package prover

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestByScript has proofs judged by a verifier in Python that was written from
// docs/protocol.md and shares no code with this implementation: what is
// accepted here is accepted there, forgeries are refused by the same check, and
// both compute the same sum of errors.
func TestByScript(t *testing.T) {
	zkmltest.Python(t) // or skip
	programs := []*zkmltest.Case{
		zkmltest.MLP(1, 1, 7, 5, 3), zkmltest.Residual(5, 3, 7), zkmltest.Rearranged(2), zkmltest.Chain(3),
		zkmltest.Twin(4), zkmltest.Plain(5),
	}
	for _, seed := range []uint64{2, 3} {
		programs = append(programs, zkmltest.Odd(seed))
	}
	for seed := range uint64(8) {
		programs = append(programs, zkmltest.Wide(300+seed))
	}
	q, rng := cpu(t), rand.New(rand.NewPCG(1, 17))
	var cases []zkmltest.ScriptCase
	for i, c := range programs {
		opts, options := quick, &zkml.Options{Context: bytes.Repeat([]byte{200}, i)}
		if i%4 == 1 {
			opts.Mode, options.Weights = zkml.PublicWeights, c.Weights
		}
		if i == 0 {
			opts = SetupOptions{} // the default parameters, with their work
		}
		if i == 2 || i == 3 {
			opts.Commitment.Arity = 2 << (i - 1)
		}
		vk, pk, err := Setup(q, c.Program, c.Weights, &opts)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		r, err := Prove(q, pk, c.X, &Options{Context: options.Context})
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		weights := []byte(nil)
		if options.Weights != nil {
			if weights, err = c.Weights.Encode(c.Program); err != nil {
				t.Fatal(err)
			}
		}
		add := func(what string, y []int32, proof, context []byte, reject bool) {
			t.Helper()
			o := &zkml.Options{Context: context, Weights: options.Weights}
			err := zkml.Verify(vk, c.X, y, proof, o)
			if (zkml.FailedCheck(err) != "") != reject {
				t.Fatalf("%s, %s: %v", c.Name, what, err)
			}
			cases = append(cases, zkmltest.ScriptCase{Key: hex.EncodeToString(vk.Encode()), Proof: hex.EncodeToString(proof), X: c.X, Y: y,
				Context: hex.EncodeToString(context), Weights: hex.EncodeToString(weights), Check: zkml.FailedCheck(err), Sum: zkml.Security(vk).Sum})
		}
		add("as it is", r.Y, r.Proof, options.Context, false)
		add("other context", r.Y, r.Proof, append(options.Context, 0), true)
		if i < 3 {
			bad := slices.Clone(r.Proof)
			bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
			add("changed bit", r.Y, bad, options.Context, true)
		}
		if y, _, ok := another(rng, c.Program, c.Program.Outputs, r.Y); ok {
			forged, err := zkml.EncodeProof(vk, zkml.DigestsOf(c.X, y), decoded(t, vk, r.Proof))
			if err != nil {
				t.Fatal(err)
			}
			add("other output", y, forged, options.Context, true)
		}
	}
	zkmltest.Judge(t, filepath.Join("..", "testdata"), cases)
}

// TestLiesByScript has the verifier in Python judge provers that lie in one
// place and are consistent ever after.
func TestLiesByScript(t *testing.T) {
	zkmltest.Python(t) // or skip
	k := tour(t)
	pl := k.vk.Inference().Plan
	x, out := slices.Clone(k.X), k.Program.Tensor(k.Program.Outputs[0])
	x[0] = -x[0] + 1
	var cases []zkmltest.ScriptCase
	seen := map[string]bool{}
	lie := func(x, y []int32, h hooks) {
		t.Helper()
		r := k.prove(t, h)
		if y == nil {
			y = r.Y
		}
		err := zkml.Verify(k.vk, x, y, r.Proof, nil)
		if zkml.FailedCheck(err) == "" {
			t.Fatalf("not rejected: %v", err)
		}
		seen[zkml.FailedCheck(err)] = true
		cases = append(cases, zkmltest.ScriptCase{Key: hex.EncodeToString(k.vk.Encode()), Proof: hex.EncodeToString(r.Proof),
			X: x, Y: y, Check: zkml.FailedCheck(err)})
	}
	lie(x, nil, hooks{statement: func(_ *session, _, y []int32) ([]int32, []int32) { return x, y }})
	output := hooks{statement: func(_ *session, x, y []int32) ([]int32, []int32) {
		if y[0]++; int64(y[0]) > out.Hi {
			y[0] -= 2
		}
		return x, y
	}}
	lie(k.X, nil, output)
	lie(k.X, k.Output(), output)
	for _, id := range append(slices.Clone(pl.LeafSent), pl.Layers[0].Sent...) {
		lie(k.X, nil, hooks{evaluation: func(_ *session, e int, v m31.QM31) m31.QM31 {
			if e == id {
				v = v.Add(m31.OneQM31())
			}
			return v
		}})
	}
	for _, kind := range []plan.InstanceKind{plan.Output, plan.Rearrange} {
		lie(k.X, nil, hooks{instance: func(s *session, in *plan.Instance, public []m31.QM31, others []sumprover.Table) {
			if in.Kind == kind {
				shift(public, weighed(t, s, others))
			}
		}})
	}
	for _, home := range []plan.Home{plan.Parameters, plan.Witness, plan.Multiplicities} {
		lie(k.X, nil, hooks{merge: weight(func(s *session, h plan.Home, table []m31.QM31) {
			if h != home {
				return
			}
			v, err := s.stacks[h].Read(s.q)
			if err != nil {
				t.Fatal(err)
			}
			shift(table, lifted(v))
		})})
	}
	for _, l := range k.lookups() {
		lie(k.X, nil, hooks{witness: set(l.Y, func(_ *session, v []m31.Element) { v[0] = v[0].Add(1) })})
	}
	for _, check := range []string{zkml.CheckInputBind, zkml.CheckOutputBind, zkml.CheckSumcheck, zkml.CheckRelation, zkml.CheckPublicFactor,
		zkml.CheckLeafNum, zkml.CheckLeafDen, zkml.CheckNumerator, zkml.CheckMerge} {
		if !seen[check] {
			t.Errorf("no lie is caught by %q", check)
		}
	}
	zkmltest.Judge(t, filepath.Join("..", "testdata"), cases)
}

// TestForgedOperationsByScript has it judge a forged public factor of each kind
// of sum-check, a guard that is left out, and forged lookups.
func TestForgedOperationsByScript(t *testing.T) {
	zkmltest.Python(t) // or skip
	k := every(t)
	var cases []zkmltest.ScriptCase
	lie := func(check string, h hooks) {
		t.Helper()
		r := k.prove(t, h)
		rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), check)
		cases = append(cases, zkmltest.ScriptCase{Key: hex.EncodeToString(k.vk.Encode()), Proof: hex.EncodeToString(r.Proof), X: k.X, Y: r.Y, Check: check})
	}
	for _, kind := range []plan.InstanceKind{plan.Contract, plan.Rearrange, plan.Embedding, plan.Output} {
		lie(zkml.CheckPublicFactor, hooks{instance: func(s *session, in *plan.Instance, public []m31.QM31, others []sumprover.Table) {
			if in.Kind == kind && in.Vars > 0 {
				shift(public, weighed(t, s, others))
			}
		}})
	}
	sum := maker[graph.Einsum](t, k, "mixed")
	lie(zkml.CheckPublicFactor, hooks{statement: restated, witness: unguarded(k, sum), instance: forgePublic("mixed", func(axes []plan.Axis) {
		for i := range axes {
			axes[i].Extent = 1 << axes[i].Vars
		}
	})})
	lie(zkml.CheckRelation, hooks{witness: set(k.tensor(t, "turned"), func(_ *session, v []m31.Element) { v[0], v[1] = v[1].Add(1), v[0] })})
	op := maker[graph.Threshold](t, k, "bins")
	lie(zkml.CheckNumerator, hooks{witness: all(add(op.D[0], 0, 1<<16), add(op.D[1], 0, -1))})
	lie(zkml.CheckNumerator, hooks{witness: add(maker[graph.Pair](t, k, "paired").Y, 0, 1)})
	zkmltest.Judge(t, filepath.Join("..", "testdata"), cases)
}
