package sumcheck_test

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/mutant"
)

// TestMutants deletes or weakens each check of the verifier in turn.
func TestMutants(t *testing.T) {
	var list []mutant.Mutant
	add := func(name, file, old, changed, tests string) {
		list = append(list, mutant.Mutant{Name: name, File: "sumcheck/" + file, Old: old, New: changed, Package: "./sumcheck", Tests: tests})
	}
	add("final check", "verify.go", "if final(claims, gamma, r) != running {", "if false && final(claims, gamma, r) != running {", "Cheat")
	add("eq in the final check", "verify.go", "		if c.Eq {\n			v = v.Mul(mle", "		if false {\n			v = v.Mul(mle", "Cheat|Complete")
	add("number of round words", "verify.go", "len(p.Rounds) != want", "len(p.Rounds) < want", "Cheat")
	add("number of evaluations", "verify.go", "len(p.Evals) != want", "len(p.Evals) < want", "Cheat")
	add("range of words", "verify.go", "if w >= m31.P {", "if false && w >= m31.P {", "Cheat")
	add("no proof", "verify.go", "if p == nil {", "if false && p == nil {", "Cheat")
	add("claims are sound", "verify.go", "if err := c.Check(); err != nil {", "if err := c.Check(); err != nil && false {", "Cheat")
	add("some claim", "verify.go", "if len(claims) == 0 {", "if len(claims) < 0 {", "Cheat")
	add("claims absorbed", "verify.go", "	tr.AbsorbExt(values)\n", "	_ = values\n", "Cheat")
	add("messages absorbed", "verify.go", "		tr.AbsorbExt(message)\n", "", "Complete")
	add("evaluations absorbed", "verify.go", "	tr.AbsorbExt(proof.Evals)\n", "", "Complete")
	add("batching challenge", "verify.go", "	gamma := tr.Challenge()\n", "	gamma := tr.Challenge().Exp(0)\n", "Cheat")
	add("weights of late claims", "verify.go", "			v = v.Double()\n", "			v = v.Add(m31.QM31{})\n", "Cheat|Complete")
	add("one at a time", "verify.go", "running.Sub(message[0])", "message[0]", "Complete")
	add("coefficients", "sumcheck.go", "			v = v.Mul(c.Coeffs[i])\n", "", "Complete")
	add("length of points", "sumcheck.go", "if len(c.Point) != want {", "if len(c.Point) < want {", "Cheat")
	add("unused factors", "sumcheck.go", "if !u { // its", "if false && !u { // its", "TestShapes")
	add("encoded length", "encode.go", "if len(data) != 16*n {", "if len(data) < 16*n {", "Cheat")
	add("shapes of encodings", "encode.go", "if err := s.Check(); err != nil {", "if err := s.Check(); err != nil && false {", "CheatStatements")
	add("shape of expressions", "sumcheck.go", "if s.Factors != len(s.Expr.columns) ||", "if false && s.Factors != len(s.Expr.columns) ||", "CheatStatements")
	add("eq of expressions", "sumcheck.go", "s.Eq != s.Expr.eq || ", "", "CheatStatements")
	add("scalars of expressions", "sumcheck.go", "(c.Coeffs != nil || c.Expr != nil)", "c.Coeffs != nil", "CheatStatements")
	add("columns without effect", "expr.go", "if e.program.run(r) == v {", "if false && e.program.run(r) == v {", "ExprErrors")
	add("degree of expressions", "expr_normal.go", "if degree > MaxExprDegree {", "if degree > MaxExprDegree+1 {", "ExprErrors")
	mutant.Run(t, list)
}
