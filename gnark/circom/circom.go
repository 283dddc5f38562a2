// Package circom proves and verifies circuits of circom with Groth16, from the files of
// circom and snarkjs: .r1cs, .wtns and .zkey, and proof.json, public.json and
// verification_key.json. The curves are BN254 ("bn128" in these files) and BLS12-381.
// The formats and what is computed are in docs/circom.md.
//
//	key, err := circom.OpenZKey("circuit_final.zkey")
//	witness, err := circom.OpenWitness("witness.wtns")
//	proof, err := circom.Prove(ctx, key, witness, circom.Options{})
//	err = circom.Verify(key.VerifyingKey(), witness.Public(key.NumPublic()), proof)
//
// The multi-scalar multiplications run on any device of package device. Decoders are
// strict: numbers are below their modulus, points on their curve, sections of exactly the
// size that the header gives, and no memory is taken that the file's own size does not
// account for.
package circom

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc"
)

var (
	// ErrFormat is the class of mistakes in a file; the error is a *FormatError, except
	// for JSON.
	ErrFormat = errors.New("bad file")
	// ErrMismatch is the class of errors of inputs that do not belong together: of other
	// curves, or of other numbers of wires or public signals.
	ErrMismatch = errors.New("inputs do not match")
	// ErrUnsatisfied is the class of errors of witnesses that do not satisfy the circuit.
	ErrUnsatisfied = errors.New("the witness does not satisfy the circuit")
	// ErrProof is the class of errors of proofs that are not valid.
	ErrProof = errors.New("invalid proof")
	// ErrKey is the class of errors of verifying keys that are not valid.
	ErrKey = errors.New("invalid verifying key")
	// ErrClosed is what methods of a closed Prover return.
	ErrClosed = errors.New("circom: the prover was closed")
)

// FormatError says where in a file a mistake is.
type FormatError struct {
	File    string // as the file was named
	Section string // number and title, or empty for what lies outside sections
	Offset  int64  // in bytes, from the file's begin
	Err     error  // what is wrong there
}

func (e *FormatError) Error() string {
	if e.Section == "" {
		return fmt.Sprintf("%s: offset %d: %v", e.File, e.Offset, e.Err)
	}
	return fmt.Sprintf("%s: section %s, offset %d: %v", e.File, e.Section, e.Offset, e.Err)
}

// Unwrap makes every FormatError an ErrFormat.
func (e *FormatError) Unwrap() []error { return []error{ErrFormat, e.Err} }

// Element is a number below the order of a curve's groups, in four words of 64 bits, the
// lowest first.
type Element [4]uint64

// Big is the number.
func (e Element) Big() *big.Int { return fromWords(e[:]) }

// fromWords is the number with these words, the lowest first.
func fromWords(w []uint64) *big.Int {
	b := make([]byte, 8*len(w))
	for i, v := range w {
		for j := range 8 {
			b[len(b)-1-8*i-j] = byte(v >> (8 * j))
		}
	}
	return new(big.Int).SetBytes(b)
}

// toWords stores x, which must fit, in words, the lowest first.
func toWords(w []uint64, x *big.Int) {
	b := x.FillBytes(make([]byte, 8*len(w)))
	for i := range w {
		w[i] = 0
		for j := range 8 {
			w[i] |= uint64(b[len(b)-1-8*i-j]) << (8 * j)
		}
	}
}

// below says whether x < m, numbers of as many words.
func below(x, m []uint64) bool {
	var borrow uint64
	for i := range x {
		_, borrow = bits.Sub64(x[i], m[i], borrow)
	}
	return borrow == 1
}

// curve is what the formats need to know of a pairing's curve.
type curve struct {
	id     ecc.ID
	name   string // snarkjs's
	q, r   *big.Int
	qWords []uint64
	rWords []uint64
	// adicity is the number of times that 2 divides r-1.
	adicity int
}

func newCurve(id ecc.ID, name string) *curve {
	c := &curve{id: id, name: name, q: id.BaseField(), r: id.ScalarField()}
	c.qWords = make([]uint64, (c.q.BitLen()+63)/64)
	toWords(c.qWords, c.q)
	c.rWords = make([]uint64, (c.r.BitLen()+63)/64)
	toWords(c.rWords, c.r)
	c.adicity = int(new(big.Int).Sub(c.r, big.NewInt(1)).TrailingZeroBits())
	return c
}

// system is a curve with its arithmetic, without the types of its points.
type system interface {
	curve() *curve
	// zkey reads the rest of a key whose header was read.
	zkey(f *binFile, k *ZKey) (provingKey, error)
	// verify checks a proof; all points are checked as well.
	verify(vk *VerifyingKey, public []Element, p *Proof) error
	// checkKey checks that the points of a verifying key are of their groups.
	checkKey(vk *VerifyingKey) error
	// alphaBeta is the pairing of alpha and beta, its 12 coefficients in the order of
	// snarkjs.
	alphaBeta(vk *VerifyingKey) ([]*big.Int, error)
	// unsatisfied is the first constraint that w does not satisfy, or -1.
	unsatisfied(c *R1CS, w []Element) int
}

// systems are the curves that the formats are read for.
func systems() []system { return []system{bn254System, bls12381System} }

func systemOf(id ecc.ID) (system, error) {
	for _, s := range systems() {
		if s.curve().id == id {
			return s, nil
		}
	}
	return nil, fmt.Errorf("curve %s is not supported", id)
}
