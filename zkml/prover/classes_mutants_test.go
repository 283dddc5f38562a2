package prover

import "github.com/zkwarp/zkwarp/internal/mutant"

// classMutants take out the check that TestClasses expects of a class: what its adversary made is then accepted, and
// the test has to say so. Those of 05 and 15 change two places.
func classMutants() (list []mutant.Mutant) {
	const check, verify, key, proof = "zkml/check.go", "zkml/verify.go", "zkml/key.go", "zkml/proof.go"
	const lookups, operations, builder = "zkml/internal/plan/lookups.go", "zkml/internal/plan/operations.go", "zkml/internal/plan/builder.go"
	for _, m := range []mutant.Mutant{
		{Name: "01 input not absorbed", File: "zkml/digests.go", Old: "tr.AbsorbBytes(d.Input[:])", New: ""},
		{Name: "02 input not compared", File: check, Old: "if r.stated(r.Plan.Evals[id].Poly, r.values.At(id)) != v {", New: "if v != v {"},
		{Name: "03 copies of outputs not compared", File: "zkml/internal/plan/committed.go", Old: "fresh = append(fresh, l.relate(stated, 0, []m31.Element{1}, []factor{{o, l.bindAt(out)}})...)", New: "_ = stated"},
		{Name: "04 openings not verified", File: check, Old: "if err := opening(); err != nil {", New: "if err := opening(); err != nil && false {"},
		{Name: "05 multiplicities not absorbed", File: check, Old: "o, err := whir.ReceiveM31(r.tr, r.Commitments[h], r.proof.Roots[h])",
			New:  "before := *r.tr\n\t\to, err := whir.ReceiveM31(r.tr, r.Commitments[h], r.proof.Roots[h])\n\t\tif h == plan.Multiplicities {\n\t\t\t*r.tr = before\n\t\t}",
			More: []mutant.Change{{File: "zkml/prover/session.go", Old: "if err := c.Absorb(s.q, s.tr); err != nil {", New: "if h == plan.Multiplicities {\n\t\t} else if err := c.Absorb(s.q, s.tr); err != nil {"}}},
		{Name: "06 openings not verified", File: check, Old: "if err := opening(); err != nil {", New: "if err := opening(); err != nil && false {"},
		{Name: "07 remainders not looked up", File: lookups, Old: "l.look(l.ranges[int(op.Shift)], vars, column(int(op.Rem)))", New: ""},
		{Name: "08 output range not checked", File: "zkml/statement.go", Old: "if err := vk.program.CheckValues(vk.PublicOutputs(), s.Y); err != nil {", New: "if err := vk.program.CheckValues(vk.PublicOutputs(), s.Y); err != nil && len(s.Y) != vk.program.Total(vk.PublicOutputs()) {"},
		{Name: "09 high limbs not looked up", File: lookups, Old: "for i, id := range limbs {", New: "for i, id := range limbs[:1] {"},
		{Name: "10 leaf numerators not compared", File: check, Old: "if num != claim.P {", New: "if num != claim.P && false {"},
		{Name: "11 leaf denominators not compared", File: check, Old: "if den != claim.Q {", New: "if den != claim.Q && false {"},
		{Name: "12 tables share a tag", File: builder, Old: "t.Tag = uint32(len(b.Tables) + 1)", New: "t.Tag = 1"},
		{Name: "13 values not looked up", File: lookups, Old: "l.look(l.tables[op.Table], vars, q, column(int(op.Y)))", New: "_ = q"},
		{Name: "14 security not checked", File: key, Old: "if r := Security(vk); !(r.Sum >= MinSecurity) {", New: "if r := Security(vk); r.Sum < 0 {"},
		{Name: "15 bounds not checked", File: "zkml/graph/bounds.go", Old: "return a.magnitude() < BoundLimit", New: "return true",
			More: []mutant.Change{{File: "zkml/graph/validate_ops.go", Old: "case t.bounds() != r.interval:", New: "case t.bounds() != r.interval && false:"}}},
		{Name: "16 relations not checked", File: check, Old: "if got != want {", New: "if got != want && false {"},
		{Name: "17 trailing bytes allowed", File: proof, Old: "if c.err == nil && len(c.data) > 0 {\n\t\tc.err = fmt.Errorf(\"%d bytes too many\", len(c.data))\n\t}\n\tif c.err != nil {", New: "if c.err != nil {"},
		{Name: "18 ranges twice as large", File: builder, Old: "b.table(Table{Name: name, Bits: bits, Columns: []Column{{First: first, Vars: bits}}, Row: []RowPart{{First: first, Vars: bits}}})",
			New: "b.table(Table{Name: name, Bits: bits + 1, Columns: []Column{{First: first, Vars: bits + 1}}, Row: []RowPart{{First: first, Vars: bits + 1}}})"},
		{Name: "19 values not looked up", File: lookups, Old: "l.look(l.tables[op.Table], vars, q, column(int(op.Y)))", New: "_ = q"},
		{Name: "20 sums over padding", File: operations, Old: "axis.Extent, public = a.Shape[i], true", New: "public = true"},
		{Name: "21 public weights not hashed", File: verify, Old: "if got != vk.weightsDigest {", New: "if got != vk.weightsDigest && false {"},
		{Name: "22 no salt", File: "zkml/commitment.go", Old: "_, err = io.ReadFull(rand.Reader, salt[:])", New: "_, err = io.ReadFull(rand.Reader, salt[:0])"},
		{Name: "23 public factors not compared", File: check, Old: "if r.values.PublicEval(in, r.st.public, r.values.Point(l.Bound(in))) != evals[0] {", New: "if false {"},
	} {
		m.Tests, m.Says = "TestClasses/"+m.Name[:2], "accepted"
		list = append(list, m)
	}
	return list
}
