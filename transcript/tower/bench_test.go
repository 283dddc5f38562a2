package tower

import (
	"testing"

	"github.com/zkwarp/zkwarp/field/gf2"
)

// A round of a protocol: a message of four elements, and a challenge.
func BenchmarkRound(b *testing.B) {
	tr := New(LabelTest)
	message := make([]gf2.Element, 4)
	for b.Loop() {
		tr.Absorb(message)
		message[0] = tr.Challenge()
	}
}
