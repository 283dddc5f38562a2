package tower_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// Prover and verifier make the same calls and draw the same challenges; another message
// gives another challenge.
func Example() {
	draw := func(message gf2.Element) gf2.Element {
		tr := tower.New(tower.LabelTest)
		tr.AbsorbBytes([]byte("the statement"))
		tr.Absorb([]gf2.Element{message})
		return tr.Challenge()
	}
	prover, verifier := draw(gf2.Number(5)), draw(gf2.Number(5))
	fmt.Println(prover == verifier, prover == draw(gf2.Number(6)))
	// Output: true false
}
