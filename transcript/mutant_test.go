package transcript

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/mutant"
)

// A weaker transcript fails a test.
func TestMutants(t *testing.T) {
	var list []mutant.Mutant
	add := func(file, name, old, changed string) {
		list = append(list, mutant.Mutant{Name: name, File: "transcript/" + file, Old: old, New: changed, Package: "./transcript", Tests: "Test(Golden|Injective|Work|WorkIsExact|IndexRejection|State)$"})
	}
	add("work.go", "work unchecked", "w&(1<<bits-1) != 0 {", "w&0 != 0 {")
	add("work.go", "half the work", "w := t.Squeeze().Uint32(); w&(1<<bits-1) != 0", "w := t.Squeeze().Uint32(); w&(1<<(bits/2)-1) != 0")
	add("work.go", "nonce where no work is due", "if n != (NonceOf[W]{}) {", "if false {")
	add("work.go", "nonce not absorbed", "	t.Absorb(n[:])\n", "	t.Absorb(nil)\n")
	add("work.go", "nonce not canonical", "if err := canonical[W](n[:]); err != nil {", "if err := canonical[W](nil); err != nil {")
	add("work.go", "not the smallest nonce", "for lo := uint64(0); ; lo += batch {", "for lo := uint64(1); ; lo += batch {")
	add("transcript.go", "length not absorbed", "	t.put(word[W](uint64(len(list))))\n", "")
	add("transcript.go", "bytes without their number", "	out = append(out, word[W](uint64(len(b))))\n", "")
	add("transcript.go", "biased indices", "if w := t.Squeeze().Uint32(); w < limit {", "if w := t.Squeeze().Uint32(); w < limit || true {")
	add("transcript.go", "old output after an absorb", "	t.left = 0\n", "")
	add("variant.go", "domain tag ignored", "t.words[Rate] = word[W](uint64(tag))", "_ = tag")
	add("transcript.go", "digest of bytes as a list", "if !raw {", "if true {")
	add("transcript.go", "a coefficient less", "for i := range t.variant.degree {", "for i := range t.variant.degree - 1 {")
	mutant.Run(t, list)
}
