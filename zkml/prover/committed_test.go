package prover

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// secret is the program secret with three inputs and two outputs committed.
var secret = onceWith(SetupOptions{Commitment: quick.Commitment, Commits: zkml.Commits{Inputs: []int{0, 1, 2}, Outputs: []int{0, 1}}},
	func() *zkmltest.Case { return zkmltest.Secret(1) })

// salts are of so many tensors.
func salts(n int) (out [][32]byte) {
	for i := range n {
		out = append(out, [32]byte{31: byte(i + 1)})
	}
	return out
}

// proveSalted is prove with salts that are always the same.
func (k *keyed) proveSalted(t testing.TB, h hooks) *Result {
	t.Helper()
	r, err := Prove(cpu(t), k.pk, k.X, &Options{Salts: salts(len(k.vk.Committed())), hooks: h})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// committed is the plan's committed tensor of a name.
func (k *keyed) committed(t testing.TB, name string) (int, *plan.Committed) {
	t.Helper()
	for i, c := range k.vk.Committed() {
		if c.Name == name {
			return i, &k.vk.Inference().Plan.Committed[i]
		}
	}
	t.Fatalf("%q is not committed", name)
	return 0, nil
}

// changed is a hook that changes entries of a polynomial.
func changed(poly int, f func(v []m31.Element)) func(*session) error {
	return func(s *session) error { return edit(s.q, s.polys[poly], f) }
}

// TestCommitted proves programs with everything committed that can be, one of them
// on all devices, and finds statement and openings to be what they should be.
func TestCommitted(t *testing.T) {
	cases := []*zkmltest.Case{zkmltest.MLP(2, 1, 3, 5), zkmltest.Plain(4), zkmltest.Every(13), zkmltest.Secret(2), zkmltest.Tokens(1)}
	for _, c := range cases {
		opts := quick
		for i := range c.Program.Inputs {
			opts.Commits.Inputs = append(opts.Commits.Inputs, i)
		}
		for i := range c.Program.Outputs {
			opts.Commits.Outputs = append(opts.Commits.Outputs, i)
		}
		vk, pk, err := Setup(cpu(t), c.Program, c.Weights, &opts)
		if err != nil {
			t.Fatal(err)
		}
		if vk, err = zkml.DecodeVerifyingKey(vk.Encode()); err != nil {
			t.Fatal(err)
		}
		list := vk.Committed()
		var first *Result
		each := func(t *testing.T, q *device.Queue) {
			r, err := Prove(q, pk, c.X, &Options{Salts: salts(len(list))})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = r
			}
			if !bytes.Equal(r.Proof, first.Proof) {
				t.Error("another proof than on the first device")
			}
			if err := zkml.VerifyStatement(vk, &r.Statement, r.Proof, nil); err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			for i, o := range r.Openings {
				made, err := Commit(q, vk, i, o)
				if err != nil {
					t.Fatal(err)
				}
				if *made != r.Statement.Commitments[i] {
					t.Errorf("%s: %s: the opening's commitment is not the statement's", c.Name, &list[i])
				}
				again, err := zkml.DecodeOpening(o.Encode())
				if err != nil || !slices.Equal(again.Values, o.Values) || again.Salt != o.Salt || again.Format != o.Format {
					t.Errorf("an opening decodes to %v, %v", again, err)
				}
				if c, err := zkml.DecodeCommitment(made.Encode()); err != nil || *c != *made {
					t.Errorf("a commitment decodes to %v, %v", c, err)
				}
			}
		}
		if each(t, cpu(t)); c.Name == "secret" || c.Name == "tokens" {
			devicetest.Each(t, each)
		}
		y := c.Output()
		for i, o := range first.Openings {
			want := c.Program.SplitOutput(y)
			if !list[i].Output {
				want = c.Program.SplitInput(c.X)
			}
			if !slices.Equal(o.Values, want[list[i].Index]) {
				t.Errorf("%s: %s opens to other values", c.Name, &list[i])
			}
		}
		if len(first.Statement.Y) != 0 || len(first.Statement.X) != c.Program.InputLen()-inputs(list) {
			t.Errorf("%s: the statement has public values of what is committed", c.Name)
		}
	}
}

// inputs is the number of values of committed inputs.
func inputs(list []zkml.CommittedTensor) (n int) {
	for _, c := range list {
		if !c.Output {
			n += graph.Elements(c.Shape)
		}
	}
	return n
}

