package logup_test

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/mutant"
)

// TestMutants deletes or weakens each check of the verifier in turn.
func TestMutants(t *testing.T) {
	var list []mutant.Mutant
	add := func(name, old, changed, tests string) {
		list = append(list, mutant.Mutant{Name: name, File: "logup/logup.go", Old: old, New: changed, Package: "./logup", Tests: tests})
	}
	add("root numerator", "if !proof.P.IsZero() {", "if false && !proof.P.IsZero() {", "Cheat")
	add("root denominator", "if proof.Q.IsZero() {", "if false && proof.Q.IsZero() {", "Cheat")
	add("root range", "		if w >= m31.P {", "		if false && w >= m31.P {", "Cheat")
	add("number of layers", "len(proof.Layers) != n {", "len(proof.Layers) < n {", "Cheat")
	add("no proof", "if proof == nil || ", "if ", "Cheat")
	add("root absorbed", "	tr.AbsorbExt(root)\n", "", "Complete")
	add("lambda", "		lambda := tr.Challenge()\n", "		lambda := tr.Challenge().Exp(0)\n", "Complete")
	add("numerator in the claim", "c.P.Add(lambda.Mul(c.Q))", "lambda.Mul(c.Q)", "Cheat|Complete")
	add("denominator in the claim", "c.P.Add(lambda.Mul(c.Q))", "c.P", "Cheat|Complete")
	add("point of a layer", "Point:  c.Point,", "Point:  c.Point[:len(c.Point):len(c.Point)][:0],", "Cheat|Complete")
	add("depth", "	if n < 0 || n > MaxVars {\n		return nil, fmt.Errorf(\"%w: %d, at most %d\", ErrDepth, n, MaxVars)\n	}\n	if proof", "	if proof", "Cheat")
	add("encoded length", "len(data) != want {", "len(data) < want {", "Cheat")
	add("layer's error", "e += 2 + ", "e += 1 + ", "ErrorNumerator")
	mutant.Run(t, list)
}
