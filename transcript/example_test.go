package transcript_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
)

// Prover and verifier take the same steps and so draw the same challenges; the
// prover's work costs the verifier one permutation or two.
func Example() {
	message := []m31.Element{1, 2, 3}

	prover := transcript.New(transcript.TagTest)
	prover.Absorb(message)
	nonce, err := prover.Grind(8)
	if err != nil {
		panic(err)
	}
	challenge := prover.Challenge()

	verifier := transcript.New(transcript.TagTest)
	verifier.Absorb(message)
	fmt.Println(verifier.CheckWork(8, nonce))
	fmt.Println(verifier.Challenge() == challenge)

	other := transcript.New(transcript.TagTest)
	other.Absorb(message[:2])
	fmt.Println(other.Challenge() == challenge)
	// Output:
	// <nil>
	// true
	// false
}
