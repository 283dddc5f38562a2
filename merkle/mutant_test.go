package merkle

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/mutant"
)

// Without any one of its checks, Verify fails a test.
func TestMutants(t *testing.T) {
	var list []mutant.Mutant
	add := func(file, name, old, changed string) {
		list = append(list, mutant.Mutant{Name: name, File: "merkle/" + file, Old: old, New: changed, Package: "./merkle", Tests: "Test(Tree|Columns|Tampering|Domains)$"})
	}
	add("opening.go", "root unchecked", "if digests[0] != root {", "if false {")
	add("opening.go", "row words uncounted", "if len(o.Rows) != len(known)*s.RowWords {", "if len(o.Rows) < len(known)*s.RowWords {")
	add("opening.go", "siblings left over", "if len(o.Siblings) != len(missing) {", "if len(o.Siblings) < len(missing) {")
	add("opening.go", "rows not canonical", "if err := m31.CheckCanonical(o.Rows); err != nil {", "if err := m31.CheckCanonical(nil); err != nil {")
	add("opening.go", "siblings not canonical", "if err := m31.CheckCanonical(o.Siblings[i][:]); err != nil {", "if err := m31.CheckCanonical(nil); err != nil {")
	add("opening.go", "rows mixed up", "rowOf[index] = row", "rowOf[known[0]], _ = row, index")
	add("shape.go", "negative index", "if i < 0 || i >= s.Rows {", "if i >= s.Rows {")
	add("shape.go", "index beyond the rows", "if i < 0 || i >= s.Rows {", "if i < 0 {")
	add("shape.go", "any arity", "case s.Arity != 2 && s.Arity != 4 && s.Arity != 8:", "case s.Arity < 2:")
	add("shape.go", "any number of rows", "s.Rows < 1 || s.Rows&(s.Rows-1) != 0 ||", "s.Rows < 1 ||")
	add("hash.go", "row width not bound", "m31.New(leafTag + uint64(len(row)))", "m31.New(leafTag)")
	add("hash.go", "arity not bound", "m31.New(nodeTag + uint64(len(children)))", "m31.New(nodeTag)")
	mutant.Run(t, list)
}
