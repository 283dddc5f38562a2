package sample

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	bls12381fr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	bn254fr "github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// Domain is the size of the domain that snarkjs chooses: the least power of two that has
// room for the constraints and a row for each of the constant and the public signals, and 2
// at least.
func (c *Circuit) Domain() int {
	n := 2
	for n < len(c.Constraints)+c.Outputs+c.Public+1 {
		n *= 2
	}
	return n
}

// groups multiplies the generators of a curve's groups; points are as a .zkey has them.
type groups struct {
	id     ecc.ID
	g1, g2 func([]*big.Int) []byte
}

func elements[E any, P interface {
	*E
	SetBigInt(*big.Int) *E
}](s []*big.Int) []E {
	out := make([]E, len(s))
	for i := range s {
		P(&out[i]).SetBigInt(s[i])
	}
	return out
}

func (c *Circuit) groups() (*groups, error) {
	put := func(b []byte, words ...[]uint64) []byte {
		for _, x := range words {
			for _, w := range x {
				b = binary.LittleEndian.AppendUint64(b, w)
			}
		}
		return b
	}
	switch {
	case c.Order.Cmp(ecc.BN254.ScalarField()) == 0:
		_, _, g1, g2 := bn254.Generators()
		return &groups{ecc.BN254, func(s []*big.Int) (b []byte) {
			for _, p := range bn254.BatchScalarMultiplicationG1(&g1, elements[bn254fr.Element](s)) {
				b = put(b, p.X[:], p.Y[:])
			}
			return b
		}, func(s []*big.Int) (b []byte) {
			for _, p := range bn254.BatchScalarMultiplicationG2(&g2, elements[bn254fr.Element](s)) {
				b = put(b, p.X.A0[:], p.X.A1[:], p.Y.A0[:], p.Y.A1[:])
			}
			return b
		}}, nil
	case c.Order.Cmp(ecc.BLS12_381.ScalarField()) == 0:
		_, _, g1, g2 := bls12381.Generators()
		return &groups{ecc.BLS12_381, func(s []*big.Int) (b []byte) {
			for _, p := range bls12381.BatchScalarMultiplicationG1(&g1, elements[bls12381fr.Element](s)) {
				b = put(b, p.X[:], p.Y[:])
			}
			return b
		}, func(s []*big.Int) (b []byte) {
			for _, p := range bls12381.BatchScalarMultiplicationG2(&g2, elements[bls12381fr.Element](s)) {
				b = put(b, p.X.A0[:], p.X.A1[:], p.Y.A0[:], p.Y.A1[:])
			}
			return b
		}}, nil
	}
	return nil, fmt.Errorf("%s: no curve", c.Name)
}

// ZKey is a .zkey file by a setup whose secrets come from the seed, which is for tests: who
// knows it can prove anything. In place of contributions it has none.
func (c *Circuit) ZKey(seed uint64) ([]byte, error) {
	g, err := c.groups()
	if err != nil {
		return nil, err
	}
	r := c.Order
	rng := rand.New(rand.NewPCG(seed, 0))
	secret := func() *big.Int {
		x := new(big.Int)
		for range 5 {
			x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(rng.Uint64()))
		}
		return x.Mod(x, r)
	}
	mul := func(x, y *big.Int) *big.Int { z := new(big.Int).Mul(x, y); return z.Mod(z, r) }
	inv := func(x *big.Int) *big.Int { return new(big.Int).ModInverse(x, r) }
	tau, alpha, beta, gamma, delta := secret(), secret(), secret(), secret(), secret()

	// Lagrange's polynomials at tau, on the powers of a root of order 2n, and on the even.
	n := c.Domain()
	least := big.NewInt(2)
	for big.Jacobi(least, r) != -1 {
		least.Add(least, big.NewInt(1))
	}
	exponent := new(big.Int).Sub(r, big.NewInt(1))
	root := new(big.Int).Exp(least, exponent.Div(exponent, big.NewInt(int64(2*n))), r)
	all := c.lagrange(tau, root, 2*n)
	even := c.lagrange(tau, mul(root, root), n)

	wires, public := len(c.Witness), c.Outputs+c.Public
	var at [3][]*big.Int // A, B and C of each wire at tau
	for i := range at {
		at[i] = make([]*big.Int, wires)
		for w := range at[i] {
			at[i][w] = new(big.Int)
		}
	}
	var terms bytes.Buffer
	count := 0
	term := func(matrix, row, wire int, k *big.Int) {
		at[matrix][wire].Add(at[matrix][wire], mul(k, even[row]))
		if matrix == 2 {
			return
		}
		count++
		u32(&terms, matrix)
		u32(&terms, row)
		u32(&terms, wire)
		c.number(&terms, new(big.Int).Lsh(k, 512)) // times 2^256 twice
	}
	for row, k := range c.Constraints {
		for matrix, s := range k {
			for w, v := range s {
				term(matrix, row, w, v)
			}
		}
	}
	for w := range public + 1 {
		term(0, len(c.Constraints)+w, w, big.NewInt(1))
	}
	known := make([]*big.Int, wires) // for IC and C
	gammaInverse, deltaInverse := inv(gamma), inv(delta)
	for w := range known {
		x := mul(beta, at[0][w])
		x.Add(x, mul(alpha, at[1][w]))
		x.Add(x, at[2][w])
		if w <= public {
			known[w] = mul(x, gammaInverse)
		} else {
			known[w] = mul(x, deltaInverse)
		}
	}
	odd := make([]*big.Int, n)
	for i := range odd {
		odd[i] = mul(all[2*i+1], deltaInverse)
	}

	var protocol, head bytes.Buffer
	u32(&protocol, 1)
	q := g.id.BaseField()
	size := (q.BitLen() + 63) / 64 * 8
	u32(&head, size)
	little := q.FillBytes(make([]byte, size))
	for i := range size / 2 {
		little[i], little[size-1-i] = little[size-1-i], little[i]
	}
	head.Write(little)
	c.prime(&head)
	u32(&head, wires)
	u32(&head, public)
	u32(&head, n)
	head.Write(g.g1([]*big.Int{alpha, beta}))
	head.Write(g.g2([]*big.Int{beta, gamma}))
	head.Write(g.g1([]*big.Int{delta}))
	head.Write(g.g2([]*big.Int{delta}))
	var counted bytes.Buffer
	u32(&counted, count)
	counted.Write(terms.Bytes())
	b := bytes.NewBuffer
	return file("zkey", 1, &protocol, &head, b(g.g1(known[:public+1])), &counted, b(g.g1(at[0])), b(g.g1(at[1])), b(g.g2(at[1])),
		b(g.g1(known[public+1:])), b(g.g1(odd))), nil
}

