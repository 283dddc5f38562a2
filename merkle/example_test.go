package merkle_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/babybear"
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

// Hash what a transform leaves behind, columns with their rows in bit-reversed order,
// with BLAKE3. Rows are opened by their natural numbers.
func ExampleHash() {
	hash := merkle.BLAKE3[babybear.Element]()
	shape := merkle.Shape{Rows: 8, RowWords: 2, Arity: 2}
	layout := merkle.ColumnMajor(1).Reverse()
	words := make([]babybear.Element, shape.Rows*shape.RowWords)
	for i := range words {
		words[i] = babybear.New(uint64(i))
	}
	tree, err := hash.Build(words, shape, layout)
	if err != nil {
		panic(err)
	}
	opening, err := tree.Open(words, layout, []int{6})
	if err != nil {
		panic(err)
	}
	rows, err := hash.Verify(shape, tree.Root(), []int{6}, opening)
	if err != nil {
		panic(err)
	}
	fmt.Println("row 6, which lies at index 3:", rows[0])

	_, err = merkle.SHA256[babybear.Element]().Verify(shape, tree.Root(), []int{6}, opening)
	fmt.Println("by another hash:", err)
	// Output:
	// row 6, which lies at index 3: [3 11]
	// by another hash: merkle: rows do not hash to the root
}
