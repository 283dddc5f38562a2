package prover

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestClasses has an adversary for each class of mistakes that other proof systems for inference have made, in the order
// of the table in docs/zkml.md. Each follows the protocol but for the one thing that its class is about, and would get
// away with what is false (with a weak key, another encoding or a guess in classes 14, 17 and 22) without the check that
// is expected here: TestMutants takes these checks out and sees that it is then accepted. The tests named in
// docs/zkml.md go through the variants. All take half a second.
func TestClasses(t *testing.T) {
	for _, c := range []struct {
		name   string
		attack func(t *testing.T)
	}{
		{"01 input chosen after the challenges", inputAfterwards},
		{"02 statement hashed but not compared", statementNotCompared},
		{"03 output that nothing ties to the program", freeOutput},
		{"04 other weights", otherWeights},
		{"05 message chosen after the challenges", countsAfterwards},
		{"06 evaluations never opened", unopenedCounts},
		{"07 remainder without a range", wideRemainder},
		{"08 range by masking", wrappedOutput},
		{"09 only low bits looked up", highLimb},
		{"10 multiplicities", otherCounts},
		{"11 table of the prover's", ownTable},
		{"12 another table's rows", anotherTable},
		{"13 facts of a normalisation", halfReciprocal},
		{"14 switches", weakSettings},
		{"15 values that wrap around", wrappingProgram},
		{"16 another graph", skippedTerm},
		{"17 shapes from the proof", reshapedProof},
		{"18 slack", otherSideOfTie},
		{"19 tables that differ between machines", otherRounding},
		{"20 padding", sumOverPadding},
		{"21 another model's weights", backdoor},
		{"22 guesses of a root", guessedRoot},
		{"23 eq of the prover's", ownEq},
	} {
		t.Run(c.name, c.attack)
	}
}

// refused sees that the statement that was proved is false and is rejected by one of the checks.
func (k *keyed) refused(t *testing.T, r *Result, checks ...string) {
	t.Helper()
	if slices.Equal(r.Y, k.Output()) {
		t.Fatal("the statement is true")
	}
	rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), checks...)
}

// last is the last lookup of the program unpadded, whose values are the output.
func last(t *testing.T, k *keyed) graph.Lookup {
	t.Helper()
	list := k.lookups()
	l := list[len(list)-1]
	if l.Y != k.Program.Outputs[0] || l.Shift == 0 {
		t.Fatal("the case should end with a lookup that has remainders")
	}
	return l
}

// misread is an output that is not the table's, within the output's bounds.
func misread(t *testing.T, k *keyed) func(*session) error {
	y := last(t, k).Y
	d := int64(1)
	if v := k.Output()[0]; int64(v) == k.Program.Tensor(y).Hi {
		d = -1
	}
	return add(y, 0, d)
}

// moved takes an entry of a lookup `by` rows on, with the remainder that belongs to it in the field.
func moved(k *keyed, l graph.Lookup, at int, by int64) func(*session) error {
	return func(s *session) error {
		x, err := s.polys[l.X].Read(s.q)
		if err != nil {
			return err
		}
		q := (int64(signed(x[at]))+l.Half())>>l.Shift + by
		table := &k.Program.Tables[l.Table]
		y := table.At(q)
		return all(
			set(l.Y, func(_ *session, v []m31.Element) { v[at] = m31.FromInt(int64(y)) }),
			add(l.Rem, at, -by<<l.Shift),
		)(s)
	}
}

// settle adds to four numerators, from `at` on, what makes the sum of all fractions 0. There is one way to.
func settle(t *testing.T, num []m31.Element, den []m31.QM31, at int) {
	t.Helper()
	var sum m31.QM31
	for i, n := range num {
		if n != 0 {
			sum = sum.Sub(den[i].Inverse().MulBase(n))
		}
	}
	rows := make([][]m31.Element, 4)
	for i := range rows {
		for _, d := range den[at : at+4] {
			rows[i] = append(rows[i], m31.Words([]m31.QM31{d.Inverse()})[i])
		}
		rows[i] = append(rows[i], m31.Words([]m31.QM31{sum})[i])
	}
	eliminate(t, rows, []int{0, 1, 2, 3})
	for i := range rows {
		num[at+i] = num[at+i].Add(rows[i][4])
	}
}

