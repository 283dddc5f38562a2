package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/mutant"
)

// TestMutants deletes what holds a chain together, one thing at a time; some test must notice.
func TestMutants(t *testing.T) {
	const committed, verify, chain, secrets = "zkml/chunks/committed.go", "zkml/chunks/verify.go", "zkml/chunks/chain.go", "zkml/chunks/prover/secrets.go"
	list := []mutant.Mutant{
		{Name: "roots of inputs as the part's own proof has them", File: committed, Old: "root, err := c.root(source, s, proof)\n", New: `root, err := c.root(source, s, proof)
			if h, _, err := zkml.DecodeProofHeader(proof.Proofs[k]); err == nil && len(h.Roots) > len(out.Commitments) {
				root = h.Roots[len(out.Commitments)]
			}
`, Tests: "TestCommittedCheats"},
		{Name: "committed outputs not compared", File: verify, Old: "if rest[0].Root != root {", New: "if rest[0].Root != root && false {", Tests: "TestCommittedCheats"},
		{Name: "public outputs not compared", File: verify, Old: "if !same || len(y) > 0 {", New: "if false && !same {", Tests: "TestChain|TestCommittedCheats"},
		{Name: "formats of the statement not compared", File: verify, Old: "if s.Commitments[i].Format != t.Format {", New: "if s.Commitments[i].Format != t.Format && false {", Tests: "TestCommittedCheats"},
		{Name: "formats of wires not compared", File: chain, Old: "case reader.Format != source.Format:", New: "case reader.Format != source.Format && false:", Tests: "TestCommittedWiring"},
		{Name: "sides of wires not compared", File: chain, Old: "return alike(t, as, c.ends", New: "return nil\n\t\t\treturn alike(t, as, c.ends", Tests: "TestCommittedWiring"},
		{Name: "sides of one input not compared", File: chain, Old: "return alike(t, as, c.givenAs", New: "return nil\n\t\treturn alike(t, as, c.givenAs", Tests: "TestCommittedWiring"},
		{Name: "bounds of wires not compared", File: chain, Old: "out.Lo < in.Lo || out.Hi > in.Hi || ", New: "", Tests: "TestBounds|TestCommittedBounds"},
		{Name: "security of the whole not checked", File: verify, Old: "!(bits >= zkml.MinSecurity)", New: "bits < 0", Tests: "TestSecurity"},
		{Name: "openings of kept parts not checked", File: secrets, Old: "if t.Output && c.Root != ", New: "if false && c.Root != ", Tests: "TestCommittedResume"},
		{Name: "kept parts not verified", File: secrets, Old: "Weights: pk.Weights()}); err != nil {", New: "Weights: pk.Weights()}); err != nil && false {", Tests: "TestParts|TestCommittedResume"},
		{Name: "salts that do not depend on the input", File: secrets, Old: "\t\th.Write(word[:])\n", New: "", Tests: "TestCommittedChain"},
		{Name: "salts that do not depend on the part", File: secrets, Old: "uint32(part))", New: "0)", Tests: "TestCommittedChain"},
	}
	for i := range list {
		list[i].Package = "./zkml/chunks/prover"
	}
	mutant.RunSome(t, 1, list)
}