// TestCommittedStatement verifies an honest proof for other statements: by its
// header, and as if the header were theirs.
func TestCommittedStatement(t *testing.T) {
	k := secret(t)
	r := k.proveSalted(t, hooks{})
	if err := zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil); err != nil {
		t.Fatal(err)
	}
	wide, _ := k.committed(t, "wide")
	full, _ := k.committed(t, "full")
	list := k.vk.Committed()
	recommit := func(i int, change func(o *zkml.Opening)) func(s *zkml.Statement) {
		return func(s *zkml.Statement) {
			o := *r.Openings[i]
			o.Values = slices.Clone(o.Values)
			change(&o)
			c, err := Commit(cpu(t), k.vk, i, &o)
			if err != nil {
				t.Fatal(err)
			}
			if *c == s.Commitments[i] {
				t.Fatal("the same commitment")
			}
			s.Commitments[i] = *c
		}
	}
	for name, c := range map[string]struct {
		change        func(s *zkml.Statement)
		check, header string // without a header of its own, and with one
	}{
		"another input after commitment": {recommit(wide, func(o *zkml.Opening) { o.Values[0] ^= 1 }), zkml.CheckInputBind, zkml.CheckTree},
		"another salt of an input":       {recommit(wide, func(o *zkml.Opening) { o.Salt[0] ^= 1 }), zkml.CheckInputBind, zkml.CheckTree},
		"another output":                 {recommit(full, func(o *zkml.Opening) { o.Values[7] ^= 1 }), zkml.CheckOutputBind, zkml.CheckTree},
		"another salt of an output":      {recommit(full, func(o *zkml.Opening) { o.Salt[31] ^= 1 }), zkml.CheckOutputBind, zkml.CheckTree},
		"roots exchanged": {func(s *zkml.Statement) {
			s.Commitments[wide].Root, s.Commitments[full].Root = s.Commitments[full].Root, s.Commitments[wide].Root
		}, zkml.CheckInputBind, zkml.CheckTree},
		"commitments exchanged": {func(s *zkml.Statement) {
			s.Commitments[wide], s.Commitments[full] = s.Commitments[full], s.Commitments[wide]
		}, zkml.CheckInput, zkml.CheckInput},
		"another format":         {func(s *zkml.Statement) { s.Commitments[full].Format[3] ^= 1 }, zkml.CheckOutput, zkml.CheckOutput},
		"a commitment too few":   {func(s *zkml.Statement) { s.Commitments = s.Commitments[:full] }, zkml.CheckInput, zkml.CheckInput},
		"a commitment too many":  {func(s *zkml.Statement) { s.Commitments = append(s.Commitments, s.Commitments[0]) }, zkml.CheckInput, zkml.CheckInput},
		"another public input":   {func(s *zkml.Statement) { s.X[4] ^= 1 }, zkml.CheckInputBind, zkml.CheckTree},
		"another public output":  {func(s *zkml.Statement) { s.Y[2]-- }, zkml.CheckOutputBind, zkml.CheckTree},
		"too many public values": {func(s *zkml.Statement) { s.X = append(s.X, 0) }, zkml.CheckInput, zkml.CheckInput},
		"a root that is no digest": {func(s *zkml.Statement) {
			s.Commitments[wide].Root[2] = m31.P
		}, zkml.CheckInputBind, zkml.CheckFormat},
	} {
		t.Run(name, func(t *testing.T) {
			s := zkml.Statement{X: slices.Clone(r.Statement.X), Y: slices.Clone(r.Statement.Y), Commitments: slices.Clone(r.Statement.Commitments)}
			c.change(&s)
			rejected(t, zkml.VerifyStatement(k.vk, &s, r.Proof, nil), c.check)
			forged, err := zkml.EncodeProof(k.vk, s.Digests(), decoded(t, k.vk, r.Proof))
			if err != nil {
				t.Fatal(err)
			}
			rejected(t, zkml.VerifyStatement(k.vk, &s, forged, nil), c.header)
		})
	}
	rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckInput)
	if list[0].Name != "wide" || len(list) != 5 || list[3].Output == list[2].Output {
		t.Errorf("committed are %v", list)
	}
}