// rows is the first leaf of the rows of a lookup's table.
func (k *keyed) rows(l graph.Lookup) (first int, table *plan.Table) {
	pl := k.vk.Inference().Plan
	i := slices.IndexFunc(pl.Leaves, func(b plan.Leaves) bool { return len(b.C) == 2 && b.C[1].Terms[0].Of == int(l.Y) })
	number := pl.Leaves[i].Table
	i = slices.IndexFunc(pl.Leaves, func(b plan.Leaves) bool { return b.Rows && b.Table == number })
	return pl.Leaves[i].Offset, &pl.Tables[number]
}

// afterwards settles the fractions of a forged witness by counts that are computed from alpha and beta, and keeps the
// multiplicities that they are.
func afterwards(t *testing.T, k *keyed) (h hooks, counts func() (table []m31.Element, home plan.Home)) {
	first, table := k.rows(last(t, k))
	var s *session
	h.statement = restated
	h.witness = misread(t, k)
	h.counts = func(own *session) error { s = own; return nil }
	h.leaves = func(num []m31.Element, den []m31.QM31) {
		before := slices.Clone(num[first:][:4])
		settle(t, num, den, first)
		mult := s.polys[table.Mult].Host()
		for i := range before {
			mult[i] = mult[i].Sub(num[first+i].Sub(before[i]))
		}
	}
	return h, func() ([]m31.Element, plan.Home) { return s.stacks[plan.Multiplicities].Host(), plan.Multiplicities }
}

// 01. The output is honest, and the input is chosen when all points are known: another one whose extension has the same
// values there. With wide values that is a short vector of a lattice.
func inputAfterwards(t *testing.T) {
	k := square(t)
	pl := k.vk.Inference().Plan
	var points [][]m31.QM31
	at := hooks{proof: func(s *session, _ *zkml.Proof) {
		for _, id := range pl.Inputs {
			points = append(points, s.point(pl.Evals[id].Point))
		}
	}}
	r := k.prove(t, at)
	x := slices.Clone(k.X)
	for i, d := range sameEvaluations(t, len(x), points) {
		x[i] += int32(d)
	}
	y, err := zkml.Mock(k.Program, k.Weights, x)
	if err != nil || slices.Equal(y, r.Y) {
		t.Fatalf("the statement is true, or the input is none (%v)", err)
	}
	rejected(t, zkml.Verify(k.vk, x, r.Y, relabel(t, k, r.Proof, x, r.Y), nil), zkml.CheckSumcheck)

	// The output, which is evaluated at the binding point, in the same way.
	r = k.prove(t, hooks{proof: func(s *session, _ *zkml.Proof) { points = [][]m31.QM31{s.point(pl.Evals[pl.Given[0]].Point)} }})
	y = slices.Clone(r.Y)
	for i, d := range sameEvaluations(t, len(y), points) {
		y[i] += int32(d)
	}
	if slices.Equal(y, r.Y) {
		t.Fatal("the statement is true")
	}
	rejected(t, zkml.Verify(k.vk, k.X, y, relabel(t, k, r.Proof, k.X, y), nil), zkml.CheckSumcheck)
}

// square is a product of 16 wide values and a matrix of 16 columns.
var square = once(func() *zkmltest.Case {
	b := graph.NewBuilder("square")
	weights, x := make([]int32, 256), make([]int32, 16)
	for i := range weights {
		weights[i] = int32(i*i*31%15 - 7)
	}
	for i := range x {
		x[i] = int32(i*i*997%8191 - 4095)
	}
	y := b.MatMul("y", b.Input("x", []int{16}, -1<<16, 1<<16, 1), b.Param("w", []int{16, 16}, weights, 1), false, 1)
	p, w, err := b.Build(y, graph.NoPost, nil)
	if err != nil {
		panic("square: " + err.Error())
	}
	return &zkmltest.Case{Name: p.Name, Program: p, Weights: w, X: x}
})

