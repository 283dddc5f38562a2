package prover

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/logup"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// TestFractions changes leaves of the tree that are no longer what the columns
// say.
func TestFractions(t *testing.T) {
	k := mlp(t)
	pl := k.vk.Inference().Plan
	last := 1<<pl.TreeVars - 1
	end := pl.Leaves[len(pl.Leaves)-1].Offset + 1<<pl.Leaves[len(pl.Leaves)-1].Vars
	if end > last {
		t.Fatal("the case should have leaves beyond the blocks")
	}
	for name, c := range map[string]struct {
		cheat func(num []m31.Element, den []m31.QM31)
		check string
	}{
		// 0/0 in the unused part makes the whole sum 0/0.
		"zero denominator": {func(_ []m31.Element, den []m31.QM31) { den[last] = m31.QM31{} }, zkml.CheckDenominator},
		// 1/a - 1/a in the unused part.
		"extra fractions": {func(num []m31.Element, den []m31.QM31) {
			num[last], num[last-1] = 1, m31.P-1
			den[last], den[last-1] = m31.Lift(7), m31.Lift(7)
		}, zkml.CheckLeafNum},
		// A denominator of the unused part, whose numerator is 0, is not 1.
		"other denominator": {func(_ []m31.Element, den []m31.QM31) { den[last] = m31.Lift(2) }, zkml.CheckLeafDen},
		// Two lookups of one block swapped.
		"swapped lookups": {func(_ []m31.Element, den []m31.QM31) {
			for i := range den {
				if den[i] != den[0] {
					den[i], den[0] = den[0], den[i]
					return
				}
			}
		}, zkml.CheckLeafDen},
	} {
		t.Run(name, func(t *testing.T) {
			r := k.prove(t, hooks{leaves: c.cheat})
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), c.check)
		})
	}
}

// TestEvaluations sends one wrong evaluation at a time, absorbed like the right
// one, and goes on honestly from it.
func TestEvaluations(t *testing.T) {
	for _, make := range allCases {
		k := make(t)
		pl := k.vk.Inference().Plan
		var sent []int
		sent = append(sent, pl.LeafSent...)
		for i := range pl.Layers {
			sent = append(sent, pl.Layers[i].Sent...)
		}
		for _, id := range sent {
			want := []string{zkml.CheckRelation, zkml.CheckSumcheck, zkml.CheckMerge, zkml.CheckInputBind}
			if slices.Contains(pl.LeafSent, id) {
				want = []string{zkml.CheckLeafDen}
				if pl.Polys[pl.Evals[id].Poly].Home == plan.Multiplicities {
					want = []string{zkml.CheckLeafNum}
				}
			}
			r := k.prove(t, hooks{evaluation: func(_ *session, e int, v m31.QM31) m31.QM31 {
				if e == id {
					v = v.Add(m31.OneQM31())
				}
				return v
			}})
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), want...)
		}
	}
}

// TestConsistentEvaluations changes two evaluations so that what combines them
// still holds: only the claims that they become are false.
func TestConsistentEvaluations(t *testing.T) {
	k := mlp(t)
	pl := k.vk.Inference().Plan
	// x and r with x - r unchanged leave the quotient alone; r's own block is
	// then compensated by nothing, so take x and y of the block (q, y) instead.
	l := &pl.Leaves[slices.IndexFunc(pl.Leaves, func(l plan.Leaves) bool { return len(l.C) == 2 })]
	x, y := l.At[0].Terms[0], l.At[1].Terms[0].Of
	for _, name := range []string{"column and accumulator"} {
		t.Run(name, func(t *testing.T) {
			// beta is not known before the witness is committed, but it is when
			// evaluations are sent: beta*dq + beta^2*dy = 0.
			var beta m31.QM31
			d := m31.Lift(5)
			r := k.prove(t, hooks{
				leaves: func(_ []m31.Element, den []m31.QM31) {
					// Rows j and j+1 of a range table differ by beta.
					for i := range pl.Leaves {
						if t := &pl.Leaves[i]; t.Rows && len(pl.Tables[t.Table].Columns) == 1 {
							beta = den[t.Offset].Sub(den[t.Offset+1])
						}
					}
				},
				evaluation: func(_ *session, id int, v m31.QM31) m31.QM31 {
					switch id {
					case x.Of:
						return v.Sub(beta.Mul(d).MulBase(x.Coef.Inverse()))
					case y:
						return v.Add(d)
					}
					return v
				},
			})
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckRelation, zkml.CheckSumcheck, zkml.CheckMerge)
		})
	}
}

// shift moves weight between two entries in inverse proportion to what they
// weigh.
func shift(w, v []m31.QM31) {
	var at []int
	for i, e := range v {
		if !e.IsZero() {
			at = append(at, i)
		}
	}
	if len(at) < 2 {
		panic("nothing to shift")
	}
	i, j := at[0], at[1]
	w[i] = w[i].Add(v[i].Inverse())
	w[j] = w[j].Sub(v[j].Inverse())
}

