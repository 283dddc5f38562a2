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
		{Name: "openings not verified", File: check, Old: "if err := opening(); err != nil {", New: "if err := opening(); err != nil && false {", Tests: "TestOtherCommitments"},
		{Name: "openings' failures not reported", File: check, Old: "errs[i] = rest[i]()", New: "_, errs[i] = rest[i](), nil", Tests: "TestOtherCommitments"},
		{Name: "public parameters not evaluated", File: check, Old: "if mle.EvaluateBase(r.st.params, at) != value {", New: "if mle.EvaluateBase(r.st.params, at) != value && false {", Tests: "TestPublicWeights"},
		{Name: "leaf numerators not compared", File: check, Old: "if num != claim.P {", New: "if num != claim.P && false {", Tests: "TestFractions|TestEvaluations"},
		{Name: "leaf denominators not compared", File: check, Old: "if den != claim.Q {", New: "if den != claim.Q && false {", Tests: "TestFractions|TestEvaluations"},
		{Name: "work not checked", File: check, Old: "if err := r.tr.CheckWork(r.Work, r.proof.Nonce); err != nil {", New: "if err := r.tr.CheckWork(r.Work, r.proof.Nonce); err != nil && r.Work == 0 {", Tests: "TestWork"},
		{Name: "relations not checked", File: check, Old: "if got != want {", New: "if got != want && false {", Tests: "TestEvaluations|TestForgedWeights"},
		{Name: "public factors not compared", File: check, Old: "if r.values.PublicEval(in, r.st.public, r.values.Point(l.Bound(in))) != evals[0] {", New: "if false {", Tests: "TestPublicFactors"},
		{Name: "input not compared", File: check, Old: "if r.stated(r.Plan.Evals[id].Poly, r.values.At(id)) != v {", New: "if v != v {", Tests: "TestStatement"},
		{Name: "merging weight not compared", File: check, Old: "if r.Plan.WeightEval(s, list, gamma, at) != evals[1] {", New: "if r.Plan.WeightEval(s, list, gamma, at) != evals[1] && false {", Tests: "TestPublicFactors"},
		{Name: "repeated evaluations not compared", File: values, Old: "if v.known[id] && v.evals[id] != x {", New: "if false && v.evals[id] != x {", Tests: "TestRepeatedEvaluation"},
		{Name: "key digest not compared", File: verify, Old: "if h.Key != vk.digest {", New: "if h.Key != vk.digest && false {", Tests: "TestForeignKeys"},
		{Name: "key not checked", File: verify, Old: "if err := vk.Check(); err != nil {", New: "if err := vk.Check(); err != nil && false {", Tests: "TestForgedWeights|TestForeignKeys|TestWeakKey"},
		{Name: "input range not checked", File: "zkml/statement.go", Old: "if err := vk.program.CheckValues(vk.PublicInputs(), s.X); err != nil {", New: "if err := vk.program.CheckValues(vk.PublicInputs(), s.X); err != nil && len(s.X) != vk.program.Total(vk.PublicInputs()) {", Tests: "TestBounds"},
		{Name: "output range not checked", File: "zkml/statement.go", Old: "if err := vk.program.CheckValues(vk.PublicOutputs(), s.Y); err != nil {", New: "if err := vk.program.CheckValues(vk.PublicOutputs(), s.Y); err != nil && len(s.Y) != vk.program.Total(vk.PublicOutputs()) {", Tests: "TestBounds"},
		{Name: "public weights not hashed", File: verify, Old: "if got != vk.weightsDigest {", New: "if got != vk.weightsDigest && false {", Tests: "TestPublicWeights"},
		{Name: "security not checked", File: key, Old: "if r := Security(vk); !(r.Sum >= MinSecurity) {", New: "if r := Security(vk); r.Sum < 0 {", Tests: "TestWeakKey"},
		{Name: "commitments' sizes not checked", File: key, Old: "if c.Vars() != s.Vars {", New: "if c.Vars() != s.Vars && false {", Tests: "TestKeyParts"},
		{Name: "missing commitments not noticed", File: key, Old: "if need != (c != nil) {", New: "if need != (c != nil) && false {", Tests: "TestKeyParts"},
		{Name: "trailing bytes allowed", File: proof, Old: "if c.err == nil && len(c.data) > 0 {\n\t\tc.err = fmt.Errorf(\"%d bytes too many\", len(c.data))\n\t}\n\tif c.err != nil {", New: "if c.err != nil {", Tests: "TestReshapedProofs"},
	}
	const builder, lookups, operations, axes = "zkml/internal/plan/builder.go", "zkml/internal/plan/lookups.go", "zkml/internal/plan/operations.go", "zkml/internal/plan/axes.go"
	const weights, argument, digests, program = "zkml/internal/plan/weights.go", "zkml/argument.go", "zkml/digests.go", "zkml/internal/plan/program.go"
	list = append(list, []mutant.Mutant{ // these change prover and verifier alike: only cheats show them
		{Name: "tables share a tag", File: builder, Old: "t.Tag = uint32(len(b.Tables) + 1)", New: "t.Tag = 1", Tests: "TestForeignTable"},
		{Name: "remainders not looked up", File: lookups, Old: "l.look(l.ranges[int(op.Shift)], vars, column(int(op.Rem)))", New: "", Tests: "TestForgedWitness"},
		{Name: "limbs above thresholds not looked up", File: lookups, Old: "[][2]graph.TensorID{op.D, op.E}", New: "[][2]graph.TensorID{op.E}", Tests: "TestForgedThresholds"},
		{Name: "limbs below thresholds not looked up", File: lookups, Old: "[][2]graph.TensorID{op.D, op.E}", New: "[][2]graph.TensorID{op.D}", Tests: "TestForgedThresholds"},
		{Name: "thresholds of any channel", File: lookups, Old: "channel.Index = AxisIndex{Coef: 1, Vars: out.Axes[op.Axis]}", New: "channel = column(int(op.Y)); channel.Terms[0].Coef = 0", Tests: "TestWidePrograms|TestForgedThresholds"},
		{Name: "upper thresholds not looked up", File: lookups, Old: "bound(op.E, 1, 1))", New: "bound(op.D, -1, 0))", Tests: "TestWidePrograms|TestForgedThresholds"},
		{Name: "second operands of pairs not looked up", File: lookups, Old: "w.columnOf(op.A), w.columnOf(op.B), w.columnOf(op.Y)", New: "w.columnOf(op.A), w.columnOf(op.A), w.columnOf(op.Y)", Tests: "TestWidePrograms|TestForgedPairs"},
		{Name: "sums over padding", File: operations, Old: "axis.Extent, public = a.Shape[i], true", New: "public = true", Tests: "TestProveAndVerify|TestUnguardedSums"},
		{Name: "sums guarded only in the first operand", File: operations, Old: "a.Home != Parameters && (op.B == graph.None || l.Polys[op.B].Home != Parameters)", New: "a.Home != Parameters && op.B == graph.None", Tests: "TestProveAndVerify|TestUnguardedSums"},
		{Name: "batch labels bound nowhere", File: operations, Old: "\t\t\taxis.At = p\n", New: "", Tests: "TestProveAndVerify"},
		{Name: "outputs in padding count", File: program, Old: "Extent: out.Shape[a]}", New: "Extent: max(out.Shape[a], 1<<v)}", Tests: "TestProveAndVerify|TestStatement"},
		{Name: "tokens of the prover's choice", File: axes, Old: "f(token(e, o), o)", New: "f(0, o)", Tests: "TestProveAndVerify"},
		{Name: "padding of weights not checked", File: weights, Old: "if q.Padded() {\n\t\t\tlayer", New: "if false {\n\t\t\tlayer", Tests: "TestForgedWeights"},
		{Name: "input not absorbed", File: digests, Old: "tr.AbsorbBytes(d.Input[:])", New: "", Tests: "TestStatement"},
		{Name: "output not absorbed", File: digests, Old: "tr.AbsorbBytes(d.Output[:])", New: "", Tests: "TestStatement"},
		{Name: "number of values not hashed", File: digests, Old: "uint64(s.n)))", New: "0))", Tests: "TestStoredArtefacts"},
		{Name: "last block of values not hashed", File: digests, Old: "last = hashBlock(s.rest)", New: "_ = hashBlock(s.rest)", Tests: "TestStoredArtefacts"},
		{Name: "context not absorbed", File: digests, Old: "tr.AbsorbBytes(context)", New: "", Tests: "TestStatement"},
		{Name: "key not absorbed", File: argument, Old: "tr.AbsorbBytes(key[:])", New: "", Tests: "TestWork"},
	}...)
	const committed, statement, onehot = "zkml/internal/plan/committed.go", "zkml/statement.go", "zkml/internal/plan/onehot.go"
	list = append(list, []mutant.Mutant{
		{Name: "commitments of the statement not absorbed", File: argument, Old: "o, err := whir.ReceiveM31(tr, a.Commitments[plan.FirstCommitted+plan.Home(i)], root)", New: "o, err := whir.ReceiveM31(transcript.New(0), a.Commitments[plan.FirstCommitted+plan.Home(i)], root)", Tests: "TestCommitted"},
		{Name: "formats not compared", File: statement, Old: "s.Commitments[i].Format != t.Format", New: "s.Commitments[i].Format != t.Format && false", Tests: "TestCommittedStatement"},
		{Name: "rows without salt", File: key, Old: "fold < plan.MinSaltedFold", New: "fold < 1", Tests: "TestSalt"},
		{Name: "upper windows not looked up", File: committed, Old: "last != t.Lo {", New: "false {", Tests: "TestCommittedInputs"},
		{Name: "committed inputs not looked up", File: committed, Old: "l.look(l.ranges[r.Bits], vars, entry)", New: "_ = vars", Tests: "TestCommittedInputs"},
		{Name: "limbs of committed inputs not looked up", File: committed, Old: "l.look(l.ranges[bits], vars, column(r.Limbs[k]))", New: "_, _ = k, bits", Tests: "TestCommitted"},
		{Name: "bits of tokens not added up", File: committed, Old: "if r.Limbs != nil {\n\t\t\t\tl.sumOfLimbs", New: "if r.Limbs != nil && !r.Bitwise {\n\t\t\t\tl.sumOfLimbs", Tests: "TestForgedTokens"},
		{Name: "tokens of the prover's choice, committed", File: program, Old: "return l.oneHot(id, h), nil", New: "_ = h\n\t\treturn nil, nil", Tests: "TestForgedTokens"},
		{Name: "bits of tokens not compared", File: onehot, Old: "if len(parts) == 0 {", New: "if len(parts) == 0 {\n\t\treturn nil", Tests: "TestForgedTokens"},
		{Name: "tokens in padding", File: onehot, Old: "Extent: tokens.Shape[a]", New: "Extent: max(tokens.Shape[a], 1<<v)", Tests: "TestCommitted|TestTokensBeyondRows"},
		{Name: "padding of committed tensors not checked", File: committed, Old: "if q.Padded() {", New: "if false {", Tests: "TestCommittedInputs"},
		{Name: "copies of outputs not compared", File: committed, Old: "fresh = append(fresh, l.relate(stated, 0, []m31.Element{1}, []factor{{o, l.bindAt(out)}})...)", New: "_ = stated", Tests: "TestCommittedOutputs"},
	}...)
	list = append(list, classMutants()...)
	for i := range list {
		list[i].Package = "./zkml/prover"
	}
	mutant.Run(t, list)
}