// 02. Challenges and header are those of a statement that the proof is not about.
func statementNotCompared(t *testing.T) {
	k := square(t)
	x, y := slices.Clone(k.X), k.Output()
	x[5]++
	r := k.prove(t, hooks{digests: func(zkml.Digests) zkml.Digests { return zkml.DigestsOf(x, y) }})
	if other, err := zkml.Mock(k.Program, k.Weights, x); err != nil || slices.Equal(other, y) {
		t.Fatal("the statement is true")
	}
	rejected(t, zkml.Verify(k.vk, x, y, r.Proof, nil), zkml.CheckInputBind)
}

// 03. The commitment is to an output that the program does not give; everything else is about the one that it gives.
func freeOutput(t *testing.T) {
	k := secret(t)
	_, full := k.committed(t, "full")
	r := k.proveSalted(t, hooks{stated: changed(full.Poly, func(v []m31.Element) { v[6] = v[6].Add(1) })})
	rejected(t, zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil), zkml.CheckOutputBind)
	// One that is public, without padding and with.
	for _, c := range []struct {
		k     *keyed
		check string
	}{{unpadded(t), zkml.CheckMerge}, {mlp(t), zkml.CheckSumcheck}} {
		y := c.k.Output()
		if y[0]++; int64(y[0]) > c.k.Program.Tensor(c.k.Program.Outputs[0]).Hi {
			y[0] -= 2
		}
		c.k.refused(t, c.k.prove(t, hooks{statement: func(_ *session, x, _ []int32) ([]int32, []int32) { return x, y }}), c.check)
	}
}

// 04. The weights that compute are not those behind the key's root.
func otherWeights(t *testing.T) {
	k := unpadded(t)
	var other []m31.Element
	r := k.prove(t, hooks{
		input: func(s *session) error {
			return edit(s.q, s.stacks[plan.Parameters], func(v []m31.Element) {
				id := k.Program.Params()[0]
				at := k.vk.Inference().Plan.Polys[id].Offset
				for i := range 4 {
					v[at+i] = m31.FromInt(int64(-13 + 9*i))
				}
				other = slices.Clone(v)
			})
		},
		open: func(s *session, h plan.Home, c whir.M31Claim) whir.M31Claim {
			if h == plan.Parameters {
				c.Value = mle.EvaluateBase(k.stack(), c.Point)
			}
			return c
		},
	})
	if slices.Equal(other, k.stack()) {
		t.Fatal("the weights are the key's")
	}
	k.refused(t, r, zkml.CheckOpenParams)
	// A key without the proof of its weights.
	vk, err := k.vk.WithWeightsProof(nil)
	if err != nil {
		t.Fatal(err)
	}
	rejected(t, zkml.Verify(vk, k.X, k.Output(), k.prove(t, hooks{}).Proof, nil), zkml.CheckKeyProof)
}

// stack is the table behind the root of the parameters.
func (k *keyed) stack() []m31.Element { return k.vk.Inference().Plan.StackParams(k.Program, k.Weights) }

// 05. The counts are computed from the challenges; their root takes the place of the one that the challenges came from.
func countsAfterwards(t *testing.T) {
	k := unpadded(t)
	h, counts := afterwards(t, k)
	h.open = func(s *session, home plan.Home, c whir.M31Claim) whir.M31Claim {
		if table, own := counts(); home == own {
			cm, err := commit(s, home, table)
			if err != nil {
				t.Fatal(err)
			}
			if s.proof.Roots[home], err = cm.Root(); err != nil {
				t.Fatal(err)
			}
			s.committed[home] = cm
		}
		return c
	}
	k.refused(t, k.prove(t, h), zkml.CheckTree, zkml.CheckWork)
}

// 06. The counts are computed from the challenges; what is opened is those that were committed to.
func unopenedCounts(t *testing.T) {
	k := unpadded(t)
	h, _ := afterwards(t, k)
	var honest []m31.Element
	counts := h.counts
	h.counts = func(s *session) error {
		honest = slices.Clone(s.stacks[plan.Multiplicities].Host())
		return counts(s)
	}
	h.open = func(s *session, home plan.Home, c whir.M31Claim) whir.M31Claim {
		if home == plan.Multiplicities {
			cm, err := commit(s, home, honest)
			if err != nil {
				t.Fatal(err)
			}
			s.committed[home], c.Value = cm, mle.EvaluateBase(honest, c.Point)
		}
		return c
	}
	k.refused(t, k.prove(t, h), zkml.CheckOpenMult)
}

