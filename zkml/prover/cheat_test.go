package prover

import (
	"slices"
	"sync"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/whir"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// quick is settings whose proofs take little time: queries instead of work.
var quick = SetupOptions{Commitment: whir.Options{UniqueOnly: true, FoldWork: whir.NoWork, QueryWork: whir.NoWork}}

// keyed is a case with its keys.
type keyed struct {
	*zkmltest.Case
	vk *zkml.VerifyingKey
	pk *ProvingKey
}

func once(make func() *zkmltest.Case) func(t testing.TB) *keyed { return onceWith(quick, make) }

func onceWith(opts SetupOptions, make func() *zkmltest.Case) func(t testing.TB) *keyed {
	var k *keyed
	var err error
	var o sync.Once
	return func(t testing.TB) *keyed {
		t.Helper()
		o.Do(func() {
			k = &keyed{Case: make()}
			k.vk, k.pk, err = Setup(cpu(t), k.Program, k.Weights, &opts)
		})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
}

var (
	mlp      = once(func() *zkmltest.Case { return zkmltest.MLP(2, 1, 3, 5) })
	residual = once(func() *zkmltest.Case { return zkmltest.Residual(5, 3, 7) })
	reshaped = once(func() *zkmltest.Case { return zkmltest.Rearranged(6) })
	chain    = once(func() *zkmltest.Case { return zkmltest.Chain(7) })
	tour     = once(func() *zkmltest.Case { return zkmltest.Tour(12) })
	twin     = once(func() *zkmltest.Case { return zkmltest.Twin(10) })
	unpadded = once(func() *zkmltest.Case { return zkmltest.MLP(11, 1, 3, 4) })
	every    = once(func() *zkmltest.Case { return zkmltest.Every(13) })
	allCases = []func(testing.TB) *keyed{mlp, residual, reshaped, chain, twin, unpadded, every}
)

// lookups are the program's lookups.
func (k *keyed) lookups() (out []graph.Lookup) {
	for _, op := range k.Program.Ops {
		if l, ok := op.(graph.Lookup); ok {
			out = append(out, l)
		}
	}
	return out
}

// prove proves honestly but for the hooks.
func (k *keyed) prove(t testing.TB, h hooks) *Result {
	t.Helper()
	r, err := Prove(cpu(t), k.pk, k.X, &Options{hooks: h})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rejected fails unless err reports one of the checks.
func rejected(t testing.TB, err error, checks ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("accepted, want a rejection by %q", checks)
	}
	if got := zkml.FailedCheck(err); !slices.Contains(checks, got) {
		t.Fatalf("rejected by %q (%v), want %q", got, err, checks)
	}
}

// TestOtherCommitments computes with tables other than those committed.
func TestOtherCommitments(t *testing.T) {
	k := mlp(t)
	truth := func(stack func(s *session, h plan.Home) []m31.Element) func(*session, plan.Home, whir.M31Claim) whir.M31Claim {
		return func(s *session, h plan.Home, c whir.M31Claim) whir.M31Claim {
			c.Value = mle.EvaluateBase(stack(s, h), c.Point)
			return c
		}
	}
	t.Run("parameters", func(t *testing.T) {
		r := k.prove(t, hooks{
			input: func(s *session) error {
				return edit(s.q, s.stacks[plan.Parameters], func(v []m31.Element) { v[0] = v[0].Add(1) })
			},
			open: truth(func(s *session, h plan.Home) []m31.Element {
				v, err := s.stacks[h].Read(s.q)
				if err != nil {
					t.Fatal(err)
				}
				if h == plan.Parameters {
					v[0] = v[0].Sub(1)
				}
				return v
			}),
		})
		rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckOpenParams)
	})
	for h, check := range map[plan.Home]string{plan.Witness: zkml.CheckOpenWitness, plan.Multiplicities: zkml.CheckOpenMult} {
		t.Run(h.String(), func(t *testing.T) {
			// The root that is sent and absorbed is of another table.
			r := k.prove(t, hooks{open: func(s *session, g plan.Home, c whir.M31Claim) whir.M31Claim {
				if g != h {
					return c
				}
				other := make([]m31.Element, s.stacks[g].Len())
				other[0] = 1
				cm, err := commit(s, g, other)
				if err != nil {
					t.Fatal(err)
				}
				s.committed[g] = cm
				c.Value = mle.EvaluateBase(other, c.Point)
				return c
			}})
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), check)
		})
	}
}

// TestAfterwards changes parts of a finished proof; every part is under test.
func TestAfterwards(t *testing.T) {
	one := m31.OneQM31()
	for _, make := range allCases {
		k := make(t)
		pl := k.vk.Inference().Plan
		for name, c := range map[string]struct {
			cheat  func(p *zkml.Proof)
			checks []string
		}{
			"witness root":        {func(p *zkml.Proof) { p.Roots[plan.Witness][3] ^= 1 }, []string{zkml.CheckTree, zkml.CheckWork, zkml.CheckLeafDen}},
			"multiplicities root": {func(p *zkml.Proof) { p.Roots[plan.Multiplicities][3] ^= 1 }, []string{zkml.CheckTree, zkml.CheckWork, zkml.CheckLeafDen}},
			"tree numerator":      {func(p *zkml.Proof) { p.Tree.P = one }, []string{zkml.CheckNumerator}},
			"tree denominator":    {func(p *zkml.Proof) { p.Tree.Q = m31.QM31{} }, []string{zkml.CheckDenominator}},
			"other denominator":   {func(p *zkml.Proof) { p.Tree.Q = p.Tree.Q.Add(one) }, []string{zkml.CheckTree}},
			"tree layer":          {func(p *zkml.Proof) { p.Tree.Layers[1].Rounds[0] = p.Tree.Layers[1].Rounds[0].Add(one) }, []string{zkml.CheckTree}},
			"leaf evaluation":     {func(p *zkml.Proof) { p.Leaves[0] = p.Leaves[0].Add(one) }, []string{zkml.CheckLeafDen, zkml.CheckLeafNum}},
			"merge round":         {func(p *zkml.Proof) { p.Merge.Rounds[0] = p.Merge.Rounds[0].Add(one) }, []string{zkml.CheckMerge}},
			"merge evaluation":    {func(p *zkml.Proof) { p.Merge.Evals[0] = p.Merge.Evals[0].Add(one) }, []string{zkml.CheckMerge}},
			"batch round": {func(p *zkml.Proof) {
				b := firstBatch(p)
				b.Rounds[0] = b.Rounds[0].Add(one)
			}, []string{zkml.CheckSumcheck}},
			"batch evaluation": {func(p *zkml.Proof) {
				b := firstBatch(p)
				b.Evals[0] = b.Evals[0].Add(one)
			}, []string{zkml.CheckSumcheck}},
		} {
			t.Run(k.Name+"/"+name, func(t *testing.T) {
				if name == "tree layer" && pl.TreeVars < 2 {
					t.Skip("one layer")
				}
				r := k.prove(t, hooks{proof: func(_ *session, p *zkml.Proof) { c.cheat(p) }})
				rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), c.checks...)
			})
		}
	}
}

func firstBatch(p *zkml.Proof) *sumcheck.Proof {
	for _, l := range p.Layers {
		if l.Batch != nil && len(l.Batch.Rounds) > 0 {
			return l.Batch
		}
	}
	panic("no batch")
}

func commit(s *session, h plan.Home, table []m31.Element) (*whirprover.CommittedM31, error) {
	return whirprover.CommitM31(s.q, s.arg.Commitments[h], table)
}