// weighed is the product of the factors that a public factor weighs.
func weighed(t testing.TB, s *session, others []sumprover.Table) []m31.QM31 {
	t.Helper()
	var out []m31.QM31
	for _, f := range others {
		table, err := f.Ext.Read(s.q)
		if f.Base.Len() > 0 {
			base, e := f.Base.Read(s.q)
			table, err = lifted(base), e
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range out {
			table[i] = table[i].Mul(out[i])
		}
		out = table
	}
	return out
}

func lifted(v []m31.Element) []m31.QM31 {
	out := make([]m31.QM31, len(v))
	for i, e := range v {
		out[i] = m31.Lift(e)
	}
	return out
}

// TestPublicFactors proves with public factors that give the same sum but are
// not the ones that the verifier computes.
func TestPublicFactors(t *testing.T) {
	kinds := map[string]bool{}
	for _, make := range []func(testing.TB) *keyed{mlp, chain, reshaped, every} {
		k := make(t)
		for i := range k.vk.Inference().Plan.Layers {
			for _, target := range k.vk.Inference().Plan.Layers[i].Instances {
				if target.Public == nil || target.Vars == 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d/%s", k.Name, i, target.Name), func(t *testing.T) {
					seen := false
					r := k.prove(t, hooks{instance: func(s *session, in *plan.Instance, public []m31.QM31, others []sumprover.Table) {
						if in.Kind == target.Kind && in.Name == target.Name && in.Out == target.Out {
							shift(public, weighed(t, s, others))
							seen = true
						}
					}})
					if !seen {
						t.Fatal("no public factor")
					}
					rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckPublicFactor)
				})
				for _, a := range target.Public {
					kinds[fmt.Sprintf("kind %d, axis %d, point %t, guard %t", target.Kind, a.Kind, a.At != nil, a.Kind == plan.AxisGuard && a.Extent < 1<<a.Vars)] = true
				}
			}
		}
	}
	for _, want := range []string{
		"kind 0, axis 0, point true, guard false", "kind 0, axis 0, point false, guard true", "kind 0, axis 0, point false, guard false", // Einsum
		"kind 1, axis 1, point true, guard false", "kind 1, axis 3, point true, guard false", // Rearrange and Reshape
		"kind 2, axis 2, point true, guard false", "kind 3, axis 0, point true, guard true", // Embed and output
	} {
		if !kinds[want] {
			t.Errorf("no public factor of %s", want)
		}
	}
	k := mlp(t)
	for _, home := range []plan.Home{plan.Parameters, plan.Witness, plan.Multiplicities} {
		t.Run("merge of "+home.String(), func(t *testing.T) {
			r := k.prove(t, hooks{merge: weight(func(s *session, h plan.Home, table []m31.QM31) {
				if h == home {
					v, err := s.stacks[h].Read(s.q)
					if err != nil {
						t.Fatal(err)
					}
					shift(table, lifted(v))
				}
			})})
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckMerge)
		})
	}
}

// TestRepeatedEvaluation ends two sum-checks of a batch at the same evaluation
// with two values, so that the batch's own final check still holds.
func TestRepeatedEvaluation(t *testing.T) {
	k := twin(t)
	pl := k.vk.Inference().Plan
	layer, a, b := -1, 0, 0
	for i := range pl.Layers {
		for j := range pl.Layers[i].Instances {
			for l := range j {
				if pl.Layers[i].Instances[j].Factors[0] == pl.Layers[i].Instances[l].Factors[0] {
					layer, a, b = i, l, j
				}
			}
		}
	}
	if layer < 0 {
		t.Fatal("no two sum-checks end at one evaluation")
	}
	var gamma m31.QM31
	r := k.prove(t, hooks{proof: func(s *session, p *zkml.Proof) {
		// gamma is drawn after the claims; solve for it from the final check of
		// the honest proof by replaying the batch.
		gamma = replayGamma(t, k, p, layer)
		e := p.Layers[layer].Batch.Evals
		d := m31.OneQM31()
		for range b - a {
			d = d.Mul(gamma)
		}
		// x_a w_a + gamma^(b-a) x_b w_b stays.
		delta := m31.Lift(9)
		e[2*a] = e[2*a].Add(delta)
		e[2*b] = e[2*b].Sub(delta.Mul(e[2*a+1]).Mul(d.Mul(e[2*b+1]).Inverse()))
	}})
	err := zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil)
	rejected(t, err, zkml.CheckSumcheck)
	if !strings.Contains(err.Error(), "two values") {
		t.Errorf("rejected by %v", err)
	}
}

// replayGamma runs the transcript up to the batching challenge of a layer.
func replayGamma(t *testing.T, k *keyed, p *zkml.Proof, layer int) m31.QM31 {
	t.Helper()
	a := k.vk.Inference()
	pl := a.Plan
	tr, _, err := a.Begin(k.vk.Digest(), k.vk.Root())
	if err != nil {
		t.Fatal(err)
	}
	zkml.AbsorbStatement(tr, zkml.DigestsOf(k.X, k.Output()), nil)
	for h := plan.Witness; h < plan.FirstCommitted; h++ {
		tr.Absorb(a.Commitments[h].CommitmentWords(p.Roots[h]))
	}
	tr.Challenges(2)
	if _, err := logup.Verify(tr, pl.TreeVars, p.Tree); err != nil {
		t.Fatal(err)
	}
	tr.AbsorbExt(p.Leaves)
	tr.Challenges(pl.BindVars)
	if layer != 0 {
		t.Fatal("the case should have the batch in its first layer")
	}
	l := &pl.Layers[0]
	tr.AbsorbExt(p.Layers[0].Sent)
	values := map[int]m31.QM31{}
	for i, id := range pl.LeafSent {
		values[id] = p.Leaves[i]
	}
	for i, id := range l.Sent {
		values[id] = p.Layers[0].Sent[i]
	}
	claims := make([]m31.QM31, len(l.Instances))
	for i := range l.Instances {
		v, ok := values[l.Instances[i].Out]
		if !ok {
			t.Fatal("the case should have a batch of evaluations that were sent")
		}
		claims[i] = v
	}
	tr.AbsorbExt(claims)
	return tr.Challenge()
}