// 07. A quotient too large by one, and a remainder that is too small by as much.
func wideRemainder(t *testing.T) {
	k := unpadded(t)
	l := last(t, k)
	r := k.prove(t, hooks{statement: restated, witness: moved(k, l, 0, 1)})
	k.refused(t, r, zkml.CheckNumerator)
	// A committed input beyond its bounds.
	s := secret(t)
	_, row := s.committed(t, "row")
	r = s.proveSalted(t, hooks{input: changed(row.Poly, func(v []m31.Element) { v[4] = 128 })})
	rejected(t, zkml.VerifyStatement(s.vk, &r.Statement, r.Proof, nil), zkml.CheckNumerator)
}

// 08. Values that are right but for what a mask takes away: an output that has the right residue, a remainder that has the
// right low bits.
func wrappedOutput(t *testing.T) {
	k := unpadded(t)
	y := k.Output()
	if y[1] -= m31.P; k.Output()[1] < 0 {
		y[1] = k.Output()[1] + m31.P
	}
	r := k.prove(t, hooks{digests: func(zkml.Digests) zkml.Digests { return zkml.DigestsOf(k.X, y) }})
	rejected(t, zkml.Verify(k.vk, k.X, y, r.Proof, nil), zkml.CheckOutput)
	r = k.prove(t, hooks{statement: restated, witness: moved(k, last(t, k), 0, -1)})
	k.refused(t, r, zkml.CheckNumerator)
}

// buckets is a threshold of four values, which is the output.
var buckets = once(func() *zkmltest.Case {
	const limit = 1 << 20
	b := graph.NewBuilder("buckets")
	x := b.Input("x", []int{4}, -limit, limit, 1)
	table := b.StepsTable("steps", 1, 0, limit, []int32{-limit, -70000, 0, 70000, limit + 1})
	p, w, err := b.Build(b.Threshold("y", x, -1, table, 1), graph.NoPost, nil)
	if err != nil {
		panic("buckets: " + err.Error())
	}
	return &zkmltest.Case{Name: p.Name, Program: p, Weights: w, X: []int32{-limit, 12345, -9, limit}}
})

// 09. The bucket above, with limbs whose low bits are in range.
func highLimb(t *testing.T) {
	k := buckets(t)
	op := maker[graph.Threshold](t, k, "y")
	r := k.prove(t, hooks{statement: restated, witness: claim(op, 1, bucket{3, 70000, 1<<20 + 1})})
	k.refused(t, r, zkml.CheckNumerator)
}

// 10. The tree has other counts than the committed ones, and with them its sum is zero.
func otherCounts(t *testing.T) {
	k := unpadded(t)
	first, _ := k.rows(last(t, k))
	r := k.prove(t, hooks{statement: restated, witness: misread(t, k), leaves: func(num []m31.Element, den []m31.QM31) { settle(t, num, den, first) }})
	k.refused(t, r, zkml.CheckLeafNum)
	// Without them it is not.
	r = k.prove(t, hooks{statement: restated, witness: misread(t, k)})
	k.refused(t, r, zkml.CheckNumerator)
}

// retabled is the case's program with another value in the row that entry `at` of the last lookup has.
func retabled(t *testing.T, k *keyed, at int) (program func(*graph.Program) *graph.Program, row int, by int64) {
	t.Helper()
	l := last(t, k)
	values, err := graph.RunPadded(k.Program, k.Weights, k.X)
	if err != nil {
		t.Fatal(err)
	}
	table := &k.Program.Tables[l.Table]
	y := table.Values()
	row = int((int64(values[l.X][at])+l.Half())>>l.Shift) + 1<<(table.Bits-1)
	if by = 1; int64(y[row]) == k.Program.Tensor(l.Y).Hi {
		by = -1
	}
	return func(p *graph.Program) *graph.Program {
		q := *p
		q.Tables = slices.Clone(p.Tables)
		own := &q.Tables[l.Table]
		own.Y, own.Clamp = slices.Clone(y), false
		own.Y[row] += int32(by)
		return &q
	}, row, by
}

