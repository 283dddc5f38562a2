// Package sample writes circuits, witnesses and keys in circom's formats, for tests: what a
// circom compiler, its witness calculator and a setup would have written.
package sample

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/consensys/gnark-crypto/ecc"
)

// Sum is coefficients by wire.
type Sum map[int]*big.Int

// Circuit is constraints with a witness.
type Circuit struct {
	Name    string
	Order   *big.Int
	Outputs int
	Public  int // inputs
	Private int // inputs

	Constraints [][3]Sum
	Witness     []*big.Int
}

// All are the circuits of package circom's test data.
func All() []*Circuit {
	return []*Circuit{
		Multiplier(ecc.BN254), Multiplier(ecc.BLS12_381), Chain(ecc.BN254, 100), Chain(ecc.BLS12_381, 60), Permutation(ecc.BN254, 30),
	}
}

func circuit(name string, curve ecc.ID) *Circuit {
	short := map[ecc.ID]string{ecc.BN254: "bn128", ecc.BLS12_381: "bls12381"}[curve]
	return &Circuit{Name: name + "_" + short, Order: curve.ScalarField(), Witness: []*big.Int{big.NewInt(1)}}
}

// wire adds a wire with its value.
func (c *Circuit) wire(v *big.Int) int {
	c.Witness = append(c.Witness, new(big.Int).Mod(v, c.Order))
	return len(c.Witness) - 1
}

// value is that of a sum.
func (c *Circuit) value(s Sum) *big.Int {
	v := new(big.Int)
	for w, k := range s {
		v.Add(v, new(big.Int).Mul(k, c.Witness[w]))
	}
	return v.Mod(v, c.Order)
}

// constrain adds a·b = out.
func (c *Circuit) constrain(a, b, out Sum) { c.Constraints = append(c.Constraints, [3]Sum{a, b, out}) }

func num(x int64) *big.Int { return big.NewInt(x) }

// only is one wire.
func only(w int) Sum { return Sum{w: num(1)} }

// Multiplier is c = a·b, with c public.
func Multiplier(curve ecc.ID) *Circuit {
	c := circuit("multiplier", curve)
	c.Outputs, c.Private = 1, 2
	out, a, b := c.wire(num(33)), c.wire(num(3)), c.wire(num(11))
	c.constrain(Sum{a: num(-1)}, only(b), Sum{out: num(-1)}) // as circom writes it
	return c
}

// Chain is x -> x^2 + x + i, n times, with the end and the beginning public.
func Chain(curve ecc.ID, n int) *Circuit {
	c := circuit("chain", curve)
	c.Outputs, c.Public = 1, 1
	out, x := c.wire(num(0)), c.wire(num(7))
	for i := range n {
		s := Sum{x: num(1), 0: num(int64(i))}
		v := new(big.Int).Mul(c.Witness[x], c.Witness[x])
		v.Add(v, c.value(s))
		next := out
		if i < n-1 {
			next = c.wire(v)
		} else {
			c.Witness[out] = v.Mod(v, c.Order)
		}
		// x·x = next - x - i
		c.constrain(only(x), only(x), Sum{next: num(1), x: num(-1), 0: num(int64(-i))})
		x = next
	}
	return c
}