// TestCommittedInputs has provers whose committed inputs are not within bounds or
// not zero in padding. They run the program on what they committed to.
func TestCommittedInputs(t *testing.T) {
	k := secret(t)
	lie := func(name string, h hooks, checks ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			r := k.proveSalted(t, h)
			rejected(t, zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil), checks...)
		})
	}
	value := func(poly, at int, v int64) func(*session) error {
		return changed(poly, func(e []m31.Element) { e[at] = m31.FromInt(v) })
	}
	_, square := k.committed(t, "square") // 0 to 200: two windows, looked up as they are
	lie("one above the bounds", hooks{input: value(square.Poly, 3, 201)}, zkml.CheckNumerator)
	lie("one below the bounds", hooks{input: value(square.Poly, 3, -1)}, zkml.CheckNumerator)
	_, row := k.committed(t, "row") // -128 to 127: one window
	lie("above one window", hooks{input: value(row.Poly, 4, 128)}, zkml.CheckNumerator)
	lie("below one window", hooks{input: value(row.Poly, 0, -129)}, zkml.CheckNumerator)
	_, wide := k.committed(t, "wide") // -100000 to 70001: two windows of 18 bits, in limbs of 9
	for i, v := range []int64{70002, -100001} {
		// The limbs of the window that it leaves, least significant first.
		r := &wide.Ranges[1-i]
		lie(fmt.Sprintf("%d with limbs cut off", v), hooks{input: value(wide.Poly, 0, v)}, zkml.CheckRelation)
		lie(fmt.Sprintf("%d with a limb beyond its range", v), hooks{input: value(wide.Poly, 0, v), witness: func(s *session) error {
			high := m31.FromInt(v - r.First).Sub(m31.FromInt((v - r.First) & 511)).Mul(m31.New(512).Inverse())
			return value(r.Limbs[1], 0, int64(high))(s)
		}}, zkml.CheckNumerator)
	}
	lie("another value than its limbs'", hooks{witness: changed(wide.Poly, func(v []m31.Element) { v[1], v[2] = v[2], v[1] })}, zkml.CheckRelation, zkml.CheckNumerator)
	for _, c := range []*plan.Committed{wide, row} {
		last := 1<<k.vk.Inference().Plan.Polys[c.Poly].Vars - 1
		h := hooks{input: value(c.Poly, last, 1)}
		lie("padding that is not zero", h, zkml.CheckSumcheck)
		h.guard = func(in *plan.Instance, table []m31.Element) {
			if strings.HasPrefix(in.Name, k.Program.Tensor(graph.TensorID(c.Tensor)).Name) {
				table[last] = 0
			}
		}
		lie("padding that is not looked at", h, zkml.CheckPublicFactor)
	}
}

// TestCommittedOutputs has provers whose committed outputs are not the program's,
// or not zero in padding.
func TestCommittedOutputs(t *testing.T) {
	k := secret(t)
	_, padded := k.committed(t, "padded")
	_, full := k.committed(t, "full")
	add := func(v []m31.Element, i int) { v[i] = v[i].Add(1) }
	for name, c := range map[string]struct {
		poly, at int
		check    string
	}{
		"a value of an output without padding": {full.Poly, 6, zkml.CheckOutputBind},
		"a value of a padded output":           {padded.Poly, 4, zkml.CheckSumcheck},
		"padding":                              {padded.Poly, 7, zkml.CheckSumcheck},
	} {
		t.Run(name, func(t *testing.T) {
			r := k.proveSalted(t, hooks{stated: changed(c.poly, func(v []m31.Element) { add(v, c.at) })})
			rejected(t, zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil), c.check)
		})
	}
	// Copy and evaluation agree on what is not the program's value; another output
	// is made of it.
	pl := k.vk.Inference().Plan
	r := k.proveSalted(t, hooks{stated: changed(full.Poly, func(v []m31.Element) { add(v, 6) }), evaluation: func(s *session, id int, v m31.QM31) m31.QM31 {
		e := pl.Evals[id]
		if e.Poly == full.Tensor && e.Point[0] == int32(pl.Bind+pl.BindVars-3) {
			at, err := s.part(pl.Bind+pl.BindVars-3, 3).Read(s.q)
			if err != nil {
				t.Fatal(err)
			}
			delta := make([]m31.Element, 8)
			delta[6] = 1
			v = v.Add(mle.EvaluateBase(delta, at))
		}
		return v
	}})
	err := zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil)
	rejected(t, err, zkml.CheckOutputBind)
	if !strings.Contains(err.Error(), "plain") {
		t.Errorf("not rejected for the other output: %v", err)
	}
}

