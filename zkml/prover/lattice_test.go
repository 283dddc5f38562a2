package prover

import (
	"math"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
)

// sameEvaluations is a short vector that is not zero, of n entries, a power of two, whose extension is zero at the points.
func sameEvaluations(t *testing.T, n int, points [][]m31.QM31) []int64 {
	t.Helper()
	var rows [][]m31.Element // equations modulo the prime
	for _, p := range points {
		eq := mle.EqTable(p)
		if len(eq) != n {
			t.Fatalf("a point of %d entries, want %d", len(eq), n)
		}
		for word := range 4 {
			var row []m31.Element
			for _, e := range eq {
				row = append(row, m31.Words([]m31.QM31{e})[word])
			}
			rows = append(rows, row)
		}
	}
	free := n - len(rows)
	var pivots []int
	for i := range rows {
		pivots = append(pivots, free+i)
	}
	eliminate(t, rows, pivots)
	basis := make([][]int64, n) // of all solutions
	for i := range basis {
		basis[i] = make([]int64, n)
		if basis[i][i] = 1; i >= free {
			basis[i][i] = m31.P
			continue
		}
		for j, row := range rows {
			basis[i][free+j] = int64(signed(row[i].Neg()))
		}
	}
	shorten(basis)
	return basis[0]
}

// eliminate solves equations for the unknowns of some columns, one for each row.
func eliminate(t *testing.T, rows [][]m31.Element, columns []int) {
	t.Helper()
	for i, c := range columns {
		k := i + slices.IndexFunc(rows[i:], func(r []m31.Element) bool { return r[c] != 0 })
		if k < i {
			t.Fatal("equations that depend on each other")
		}
		rows[i], rows[k] = rows[k], rows[i]
		inverse := rows[i][c].Inverse()
		for j := range rows[i] {
			rows[i][j] = rows[i][j].Mul(inverse)
		}
		for k, r := range rows {
			if f := r[c]; k != i && f != 0 {
				for j := range r {
					r[j] = r[j].Sub(f.Mul(rows[i][j]))
				}
			}
		}
	}
}

// shorten reduces a basis as Lenstra, Lenstra and Lovasz do (Factoring polynomials with rational coefficients, Math. Ann.
// 261, 1982), in floating-point numbers, which a few dimensions allow.
func shorten(basis [][]int64) {
	n := len(basis)
	star, norm := make([][]float64, n), make([]float64, n)
	// orthogonal makes vector k of the orthogonal basis, and its coefficients on those before.
	orthogonal := func(k int) []float64 {
		v, mu := make([]float64, n), make([]float64, k)
		for i, e := range basis[k] {
			v[i] = float64(e)
		}
		for j := range k {
			dot := 0.0
			for i, e := range basis[k] {
				dot += float64(e) * star[j][i]
			}
			mu[j] = dot / norm[j]
			for i := range v {
				v[i] -= mu[j] * star[j][i]
			}
		}
		star[k], norm[k] = v, 0
		for _, e := range v {
			norm[k] += e * e
		}
		return mu
	}
	orthogonal(0)
	for k := 1; k < n; {
		mu := orthogonal(k)
		for j := k - 1; j >= 0; j-- {
			if c := int64(math.Round(mu[j])); c != 0 {
				for i := range basis[k] {
					basis[k][i] -= c * basis[j][i]
				}
				mu = orthogonal(k)
			}
		}
		if norm[k] >= (0.75-mu[k-1]*mu[k-1])*norm[k-1] {
			k++
			continue
		}
		basis[k], basis[k-1] = basis[k-1], basis[k]
		if k--; k == 0 {
			orthogonal(0)
			k = 1
		} else {
			orthogonal(k - 1)
		}
	}
}