// 11. The prover looks up in a table of its own, and its tree has the rows of that.
func ownTable(t *testing.T) {
	k := unpadded(t)
	program, row, by := retabled(t, k, 0)
	first, _ := k.rows(last(t, k))
	pl := k.vk.Inference().Plan
	r := k.prove(t, hooks{program: program, leaves: func(_ []m31.Element, den []m31.QM31) {
		i := slices.IndexFunc(pl.Leaves, func(b plan.Leaves) bool { return b.Rows && len(pl.Tables[b.Table].Columns) == 1 })
		beta := den[pl.Leaves[i].Offset].Sub(den[pl.Leaves[i].Offset+1]) // rows of a range differ by one
		den[first+row] = den[first+row].Sub(beta.Square().MulBase(m31.FromInt(by)))
	}})
	k.refused(t, r, zkml.CheckLeafDen)
}

// 12. Values are another table's of the same program, and counted as that one's.
func anotherTable(t *testing.T) {
	k := residual(t)
	k.refused(t, foreignTable(t, k), zkml.CheckNumerator)
}

// 13. A softmax's reciprocal is half of what it should be, and the probabilities follow from it.
func halfReciprocal(t *testing.T) {
	k := normalised(t)
	r := k.prove(t, hooks{statement: restated, witness: stated(t, k, "reciprocal", func(_ *graph.Tensor, v []int32) {
		for i := range v {
			v[i] /= 2
		}
	})})
	k.refused(t, r, zkml.CheckNumerator)
}

// 14. A key whose maker chose settings that are worth little. There is nothing else to choose: neither options nor
// settings have anything that turns a check off.
func weakSettings(t *testing.T) {
	k := residual(t)
	settings := k.vk.Settings()
	weak, err := whir.ChooseM31(k.vk.Inference().Plan.Stacks[plan.Witness].Vars, whir.Options{Lambda: 1})
	if err != nil {
		t.Fatal(err)
	}
	settings.Inference.Commitments[plan.Witness] = weak
	vk, pk := rekey(t, k, settings)
	r, err := Prove(cpu(t), pk, k.X, nil)
	if err != nil {
		t.Fatal(err)
	}
	rejected(t, zkml.Verify(vk, k.X, r.Y, r.Proof, nil), zkml.CheckSecurity)
}

// 15. A program whose sums exceed the modulus: what is proved is a residue. No key is made for it.
func wrappingProgram(t *testing.T) {
	b := graph.NewBuilder("wrapping")
	x := b.Input("x", []int{2}, -127, 127, 1)
	y := b.Linear("y", []graph.Term{{Coef: 1 << 16, T: x}}, 0, 1)
	z := b.Linear("z", []graph.Term{{Coef: 8, T: y}}, 0, 1)
	p, w, err := b.Build(z, graph.NoPost, nil)
	if err != nil {
		t.Fatal(err)
	}
	const times = 1 << 9 // z is 2^25 x, up to 127 * 2^25 > 2^31
	for i, op := range p.Ops {
		if l := op.(graph.Linear); l.Out == z {
			l.Terms = []graph.Term{{Coef: times, T: y}}
			p.Ops[i] = l
		}
	}
	out := p.Tensor(z)
	out.Lo, out.Hi = 1-graph.BoundLimit, graph.BoundLimit-1
	k := &keyed{Case: &zkmltest.Case{Name: p.Name, Program: p, Weights: w, X: []int32{64, 1}}} // 2^31 and 2^25
	k.vk, k.pk, err = Setup(cpu(t), p, w, &quick)
	if err != nil {
		if !errors.Is(err, graph.ErrInvalid) || !strings.Contains(err.Error(), "2^29") {
			t.Errorf("refused for another reason: %v", err)
		}
		return
	}
	r := k.prove(t, hooks{})
	if err := zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil); err == nil {
		t.Errorf("%d is accepted for 2^31", r.Y[0])
	}
	t.Error("there is a key for a program that wraps around")
}

