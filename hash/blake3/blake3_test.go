package blake3

import (
	"encoding/binary"
	"testing"

	"lukechampine.com/blake3"
)

// Sum is the keyed hash of inputs within a block, within a chunk, and of numbers of
// chunks that are powers of two and that are not.
func TestSum(t *testing.T) {
	key := []byte("whats the Elvish word for friend")
	var words [8]uint32
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	for _, n := range []int{1, 4, 63, 64, 65, 128, 1023, 1024, 1025, 2048, 3072, 4096, 5121, 8192, 31744, 262140} {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(i % 251)
		}
		h := blake3.New(32, key)
		_, _ = h.Write(data) // never fails
		want := h.Sum(nil)
		for i, w := range Sum(&words, data) {
			if w != binary.LittleEndian.Uint32(want[4*i:]) {
				t.Fatalf("%d bytes: word %d is %08x, want %x", n, i, w, want[4*i:4*i+4])
			}
		}
	}
}

// Output goes on where Sum ends, and has a value for the empty string.
func TestOutput(t *testing.T) {
	key := []byte("whats the Elvish word for friend")
	var words [8]uint32
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	for _, n := range []int{0, 1, 3, 8, 63, 64, 65, 1024, 1025, 5121} {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(i % 251)
		}
		h := blake3.New(64, key)
		_, _ = h.Write(data) // never fails
		want := h.Sum(nil)
		for i, w := range Output(&words, data) {
			if w != binary.LittleEndian.Uint32(want[4*i:]) {
				t.Fatalf("%d bytes: word %d is %08x, want %x", n, i, w, want[4*i:4*i+4])
			}
		}
	}
}
