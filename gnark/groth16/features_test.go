package groth16_test

import (
	"encoding/binary"
	"math/big"

	tedwards "github.com/consensys/gnark-crypto/ecc/twistededwards"
	hashes "github.com/consensys/gnark-crypto/hash"
	signatures "github.com/consensys/gnark-crypto/signature/eddsa"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/algebra/native/twistededwards"
	"github.com/consensys/gnark/std/gkrapi"
	"github.com/consensys/gnark/std/gkrapi/gkr"
	"github.com/consensys/gnark/std/hash/mimc"
	"github.com/consensys/gnark/std/hash/sha2"
	"github.com/consensys/gnark/std/math/bits"
	"github.com/consensys/gnark/std/math/cmp"
	"github.com/consensys/gnark/std/math/uints"
	"github.com/consensys/gnark/std/selector"
	"github.com/consensys/gnark/std/signature/eddsa"
)

// digested: the SHA-256 digest of eleven bytes, one compression.
type digested struct {
	Text   [11]uints.U8
	Digest [32]uints.U8 `gnark:",public"`
}

func (c *digested) Define(api frontend.API) error {
	h, err := sha2.New(api)
	if err != nil {
		return err
	}
	bytewise, err := uints.NewBytes(api)
	if err != nil {
		return err
	}
	h.Write(c.Text[:])
	for i, b := range h.Sum() {
		bytewise.AssertIsEqual(c.Digest[i], b)
	}
	return nil
}

func digestedOf(text string, digest [32]byte) *digested {
	var c digested
	copy(c.Text[:], uints.NewU8Array([]byte(text)))
	copy(c.Digest[:], uints.NewU8Array(digest[:]))
	return &c
}

// sorted picks by index, compares, takes apart into bits and cuts a list at a secret place.
type sorted struct {
	X     [6]frontend.Variable
	I     frontend.Variable
	Max   frontend.Variable `gnark:",public"`
	After frontend.Variable `gnark:",public"`
}

func (c *sorted) Define(api frontend.API) error {
	picked := selector.Mux(api, c.I, c.X[:]...)
	api.AssertIsEqual(picked, c.Max)
	bound := cmp.NewBoundedComparator(api, big.NewInt(1<<20), false)
	for i, x := range c.X {
		bound.AssertIsLessEq(x, c.Max)
		if i%2 == 0 {
			api.AssertIsEqual(cmp.IsLess(api, picked, x), 0)
			api.AssertIsLessOrEqual(x, 1<<19)
		}
	}
	ones := frontend.Variable(0)
	for _, b := range bits.ToBinary(api, c.Max, bits.WithNbDigits(20)) {
		ones = api.Add(ones, b)
	}
	api.AssertIsDifferent(ones, 0)
	after := frontend.Variable(0)
	for _, x := range selector.Partition(api, c.I, true, c.X[:]) {
		after = api.Add(after, x)
	}
	api.AssertIsEqual(after, c.After)
	keys := make([]frontend.Variable, len(c.X))
	for i := range keys {
		keys[i] = 7 * i
	}
	api.AssertIsEqual(c.Max, selector.Map(api, api.Mul(c.I, 7), keys, c.X[:]))
	return nil
}

// signed: an EdDSA signature of a secret key's owner on a message.
type signed struct {
	Key       eddsa.PublicKey `gnark:",public"`
	Signature eddsa.Signature
	Message   frontend.Variable `gnark:",public"`
}

func (c *signed) Define(api frontend.API) error {
	curve, err := twistededwards.NewEdCurve(api, tedwards.BN254)
	if err != nil {
		return err
	}
	h, err := mimc.NewMiMC(api)
	if err != nil {
		return err
	}
	return eddsa.Verify(curve, c.Signature, c.Message, c.Key, &h)
}

// signedOf is a signature on one message, said to be on another.
func signedOf(message, claimed int64) *signed {
	key, err := signatures.New(tedwards.BN254, seeded())
	if err != nil {
		panic(err)
	}
	signature, err := key.Sign(big.NewInt(message).FillBytes(make([]byte, 32)), hashes.MIMC_BN254.New())
	if err != nil {
		panic(err)
	}
	c := &signed{Message: claimed}
	c.Key.Assign(tedwards.BN254, key.Public().Bytes())
	c.Signature.Assign(tedwards.BN254, signature)
	return c
}

// delegated: products of cubes, which a proof of the GKR protocol inside of the circuit is
// about.
type delegated struct {
	X, Y [4]frontend.Variable
	Sum  frontend.Variable `gnark:",public"`
}

func (c *delegated) Define(api frontend.API) error {
	layers, err := gkrapi.New(api)
	if err != nil {
		return err
	}
	cube := func(api gkr.GateAPI, in ...frontend.Variable) frontend.Variable {
		return api.Mul(api.Mul(in[0], in[0]), in[0])
	}
	x, y := layers.NewInput(), layers.NewInput()
	z := layers.Mul(layers.Gate(cube, x), layers.Gate(cube, y))
	products, err := layers.Compile("MIMC")
	if err != nil {
		return err
	}
	sum := frontend.Variable(0)
	for i := range c.X {
		out, err := products.AddInstance(map[gkr.Variable]frontend.Variable{x: c.X[i], y: c.Y[i]})
		if err != nil {
			return err
		}
		sum = api.Add(sum, out[z])
	}
	api.AssertIsEqual(c.Sum, sum)
	return nil
}