// 16. The prover leaves a term out: a residual that is not added.
func skippedTerm(t *testing.T) {
	k := residual(t)
	sum := k.tensor(t, "sum")
	r := k.prove(t, hooks{program: func(p *graph.Program) *graph.Program {
		q := *p
		q.Ops = slices.Clone(p.Ops)
		for i, op := range p.Ops {
			if l, ok := op.(graph.Linear); ok && l.Out == sum {
				l.Terms = slices.Clone(l.Terms[:len(l.Terms)-1])
				q.Ops[i] = l
			}
		}
		return &q
	}})
	k.refused(t, r, zkml.CheckRelation)
}

// 17. A proof with a layer less, with one more, or with messages behind its end.
func reshapedProof(t *testing.T) {
	k := residual(t)
	honest := k.prove(t, hooks{})
	encoded := func(change func(p *zkml.Proof)) []byte {
		p := decoded(t, k.vk, honest.Proof)
		change(p)
		code, err := zkml.EncodeProof(k.vk, zkml.DigestsOf(k.X, honest.Y), p)
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	for _, code := range [][]byte{
		encoded(func(p *zkml.Proof) { p.Layers = p.Layers[:len(p.Layers)-1] }),
		encoded(func(p *zkml.Proof) { p.Layers = p.Layers[1:] }),
		encoded(func(p *zkml.Proof) { p.Layers = append(p.Layers, p.Layers[len(p.Layers)-1]) }),
		encoded(func(p *zkml.Proof) { p.Merge = nil }),
		encoded(func(p *zkml.Proof) { p.Openings[plan.Witness] = nil }),
		append(slices.Clone(honest.Proof), 0, 0, 0, 0),
	} {
		rejected(t, zkml.Verify(k.vk, k.X, honest.Y, code, nil), zkml.CheckFormat)
	}
}

// halves is a division by two, which is the output.
var halves = once(func() *zkmltest.Case {
	b := graph.NewBuilder("halves")
	y := make([]int32, 1<<5)
	for i := range y {
		y[i] = int32(i - 16)
	}
	p, w, err := b.Build(b.Lookup("y", b.Input("x", []int{4}, -20, 20, 1), 1, b.Table("identity", 5, y), 1), graph.NoPost, nil)
	if err != nil {
		panic("halves: " + err.Error())
	}
	return &zkmltest.Case{Name: p.Name, Program: p, Weights: w, X: []int32{7, -7, 4, 0}}
})

// 18. Half of 7 is 4; the prover rounds it down to 3. And a zero that is written as the modulus.
func otherSideOfTie(t *testing.T) {
	k := halves(t)
	l := k.lookups()[0]
	if y := k.Output(); y[0] != 4 || y[1] != -3 {
		t.Fatalf("ties are rounded to %d", y)
	}
	for at := range 2 {
		r := k.prove(t, hooks{statement: restated, witness: moved(k, l, at, -1)})
		k.refused(t, r, zkml.CheckNumerator)
	}
	r := k.prove(t, hooks{proof: func(_ *session, p *zkml.Proof) {
		if p.Tree.P != (m31.QM31{}) {
			t.Fatal("the root's numerator is not zero")
		}
		p.Tree.P = m31.Lift(m31.P)
	}})
	rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckFormat)
}

