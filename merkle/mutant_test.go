package merkle

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/mutant"
)

// Without any one of its checks, Verify fails a test.
func TestMutants(t *testing.T) {
	var list []mutant.Mutant
	add := func(file, name, old, changed string) {
		list = append(list, mutant.Mutant{Name: name, File: "merkle/" + file, Old: old, New: changed, Package: "./merkle", Tests: "Test(Tree|Columns|Tampering|Domains|DigestBytes)$/^(poseidon2|blake3|sha256)$/^m31$"})
	}
	add("opening.go", "root unchecked", "if h.rootOf(s, known, o) != root {", "if h.rootOf(s, known, o); false {")
	add("opening.go", "row words uncounted", "if len(o.Rows) != len(known)*s.RowWords {", "if len(o.Rows) < len(known)*s.RowWords {")
	add("opening.go", "siblings left over", "if len(o.Siblings) != missing {", "if len(o.Siblings) < missing {")
	add("opening.go", "rows not canonical", "checkCanonical(o.Rows)", "checkCanonical[W](nil)")
	add("opening.go", "siblings not canonical", "checkCanonical(Words(o.Siblings))", "checkCanonical[W](nil)")
	add("opening.go", "rows mixed up", "at, _ := slices.BinarySearch(known, index)", "at, _ := slices.BinarySearch(known, 0*index)")
	add("shape.go", "negative index", "if i < 0 || i >= s.Rows {", "if i >= s.Rows {")
	add("shape.go", "index beyond the rows", "if i < 0 || i >= s.Rows {", "if i < 0 {")
	add("shape.go", "any arity", "case s.Arity != 2 && s.Arity != 4 && s.Arity != 8:", "case s.Arity < 2:")
	add("shape.go", "any number of rows", "s.Rows < 1 || s.Rows&(s.Rows-1) != 0 ||", "s.Rows < 1 ||")
	add("hash.go", "row width not bound", "return leafTag + uint32(words)", "return leafTag + 0*uint32(words)")
	add("hash.go", "arity not bound", "return nodeTag + uint32(arity)", "return nodeTag + 0*uint32(arity)")
	add("sponge.go", "sponge of rows without domain", "domain := tag[W](leafDomain(width))", "domain := tag[W](0)")
	add("sponge.go", "sponge of nodes without domain", "domain := tag[W](nodeDomain(arity))", "domain := tag[W](0)")
	add("bytes.go", "BLAKE3 key without domain", "k[6] = domain", "k[6] = 0 * domain")
	add("bytes.go", "SHA-256 without domain", "return binary.LittleEndian.AppendUint32(b, domain)", "return b")
	add("digest.go", "digests not canonical", "case x >= zero.Modulus():", "case false:")
	mutant.Run(t, list)
}
