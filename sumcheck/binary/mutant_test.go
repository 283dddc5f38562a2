package binary_test

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/mutant"
)

// TestMutants deletes or weakens each check of the verifier in turn.
func TestMutants(t *testing.T) {
	var list []mutant.Mutant
	add := func(name, file, old, changed, tests string) {
		list = append(list, mutant.Mutant{Name: name, File: "sumcheck/binary/" + file, Old: old, New: changed, Package: "./sumcheck/binary", Tests: tests})
	}
	add("final check", "verify.go", "product != running {", "false && product != running {", "Cheat")
	add("value absorbed", "verify.go", "	tr.Absorb([]gf2.Element{c.Value})\n", "", "CheatLateValue")
	add("z absorbed", "verify.go", "		tr.Absorb(c.Z)\n", "", "CheatLatePoint")
	add("kind absorbed", "verify.go", "uint32(s.Kind), ", "", "CheatOtherShape")
	add("messages absorbed", "verify.go", "		tr.Absorb(message)\n", "", "Complete")
	add("evaluations absorbed", "verify.go", "	tr.Absorb(proof.Evals)\n", "", "CheatEvaluationsAbsorbed|Complete")
	add("eq in the product", "verify.go", "		product = EqEval(c.Z, point)\n", "		_ = EqEval(c.Z, point)\n", "Cheat|Complete")
	add("an evaluation left out", "verify.go", "for _, e := range evals {", "for _, e := range evals[1:] {", "Cheat|Complete")
	add("value at one", "verify.go", "running.Add(message[0])", "message[0]", "Cheat|Complete")
	add("number of rounds", "verify.go", "len(p.Rounds) != s.Vars", "len(p.Rounds) < s.Vars", "CheatLengths")
	add("length of messages", "verify.go", "len(m) != s.Points()", "len(m) < s.Points()", "CheatLengths")
	add("number of evaluations", "verify.go", "len(p.Evals) != s.Evals()", "len(p.Evals) < s.Evals()", "CheatLengths")
	add("no proof", "verify.go", "if p == nil {", "if false && p == nil {", "CheatLengths")
	add("claims make sense", "verify.go", "if err := c.Check(); err != nil {", "if err := c.Check(); err != nil && false {", "CheatStatements")
	add("length of z", "binary.go", "if len(c.Z) != want {", "if len(c.Z) < want {", "CheatStatements")
	add("range of the degree", "binary.go", `{"degree", MinDegree, MaxDegree, s.Degree}`, `{"degree", 1, MaxDegree, s.Degree}`, "CheatStatements|TestShapes")
	add("range of the variables", "binary.go", `{"number of variables", MinVars, MaxVars, s.Vars}`, `{"number of variables", 0, 1 << 50, s.Vars}`, "CheatStatements|TestShapes")
	add("encoded length", "encode.go", "len(data) != want {", "len(data) < want {", "CheatLengths")
	add("encoded header", "encode.go", "!bytes.Equal(got, want) {", "false && !bytes.Equal(got, want) {", "CheatOtherShape|CheatEveryByte")
	add("shape of encodings", "encode.go", "func DecodeProof(s Shape, data []byte) (*Proof, error) {\n	if err := s.Check(); err != nil {", "func DecodeProof(s Shape, data []byte) (*Proof, error) {\n	if err := s.Check(); err != nil && false {", "CheatStatements")
	add("a constant of interpolation", "interpolate.go", "{6, 15, 7, 13, 3}", "{6, 15, 7, 13, 2}", "Coefficients|Complete")
	mutant.RunSome(t, 10, list)
}
