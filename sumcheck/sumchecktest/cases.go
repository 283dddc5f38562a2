package sumchecktest

import (
	"math/rand/v2"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
)

// Random returns n random elements.
func Random(rng *rand.Rand, n int) []m31.QM31 {
	v := make([]m31.QM31, n)
	w := m31.Words(v)
	for i := range w {
		w[i] = m31.New(rng.Uint64())
	}
	return v
}

// Batch is a batch of true claims with their tables. IsBase[j][k] says that
// factor k of claim j has all its values in the prime field.
type Batch struct {
	Claims []sumcheck.Claim
	Tables [][][]m31.QM31
	IsBase [][]bool
}

// NewBatch makes random tables, points, coefficients and the true sums for the
// shapes. About half of the tables are over the prime field. Points have some
// coordinates 0 and 1, which provers that divide by them must survive.
func NewBatch(rng *rand.Rand, shapes []sumcheck.Shape) *Batch {
	b := &Batch{}
	for _, s := range shapes {
		c := sumcheck.Claim{Shape: s}
		if s.Eq {
			c.Point = Random(rng, s.Vars)
			for i := range c.Point {
				if bit := rng.IntN(8); bit < 2 {
					c.Point[i] = m31.Lift(m31.Element(bit))
				}
			}
		}
		if s.Terms != nil && rng.IntN(3) > 0 || s.Expr != nil {
			c.Coeffs = Random(rng, s.NumCoeffs())
		}
		var tables [][]m31.QM31
		var base []bool
		for range s.Factors {
			t := Random(rng, 1<<s.Vars)
			isBase := rng.IntN(2) == 0
			if isBase {
				for x := range t {
					t[x] = m31.Lift(t[x].A.Re)
				}
			}
			tables, base = append(tables, t), append(base, isBase)
		}
		c.Value = Sum(c, tables)
		b.Claims = append(b.Claims, c)
		b.Tables = append(b.Tables, tables)
		b.IsBase = append(b.IsBase, base)
	}
	return b
}

// Batches are the shapes of batches that cover every kind of instance: degrees
// 1 to 3 with and without eq, sums of terms, unequal sizes down to no variables
// at all, one instance and many.
func Batches() map[string][]sumcheck.Shape {
	p, e := sumcheck.Product, sumcheck.EqProduct
	gkr := func(n int) sumcheck.Shape {
		return sumcheck.Shape{Vars: n, Factors: 4, Terms: [][]int{{0, 3}, {1, 2}, {2, 3}}, Eq: true}
	}
	mixed := func(n int, eq bool) sumcheck.Shape {
		return sumcheck.Shape{Vars: n, Factors: 5, Terms: [][]int{{0, 1, 2}, {3}, {1, 4}, {2, 2, 2}}, Eq: eq}
	}
	out := map[string][]sumcheck.Shape{
		"empty cube":     {p(0, 2)},
		"empty cube, eq": {e(0, 3)},
		"one variable":   {e(1, 1)},
		"degree 1":       {p(5, 1)},
		"degree 2":       {p(6, 2)},
		"degree 3":       {p(4, 3)},
		"degree 1, eq":   {e(5, 1)},
		"degree 2, eq":   {e(6, 2)},
		"degree 3, eq":   {e(4, 3)},
		"gkr layer":      {gkr(5)},
		"mixed terms":    {mixed(4, false)},
		"mixed terms eq": {mixed(3, true)},
		"late joiners":   {p(2, 2), e(6, 2), p(6, 1), gkr(3), p(0, 1), e(1, 3), mixed(5, true), e(0, 1)},
		"low degree":     {p(3, 1), p(5, 1), e(2, 1)},
	}
	var many []sumcheck.Shape
	for i := range 40 {
		s := p(i%6, 1+i%3)
		s.Eq = i%2 == 1
		many = append(many, s)
	}
	out["many"] = many
	return out
}

// RandomShapes is a batch of up to most random shapes of up to vars variables.
func RandomShapes(rng *rand.Rand, most, vars int) []sumcheck.Shape {
	shapes := make([]sumcheck.Shape, 1+rng.IntN(most))
	for j := range shapes {
		s := sumcheck.Product(rng.IntN(vars+1), 1+rng.IntN(sumcheck.MaxDegree))
		if rng.IntN(2) == 0 { // any terms: each factor starts one, the rest is random
			s.Factors = 1 + rng.IntN(6)
			for k := range s.Factors {
				t := []int{k}
				for range rng.IntN(sumcheck.MaxDegree) {
					t = append(t, rng.IntN(s.Factors))
				}
				s.Terms = append(s.Terms, t)
			}
		}
		s.Eq = rng.IntN(2) == 0
		shapes[j] = s
	}
	return shapes
}
