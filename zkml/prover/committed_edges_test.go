package prover

import (
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// edges is a program whose committed tensors are as narrow, as wide and as small as they can be, with an output that is an
// input laid out anew and one that has an input's values and format.
func edges() *zkmltest.Case {
	const widest = graph.BoundLimit - 1
	b := graph.NewBuilder("edges")
	nothing := b.Input("nothing", []int{1}, 0, 0, 1)
	scalar := b.Input("scalar", nil, -1, 0, 1)
	wide := b.Input("wide", []int{3}, -widest, widest, 1)
	same := b.Input("same", []int{2, 4}, -8, 7, 1)
	sum := b.Linear("sum", []graph.Term{{Coef: 1, T: nothing}, {Coef: -3, T: scalar}}, 2, 1)
	kept := b.Linear("kept", []graph.Term{{Coef: 1, T: wide}}, 0, 1)
	flat := b.Reshape("flat", same, []int{8})
	copied := b.Linear("copied", []graph.Term{{Coef: 1, T: same}}, 0, 1)
	p, w, err := b.BuildAll([]graph.TensorID{sum, kept, flat, copied}, nil)
	if err != nil {
		panic("edges: " + err.Error())
	}
	return &zkmltest.Case{Name: p.Name, Program: p, Weights: w, X: []int32{0, -1, -widest, 0, widest, -8, 7, 0, 1, 2, -3, 4, 5}}
}

// committing is the case with what is committed.
func committing(t *testing.T, c *zkmltest.Case, commits zkml.Commits) *keyed {
	t.Helper()
	k := &keyed{Case: c}
	opts := quick
	opts.Commits = commits
	var err error
	if k.vk, k.pk, err = Setup(cpu(t), c.Program, c.Weights, &opts); err != nil {
		t.Fatal(err)
	}
	return k
}

// TestCommittedEdges proves statements about tensors of one element, with bounds that leave one value, two, or all that
// there are, and has provers whose values are just beyond them.
func TestCommittedEdges(t *testing.T) {
	k := committing(t, edges(), zkml.Commits{Inputs: []int{0, 1, 2, 3}, Outputs: []int{0, 1, 2, 3}})
	r := k.proveSalted(t, hooks{})
	if err := zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil); err != nil {
		t.Fatal(err)
	}
	lie := func(name string, h hooks, checks ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			r := k.proveSalted(t, h)
			rejected(t, zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil), checks...)
		})
	}
	for _, c := range []struct {
		tensor string
		at     int
		values []int64
		check  string // of a value that is looked up, or of limbs that are cut off
	}{
		{"nothing", 0, []int64{1, -1, 1 << 29, -1 << 29}, zkml.CheckNumerator},
		{"scalar", 0, []int64{1, -2, 1<<30 - 1}, zkml.CheckNumerator},
		{"wide", 1, []int64{1 << 29, -1 << 29, 1<<30 - 1, 1 - 1<<30}, zkml.CheckRelation},
		{"same", 7, []int64{8, -9}, zkml.CheckNumerator},
	} {
		_, tensor := k.committed(t, c.tensor)
		for _, v := range c.values {
			lie(c.tensor, hooks{input: changed(tensor.Poly, func(e []m31.Element) { e[c.at] = m31.FromInt(v) })}, c.check)
		}
	}
	// An output that is an input laid out anew, and one with an input's values, that are committed to as others.
	for _, name := range []string{"flat", "copied", "kept", "sum"} {
		_, tensor := k.committed(t, name)
		check := zkml.CheckOutputBind
		if k.vk.Inference().Plan.Polys[tensor.Poly].Padded() {
			check = zkml.CheckSumcheck
		}
		lie(name+" is another", hooks{stated: changed(tensor.Poly, func(e []m31.Element) { e[0] = e[0].Add(1) })}, check)
	}
}

// TestOneOpening has one opening as the input's and as the output's, whose formats and values are the same, and then the
// same root where the values differ.
func TestOneOpening(t *testing.T) {
	k := committing(t, edges(), zkml.Commits{Inputs: []int{3}, Outputs: []int{3}})
	list := k.vk.Committed()
	if list[0].Format != list[1].Format {
		t.Fatal("the case should have an input and an output of one format")
	}
	prove := func(h hooks) *Result {
		r, err := Prove(cpu(t), k.pk, k.X, &Options{Salts: [][32]byte{{9}, {9}}, hooks: h})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := prove(hooks{})
	if r.Statement.Commitments[0] != r.Statement.Commitments[1] {
		t.Error("an opening has two commitments")
	}
	if err := zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil); err != nil {
		t.Fatal(err)
	}
	// Both sides open the output's table, which is not the input's any more, and state its root for both.
	_, in := k.committed(t, "same")
	_, out := k.committed(t, "copied")
	pl := k.vk.Inference().Plan
	from, to := pl.Polys[out.Poly].Home, pl.Polys[in.Poly].Home
	var values []m31.Element
	r = prove(hooks{
		stated: func(s *session) (err error) {
			if err = changed(out.Poly, func(v []m31.Element) { v[2] = v[2].Add(1) })(s); err == nil {
				values, err = s.stacks[from].Read(s.q)
			}
			return err
		},
		open: func(s *session, h plan.Home, c whir.M31Claim) whir.M31Claim {
			if h == to {
				cm, err := commit(s, h, values)
				if err != nil {
					t.Fatal(err)
				}
				s.committed[h], c.Value = cm, mle.EvaluateBase(values, c.Point)
			}
			return c
		},
	})
	rejected(t, zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil), zkml.CheckOutputBind)
	forged := r.Statement
	forged.Commitments = slices.Clone(forged.Commitments)
	forged.Commitments[0] = forged.Commitments[1]
	proof, err := zkml.EncodeProof(k.vk, forged.Digests(), decoded(t, k.vk, r.Proof))
	if err != nil {
		t.Fatal(err)
	}
	rejected(t, zkml.VerifyStatement(k.vk, &forged, proof, nil), zkml.CheckTree)
}

