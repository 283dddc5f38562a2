package gf2

import "fmt"

// Columns of 2^vars bits, packed: bit x is bit x%32 of word x/32. A column of
// fewer than 32 bits is one word, whose other bits are zero.

// MaxVars is the largest number of variables of a column.
const MaxVars = 62

// VarsError is a number of variables out of range.
type VarsError struct{ Max, Got int }

func (e *VarsError) Error() string {
	return fmt.Sprintf("gf2: a column has 2^n bits for n from 0 to %d, got n = %d", e.Max, e.Got)
}

// WordsError is a column of the wrong length.
type WordsError struct{ Vars, Want, Got int }

func (e *WordsError) Error() string {
	return fmt.Sprintf("gf2: a column of 2^%d bits is %d words, got %d", e.Vars, e.Want, e.Got)
}

// PaddingError is a column with a bit set above its length.
type PaddingError struct {
	Vars int
	Word uint32
}

func (e *PaddingError) Error() string {
	return fmt.Sprintf("gf2: the word of a column of 2^%d bits has zeros above them, got %#08x", e.Vars, e.Word)
}

// BitWords is the number of words of a column of 2^vars bits, for vars from 0 to
// MaxVars, and 0 for any other.
func BitWords(vars int) int {
	switch {
	case vars < 0 || vars > MaxVars:
		return 0
	case vars < 5:
		return 1
	}
	return 1 << (vars - 5)
}

// Bit is bit x of a column.
func Bit(column []uint32, x int) uint { return uint(column[x>>5]>>(x&31)) & 1 }

// SetBit sets bit x of a column to the lowest bit of v.
func SetBit(column []uint32, x int, v uint) {
	w := &column[x>>5]
	*w = *w&^(1<<(x&31)) | uint32(v&1)<<(x&31)
}

// PaddingMask is the bits of a column's last word that have to be zero.
func PaddingMask(vars int) uint32 {
	if vars < 0 || vars >= 5 {
		return 0
	}
	return ^uint32(0) << (1 << vars)
}

// CheckColumn says whether a column has the words of 2^vars bits, and zeros above
// them: *VarsError, *WordsError or *PaddingError if not.
func CheckColumn(column []uint32, vars int) error {
	if vars < 0 || vars > MaxVars {
		return &VarsError{MaxVars, vars}
	}
	if n := BitWords(vars); len(column) != n {
		return &WordsError{vars, n, len(column)}
	}
	if w := column[len(column)-1]; w&PaddingMask(vars) != 0 {
		return &PaddingError{vars, w}
	}
	return nil
}
