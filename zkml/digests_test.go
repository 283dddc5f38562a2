package zkml

import (
	"crypto/sha256"
	"encoding/binary"
	"reflect"
	"slices"
	"testing"
)

// TestDigests compares digests with their definition, for lengths about those of
// a block, and sees that lists that are alike do not share one.
func TestDigests(t *testing.T) {
	seen := map[[32]byte]bool{}
	note := func(d [32]byte) {
		if seen[d] {
			t.Errorf("two lists have the digest %x", d)
		}
		seen[d] = true
	}
	defer func(was bool) { littleEndian = was }(littleEndian)
	for i, n := range []int{0, 1, 2, 9000, 1<<16 - 1, 1 << 16, 1<<16 + 1, 3<<16 + 5, 0, 1, 9000, 1<<16 + 1} {
		if i == 8 { // as on a machine of the other byte order
			littleEndian, seen = false, map[[32]byte]bool{}
		}
		v := make([]int32, n)
		for i := range v {
			v[i] = int32(i)*7919 - 1<<28
		}
		d := DigestsOf(v, v)
		for label, got := range map[string][32]byte{"zkwarp zkml input\n": d.Input, "zkwarp zkml output\n": d.Output} {
			b := binary.LittleEndian.AppendUint64([]byte(label), uint64(n))
			for block := range slices.Chunk(v, 1<<16) {
				own := []byte("zkwarp zkml values\n")
				for _, x := range block {
					own = binary.LittleEndian.AppendUint32(own, uint32(x))
				}
				d := sha256.Sum256(own)
				b = append(b, d[:]...)
			}
			if want := sha256.Sum256(b); got != want {
				t.Errorf("%d values after %q: digest %x, want %x", n, label, got, want)
			}
			note(got)
		}
		parts := NewDigester(v, n)
		for part := range slices.Chunk(v, 1000) {
			parts.Output(part)
		}
		if got, again := parts.Digests(), parts.Digests(); !reflect.DeepEqual(got, d) || !reflect.DeepEqual(again, d) {
			t.Errorf("%d values: digests %x in parts, want %x", n, got, d)
		}
		if n > 0 {
			w := slices.Clone(v)
			w[n-1]++
			note(DigestsOf(w, nil).Input)
			note(DigestsOf(append(w, 0), nil).Input)
		}
	}
}
