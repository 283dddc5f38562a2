// Package matmultest has what tests of package matmul share: random products of
// matrices, true claims about them, and a prover by definition that can cheat.
package matmultest

import (
	"math/rand/v2"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/matmul"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
	"github.com/zkwarp/zkwarp/transcript"
)

// Batch is claims and the entries of their factors, row by row.
type Batch struct {
	Claims []matmul.Claim
	A, B   [][]m31.Element
}

// Shapes are small products: every side is 1 somewhere, and none a power of two
// somewhere.
func Shapes() []matmul.Shape {
	return []matmul.Shape{
		{M: 1, K: 1, N: 1}, {M: 3, K: 5, N: 7}, {M: 1, K: 100, N: 3}, {M: 4, K: 3, N: 1}, {M: 5, K: 1, N: 6},
		{M: 1, K: 64, N: 1}, {M: 8, K: 16, N: 4}, {M: 2, K: 33, N: 20}, {M: 1, K: 2, N: 9},
	}
}

// NewBatch makes random factors, signed bytes if bytes, and true claims at
// random points.
func NewBatch(rng *rand.Rand, shapes []matmul.Shape, bytes bool) *Batch {
	b := new(Batch)
	for _, s := range shapes {
		x, y := entries(rng, s.M*s.K, bytes), entries(rng, s.K*s.N, bytes)
		product := make([]m31.Element, s.M*s.N)
		for i := range s.M {
			for j := range s.N {
				for k := range s.K {
					product[i*s.N+j] = product[i*s.N+j].Add(x[i*s.K+k].Mul(y[k*s.N+j]))
				}
			}
		}
		c := matmul.Claim{Shape: s, Row: sumchecktest.Random(rng, mle.Log(s.M)), Col: sumchecktest.Random(rng, mle.Log(s.N))}
		c.Value = Extension(product, s.M, s.N, append(append([]m31.QM31{}, c.Row...), c.Col...))
		b.Claims, b.A, b.B = append(b.Claims, c), append(b.A, x), append(b.B, y)
	}
	return b
}

// entries are random; a fourth of the bytes are -128.
func entries(rng *rand.Rand, n int, bytes bool) []m31.Element {
	v := make([]m31.Element, n)
	for i := range v {
		switch {
		case !bytes:
			v[i] = m31.New(rng.Uint64())
		case rng.IntN(4) == 0:
			v[i] = m31.Element(0).Sub(128)
		default:
			v[i] = m31.New(uint64(rng.IntN(256))).Sub(128)
		}
	}
	return v
}

// Bytes are entries made for bytes, as bytes.
func Bytes(v []m31.Element) []int8 {
	out := make([]int8, len(v))
	for i, x := range v {
		out[i] = int8(int(x.Add(128)) - 128)
	}
	return out
}

// Transpose of a rows x cols matrix.
func Transpose[T any](v []T, rows, cols int) []T {
	out := make([]T, len(v))
	for i := range rows {
		for k := range cols {
			out[k*rows+i] = v[i*cols+k]
		}
	}
	return out
}

// Extension of a rows x cols matrix, padded by zeros, at a point.
func Extension(v []m31.Element, rows, cols int, point []m31.QM31) m31.QM31 {
	width := 1 << mle.Log(cols)
	padded := make([]m31.Element, rows*width)
	for i := range rows {
		copy(padded[i*width:], v[i*cols:(i+1)*cols])
	}
	return mle.EvaluateBase(padded, point)
}

// Tables are the factors of the claims' sum-checks, by definition.
func (b *Batch) Tables() [][][]m31.QM31 {
	out := make([][][]m31.QM31, len(b.Claims))
	for j, c := range b.Claims {
		x, y := make([]m31.QM31, 1<<mle.Log(c.K)), make([]m31.QM31, 1<<mle.Log(c.K))
		for k := range c.K {
			for i := range c.M {
				x[k] = x[k].Add(mle.EqIndex(c.Row, uint64(i)).MulBase(b.A[j][i*c.K+k]))
			}
			for i := range c.N {
				y[k] = y[k].Add(mle.EqIndex(c.Col, uint64(i)).MulBase(b.B[j][k*c.N+i]))
			}
		}
		out[j] = [][]m31.QM31{x, y}
	}
	return out
}

// Prove proves b's claims by definition.
func (b *Batch) Prove(tr *transcript.Transcript, cheat sumchecktest.Cheat) *matmul.Proof {
	sums := make([]sumcheck.Claim, len(b.Claims))
	for i, c := range b.Claims {
		sums[i] = sumcheck.Claim{Shape: c.Sumcheck(), Value: c.Value}
	}
	return &matmul.Proof{Batch: sumchecktest.Prove(tr, sums, b.Tables(), cheat)}
}

// True says whether the evaluations that claim j was reduced to are true.
func (b *Batch) True(j int, r matmul.Reduced) (left, right bool) {
	s := b.Claims[j].Shape
	return Extension(b.A[j], s.M, s.K, r.A.Point) == r.A.Value, Extension(b.B[j], s.K, s.N, r.B.Point) == r.B.Value
}
