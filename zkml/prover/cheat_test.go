package prover

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/logup"
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

func once(make func() *zkmltest.Case) func(t testing.TB) *keyed {
	var k *keyed
	var err error
	var o sync.Once
	return func(t testing.TB) *keyed {
		t.Helper()
		o.Do(func() {
			k = &keyed{Case: make()}
			k.vk, k.pk, err = Setup(cpu(t), k.Program, k.Weights, &quick)
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
	twin     = once(func() *zkmltest.Case { return zkmltest.Twin(10) })
	unpadded = once(func() *zkmltest.Case { return zkmltest.MLP(11, 1, 3, 4) })
	allCases = []func(testing.TB) *keyed{mlp, residual, reshaped, chain, twin, unpadded}
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

// set returns a hook that changes entries of a tensor after the forward pass.
func set(id graph.TensorID, f func(s *session, v []m31.Element)) func(*session) error {
	return func(s *session) error {
		return edit(s.q, s.polys[id], func(v []m31.Element) { f(s, v) })
	}
}

// TestForgedWitness has provers that follow the protocol with a witness that is
// not the program's.
func TestForgedWitness(t *testing.T) {
	both := func(a, b func(*session) error) func(*session) error {
		return func(s *session) error {
			if err := a(s); err != nil {
				return err
			}
			return b(s)
		}
	}
	// quotient moves entry 0 of the first lookup to another row of the table:
	// y is that row's, r is what makes the identity hold in the field.
	quotient := func(k *keyed, move int64) func(*session) error {
		l := k.lookups()[0]
		table := &k.Program.Tables[l.Table]
		shift := m31.New(1 << l.Shift)
		return func(s *session) error {
			x, err := s.polys[l.X].Read(s.q)
			if err != nil {
				return err
			}
			q := (int64(signed(x[0])) + l.Half()) >> l.Shift
			first := int64(1) << (table.Bits - 1)
			row := min(max(q+move+first, 0), int64(len(table.Y)-1))
			if row == q+first { // at the table's edge: go the other way
				row = q - move + first
			}
			q2 := row - first
			return both(
				set(l.Y, func(_ *session, v []m31.Element) { v[0] = m31.FromInt(int64(table.Y[row])) }),
				set(l.Rem, func(_ *session, v []m31.Element) {
					v[0] = x[0].Add(m31.FromInt(l.Half())).Sub(shift.Mul(m31.FromInt(q2)))
				}),
			)(s)
		}
	}
	for _, make := range []func(testing.TB) *keyed{mlp, residual, unpadded} {
		k := make(t)
		l := k.lookups()[0]
		cases := map[string]func(*session) error{
			"quotient + 1, remainder - 2^s": quotient(k, 1),
			"quotient - 1, remainder + 2^s": quotient(k, -1),
			"any quotient":                  quotient(k, 9),
			"output not the table's":        set(l.Y, func(_ *session, v []m31.Element) { v[0] = v[0].Add(1) }),
			"remainder alone": set(l.Rem, func(_ *session, v []m31.Element) {
				v[0] ^= 1
			}),
			// acc + p has the same residue, but another quotient and remainder.
			"accumulator + p": func(s *session) error {
				x, err := s.polys[l.X].Read(s.q)
				if err != nil {
					return err
				}
				acc := int64(signed(x[0])) + m31.P + l.Half()
				r := acc & (1<<l.Shift - 1)
				return both(
					set(l.Rem, func(_ *session, v []m31.Element) { v[0] = m31.Element(r) }),
					set(l.Y, func(_ *session, v []m31.Element) { v[0] = 0 }),
				)(s)
			},
			"padding of a column": set(l.Y, func(_ *session, v []m31.Element) { v[len(v)-1] = v[len(v)-1].Add(1) }),
			"padding of a remainder": set(l.Rem, func(_ *session, v []m31.Element) {
				v[len(v)-1] = v[len(v)-1].Add(1 << l.Shift)
			}),
		}
		for name, cheat := range cases {
			t.Run(k.Name+"/"+name, func(t *testing.T) {
				r := k.prove(t, hooks{witness: func(s *session) error {
					if err := cheat(s); err != nil {
						return err
					}
					return nil
				}})
				rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckNumerator)
			})
		}
	}
}

// TestForeignTable takes outputs from another table of the same program.
func TestForeignTable(t *testing.T) {
	k := residual(t)
	l := k.lookups()
	if l[0].Table == l[1].Table || l[0].X != l[1].X {
		t.Fatal("the case should look one accumulator up in two tables")
	}
	pl := k.vk.Inference().Plan
	mult := func(l graph.Lookup) int { // the multiplicities of a lookup's table
		i := slices.IndexFunc(pl.Leaves, func(b plan.Leaves) bool { return b.C1 == int(l.Y) })
		return pl.Tables[pl.Leaves[i].Table].Mult
	}
	r := k.prove(t, hooks{
		program: func(p *graph.Program) *graph.Program {
			q := *p
			q.Tables = slices.Clone(p.Tables)
			q.Tables[l[0].Table].Y = p.Tables[l[1].Table].Y
			return &q
		},
		// The first table's lookups are counted as the second's, where the
		// pairs are: all that is wrong is whose pairs they are.
		counts: func(s *session) error {
			a, err := s.polys[mult(l[0])].Read(s.q)
			if err != nil {
				return err
			}
			if err := edit(s.q, s.polys[mult(l[1])], func(v []m31.Element) { m31.AddVec(v, v, a) }); err != nil {
				return err
			}
			return s.polys[mult(l[0])].Zero(s.q)
		},
	})
	rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckNumerator)
}

// TestMultiplicities changes the counts after they were made.
func TestMultiplicities(t *testing.T) {
	k := mlp(t)
	pl := k.vk.Inference().Plan
	for i := range pl.Tables {
		for _, d := range []m31.Element{1, m31.P - 1} {
			r := k.prove(t, hooks{counts: func(s *session) error {
				return edit(s.q, s.polys[pl.Tables[i].Mult], func(v []m31.Element) { v[len(v)/2] = v[len(v)/2].Add(d) })
			}})
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckNumerator)
		}
	}
}

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

// TestStatement proves one statement under the transcript of another.
func TestStatement(t *testing.T) {
	for _, make := range allCases {
		k := make(t)
		t.Run(k.Name+"/input", func(t *testing.T) {
			x := slices.Clone(k.X)
			x[0] = -x[0] + 1
			r := k.prove(t, hooks{statement: func(_ *session, _, y []int32) ([]int32, []int32) { return x, y }})
			rejected(t, zkml.Verify(k.vk, x, r.Y, r.Proof, nil), zkml.CheckInputBind)
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckInputBind)
			// An honest proof that only says that it is about x: the challenges
			// are others.
			r = k.prove(t, hooks{})
			rejected(t, zkml.Verify(k.vk, x, r.Y, relabel(t, k, r.Proof, x, r.Y), nil), zkml.CheckTree)
		})
		t.Run(k.Name+"/output", func(t *testing.T) {
			out := k.Program.Tensor(k.Program.Output)
			r := k.prove(t, hooks{statement: func(_ *session, x, y []int32) ([]int32, []int32) {
				if y[0]++; int64(y[0]) > out.Hi {
					y[0] -= 2
				}
				return x, y
			}})
			// A padded output is bound by a sum-check; one without padding is
			// an evaluation of a column, or the result of a linear relation.
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckSumcheck, zkml.CheckMerge)
			rejected(t, zkml.Verify(k.vk, k.X, k.Output(), r.Proof, nil), zkml.CheckOutputBind)
			rejected(t, zkml.Verify(k.vk, k.X, k.Output(), relabel(t, k, r.Proof, k.X, k.Output()), nil), zkml.CheckTree)
		})
	}
	k := mlp(t)
	r, err := Prove(cpu(t), k.pk, k.X, &Options{Context: []byte("first")})
	if err != nil {
		t.Fatal(err)
	}
	if err := zkml.Verify(k.vk, k.X, r.Y, r.Proof, &zkml.Options{Context: []byte("first")}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"", "second", "first\x00"} {
		rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, &zkml.Options{Context: []byte(c)}), zkml.CheckTree, zkml.CheckLeafDen)
	}
}