// Permutation is rounds of a permutation of three elements as Poseidon's are: to each a
// constant is added, the first goes to its fifth power, and a matrix mixes all. The
// elements at the beginning are private, and the first at the end is public.
func Permutation(curve ecc.ID, rounds int) *Circuit {
	c := circuit("permutation", curve)
	c.Outputs, c.Private = 1, 3
	out := c.wire(num(0))
	state := [3]Sum{}
	for i := range state {
		state[i] = only(c.wire(num(int64(i + 1))))
	}
	seed := num(20261128)
	constant := func() *big.Int {
		seed.Mul(seed, seed)
		seed.Add(seed, num(12345))
		return new(big.Int).Set(seed.Mod(seed, c.Order))
	}
	matrix := [3][3]int64{{2, 1, 1}, {1, 2, 1}, {1, 1, 3}}
	for range rounds {
		for i := range state {
			add(c.Order, state[i], 0, constant())
		}
		// Circom's simplification leaves sums in A and B, as here.
		x := state[0]
		square := c.power(x, x)
		fourth := c.power(only(square), only(square))
		fifth := c.power(only(fourth), x)
		state[0] = only(fifth)
		var mixed [3]Sum
		for i := range mixed {
			mixed[i] = Sum{}
			for j, s := range state {
				for w, k := range s {
					add(c.Order, mixed[i], w, new(big.Int).Mul(k, num(matrix[i][j])))
				}
			}
		}
		state = mixed
		if len(state[1]) > 6 { // short sums
			for i := 1; i < 3; i++ {
				w := c.wire(c.value(state[i]))
				c.constrain(state[i], only(0), only(w))
				state[i] = only(w)
			}
		}
	}
	c.Witness[out] = c.value(state[0])
	c.constrain(state[0], only(0), only(out))
	return c
}

func add(order *big.Int, s Sum, w int, k *big.Int) {
	v := new(big.Int).Set(k)
	if old := s[w]; old != nil {
		v.Add(v, old)
	}
	s[w] = v.Mod(v, order)
}

// power adds a wire for the product of two sums.
func (c *Circuit) power(a, b Sum) int {
	w := c.wire(new(big.Int).Mul(c.value(a), c.value(b)))
	c.constrain(a, b, only(w))
	return w
}

// Check is an error if the witness does not satisfy the constraints.
func (c *Circuit) Check() error {
	for i, k := range c.Constraints {
		v := new(big.Int).Mul(c.value(k[0]), c.value(k[1]))
		if v.Mod(v, c.Order).Cmp(c.value(k[2])) != 0 {
			return fmt.Errorf("%s: constraint %d does not hold", c.Name, i)
		}
	}
	return nil
}

func (c *Circuit) number(b *bytes.Buffer, v *big.Int) {
	e := new(big.Int).Mod(v, c.Order).FillBytes(make([]byte, 32))
	slices.Reverse(e)
	b.Write(e)
}

func u32(b *bytes.Buffer, v int) { b.Write(binary.LittleEndian.AppendUint32(nil, uint32(v))) }
func u64(b *bytes.Buffer, v int) { b.Write(binary.LittleEndian.AppendUint64(nil, uint64(v))) }

// prime is the order as files have it.
func (c *Circuit) prime(b *bytes.Buffer) {
	u32(b, 32)
	e := c.Order.FillBytes(make([]byte, 32))
	slices.Reverse(e)
	b.Write(e)
}

func file(magic string, version int, sections ...*bytes.Buffer) []byte {
	b := bytes.NewBufferString(magic)
	u32(b, version)
	u32(b, len(sections))
	for i, s := range sections {
		u32(b, i+1)
		u64(b, s.Len())
		b.Write(s.Bytes())
	}
	return b.Bytes()
}

// R1CS is the .r1cs file.
func (c *Circuit) R1CS() []byte {
	var head, body, labels bytes.Buffer
	c.prime(&head)
	for _, v := range []int{len(c.Witness), c.Outputs, c.Public, c.Private} {
		u32(&head, v)
	}
	u64(&head, len(c.Witness))
	u32(&head, len(c.Constraints))
	for _, k := range c.Constraints {
		for _, s := range k {
			u32(&body, len(s))
			for _, w := range slices.Sorted(maps.Keys(s)) {
				u32(&body, w)
				c.number(&body, s[w])
			}
		}
	}
	for i := range c.Witness {
		u64(&labels, i)
	}
	return file("r1cs", 1, &head, &body, &labels)
}

// WTNS is the .wtns file.
func (c *Circuit) WTNS() []byte {
	var head, body bytes.Buffer
	c.prime(&head)
	u32(&head, len(c.Witness))
	for _, v := range c.Witness {
		c.number(&body, v)
	}
	return file("wtns", 2, &head, &body)
}