// lagrange is the n polynomials of the powers of root, which has order n, at tau: that of x
// is x (tau^n - 1) / (n (tau - x)).
func (c *Circuit) lagrange(tau, root *big.Int, n int) []*big.Int {
	r := c.Order
	out, differences := make([]*big.Int, n), make([]*big.Int, n)
	x, product := big.NewInt(1), big.NewInt(1)
	for i := range n { // out[i] is the product of the differences before
		out[i] = new(big.Int).Set(product)
		differences[i] = new(big.Int).Sub(tau, x)
		product.Mod(product.Mul(product, differences[i]), r)
		x = new(big.Int).Mul(x, root)
		x.Mod(x, r)
	}
	inverse := product.ModInverse(product, r)
	factor := new(big.Int).Exp(tau, big.NewInt(int64(n)), r)
	factor.Sub(factor, big.NewInt(1)).Mul(factor, new(big.Int).ModInverse(big.NewInt(int64(n)), r)).Mod(factor, r)
	last := new(big.Int).ModInverse(root, r) // the power n-1, and then those before
	x.Set(last)
	for i := n - 1; i >= 0; i-- {
		out[i].Mod(out[i].Mul(out[i], inverse), r) // one over the difference
		inverse.Mod(inverse.Mul(inverse, differences[i]), r)
		out[i].Mod(out[i].Mul(out[i], factor), r)
		out[i].Mod(out[i].Mul(out[i], x), r)
		x.Mod(x.Mul(x, last), r)
	}
	return out
}

// Random is a circuit with so many outputs, public inputs and constraints at least, all
// chosen by the seed: sums of several wires, empty sums, wires in no constraint, wires that
// are 0.
func Random(curve ecc.ID, seed uint64, outputs, public, constraints int) *Circuit {
	c := circuit(fmt.Sprintf("random%d", seed), curve)
	rng := rand.New(rand.NewPCG(seed, 1))
	number := func() *big.Int {
		switch rng.IntN(4) {
		case 0:
			return num(int64(rng.IntN(3) - 1))
		case 1:
			return num(rng.Int64())
		}
		x := new(big.Int)
		for range 4 {
			x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(rng.Uint64()))
		}
		return x.Mod(x, c.Order)
	}
	c.Outputs, c.Public, c.Private = outputs, public, 1+rng.IntN(4)
	for range outputs {
		c.wire(num(0))
	}
	for range c.Public + c.Private {
		c.wire(number())
	}
	usable := func() int { // the constant, or a wire with its value
		w := rng.IntN(len(c.Witness) - outputs)
		if w > 0 {
			w += outputs
		}
		return w
	}
	sum := func() Sum {
		s := Sum{}
		for range rng.IntN(4) {
			s[usable()] = number()
		}
		return s
	}
	for range constraints {
		c.power(sum(), sum())
	}
	for i := range outputs {
		a, b := sum(), sum()
		v := new(big.Int).Mul(c.value(a), c.value(b))
		c.Witness[1+i] = v.Mod(v, c.Order)
		c.constrain(a, b, only(1+i))
	}
	return c
}
