package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/mutant"
)

// Verifiers with one check deleted, or one thing left out of the transcript by
// prover and verifier alike: a test of this package, or of package whir, fails.
func TestMutants(t *testing.T) {
	const pkg = "./whir/prover"
	in := func(file, name, tests, old, new string) mutant.Mutant {
		return mutant.Mutant{Name: name, File: "whir/" + file, Old: old, New: new, Package: pkg, Tests: tests}
	}
	light := func(m mutant.Mutant) mutant.Mutant {
		m.Package = "./whir"
		return m
	}
	mutant.Run(t, []mutant.Mutant{
		// The order is by how much would be lost.
		in("statement.go", "fresh claims start at the 0th power", "TestGammaZeroAttack",
			"const FreshPower = 1", "const FreshPower = 0"),
		in("verify.go", "final claim unchecked", "TestFalseClaimHonestRest",
			"if v.weight.Mul(value) != v.sigma {", "if v.weight.Mul(value) != v.sigma && false {"),
		in("verify.go", "final queries unchecked", "TestFinalTableFitsFalseClaim",
			"if at != r.values[j] {", "if j < 0 && at != r.values[j] {"),
		in("verify.go", "one final query checked", "TestDistantWord|TestFinalTableAgrees",
			"if at != r.values[j] {", "if j == 0 && at != r.values[j] {"),
		in("verify.go", "opened rows of the last round alone checked", "TestDistantWord|TestComplete|TestEvery",
			"errs[i] = v.open(i)", "if err := v.open(i); i == len(v.rounds)-1 {\n\t\t\t\t\terrs[i] = err\n\t\t\t\t}"),
		in("verify.go", "queried values not claimed", "TestComplete",
			"claim(before.values[j], weight)", "_, _ = j, weight"),
		in("verify.go", "samples not claimed", "TestComplete",
			"out = append(out, Claim[E]{Eq[E]{Powers(z, v.params.RoundVars(i))}, y})", "_ = z"),
		in("verify.go", "folding work unchecked", "TestWorkNotDone",
			"if err := v.tr.CheckWork(work, f.Nonce); err != nil {", "if err := v.tr.CheckWork(work, f.Nonce); false {"),
		in("verify.go", "query work unchecked", "TestWorkNotDone",
			"if err := v.tr.CheckWork(d.QueryWork, o.Nonce); err != nil {", "if err := v.tr.CheckWork(d.QueryWork, o.Nonce); false {"),
		in("verify.go", "batching work unchecked", "TestWorkNotDone",
			"if err := v.tr.CheckWork(v.params.c.BatchWork, v.pf.BatchNonce); err != nil {", "if err := v.tr.CheckWork(v.params.c.BatchWork, v.pf.BatchNonce); false {"),
		in("verify.go", "first table of a batch alone", "TestComplete|TestBadTable",
			"sum = sum.Add(m.Mul(part))", "if a == 0 {\n\t\t\t\tsum = sum.Add(m.Mul(part))\n\t\t\t}"),
		in("verify.go", "statement unchecked", "TestStatements",
			"if err := st.Check(o.params); err != nil {", "if err := st.Check(o.params); false {"),
		in("verify.go", "shape unchecked", "TestEveryField",
			"if err := pf.shape(o.params); err != nil {", "if err := pf.shape(o.params); false {"),
		in("verify.go", "words of decoded proofs unchecked", "TestEveryField",
			"if err := o.scheme.canonical(pf); err != nil {", "if err := o.scheme.canonical(pf); false {"),
		in("verify.go", "statement not absorbed", "TestComplete", "o.tr.Absorb(st.words)", "o.tr.Absorb(nil)"),
		in("verify.go", "round's root not absorbed", "TestComplete", "v.tr.Absorb(v.scheme.DigestWords(v.pf.Rounds[i].Root))", "v.tr.Absorb(nil)"),
		in("verify.go", "final table not absorbed", "TestComplete", "v.absorb(pf.Final...)", "v.absorb()"),
		in("verify.go", "fold not absorbed", "TestComplete", "v.absorb(f.AtZero, f.Lead)", "v.absorb(f.AtZero)"),
		in("verify.go", "sample not absorbed", "TestComplete", "v.absorb(y)", "v.absorb()"),
		// What both sides absorb comes from one place; without it an attack works.
		in("statement.go", "values not absorbed", "TestValuesAreBound|TestBatchValuesAreBound",
			"for _, v := range c.Values {\n\t\t\tw = v.AppendWords(w)", "for _, v := range c.Values {\n\t\t\t_ = v"),
		in("statement.go", "points not absorbed", "TestPointsAreBound",
			"w = a.AppendWords(w)", "_ = a"),
		in("scheme.go", "root not absorbed", "TestRootIsBound",
			"return append(out, s.DigestWords(root)...)", "return out"),
		in("scheme.go", "parameters not absorbed", "TestParametersAreBound",
			"out = append(out, zero.FromUint64(uint64(n)))", "_, _ = zero, n"),
		in("scheme.go", "root not canonical", "TestEveryWordM31",
			"if !s.Hash.Raw() && uint64(w) >= s.Spec.Modulus {", "if false && uint64(w) >= s.Spec.Modulus {"),
		in("m31.go", "halves not absorbed", "TestHalvesAreBound",
			"add(c.Value, y0, y1)", "add(c.Value)"),
		in("m31.go", "halves not checked against the value", "TestFalseHalves",
			"if y0.Add(last.Mul(y1.Sub(y0))) != c.Value {", "if false && last != c.Value {"),
		in("m31.go", "conjugate claim replaced", "TestFalseHalves",
			"[]m31.QM31{y0.Sub(y1.MulI()).FrobeniusInverse()}", "[]m31.QM31{y0.Add(y1.MulI())}"),
		in("m31.go", "conjugate claim dropped", "TestFalseHalves",
			"BatchClaim[m31.QM31]{Eq[m31.QM31]{conj}, []m31.QM31{y0.Sub(y1.MulI()).FrobeniusInverse()}}", "BatchClaim[m31.QM31]{Eq[m31.QM31]{point}, []m31.QM31{y0.Add(y1.MulI())}}"),
		in("m31.go", "plain claim dropped", "TestFalseHalves",
			"BatchClaim[m31.QM31]{Eq[m31.QM31]{point}, []m31.QM31{y0.Add(y1.MulI())}}", "BatchClaim[m31.QM31]{Eq[m31.QM31]{conj}, []m31.QM31{y0.Sub(y1.MulI()).FrobeniusInverse()}}"),
		in("m31.go", "number of halves unchecked", "TestEveryWordM31",
			"if len(halves) != len(claims) {", "if false {"),
		in("m31.go", "root not canonical", "TestEveryWordM31",
			"if err := m31.CheckCanonical(root[:]); err != nil {", "if err := m31.CheckCanonical(root[:]); false {"),
		in("encode.go", "words not canonical", "TestEveryWord",
			"if uint64(w) >= d.modulus {", "if false {"),
		in("encode.go", "bytes left over", "TestLength",
			"if len(d.data) != 0 {", "if false {"),
		in("encode.go", "numbers of rows unlimited", "TestHugeCounts|TestEveryWord",
			"if uint64(c) < uint64(least) || uint64(c) > uint64(limit) || uint64(c)*uint64(unit) > uint64(len(d.data)/4) {", "if c > 1<<22 {"),
		in("encode.go", "openings without rows", "FuzzDecodeProof", "uint64(c) < uint64(least) || ", ""),
		in("proof.go", "number of rounds unchecked", "TestEveryField",
			"if len(pf.Rounds) != n || len(pf.Openings) != n {", "if false {"),
		in("proof.go", "numbers of samples and folds unchecked", "TestEveryField",
			"if len(r.Samples) != d.Samples || len(r.Folds) != d.Fold {", "if false {"),
		in("proof.go", "length of the final table unchecked", "TestEveryField",
			"if len(pf.Final) != 1<<m || len(pf.FinalFolds) != m {", "if false {"),
		in("proof.go", "a root in round 0", "TestTransplants",
			"if pf.Rounds[0].Root != ([8]W{}) {", "if false {"),
		in("statement.go", "number of claims unchecked", "TestStatements",
			"if len(s.claims) > p.c.Claims {", "if false {"),
		in("statement.go", "words of a statement not canonical", "TestStatements",
			"if uint64(s.worst) >= p.c.Spec.Modulus {", "if false {"),
		in("statement.go", "variables of claims unchecked", "TestStatements",
			"n != p.c.Vars {", "n == -1 {"),
		in("statement.go", "values of claims unchecked", "TestStatements",
			"n != p.c.Batch {", "n == -1 {"),
		light(in("params.go", "security level unchecked", "TestParametersRefused",
			"if !(l.Bits >= float64(c.Lambda)) {", "if false {")),
		light(in("params.go", "list decoding of a batch", "TestParametersRefused",
			"if c.Batch > 1 && c.Rounds[0].Multiplicity != Unique {", "if false {")),
		light(in("params.go", "collisions of the trees' hash ignored", "TestCollisionsLimitLevel",
			"if !(float64(lambda) <= s.CollisionBits) {", "if false {")),
		light(in("params.go", "rate 1", "TestParametersRefused",
			"in(\"-log2 of the rate\", c.LogInvRate, 1,", "in(\"-log2 of the rate\", c.LogInvRate, -1,")),
		light(in("params.go", "rate worsens", "TestParametersRefused",
			"in(\"shrink\", d.Shrink, 1, d.Fold)", "in(\"shrink\", d.Shrink, 1, d.Fold+1)")),
		light(in("params.go", "Johnson without samples", "TestParametersRefused",
			"samples = 1\n", "samples = 0\n")),
		light(in("bounds.go", "work rounded down", "TestChooseReachesLevel",
			"for b <= maxWork && !(have+workBits(modulus, b) >= want) {", "for b <= maxWork && !(have+workBits(modulus, b) >= want-1) {")),
		light(in("security.go", "query error left out", "TestChooseReachesLevel|TestQueries",
			"add(query(last),", "add(field,")),
	})
}