// TestSharedTensors has an input that is an output laid out anew with either of them public, and has the public one stated
// as another.
func TestSharedTensors(t *testing.T) {
	for name, commits := range map[string]zkml.Commits{
		"both public":      {},
		"input committed":  {Inputs: []int{3}},
		"output committed": {Outputs: []int{2}},
	} {
		t.Run(name, func(t *testing.T) {
			k := committing(t, edges(), commits)
			r := k.proveSalted(t, hooks{})
			if err := zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil); err != nil {
				t.Fatal(err)
			}
			if len(commits.Outputs) == 0 { // "flat" begins at 4
				at := 4
				y := slices.Clone(r.Y)
				y[at]++
				lie := k.proveSalted(t, hooks{statement: func(_ *session, x, _ []int32) ([]int32, []int32) { return x, y }})
				// The output's value is the input's evaluation, of which "copied" is made.
				rejected(t, zkml.VerifyStatement(k.vk, &lie.Statement, lie.Proof, nil), zkml.CheckOutputBind)
			}
			if len(commits.Inputs) == 0 { // "same" ends the inputs
				x := slices.Clone(k.X)
				x[len(x)-1]++
				lie := k.proveSalted(t, hooks{statement: func(_ *session, _, y []int32) ([]int32, []int32) { return x, y }})
				rejected(t, zkml.VerifyStatement(k.vk, &lie.Statement, lie.Proof, nil), zkml.CheckInputBind)
			}
		})
	}
}

// TestCommittedReplay verifies a proof about commitments for another context, and under a key that has the same commitments
// in another program.
func TestCommittedReplay(t *testing.T) {
	commits := zkml.Commits{Inputs: []int{0, 1, 2, 3}, Outputs: []int{1, 2, 3}}
	k := committing(t, edges(), commits)
	r, err := Prove(cpu(t), k.pk, k.X, &Options{Salts: salts(7), Context: []byte("monday")})
	if err != nil {
		t.Fatal(err)
	}
	for _, context := range []string{"", "tuesday", "monday\x00"} {
		rejected(t, zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, &zkml.Options{Context: []byte(context)}), zkml.CheckTree)
	}
	other := edges()
	i := slices.IndexFunc(other.Program.Ops, func(op graph.Op) bool { return op.Outputs()[0] == other.Program.Outputs[3] })
	op := other.Program.Ops[i].(graph.Linear)
	op.Terms = []graph.Term{{Coef: -1, T: op.Terms[0].T}}
	out := other.Program.Tensor(op.Out)
	other.Program.Ops[i], out.Lo, out.Hi = op, -7, 8
	o := committing(t, other, commits)
	for i, c := range o.vk.Committed() {
		if c.Format != k.vk.Committed()[i].Format {
			t.Fatalf("%s has another format", &c)
		}
	}
	options := &zkml.Options{Context: []byte("monday")}
	rejected(t, zkml.VerifyStatement(o.vk, &r.Statement, r.Proof, options), zkml.CheckKeyDigest)
	proof, err := zkml.EncodeProof(o.vk, r.Statement.Digests(), decoded(t, k.vk, r.Proof))
	if err != nil {
		t.Fatal(err)
	}
	rejected(t, zkml.VerifyStatement(o.vk, &r.Statement, proof, options), zkml.CheckTree)
}

// TestSaltsRefused has salts that hide nothing, or not for long: zero, and one for two tensors of different values or formats.
func TestSaltsRefused(t *testing.T) {
	c := edges()
	k := committing(t, c, zkml.Commits{Inputs: []int{2, 3}, Outputs: []int{1, 2, 3}}) // wide, same; kept, flat, copied
	prove := func(salts ...[32]byte) error {
		_, err := Prove(cpu(t), k.pk, k.X, &Options{Salts: salts})
		return err
	}
	one, two, three, four := [32]byte{1}, [32]byte{2}, [32]byte{3}, [32]byte{0, 1}
	if err := prove(one, two, one, three, two); err != nil { // what is the same may be committed to as the same
		t.Error(err)
	}
	for want, salts := range map[string][][32]byte{
		`the salt of input "same" is zero`:              {one, {}, two, three, four},
		`input "same" has the salt of input "wide"`:     {one, one, two, three, four},
		`output "flat" has the salt of input "same"`:    {one, two, three, two, four}, // the same values in another format
		`output "copied" has the salt of output "kept"`: {one, two, three, four, three},
		"4 salts, expected 5 for the committed tensors": {one, two, three, four},
	} {
		if err := prove(salts...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