// TestCommittedOpenings opens tables that are not behind the roots, and merges
// claims with one left out.
func TestCommittedOpenings(t *testing.T) {
	k := secret(t)
	for i, c := range k.vk.Committed() {
		home := plan.FirstCommitted + plan.Home(i)
		check := zkml.CheckOpenInput
		if c.Output {
			check = zkml.CheckOpenOutput
		}
		t.Run(c.String(), func(t *testing.T) {
			r := k.proveSalted(t, hooks{open: func(s *session, h plan.Home, claim whir.M31Claim) whir.M31Claim {
				if h == home {
					other := make([]m31.Element, s.stacks[h].Len())
					other[0] = 1
					cm, err := commit(s, h, other)
					if err != nil {
						t.Fatal(err)
					}
					s.committed[h], claim.Value = cm, mle.EvaluateBase(other, claim.Point)
				}
				return claim
			}})
			rejected(t, zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil), check)
			r = k.proveSalted(t, hooks{merge: weight(func(s *session, h plan.Home, table []m31.QM31) {
				if h == home {
					v, err := s.stacks[h].Read(s.q)
					if err != nil {
						t.Fatal(err)
					}
					shift(table, lifted(v))
				}
			})})
			rejected(t, zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil), zkml.CheckMerge)
		})
	}
}