// relabel gives a proof the header of another statement.
func relabel(t *testing.T, k *keyed, proof []byte, x, y []int32) []byte {
	t.Helper()
	_, body, err := zkml.DecodeProofHeader(proof)
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.vk.Inference().DecodeProof(body)
	if err != nil {
		t.Fatal(err)
	}
	code, err := zkml.EncodeProof(k.vk, x, y, p)
	if err != nil {
		t.Fatal(err)
	}
	return code
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
	l := &pl.Leaves[slices.IndexFunc(pl.Leaves, func(l plan.Leaves) bool { return l.C1 >= 0 })]
	x, y := l.AtC0.Terms[0], l.AtC1
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
						if t := &pl.Leaves[i]; t.Rows && pl.Tables[t.Table].Y == nil {
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

// TestPublicFactors proves with public factors that give the same sum but are
// not the ones that the verifier computes.
func TestPublicFactors(t *testing.T) {
	// shift moves weight between two entries in inverse proportion to what they
	// weigh.
	shift := func(w []m31.QM31, v []m31.Element) {
		var at []int
		for i, e := range v {
			if e != 0 {
				at = append(at, i)
			}
		}
		if len(at) < 2 {
			panic("nothing to shift")
		}
		i, j := at[0], at[1]
		w[i] = w[i].Add(m31.Lift(v[i].Inverse()))
		w[j] = w[j].Sub(m31.Lift(v[j].Inverse()))
	}
	for _, make := range []func(testing.TB) *keyed{mlp, chain, reshaped} {
		k := make(t)
		t.Run(k.Name, func(t *testing.T) {
			seen := false
			r := k.prove(t, hooks{instance: func(s *session, in *plan.Instance, table []m31.QM31) {
				v, err := s.polys[s.plan.Evals[in.X].Poly].Read(s.q)
				if err != nil {
					t.Fatal(err)
				}
				shift(table, v)
				seen = true
			}})
			if !seen {
				t.Fatal("no public factor")
			}
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckPublicFactor)
		})
	}
	k := mlp(t)
	for _, home := range []plan.Home{plan.Parameters, plan.Witness, plan.Multiplicities} {
		t.Run("merge of "+home.String(), func(t *testing.T) {
			r := k.prove(t, hooks{weight: func(s *session, h plan.Home, table []m31.QM31) {
				if h == home {
					v, err := s.stacks[h].Read(s.q)
					if err != nil {
						t.Fatal(err)
					}
					shift(table, v)
				}
			}})
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckMerge)
		})
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

func commit(s *session, h plan.Home, table []m31.Element) (*whirprover.Committed, error) {
	return whirprover.CommitM31(s.host, s.arg.Commitments[h], table)
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
				if pl.Layers[i].Instances[j].X == pl.Layers[i].Instances[l].X {
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
	zkml.AbsorbStatement(tr, k.X, k.Output(), nil)
	for h := plan.Witness; h < plan.Stacks; h++ {
		tr.Absorb(a.Commitments[h].CommitmentWords(p.Roots[h]))
	}
	tr.Challenges(2)
	if _, err := logup.Verify(tr, pl.TreeVars, p.Tree); err != nil {
		t.Fatal(err)
	}
	tr.AbsorbQM31(p.Leaves)
	tr.Challenges(pl.BindVars)
	if layer != 0 {
		t.Fatal("the case should have the batch in its first layer")
	}
	l := &pl.Layers[0]
	tr.AbsorbQM31(p.Layers[0].Sent)
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
	tr.AbsorbQM31(claims)
	return tr.Challenge()
}
