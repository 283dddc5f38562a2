package transcript

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/mutant"
)

// A weaker transcript fails a test.
func TestMutants(t *testing.T) {
	var list []mutant.Mutant
	add := func(file, name, old, changed string) {
		list = append(list, mutant.Mutant{Name: name, File: "transcript/" + file, Old: old, New: changed, Package: "./transcript", Tests: "Test(Golden|Injective|Work|IndexRejection|State)$"})
	}
	add("work.go", "work unchecked", "w&(1<<bits-1) != 0 {", "w&0 != 0 {")
	add("work.go", "half the work", "w := t.Squeeze(); w&(1<<bits-1) != 0", "w := t.Squeeze(); w&(1<<(bits/2)-1) != 0")
	add("work.go", "nonce where no work is due", "if n != (Nonce{}) {", "if false {")
	add("work.go", "nonce not absorbed", "	t.Absorb(n[:])\n", "	t.Absorb(nil)\n")
	add("work.go", "nonce not canonical", "if err := m31.CheckCanonical(n[:]); err != nil {", "if err := m31.CheckCanonical(nil); err != nil {")
	add("work.go", "not the smallest nonce", "for lo := uint64(0); ; lo += batch {", "for lo := uint64(1); ; lo += batch {")
	add("transcript.go", "length not absorbed", "t.put(m31.New(uint64(len(list))))", "_ = m31.New")
	add("transcript.go", "bytes without their number", "out = append(out, m31.New(uint64(len(b))))", "")
	add("transcript.go", "biased indices", "if w := t.Squeeze(); w < limit {", "if w := t.Squeeze(); w < limit || true {")
	add("transcript.go", "old output after an absorb", "	t.left = 0\n", "")
	add("transcript.go", "domain tag ignored", "t.words[Rate] = tag", "t.words[Rate] = 0")
	mutant.Run(t, list)
}
