package binary

import "github.com/zkwarp/zkwarp/field/gf2"

// matrices[d][k][j] is the coefficient of X^k in the polynomial of degree d that is 1 at
// the element j and 0 at all others of 0, ..., d (elements with these numbers as bits):
// Lagrange's polynomials. All of them lie in GF(16), for d below 4 in GF(4), and so are
// linear maps of few bits.
var matrices = [MaxDegree + 1][][]uint8{
	2: {{1, 0, 0}, {2, 3, 1}, {3, 2, 1}},
	3: {{1, 0, 0, 0}, {0, 1, 3, 2}, {0, 1, 2, 3}, {1, 1, 1, 1}},
	4: {{1, 0, 0, 0, 0}, {6, 15, 7, 13, 3}, {0, 1, 2, 3, 0}, {1, 1, 1, 1, 0}, {6, 14, 4, 15, 3}},
	5: {{1, 0, 0, 0, 0, 0}, {8, 1, 5, 15, 15, 12}, {8, 9, 9, 8, 3, 3}, {1, 1, 1, 1, 0, 0}, {8, 0, 6, 13, 15, 12}, {8, 8, 11, 11, 3, 3}},
}

// Coefficients is the matrix that takes the values at the elements 0, ..., d of a
// polynomial of degree at most d to its coefficients, the constant one first. d is 2 to 5;
// for others it is nil.
func Coefficients(d int) [][]gf2.Element {
	if d < MinDegree || d > MaxDegree {
		return nil
	}
	m := make([][]gf2.Element, d+1)
	for k, row := range matrices[d] {
		m[k] = make([]gf2.Element, d+1)
		for j, c := range row {
			m[k][j] = gf2.Element{Lo: uint64(c)}
		}
	}
	return m
}

// Interpolate is p(r) for the polynomial p of degree at most d = len(at)-1 that is at[j]
// at the element j. d is 2 to 5; for others the result is zero.
func Interpolate(at []gf2.Element, r gf2.Element) gf2.Element {
	var sum gf2.Element
	d := len(at) - 1
	if d < MinDegree || d > MaxDegree {
		return sum
	}
	for k := d; k >= 0; k-- {
		sum = sum.Mul(r)
		for j, c := range matrices[d][k] {
			sum = sum.Add(at[j].Mul(gf2.Element{Lo: uint64(c)}))
		}
	}
	return sum
}
