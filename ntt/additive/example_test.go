package additive_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/ntt/additive"
)

// A codeword of rate 1/2.
func ExampleEncode() {
	message := []gf2.Element{{Lo: 7}, {Lo: 1}}
	word := make([]gf2.Element, 4)
	if err := additive.Encode(word, message); err != nil {
		fmt.Println(err)
		return
	}
	// The polynomial is 7 + x, as X_1 = x.
	for k := range word {
		fmt.Println(word[k].Lo, word[k] == message[0].Add(additive.Point(uint32(k))))
	}
	// Output:
	// 7 true
	// 6 true
	// 5 true
	// 4 true
}
