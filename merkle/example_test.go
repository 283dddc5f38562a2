package merkle_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
)

// Commit to a matrix and open some of its rows.
func Example() {
	shape := merkle.Shape{Rows: 512, RowWords: 8, Arity: 4}
	words := make([]m31.Element, shape.Rows*shape.RowWords)
	for i := range words {
		words[i] = m31.New(uint64(i * i))
	}
	tree, err := merkle.Build(words, shape, merkle.RowMajor())
	if err != nil {
		panic(err)
	}
	indices := []int{3, 500, 3}
	opening, err := tree.Open(words, merkle.RowMajor(), indices)
	if err != nil {
		panic(err)
	}

	// The verifier has the root, the shape, the indices and the opening.
	rows, err := shape.Verify(tree.Root(), indices, opening)
	if err != nil {
		panic(err)
	}
	fmt.Println("row 500 starts with", rows[1][0])

	opening.Rows[0] = opening.Rows[0].Add(1)
	_, err = shape.Verify(tree.Root(), indices, opening)
	fmt.Println(err)
	// Output:
	// row 500 starts with 16000000
	// merkle: rows do not hash to the root
}
