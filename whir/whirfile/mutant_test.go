package whirfile

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/mutant"
)

// Without any one of their checks, the decoders fail a test.
func TestMutants(t *testing.T) {
	var list []mutant.Mutant
	add := func(file, name, old, changed string) {
		list = append(list, mutant.Mutant{Name: name, File: "whir/whirfile/" + file, Old: old, New: changed, Package: "./whir/whirfile",
			Tests: "TestCommitmentFile|TestBadClaimsFiles|TestCheckClaims|TestFilesRefused|TestReadTable|FuzzDecode"})
	}
	add("files.go", "parameters of another commitment", "if pf.Params != c.Params.Digest() {", "if false {")
	add("files.go", "bytes left over", "if len(d.data) != 0 {", "if false {")
	add("files.go", "other versions", "d.err == nil && v != Version", "d.err == nil && v < 0*Version")
	add("files.go", "other magic strings", "d.err == nil && string(got) != magic", "d.err == nil && string(got) == \"\"")
	add("files.go", "root not canonical", "if err := s.checkRoot(root); err != nil {", "if err := s.checkRoot(root); false {")
	add("files.go", "claims unchecked", "if err := c.Params.CheckClaims(claims, false); err != nil {", "if err := c.Params.CheckClaims(claims, true); err != nil {")
	add("key.go", "key without its hash", "body < start || sha256.Sum256(data[:body]) != [32]byte(data[body:])", "body < start")
	add("key.go", "another table's digest", "if t.Digest != TableDigest(t.Words) {", "if false {")
	add("key.go", "words of a table not canonical", "if err := p.CheckTable(t.Words); err != nil {", "if err := p.CheckTable(t.Words); false {")
	add("claims.go", "fields twice", "case seen[name]:", "case false:")
	add("claims.go", "more after the claims", "if _, err := d.Token(); !errors.Is(err, io.EOF) {", "if _, err := d.Token(); false && errors.Is(err, io.EOF) {")
	add("claims.go", "another format of claims", "if format != claimsFormat {", "if false {")
	add("claims.go", "any number of claims", "if len(claims) > p.Claims() {", "if false {")
	add("claims.go", "elements not canonical", "if err := checkWords(spec.Modulus, w); err != nil {", "if err := checkWords(spec.Modulus, w); false {")
	add("claims.go", "any number of elements", "if len(list) != n {", "if false {")
	mutant.Run(t, list)
}
