package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/mutant"
)

// Verifiers with one check deleted or weakened, or one thing left out of the transcript
// by prover and verifier alike: a test fails.
func TestMutants(t *testing.T) {
	var list []mutant.Mutant
	add := func(pkg, file, name, tests, old, changed string) {
		list = append(list, mutant.Mutant{Name: name, File: "fribinius/" + file, Old: old, New: changed, Package: pkg, Tests: tests})
	}
	const own, light = "./fribinius/prover", "./fribinius"
	add(own, "verify.go", "final claim unchecked", "TestFalsePartial", "got != claim {", "got != claim && false {")
	add(own, "verify.go", "ring switching unchecked", "TestFalseValue", "got != value {", "got != value && false {")
	add(own, "verify.go", "folds unchecked", "TestMessageFitsFalseClaim|TestFalseLayer", "got != folded[k] {", "got != folded[k] && k < 0 {")
	add(own, "verify.go", "folds of one query only", "TestDistantWord|TestWordWithin", "got != folded[k] {", "got != folded[k] && k == 0 {")
	add(own, "verify.go", "final codeword unchecked", "TestMessageFitsFalseClaim|TestLayerFolds", "if codeword[index] != folded[k] {", "if false {")
	add(own, "verify.go", "openings unchecked", "TestFalseOpening", "if err != nil {\n\t\t\treturn &Error{i, CheckOpening, err}", "if err != nil && rows == nil && len(pf.Openings[i].Siblings) < 0 {\n\t\t\treturn &Error{i, CheckOpening, err}")
	add(own, "verify.go", "later roots are the commitment", "TestComplete", "root = pf.Roots[i-1]", "_ = root")
	add(own, "verify.go", "partial evaluations not absorbed", "TestLatePartial", "	tr.Absorb(pf.Partial)\n", "")
	add(own, "verify.go", "coefficients not absorbed", "TestComplete", "tr.Absorb([]gf2.Element{m.AtZero, m.Lead})", "tr.Absorb([]gf2.Element{m.AtZero})")
	add(own, "verify.go", "final message not absorbed", "TestComplete", "tr.Absorb(pf.Final)", "tr.Absorb(nil)")
	add(own, "verify.go", "roots not absorbed", "TestLateRoot", "			tr.AbsorbWords(pf.Roots[i-1][:])\n", "")
	add(own, "verify.go", "root of the commitment not absorbed", "TestStatementIsBound", "append(p.header(), root[:]...)", "append(p.header(), root[1:]...)")
	add(own, "verify.go", "point not absorbed", "TestStatementIsBound", "append(slices.Clone(point), value)", "append(slices.Clone(point[1:]), value)")
	add(own, "verify.go", "value not absorbed", "TestStatementIsBound", "append(slices.Clone(point), value)", "slices.Clone(point)")
	add(own, "proof.go", "queries not absorbed", "TestStatementIsBound", "uint32(p.rate), uint32(p.queries)", "uint32(p.rate)")
	add(own, "verify.go", "point's length unchecked", "TestOtherPoint", "if len(point) != p.vars {", "if len(point) > p.vars {")
	add(own, "verify.go", "no proof", "TestOtherPoint", "if pf == nil {", "if false {")
	add(own, "verify.go", "shape unchecked", "TestShapes", "if err := pf.shape(p); err != nil {", "if err := pf.shape(p); err != nil && false {")
	add(own, "proof.go", "lengths unchecked", "TestShapes", "if n.got != n.want {", "if n.got < n.want {")
	add(own, "proof.go", "rows unchecked", "TestShapes", "len(o.Rows)%words != 0 || rows < 1 || rows > p.maxRows(i)", "rows < 0")
	add(own, "proof.go", "siblings unchecked", "TestShapes", "len(o.Siblings) > most", "len(o.Siblings) < 0*most")
	add(own, "proof.go", "bytes left over", "TestEveryWord", "if len(d.data) != 0 {", "if false {")
	add(own, "proof.go", "header unchecked", "TestEveryWord", "d.err == nil && got != want", "d.err != nil && got != want")
	add(own, "proof.go", "counts unlimited", "TestHugeCounts", "uint64(n) > uint64(most) || 4*uint64(n)*uint64(words) > uint64(len(d.data))", "false")
	add(own, "proof.go", "openings of nothing", "TestHugeCounts", "uint64(n) < uint64(least) || ", "")
	add(own, "algebra.go", "rows of low bits only", "TestComplete", "for b := e.Hi; b != 0;", "for b := e.Lo; b != 0;")
	add(light, "algebra.go", "point left out of the weight", "TestWeight", "left := z[i].Mul(gf2.Basis(u))", "left := gf2.Basis(u)")
	add(light, "params.go", "query error left out", "TestReport", `Line{"queries", float64(p.queries) * p.queryBits(),`, `Line{"queries", 999,`)
	add(light, "params.go", "folding errors left out", "TestReport", "if l.Fold > 0 {", "if l.Fold > 9 {")
	add(light, "params.go", "one fold of each layer counted", "TestReport", " - math.Log2(float64(l.Fold))", "")
	add(light, "params.go", "sum-check left out", "TestReport", "if n := p.MessageVars(); n > 0 {", "if n := p.MessageVars(); n > 99 {")
	add(light, "params.go", "list decoding's radius", "TestReport", "1 - math.Log2(1+math.Exp2(-float64(p.rate)))", "float64(p.rate) / 2")
	add(light, "params.go", "low levels", "TestParamsRefused", "if bits < MinBits || bits > most {", "if bits > most {")
	mutant.RunSome(t, 6, list)
}
