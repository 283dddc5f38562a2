package sha256

import (
	"encoding/binary"
	"encoding/hex"
	"testing"
)

// The examples of FIPS 180-4: of one block and of two.
func TestSum(t *testing.T) {
	for in, want := range map[string]string{
		"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq": "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
	} {
		var b []byte
		for _, w := range Sum([]byte(in)) {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		if got := hex.EncodeToString(b); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
