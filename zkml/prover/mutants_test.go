package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/mutant"
)

// TestMutants deletes the verifier's checks one at a time; some test must
// notice.
func TestMutants(t *testing.T) {
	const check, verify, key, proof, values = "zkml/check.go", "zkml/verify.go", "zkml/key.go", "zkml/proof.go", "zkml/internal/plan/values.go"
	list := []mutant.Mutant{
		{Name: "openings not verified", File: check, Old: "if err := o.Verify([]whir.M31Claim{{Point: at, Value: value}}, r.proof.Openings[h]); err != nil {", New: "if err := o.Verify([]whir.M31Claim{{Point: at, Value: value}}, r.proof.Openings[h]); err != nil && false {", Tests: "TestOtherCommitments"},
		{Name: "public parameters not evaluated", File: check, Old: "if mle.EvaluateBase(r.st.params, at) != value {", New: "if mle.EvaluateBase(r.st.params, at) != value && false {", Tests: "TestPublicWeights"},
		{Name: "leaf numerators not compared", File: check, Old: "if num != claim.P {", New: "if num != claim.P && false {", Tests: "TestFractions|TestEvaluations"},
		{Name: "leaf denominators not compared", File: check, Old: "if den != claim.Q {", New: "if den != claim.Q && false {", Tests: "TestFractions|TestEvaluations"},
		{Name: "work not checked", File: check, Old: "if err := r.tr.CheckWork(r.Work, r.proof.Nonce); err != nil {", New: "if err := r.tr.CheckWork(r.Work, r.proof.Nonce); err != nil && r.Work == 0 {", Tests: "TestWork"},
		{Name: "relations not checked", File: check, Old: "if got != want {", New: "if got != want && false {", Tests: "TestEvaluations|TestForgedWeights"},
		{Name: "public factors not compared", File: check, Old: "if public != evals[0] {", New: "if public != evals[0] && false {", Tests: "TestPublicFactors"},
		{Name: "input not compared", File: check, Old: "if mle.EvaluateBase(r.st.x, r.values.At(id)) != v {", New: "if mle.EvaluateBase(r.st.x, r.values.At(id)) != v && false {", Tests: "TestStatement"},
		{Name: "merging weight not compared", File: check, Old: "if r.Plan.WeightEval(s, list, gamma, at) != evals[1] {", New: "if r.Plan.WeightEval(s, list, gamma, at) != evals[1] && false {", Tests: "TestPublicFactors"},
		{Name: "repeated evaluations not compared", File: values, Old: "if v.known[id] && v.evals[id] != x {", New: "if false && v.evals[id] != x {", Tests: "TestRepeatedEvaluation"},
		{Name: "key digest not compared", File: verify, Old: "if h.Key != vk.digest {", New: "if h.Key != vk.digest && false {", Tests: "TestForeignKeys"},
		{Name: "key not checked", File: verify, Old: "if err := vk.Check(); err != nil {", New: "if err := vk.Check(); err != nil && false {", Tests: "TestForgedWeights|TestForeignKeys|TestWeakKey"},
		{Name: "input range not checked", File: verify, Old: "if err := inBounds(in, x); err != nil {", New: "if err := inBounds(in, x); err != nil && len(x) != in.Len() {", Tests: "TestBounds"},
		{Name: "output range not checked", File: verify, Old: "if err := inBounds(out, y); err != nil {", New: "if err := inBounds(out, y); err != nil && len(y) != out.Len() {", Tests: "TestBounds"},
		{Name: "public weights not hashed", File: verify, Old: "if got != vk.weightsDigest {", New: "if got != vk.weightsDigest && false {", Tests: "TestPublicWeights"},
		{Name: "security not checked", File: key, Old: "if r := Security(vk); !(r.Sum >= MinSecurity) {", New: "if r := Security(vk); r.Sum < 0 {", Tests: "TestWeakKey"},
		{Name: "commitments' sizes not checked", File: key, Old: "if c.Vars() != s.Vars {", New: "if c.Vars() != s.Vars && false {", Tests: "TestKeyParts"},
		{Name: "missing commitments not noticed", File: key, Old: "if need != (c != nil) {", New: "if need != (c != nil) && false {", Tests: "TestKeyParts"},
		{Name: "trailing bytes allowed", File: proof, Old: "if c.err == nil && len(c.data) > 0 {\n\t\tc.err = fmt.Errorf(\"%d bytes too many\", len(c.data))\n\t}\n\tif c.err != nil {", New: "if c.err != nil {", Tests: "TestReshapedProofs"},
	}
	const builder, program, weights, argument = "zkml/internal/plan/builder.go", "zkml/internal/plan/program.go", "zkml/internal/plan/weights.go", "zkml/argument.go"
	list = append(list, []mutant.Mutant{ // these change prover and verifier alike: only cheats show them
		{Name: "tables share a tag", File: builder, Old: "t.Tag = uint32(len(b.Tables) + 1)", New: "t.Tag = 1", Tests: "TestForeignTable"},
		{Name: "remainders not looked up", File: program, Old: "w.Leaves = append(w.Leaves, Leaves{Table: ranges[int(l.Shift)], C0: r, C1: -1, Vars: vars})", New: "_ = r", Tests: "TestForgedWitness"},
		{Name: "padding of weights not checked", File: weights, Old: "if q.Padded() {\n\t\t\tlayer", New: "if false {\n\t\t\tlayer", Tests: "TestForgedWeights"},
		{Name: "input not absorbed", File: argument, Old: "tr.Absorb(plan.Embed(x))", New: "", Tests: "TestStatement"},
		{Name: "output not absorbed", File: argument, Old: "tr.Absorb(plan.Embed(y))", New: "", Tests: "TestStatement"},
		{Name: "context not absorbed", File: argument, Old: "tr.AbsorbBytes(context)", New: "", Tests: "TestStatement"},
		{Name: "key not absorbed", File: argument, Old: "tr.AbsorbBytes(key[:])", New: "", Tests: "TestWork"},
	}...)
	for i := range list {
		list[i].Package = "./zkml/prover"
	}
	mutant.Run(t, list)
}
