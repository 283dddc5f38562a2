// Package binarytest has claims for tests of sum-checks over the binary tower, and a
// prover that is slow and obviously right, and can be made to cheat.
package binarytest

import (
	"math/bits"
	"math/rand/v2"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// Instance is a true claim with its polynomials' values: index x of a table is the point
// whose first coordinate is the top bit of x.
type Instance struct {
	Claim binary.Claim
	Ext   [][]gf2.Element // tables over GF(2^128), in order
	Bits  [][]uint32      // columns of bits, in order after Ext
}

// Random is n random elements, none of them zero.
func Random(rng *rand.Rand, n int) []gf2.Element {
	list := make([]gf2.Element, n)
	for i := range list {
		for list[i].IsZero() {
			list[i] = gf2.Element{Lo: rng.Uint64(), Hi: rng.Uint64()}
		}
	}
	return list
}

// NewInstance is a random claim of that shape, which must be a sound one, about tables
// without zeros and columns of random bits, none of them constant.
func NewInstance(seed uint64, s binary.Shape) *Instance {
	rng := rand.New(rand.NewPCG(seed, 0x7a6b))
	in := &Instance{Claim: binary.Claim{Shape: s}}
	for range s.Ext() {
		in.Ext = append(in.Ext, Random(rng, 1<<s.Vars))
	}
	for range s.Bits() {
		in.Bits = append(in.Bits, randomColumn(rng, s.Vars))
	}
	if s.Kind == binary.EqBits {
		in.Claim.Z = Random(rng, s.Vars)
	}
	in.Claim.Value = in.Sum()
	return in
}

func randomColumn(rng *rand.Rand, vars int) []uint32 {
	column, padding := make([]uint32, gf2.BitWords(vars)), gf2.PaddingMask(vars)
	for {
		ones := 0
		for i := range column {
			column[i] = rng.Uint32() &^ padding
			ones += bits.OnesCount32(column[i])
		}
		if ones != 0 && ones != 1<<vars {
			return column
		}
	}
}

// Tables are the values of p_1, ..., p_d as elements.
func (in *Instance) Tables() [][]gf2.Element {
	n := in.Claim.Vars
	var tables [][]gf2.Element
	if in.Claim.Kind == binary.EqBits {
		eq := make([]gf2.Element, 1<<n)
		for x := range eq {
			eq[x] = binary.EqEval(in.Claim.Z, vertex(n, x))
		}
		tables = append(tables, eq)
	}
	for _, t := range in.Ext {
		tables = append(tables, append([]gf2.Element(nil), t...))
	}
	for _, column := range in.Bits {
		t := make([]gf2.Element, 1<<n)
		for x := range t {
			t[x].Lo = uint64(gf2.Bit(column, x))
		}
		tables = append(tables, t)
	}
	return tables
}

// vertex is the point of the cube with index x.
func vertex(n, x int) []gf2.Element {
	p := make([]gf2.Element, n)
	for i := range p {
		p[i].Lo = uint64(x>>(n-1-i)) & 1
	}
	return p
}

// Sum is the true value.
func (in *Instance) Sum() (sum gf2.Element) {
	tables := in.Tables()
	for x := range 1 << in.Claim.Vars {
		product := gf2.One()
		for _, t := range tables {
			product = product.Mul(t[x])
		}
		sum = sum.Add(product)
	}
	return sum
}

// EvalAt are the values at the point that a true proof has in Evals.
func (in *Instance) EvalAt(point []gf2.Element) []gf2.Element {
	tables := in.Tables()
	if in.Claim.Kind == binary.EqBits {
		tables = tables[1:]
	}
	for _, r := range point {
		fold(tables, r)
	}
	evals := make([]gf2.Element, len(tables))
	for j, t := range tables {
		evals[j] = t[0]
	}
	return evals
}

// fold fixes the first variable of each table.
func fold(tables [][]gf2.Element, r gf2.Element) {
	for j, t := range tables {
		half := len(t) / 2
		for x := range half {
			t[x] = t[x].Add(r.Mul(t[x].Add(t[half+x])))
		}
		tables[j] = t[:half]
	}
}

// Cheat is what a prover does wrong. The zero Cheat is honest.
type Cheat struct {
	// Statement is absorbed instead of the claim.
	Statement func(tr *tower.Transcript)
	// Round may change the message of round i before it is absorbed.
	Round func(i int, message []gf2.Element)
	// Challenge is what the prover goes on with instead of r.
	Challenge func(i int, r gf2.Element) gf2.Element
	// Absorb is absorbed instead of the message of round i.
	Absorb func(i int, message []gf2.Element) []gf2.Element
	// Evals may change the final evaluations before they are absorbed.
	Evals func(point, evals []gf2.Element)
}

// Prove goes through the protocol as it is written down: for each point of the half cube
// it multiplies the polynomials out that its lines are, and adds up the coefficients.
func Prove(tr *tower.Transcript, in *Instance, cheat Cheat) *binary.Proof {
	c := in.Claim
	tables := in.Tables()
	if cheat.Statement != nil {
		cheat.Statement(tr)
	} else {
		c.Absorb(tr)
	}
	proof := &binary.Proof{}
	point := make([]gf2.Element, c.Vars)
	for i := range point {
		message := values(roundPolynomial(tables))
		if cheat.Round != nil {
			cheat.Round(i, message)
		}
		proof.Rounds = append(proof.Rounds, message)
		if cheat.Absorb != nil {
			message = cheat.Absorb(i, message)
		}
		tr.Absorb(message)
		point[i] = tr.Challenge()
		if cheat.Challenge != nil {
			point[i] = cheat.Challenge(i, point[i])
		}
		fold(tables, point[i])
	}
	for _, t := range tables[c.Degree-c.Evals():] {
		proof.Evals = append(proof.Evals, t[0])
	}
	if cheat.Evals != nil {
		cheat.Evals(point, proof.Evals)
	}
	tr.Absorb(proof.Evals)
	return proof
}

// roundPolynomial is the coefficients of the sum over x of the product of t(Y, x), the
// constant one first.
func roundPolynomial(tables [][]gf2.Element) []gf2.Element {
	sum := make([]gf2.Element, len(tables)+1)
	for x := range len(tables[0]) / 2 {
		product := []gf2.Element{gf2.One()}
		for _, t := range tables {
			low := t[x]
			slope := low.Add(t[len(t)/2+x])
			next := make([]gf2.Element, len(product)+1)
			for k, p := range product {
				next[k] = next[k].Add(p.Mul(low))
				next[k+1] = next[k+1].Add(p.Mul(slope))
			}
			product = next
		}
		for k, p := range product {
			sum[k] = sum[k].Add(p)
		}
	}
	return sum
}

// values of the polynomial at the elements 0, 2, 3, ..., d.
func values(coefficients []gf2.Element) []gf2.Element {
	var message []gf2.Element
	for y := range len(coefficients) {
		if y != 1 {
			message = append(message, horner(coefficients, gf2.Element{Lo: uint64(y)}))
		}
	}
	return message
}

func horner(coefficients []gf2.Element, y gf2.Element) (v gf2.Element) {
	for k := len(coefficients) - 1; k >= 0; k-- {
		v = v.Mul(y).Add(coefficients[k])
	}
	return v
}
