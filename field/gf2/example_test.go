package gf2_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/gf2"
)

// Elements are numbers, and a number means the same in every field of the tower.
func Example() {
	// X_0 = 2 is a root of Y^2 + Y + 1, and X_1 = 4 of Y^2 + X_0 Y + 1.
	w, x := gf2.Number(2), gf2.Number(4)
	fmt.Println(w.Mul(w).Lo, w.Mul(w).Mul(w).Lo, x.Mul(x).Lo, w.Mul(x).Add(gf2.One()).Lo)

	// A product of the same in the basis that processors multiply in.
	a, b := gf2.Element{Lo: 5, Hi: 6}, gf2.Element{Lo: 7, Hi: 8}
	fmt.Println(a.Mul(b) == a.Polyval().Mul(b.Polyval()).Element(), a.Mul(a.Inverse()).Lo)

	// Five variables are a word of bits.
	column := make([]uint32, gf2.BitWords(5))
	gf2.SetBit(column, 31, 1)
	fmt.Printf("%#x %v\n", column[0], gf2.CheckColumn(column, 4))
	// Output:
	// 3 1 9 9
	// true 1
	// 0x80000000 gf2: the word of a column of 2^4 bits has zeros above them, got 0x80000000
}

// A table of 2^3 rows bound at two variables at once, by a matrix for each weight
// eq((r0, r1), (u0, u1)).
func ExampleApplySum() {
	table := make([]gf2.Element, 8)
	for i := range table {
		table[i] = gf2.Number(uint64(10 + i))
	}
	r0, r1 := gf2.Number(1), gf2.Number(0) // a corner, so that the values are seen
	one := gf2.One()
	maps := []*gf2.Matrix{
		gf2.Multiplication(r0.Add(one).Mul(r1.Add(one))), // 00
		gf2.Multiplication(r0.Add(one).Mul(r1)),          // 01
		gf2.Multiplication(r0.Mul(r1.Add(one))),          // 10
		gf2.Multiplication(r0.Mul(r1)),                   // 11
	}
	bound := make([]gf2.Element, 2)
	gf2.ApplySum(bound, [][]gf2.Element{table[:2], table[2:4], table[4:6], table[6:]}, maps)
	fmt.Println(bound[0].Lo, bound[1].Lo)
	// Output: 14 15
}