// compressed: SHA-256's compression of a block (FIPS 180-4, section 6.2.2), bit by bit.
type compressed struct {
	Block [16]frontend.Variable // words of 32 bits
	Hash  [8]frontend.Variable  `gnark:",public"`
}

// word is 32 bits, the lowest first.
type word [32]frontend.Variable

func (c *compressed) Define(api frontend.API) error {
	split := func(v frontend.Variable, n int) (w word) {
		copy(w[:], bits.ToBinary(api, v, bits.WithNbDigits(n)))
		return w
	}
	value := func(w word) frontend.Variable { return bits.FromBinary(api, w[:], bits.WithUnconstrainedInputs()) }
	turned := func(w word, n int) (out word) {
		for i := range out {
			out[i] = w[(i+n)%32]
		}
		return out
	}
	shifted := func(w word, n int) word {
		out := turned(w, n)
		for i := range n {
			out[31-i] = 0
		}
		return out
	}
	each := func(f func(a, b, c frontend.Variable) frontend.Variable, a, b, c word) (out word) {
		for i := range out {
			out[i] = f(a[i], b[i], c[i])
		}
		return out
	}
	xor := func(a, b, c frontend.Variable) frontend.Variable { return api.Xor(api.Xor(a, b), c) }
	choose := func(a, b, c frontend.Variable) frontend.Variable { return api.Select(a, b, c) }
	majority := func(a, b, c frontend.Variable) frontend.Variable {
		ab := api.Mul(a, b)
		return api.Add(ab, api.Mul(c, api.Sub(api.Add(a, b), ab, ab)))
	}
	var w [64]word
	for i := range w {
		if i < 16 {
			w[i] = split(c.Block[i], 32)
			continue
		}
		s0 := each(xor, turned(w[i-15], 7), turned(w[i-15], 18), shifted(w[i-15], 3))
		s1 := each(xor, turned(w[i-2], 17), turned(w[i-2], 19), shifted(w[i-2], 10))
		w[i] = split(api.Add(value(w[i-16]), value(s0), value(w[i-7]), value(s1)), 34)
	}
	start, constants := sha256Constants()
	var s [8]word
	for i := range s {
		s[i] = split(start[i], 32)
	}
	for i := range w {
		s1 := each(xor, turned(s[4], 6), turned(s[4], 11), turned(s[4], 25))
		s0 := each(xor, turned(s[0], 2), turned(s[0], 13), turned(s[0], 22))
		t := api.Add(value(s[7]), value(s1), value(each(choose, s[4], s[5], s[6])), constants[i], value(w[i]))
		a := split(api.Add(t, value(s0), value(each(majority, s[0], s[1], s[2]))), 35)
		e := split(api.Add(value(s[3]), t), 35)
		s = [8]word{a, s[0], s[1], s[2], e, s[4], s[5], s[6]}
	}
	for i := range s {
		api.AssertIsEqual(c.Hash[i], value(split(api.Add(start[i], value(s[i])), 33)))
	}
	return nil
}

// sha256Constants are the first 32 bits of the fractional parts of the square roots of the first
// 8 primes, and of the cube roots of the first 64 (FIPS 180-4, sections 4.2.2 and 5.3.3).
func sha256Constants() (start [8]uint32, constants [64]uint32) {
	for p, n := int64(2), 0; n < 64; p++ {
		if !big.NewInt(p).ProbablyPrime(0) {
			continue
		}
		if n < 8 {
			root := new(big.Int).Sqrt(new(big.Int).Lsh(big.NewInt(p), 64))
			start[n] = uint32(root.Uint64())
		}
		// The cube root of 2^96 p by Newton's method, from above.
		scaled, root := new(big.Int).Lsh(big.NewInt(p), 96), new(big.Int).Lsh(big.NewInt(p), 32)
		for {
			next := new(big.Int).Quo(scaled, new(big.Int).Mul(root, root))
			next.Add(next, new(big.Int).Lsh(root, 1)).Quo(next, big.NewInt(3))
			if next.Cmp(root) >= 0 {
				break
			}
			root = next
		}
		constants[n] = uint32(root.Uint64())
		n++
	}
	return start, constants
}

// compressedOf is the one block of a text of at most 55 bytes, and its digest.
func compressedOf(text string, digest [32]byte) *compressed {
	var c compressed
	var block [64]byte
	block[copy(block[:], text)] = 0x80
	binary.BigEndian.PutUint64(block[56:], uint64(8*len(text)))
	for i := range c.Block {
		c.Block[i] = binary.BigEndian.Uint32(block[4*i:])
	}
	for i := range c.Hash {
		c.Hash[i] = binary.BigEndian.Uint32(digest[4*i:])
	}
	return &c
}