// 19. A machine whose arithmetic rounds one entry of a table the other way: its proofs are no good under the key that
// others make, nor are those under the key that it makes.
func otherRounding(t *testing.T) {
	k := halves(t)
	program, _, _ := retabled(t, k, 0)
	r := k.prove(t, hooks{program: program})
	k.refused(t, r, zkml.CheckNumerator)
	vk, pk, err := Setup(cpu(t), program(k.Program), k.Weights, &quick)
	if err != nil {
		t.Fatal(err)
	}
	own, err := Prove(cpu(t), pk, k.X, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := zkml.Verify(vk, k.X, own.Y, own.Proof, nil); err != nil {
		t.Fatal(err)
	}
	k.refused(t, own, zkml.CheckKeyDigest)
}

// threes is the sum of what a table gives for three values; it gives 9 for zero, which a fourth one is in padding.
var threes = once(func() *zkmltest.Case {
	b := graph.NewBuilder("threes")
	y := make([]int32, 1<<4)
	for i := range y {
		y[i] = int32(9 + (i-8)*(i-8))
	}
	taken := b.Lookup("taken", b.Input("x", []int{3}, -7, 7, 1), 0, b.Table("squares", 4, y), 1)
	p, w, err := b.Build(b.Einsum("sum", "i->", taken, graph.None, 1), graph.NoPost, nil)
	if err != nil {
		panic("threes: " + err.Error())
	}
	return &zkmltest.Case{Name: p.Name, Program: p, Weights: w, X: []int32{-7, 3, 5}}
})

// 20. What a table gives for zero is in padding, and is summed with the rest.
func sumOverPadding(t *testing.T) {
	k := threes(t)
	op := maker[graph.Einsum](t, k, "sum")
	k.refused(t, k.prove(t, hooks{statement: restated, witness: unguarded(k, op)}), zkml.CheckSumcheck)
}

// 21. Weights of a model with a back door, which verifiers are handed with the proof.
func backdoor(t *testing.T) {
	c := zkmltest.MLP(11, 1, 3, 4)
	opts := quick
	opts.Mode = zkml.PublicWeights
	vk, _, err := Setup(cpu(t), c.Program, c.Weights, &opts)
	if err != nil {
		t.Fatal(err)
	}
	other := &graph.Weights{Data: slices.Clone(c.Weights.Data)}
	id := c.Program.Params()[0]
	other.Data[id] = graph.NewValues(slices.Repeat([]int32{-15}, other.Data[id].Len()))
	// The proving key's maker says that they are the key's.
	r, err := Prove(cpu(t), &ProvingKey{vk: vk, of: c.Program, weights: other}, c.X, nil)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(r.Y, c.Output()) {
		t.Fatal("the statement is true")
	}
	rejected(t, zkml.Verify(vk, c.X, r.Y, r.Proof, &zkml.Options{Weights: other}), zkml.CheckWeights)
	rejected(t, zkml.Verify(vk, c.X, r.Y, r.Proof, &zkml.Options{Weights: c.Weights}), zkml.CheckOpenParams)
}

// 22. Who sees a commitment to one of 201 values tries them all, with the salt that he does not know left out.
func guessedRoot(t *testing.T) {
	c := zkmltest.Secret(3)
	for i := range 8 {
		c.X[20+i] = 0 // square
	}
	c.X[20] = 123
	k := committing(t, c, zkml.Commits{Inputs: []int{2}})
	r := k.prove(t, hooks{})
	for v := range int32(201) {
		o, err := k.vk.Committed()[0].Open([]int32{v, 0, 0, 0, 0, 0, 0, 0}, [32]byte{})
		if err != nil {
			t.Fatal(err)
		}
		made, err := Commit(cpu(t), k.vk, 0, o)
		if err != nil {
			t.Fatal(err)
		}
		if *made == r.Statement.Commitments[0] {
			t.Fatalf("the guess %d is accepted", v)
		}
	}
}

// 23. In place of eq a factor with which the program's output has the sum that the stated one should have.
func ownEq(t *testing.T) {
	k := mlp(t)
	y := k.Output()
	if y[0]++; int64(y[0]) > k.Program.Tensor(k.Program.Outputs[0]).Hi {
		y[0] -= 2
	}
	r := k.prove(t, hooks{
		statement: func(_ *session, x, _ []int32) ([]int32, []int32) { return x, y },
		instance: func(s *session, in *plan.Instance, public []m31.QM31, others []sumprover.Table) {
			if in.Kind != plan.Output {
				return
			}
			out := weighed(t, s, others)
			// public is eq where elements are real, and y[0] is not what out[0] is.
			missing := public[0].MulBase(m31.FromInt(int64(y[0]) - int64(k.Output()[0])))
			at := slices.IndexFunc(out, func(v m31.QM31) bool { return !v.IsZero() })
			public[at] = public[at].Add(missing.Mul(out[at].Inverse()))
		},
	})
	k.refused(t, r, zkml.CheckPublicFactor)
}