// TestSalt guesses an input of one of 201 values from its commitment, which works
// for those who know the salt only. All keys make the same of values and salt.
func TestSalt(t *testing.T) {
	c := zkmltest.Secret(3)
	for i := range 8 {
		c.X[20+i] = 0 // square
	}
	c.X[20] = 123
	opts := quick
	opts.Commits.Inputs = []int{2}
	vk, pk, err := Setup(cpu(t), c.Program, c.Weights, &opts)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Prove(cpu(t), pk, c.X, nil)
	if err != nil {
		t.Fatal(err)
	}
	guess := func(salt [32]byte) (found []int32) {
		for v := range int32(201) {
			o, err := vk.Committed()[0].Open([]int32{v, 0, 0, 0, 0, 0, 0, 0}, salt)
			if err != nil {
				t.Fatal(err)
			}
			made, err := Commit(cpu(t), vk, 0, o)
			if err != nil {
				t.Fatal(err)
			}
			if *made == r.Statement.Commitments[0] {
				found = append(found, v)
			}
		}
		return found
	}
	if found := guess([32]byte{}); found != nil {
		t.Errorf("a commitment is guessed without its salt: %d", found)
	}
	if found := guess(r.Openings[0].Salt); !slices.Equal(found, []int32{123}) {
		t.Errorf("with its salt a commitment is to %d", found)
	}
	other := secret(t)
	i, _ := other.committed(t, "square")
	made, err := Commit(cpu(t), other.vk, i, r.Openings[0])
	if err != nil || *made != r.Statement.Commitments[0] {
		t.Errorf("under another key the commitment is another (%v)", err)
	}
	again, err := Prove(cpu(t), pk, c.X, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again.Openings[0].Salt == r.Openings[0].Salt {
		t.Error("two proofs have one salt")
	}
	// Every row of the code has four entries or more of salt alone.
	params := vk.Inference().Commitments[plan.FirstCommitted]
	if fold := params.Inner().Round(0).Fold; fold < plan.MinSaltedFold {
		t.Errorf("the first fold is %d", fold)
	}
	settings := vk.Settings()
	if settings.Inference.Commitments[plan.FirstCommitted], err = unsalted(params); err != nil {
		t.Fatal(err)
	}
	_, err = zkml.NewVerifyingKey(zkml.KeyParts{Program: c.Program, Commits: opts.Commits, WeightsDigest: vk.WeightsDigest(), Root: vk.Root(), Settings: settings})
	if err == nil || !strings.Contains(err.Error(), "every row is salted") {
		t.Errorf("a key with rows without salt: %v", err)
	}
}

// unsalted is parameters of the same size whose first round binds one variable.
func unsalted(p *whir.M31Params) (*whir.M31Params, error) {
	inner, err := whir.Complete(p.Inner().Spec(), p.Inner().Vars(), whir.Schedule{LogInvRate: 1, Folds: []int{1, 3}, Shrinks: []int{1}}, whir.Options{Claims: 2})
	if err != nil {
		return nil, err
	}
	return whir.NewM31Params(p.Vars(), inner)
}

// TestCommitsRefused asks for what a key cannot have committed.
func TestCommitsRefused(t *testing.T) {
	c := zkmltest.Every(13)
	for want, commits := range map[string]zkml.Commits{
		"committed inputs [2]":    {Inputs: []int{2}},
		"committed inputs [1 1]":  {Inputs: []int{1, 1}},
		"committed outputs [1 0]": {Outputs: []int{1, 0}},
		"committed outputs [-1]":  {Outputs: []int{-1}},
	} {
		opts := quick
		opts.Commits = commits
		if _, _, err := Setup(cpu(t), c.Program, c.Weights, &opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", commits, err)
		}
	}
	k := secret(t)
	o, err := k.vk.Committed()[2].Open(make([]int32, 8), [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func() error{
		"salts":  func() error { _, err := Prove(cpu(t), k.pk, k.X, &Options{Salts: salts(1)}); return err },
		"tensor": func() error { _, err := Commit(cpu(t), k.vk, 5, o); return err },
		"format": func() error { _, err := Commit(cpu(t), k.vk, 0, o); return err },
		"bounds": func() error {
			_, err := k.vk.Committed()[2].Open([]int32{201, 0, 0, 0, 0, 0, 0, 0}, [32]byte{})
			return err
		},
		"length":  func() error { _, err := k.vk.Committed()[2].Open(nil, [32]byte{}); return err },
		"opening": func() error { _, err := zkml.DecodeOpening(o.Encode()[:80]); return err },
		"bytes":   func() error { _, err := zkml.DecodeCommitment(append((&zkml.Commitment{}).Encode(), 0)); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestCommittedByScript has the verifier in Python judge an honest proof and
// forgeries of every part of it that has to do with commitments.
func TestCommittedByScript(t *testing.T) {
	zkmltest.Python(t) // or skip
	k := secret(t)
	var cases []zkmltest.ScriptCase
	judge := func(s zkml.Statement, proof []byte, checks ...string) {
		t.Helper()
		err := zkml.VerifyStatement(k.vk, &s, proof, nil)
		if len(checks) > 0 {
			rejected(t, err, checks...)
		} else if err != nil {
			t.Fatal(err)
		}
		c := zkmltest.ScriptCase{Key: hex.EncodeToString(k.vk.Encode()), Proof: hex.EncodeToString(proof), X: s.X, Y: s.Y, Check: zkml.FailedCheck(err), Sum: zkml.Security(k.vk).Sum}
		for i := range s.Commitments {
			c.Commitments = append(c.Commitments, hex.EncodeToString(s.Commitments[i].Encode()))
		}
		cases = append(cases, c)
	}
	r := k.proveSalted(t, hooks{})
	judge(r.Statement, r.Proof)
	s := r.Statement
	s.Commitments = slices.Clone(s.Commitments)
	s.Commitments[0].Root[0] ^= 1
	judge(s, r.Proof, zkml.CheckInputBind)
	forged, err := zkml.EncodeProof(k.vk, s.Digests(), decoded(t, k.vk, r.Proof))
	if err != nil {
		t.Fatal(err)
	}
	judge(s, forged, zkml.CheckTree)
	_, wide := k.committed(t, "wide")
	_, square := k.committed(t, "square")
	_, padded := k.committed(t, "padded")
	_, full := k.committed(t, "full")
	first := func(v []m31.Element) { v[0] = v[0].Add(1) }
	for _, c := range []struct {
		h      hooks
		checks []string
	}{
		{hooks{input: changed(square.Poly, func(v []m31.Element) { v[0] = 201 })}, []string{zkml.CheckNumerator}},
		{hooks{input: changed(wide.Poly, func(v []m31.Element) { v[0] = 70002 })}, []string{zkml.CheckRelation}},
		{hooks{stated: changed(full.Poly, first)}, []string{zkml.CheckOutputBind}},
		{hooks{stated: changed(padded.Poly, first)}, []string{zkml.CheckSumcheck}},
		{hooks{guard: func(_ *plan.Instance, table []m31.Element) { table[len(table)-1] = 0 }}, []string{zkml.CheckSumcheck, zkml.CheckPublicFactor}},
		{hooks{proof: func(_ *session, p *zkml.Proof) { p.Openings[plan.FirstCommitted+4].Halves[0][0] = m31.OneQM31() }}, []string{zkml.CheckOpenOutput}},
	} {
		r := k.proveSalted(t, c.h)
		judge(r.Statement, r.Proof, c.checks...)
	}
	zkmltest.Judge(t, filepath.Join("..", "testdata"), cases)
}
