// Package bitproof proves that committed columns of bits obey gates: for m columns
// of 2^n bits, that in every row the XOR of some columns is zero, or is the AND
// of two such XORs. It is the verifying half: the statement and its language, the
// proof, and Verify; package bitproof/prover makes proofs.
//
// The columns are one multilinear polynomial over GF(2), committed to with
// package fribinius. The gates are a zero-check in GF(2^128), by package
// sumcheck/binary, at whose two points all columns are evaluated; those claims
// are brought together into one opening. docs/bitproof.md has the protocol, its
// soundness and the formats. Proofs are binding, not zero-knowledge.
package bitproof

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Limits of a Statement. They bound what a verifier allocates.
const (
	MinVars    = 5  // a column fills whole 32-bit words
	MaxVars    = 30 // of the rows
	MaxColumns = 64
	MaxGates   = 1 << 12
	MaxName    = 64 // bytes of a column's name
)

// ErrStatement is the class of errors for statements that make no sense,
// whatever the proof.
var ErrStatement = errors.New("bitproof: bad statement")

// Combination is an XOR of columns, bit j standing for column j, and of the
// constant 1 if One is set.
type Combination struct {
	Columns uint64
	One     bool
}

// IsConstant says whether no column is part of c.
func (c Combination) IsConstant() bool { return c.Columns == 0 }

// Xor is the sum of both.
func (c Combination) Xor(d Combination) Combination {
	return Combination{c.Columns ^ d.Columns, c.One != d.One}
}

// Word is c for 32 rows at once, from the columns' words for these rows.
func (c Combination) Word(column func(j int) uint32) uint32 {
	var w uint32
	if c.One {
		w = ^w
	}
	for rest := c.Columns; rest != 0; rest &= rest - 1 {
		w ^= column(bits.TrailingZeros64(rest))
	}
	return w
}

// And is the gate Out = Left & Right, in every row.
type And struct{ Left, Right, Out Combination }

// Statement says which columns there are and what holds in each of their rows.
type Statement struct {
	Vars  int      // base-2 logarithm of the number of rows
	Names []string // of the columns
	Ands  []And
	// Zeros are combinations that are zero in every row.
	Zeros []Combination
}

// Check says what is wrong with s, nil if nothing is.
func (s *Statement) Check() error {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("%w: %s", ErrStatement, fmt.Sprintf(format, a...))
	}
	if s.Vars < MinVars || s.Vars > MaxVars {
		return bad("2^%d rows, want 2^%d to 2^%d", s.Vars, MinVars, MaxVars)
	}
	m := len(s.Names)
	if m < 1 || m > MaxColumns {
		return bad("%d columns, want 1 to %d", m, MaxColumns)
	}
	seen := make(map[string]bool, m)
	for _, name := range s.Names {
		switch {
		case !isName(name):
			return bad("column %.70q, want a letter or _ and then letters, digits and _, at most %d, and no word of the language", name, MaxName)
		case seen[name]:
			return bad("column %s is named twice", name)
		}
		seen[name] = true
	}
	if n := len(s.Ands) + len(s.Zeros); n < 1 || n > MaxGates {
		return bad("%d gates, want 1 to %d", n, MaxGates)
	}
	known := ^uint64(0) >> (MaxColumns - m)
	for i, g := range s.Ands {
		for _, c := range []Combination{g.Left, g.Right, g.Out} {
			if c.Columns&^known != 0 {
				return bad("AND gate %d names column %d of %d", i, bits.Len64(c.Columns)-1, m)
			}
		}
		if g.Left.IsConstant() || g.Right.IsConstant() {
			return bad("AND gate %d has a constant factor: it is a gate without AND", i)
		}
	}
	for i, c := range s.Zeros {
		switch {
		case c.Columns&^known != 0:
			return bad("XOR gate %d names column %d of %d", i, bits.Len64(c.Columns)-1, m)
		case c.IsConstant():
			return bad("XOR gate %d names no column", i)
		}
	}
	return nil
}

// GateVars is the base-2 logarithm of the number of AND gates, rounded up: the
// gates' factors are tables of 2^(GateVars+Vars) bits, zero where there is no gate.
func (s *Statement) GateVars() int { return log2(len(s.Ands)) }

// ColumnVars is the number of variables that choose a column: the columns are one
// table of 2^(ColumnVars+Vars) bits, zero where there is no column.
func (s *Statement) ColumnVars() int { return max(log2(len(s.Names)), leastCommitted-s.Vars) }

// log2 of n rounded up, 0 for none.
func log2(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// digestTag begins what a statement's digest is over.
const digestTag = "zkwarp bitproof statement 1\n"

// Digest is the SHA-256 of the statement's encoding: digestTag; n and the numbers
// of columns, AND gates and XOR gates, as little-endian 32-bit numbers; of each column
// the length of its name, as such a number, and the name; of each AND gate Left, Right
// and Out, then of each XOR gate its combination: the columns as a little-endian
// 64-bit number and a byte that is 1 for One, otherwise 0.
func (s *Statement) Digest() [32]byte {
	b := []byte(digestTag)
	for _, n := range []int{s.Vars, len(s.Names), len(s.Ands), len(s.Zeros)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	for _, name := range s.Names {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
		b = append(b, name...)
	}
	add := func(c Combination) {
		b = binary.LittleEndian.AppendUint64(b, c.Columns)
		one := byte(0)
		if c.One {
			one = 1
		}
		b = append(b, one)
	}
	for _, g := range s.Ands {
		add(g.Left)
		add(g.Right)
		add(g.Out)
	}
	for _, c := range s.Zeros {
		add(c)
	}
	return sha256.Sum256(b)
}

// ColumnWords is the number of 32-bit words of a column: bit x of it is bit x%32 of
// word x/32.
func (s *Statement) ColumnWords() int { return 1 << (s.Vars - 5) }
