package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
)

// Eqs is a table that kernels make where they read it: the sum of weighted eq
// polynomials, each on an aligned block of entries and given as the product of two
// tables, over the block's first variables (high) and over its last ones (low). Where
// the sum of all low and high tables is short, it spares 16 bytes an entry. It may be
// the second factor of a plain product of two, beside words at stride 1, on a device
// other than the host, of MinEqsVars variables or more.
type Eqs struct {
	// Factors has all low and high tables.
	Factors device.Buffer[m31.QM31]
	// Desc has the descriptors: from Blocks on the blocks, two words each as EqBlock
	// makes them; from Tiles on, for every EqsTile entries, counted as blocks count
	// them, the number of their blocks and, shifted by 32, the place in Desc of the
	// list of these blocks' numbers. Blocks and tiles beyond the table do no harm.
	Desc          device.Buffer[uint64]
	Blocks, Tiles int
	// First is the number of the table's first entry among those that blocks and tiles
	// count, a multiple of EqsTile.
	First int
}

// EqsTile is the number of entries of a tile.
const EqsTile = 1 << 11

// MinEqsVars is the least number of variables of an Eqs table: a run binds it in its
// second pass and no later.
const MinEqsVars = 8

// EqBlock describes a block of 2^vars entries that begins at an entry: entry begin + y
// is Factors[high + y>>bits] * Factors[low + y mod 2^bits]. begin is below 2^48, low
// and high are below 2^32, and bits is at most 31.
func EqBlock(begin, vars, bits, low, high int) [2]uint64 {
	return [2]uint64{uint64(begin) | uint64(vars)<<48 | uint64(bits)<<56, uint64(low) | uint64(high)<<32}
}

// eqsWords is the size of struct Eqs of eqs.cu.
const eqsWords = 5

func (e *Eqs) words() []uint64 {
	at := func(i int) uint64 { return e.Desc.Slice(i, e.Desc.Len()).Address() }
	return []uint64{e.Factors.Address(), at(0), at(e.Blocks), at(e.Tiles), uint64(e.First)}
}

// hasEqs says whether a factor is a sum of eqs.
func (in Instance) hasEqs() bool { return len(in.Tables) == 2 && in.Tables[1].Eqs != nil }

// checkEqs says what is wrong with factor k, which is a sum of eqs.
func (in Instance) checkEqs(q *device.Queue, k int) error {
	t := in.Tables[k]
	e := t.Eqs
	words := in.Tables[0]
	plain := k == 1 && len(in.Tables) == 2 && in.Expr == nil && in.Terms == nil && in.Coeffs.Len() == 0 && !in.Eq
	switch {
	case q.OnHost() || !plain || in.Vars < MinEqsVars || words.Base.Len() == 0 || words.stride() != 1:
		return fmt.Errorf("%w: factor %d of %d with %d variables: a sum of eqs is the second of two, beside words, of %d variables at least, and not on the host",
			sumcheck.ErrShape, k, len(in.Tables), in.Vars, MinEqsVars)
	case t.Base.Len()+t.Ext.Len() > 0 || t.Stride > 1:
		return fmt.Errorf("%w: factor %d: a sum of eqs with %d base and %d extension entries at stride %d", sumcheck.ErrShape, k, t.Base.Len(), t.Ext.Len(), t.stride())
	case e.First%EqsTile != 0 || e.First < 0 || e.Blocks < 0 || e.Blocks > e.Desc.Len() ||
		e.Tiles < 0 || e.Tiles > e.Desc.Len() || e.Desc.Len()-e.Tiles < (e.First+1<<in.Vars+EqsTile-1)/EqsTile:
		return fmt.Errorf("%w: factor %d: a sum of eqs from entry %d on, blocks at %d and tiles at %d of %d words", sumcheck.ErrShape, k, e.First, e.Blocks, e.Tiles, e.Desc.Len())
	}
	return errors.Join(e.Factors.Use(q), e.Desc.Use(q))
}
