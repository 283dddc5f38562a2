package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/mutant"
)

// Verifiers with one check deleted or weakened, or one thing left out of the transcript:
// a test fails.
func TestMutants(t *testing.T) {
	var list []mutant.Mutant
	add := func(pkg, file, name, tests, old, changed string) {
		list = append(list, mutant.Mutant{Name: name, File: "bitproof/" + file, Old: old, New: changed, Package: pkg, Tests: tests})
	}
	const own, light = "./bitproof/prover", "./bitproof"
	add(own, "verify.go", "root not absorbed", "TestCheatLateRoot", "	tr.AbsorbWords(root[:])\n", "")
	add(own, "verify.go", "digest not absorbed", "TestCheatStatement", "	tr.AbsorbBytes(p.digest[:])\n", "")
	add(own, "verify.go", "values at z not absorbed", "TestCheats", "	tr.Absorb(pf.AtZ)\n", "")
	add(own, "verify.go", "values at the gates' point not absorbed", "TestCheats", "	tr.Absorb(pf.AtGates)\n", "")
	add(own, "verify.go", "lengths unchecked", "TestCheatLengths", "if err := p.checkProof(pf); err != nil {", "if err := p.checkProof(pf); err != nil && pf == nil {")
	add(own, "verify.go", "XOR gates unchecked", "TestCheats", "v != (gf2.Element{}) {", "v != (gf2.Element{}) && i < 0 {")
	add(own, "verify.go", "first XOR gate only", "TestCheats", "for i, c := range s.Zeros {", "for i, c := range s.Zeros[:1] {")
	add(own, "verify.go", "left factor unchecked", "TestCheats", "r.Evals[0] != left || r.Evals[1] != right", "left == right && r.Evals[1] != right")
	add(own, "verify.go", "right factor unchecked", "TestCheats", "r.Evals[0] != left || r.Evals[1] != right", "r.Evals[0] != left && right != left")
	add(own, "verify.go", "weight unchecked", "TestCheats", "if r.Evals[0] != weight {", "if r.Evals[0] != weight && len(rho) > 99 {")
	add(own, "verify.go", "opening unchecked", "TestCheats", "return &Rejection{CheckOpening, err}", "return nil")
	add(own, "verify.go", "opening without AND gates left out", "TestCheats", "		return p.open(tr, pf, rho, zx, inner(EqTable(rho), pf.AtZ))\n", "		_ = rho\n		return nil\n")
	add(own, "verify.go", "results of AND gates left out", "TestCheats", "Value: s.OutAt(zg, pf.AtZ)", "Value: s.OutAt(zg, pf.AtZ[:0])")
	add(own, "verify.go", "constants left out", "TestCheats|TestProve", "		sum = gf2.One()\n", "")
	add(own, "verify.go", "first gate for all", "TestCheats|TestProve", "s.Ands[i].Left.At(values)", "s.Ands[0].Left.At(values)")
	add(own, "proof.go", "other statements' proofs", "TestCheatStatement", "if digest != p.digest {", "if false {")
	add(own, "proof.go", "magic unchecked", "TestTamper", "string(got) != Magic {", "string(got) != Magic && len(got) == 0 {")
	add(own, "proof.go", "version unchecked", "TestTamper", "; v != version {", "; v < version {")
	add(own, "proof.go", "files cut short", "TestTamper", "r.err == nil && len(r.rest) < n", "r.err == nil && len(r.rest) < n-n")
	add(own, "proof.go", "no opening", "TestCheatLengths", "if pf == nil || pf.Opening == nil {", "if pf == nil {")
	add(own, "proof.go", "values at z: too many", "TestCheatLengths", "len(pf.AtZ) != columns", "len(pf.AtZ) < columns")
	add(own, "proof.go", "values at the gates' point: too many", "TestCheatLengths", "len(pf.AtGates) != columns", "len(pf.AtGates) < columns")
	add(own, "proof.go", "values of no AND gates", "TestCheatLengths", " || pf.AtGates != nil", "")
	add(own, "proof.go", "sum-check of one point", "TestCheatLengths", " || pf.Join != nil", "")
	add(own, "proof.go", "rounds: too many", "TestCheatLengths", "len(pf.Rounds) != s.Vars", "len(pf.Rounds) < s.Vars")
	add(own, "proof.go", "evaluations: too many", "TestCheatLengths", "len(pf.Evals) != s.Evals() {", "len(pf.Evals) < s.Evals() {")
	add(own, "proof.go", "messages unchecked", "TestCheatLengths", "if len(message) != s.Points() {", "if false {")
	add(light, "statement.go", "names run together", "TestDigest", "		b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))\n", "")
	add(light, "statement.go", "gates not counted", "TestDigest", "[]int{s.Vars, len(s.Names), len(s.Ands), len(s.Zeros)}", "[]int{s.Vars, len(s.Names)}")
	add(light, "statement.go", "rows not in the digest", "TestDigest", "[]int{s.Vars, len(s.Names),", "[]int{len(s.Names),")
	add(light, "statement.go", "constants not in the digest", "TestDigest", "			one = 1\n", "			one = 0\n")
	add(light, "statement.go", "right factors not in the digest", "TestDigest", "		add(g.Right)\n", "")
	add(light, "statement.go", "results not in the digest", "TestDigest", "		add(g.Out)\n", "")
	add(light, "statement.go", "XOR gates not in the digest", "TestDigest", "	for _, c := range s.Zeros {\n		add(c)\n", "	for _, c := range s.Zeros[:0] {\n		add(c)\n")
	add(light, "statement.go", "gates of columns that there are not", "TestStatementErrors", "known := ^uint64(0) >> (MaxColumns - m)", "known := ^uint64(0)")
	add(light, "params.go", "zero-check without gates' variables", "TestReport", "add(n+g, \"gates: zero-check\"", "add(n, \"gates: zero-check\"")
	add(light, "params.go", "one degree less", "TestReport", "add(3*(n+g), ", "add(2*(n+g), ")
	add(light, "params.go", "columns' error left out", "TestReport", "l := s.ColumnVars(); l > 0 {", "l := s.ColumnVars(); l > 99 {")
	add(light, "params.go", "points' error left out", "TestReport", "		add(1, \"points: batching\", \"2 points\")\n", "")
	add(light, "params.go", "second sum-check left out", "TestReport", "		add(2*n, \"points: sum-check\"", "		_ = n; add(2, \"points: sum-check\"")
	add(light, "params.go", "opening's errors left out", "TestReport", "range p.commit.Report().Lines {", "range p.commit.Report().Lines[:1] {")
	add(light, "params.go", "too large zero-checks", "TestSizes", "n > binary.MaxVars {", "n > 99 {")
	mutant.RunSome(t, 2, list)
}
