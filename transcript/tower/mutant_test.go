package tower

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/mutant"
)

// A weaker transcript fails a test.
func TestMutants(t *testing.T) {
	var list []mutant.Mutant
	add := func(file, name, old, changed string) {
		list = append(list, mutant.Mutant{Name: name, File: "transcript/tower/" + file, Old: old, New: changed, Package: "./transcript/tower",
			Tests: "Test(Golden|Injective|Challenges|Indices|Work|State)$"})
	}
	add("work.go", "work unchecked", "if low := t.work(nonce); low&(1<<bits-1) != 0 {", "if low := t.work(nonce); low&0 != 0 {")
	add("work.go", "half the work", "if low := t.work(nonce); low&(1<<bits-1) != 0 {", "if low := t.work(nonce); low&(1<<(bits/2)-1) != 0 {")
	add("work.go", "nonce where no work is due", "if nonce != 0 {", "if false {")
	add("work.go", "nonce cut", "binary.LittleEndian.PutUint64(b[:], nonce)", "binary.LittleEndian.PutUint32(b[:], uint32(nonce))")
	add("work.go", "not the smallest nonce", "for lo := uint64(0); ; lo += batch {", "for lo := uint64(1); ; lo += batch {")
	add("tower.go", "the key stays", "	copy(t.key[:], out[:8])\n", "")
	add("tower.go", "challenges from the key", "copy(t.out[:], out[8:])", "copy(t.out[:], out[:8])")
	add("tower.go", "an empty list is a squeeze", "var emptyList = []byte{0}", "var emptyList []byte")
	add("tower.go", "bytes without their number", "AppendUint64(make([]byte, 0, 8+len(b)+3), uint64(len(b)))", "AppendUint64(make([]byte, 0, 8+len(b)+3), 0)")
	add("tower.go", "a challenge twice", "	t.left--\n", "	t.left -= t.left - 1\n")
	add("tower.go", "label ignored", "blake3.Sum256([]byte(label))", "blake3.Sum256([]byte(label)[:0])")
	add("tower.go", "upper half of elements", "		b = binary.LittleEndian.AppendUint64(b, e.Hi)\n", "")
	add("state.go", "too many challenges left", "if s[16] > perStep {", "if false && s[16] > perStep {")
	add("state.go", "padding of a state", "		if w != 0 {\n", "		if false && w != 0 {\n")
	mutant.RunSome(t, 10, list)
}
