package graph

import (
	"fmt"
	"slices"
	"sort"
)

// TableKind says of what a table is a function.
type TableKind uint8

const (
	Unary  TableKind = iota // of one integer, for Lookup
	Binary                  // of two, for Pair
	Steps                   // of one integer, by thresholds for each channel, for Threshold
	tableKinds
)

// String returns the kind's name.
func (k TableKind) String() string {
	if k < tableKinds {
		return [...]string{"unary", "binary", "steps"}[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Table is a public integer function.
//
// Unary: q -> Y[q + 2^(Bits-1)] for q in [-2^(Bits-1), 2^(Bits-1)), or as Clamp says.
//
// Binary: (a, b) -> Y[(a + 2^(Bits-1)) << Bits2 | b + 2^(Bits2-1)], a in [-2^(Bits-1), 2^(Bits-1)), b likewise with Bits2.
//
// Steps: (channel, x) -> the y in [YLo, YHi] with Lo[channel][y] <= x < Lo[channel][y+1], for |x| <= Limit.
type Table struct {
	Name        string
	Kind        TableKind
	Bits, Bits2 uint8 // Unary: Bits. Binary: both. Else 0
	// Least and greatest value in Y. Steps: the values that have thresholds, some of which may never occur.
	YLo, YHi int64
	Y        []int32 // Unary that is no Clamp, and Binary
	// Clamp says that a Unary table is the clamp to its own range, q -> min(max(q, YLo), YHi), which has no Y: a program may have very many
	// such rows, and nobody needs them all at once.
	Clamp bool
	// Steps: Channels rows of YHi-YLo+2 thresholds, which do not decrease from the first, -Limit, to the last, Limit+1.
	Channels int
	Limit    int64
	Lo       []int32
}

// At returns a Unary table's value at q; the caller guarantees that q is in the table's domain.
func (t *Table) At(q int64) int32 {
	if t.Clamp {
		return t.clamped(q)
	}
	return t.Y[q+int64(1)<<(t.Bits-1)]
}

// AtPair returns a Binary table's value at (a, b), which the caller guarantees to be in the table's domain.
func (t *Table) AtPair(a, b int64) int32 {
	return t.Y[(a+int64(1)<<(t.Bits-1))<<t.Bits2|(b+int64(1)<<(t.Bits2-1))]
}

// Read writes the values of a Unary or Binary table from row `from` on to out. Rows are in the order of Y.
func (t *Table) Read(out []int32, from int) {
	if !t.Clamp {
		copy(out, t.Y[from:from+len(out)])
		return
	}
	q := int64(from) - int64(1)<<(t.Bits-1)
	for i := range out {
		out[i] = t.clamped(q + int64(i))
	}
}

// Values returns all values of a Unary or Binary table, in the order of Y.
func (t *Table) Values() []int32 {
	out := make([]int32, t.Rows())
	t.Read(out, 0)
	return out
}

// clamped is q moved into the table's range.
func (t *Table) clamped(q int64) int32 { return int32(min(max(q, t.YLo), t.YHi)) }

// values returns the number of values that have thresholds in a Steps table.
func (t *Table) values() int { return int(t.YHi-t.YLo) + 1 }

// Thresholds returns a channel's thresholds in a Steps table. Channels from Channels on, which only padding has, are channel 0.
func (t *Table) Thresholds(channel int) []int32 {
	if channel >= t.Channels {
		channel = 0
	}
	n := t.values() + 1
	return t.Lo[channel*n : (channel+1)*n]
}

// StepAt returns a Steps table's value at x in [-Limit, Limit], and the bucket lo <= x < hi in which it is the value.
func (t *Table) StepAt(channel int, x int64) (y, lo, hi int32) {
	th := t.Thresholds(channel)
	i := sort.Search(len(th)-2, func(i int) bool { return int64(th[i+1]) > x })
	return int32(t.YLo) + int32(i), th[i], th[i+1]
}

// StepRow returns what row (channel, i) of a Steps table says to a proof: the i-th value and its bucket. Where that value never occurs, or
// there is none, it is the channel's first value that does occur.
func (t *Table) StepRow(channel, i int) (y, lo, hi int32) {
	th := t.Thresholds(channel)
	if i >= len(th)-1 || th[i] == th[i+1] {
		i = firstStep(th)
	}
	return int32(t.YLo) + int32(i), th[i], th[i+1]
}

// firstStep is the number of a channel's first value that occurs: the one before the first threshold above -Limit. Not by walking there: a table
// may have 2^18 such rows.
func firstStep(th []int32) int {
	return sort.Search(len(th)-1, func(i int) bool { return th[i+1] > th[0] })
}

// StepPart is a part of what a row of a Steps table says.
type StepPart uint8

const (
	StepValue StepPart = iota // the value
	StepFirst                 // the first integer in its bucket
	StepEnd                   // the first integer above it
)

// ReadSteps writes one part of each of the rows of a Steps table from row `from` on to out. Row j is StepRow of the channel and the value that the
// lower bits of j and the others are.
func (t *Table) ReadSteps(part StepPart, out []int32, from int) {
	row := Pow2(t.values()) // of one channel
	for len(out) > 0 {
		th, i := t.Thresholds(from/row), from%row
		n := min(row-i, len(out))
		fill := -1 // what rows without a value of their own have
		for k := range n {
			v := i + k
			if v >= len(th)-1 || th[v] == th[v+1] {
				if fill < 0 {
					fill = firstStep(th)
				}
				v = fill
			}
			switch part {
			case StepValue:
				out[k] = int32(t.YLo) + int32(v)
			case StepFirst:
				out[k] = th[v]
			default:
				out[k] = th[v+1]
			}
		}
		out, from = out[n:], from+n
	}
}

// Rows returns the number of rows that the table has in a proof: 2^Bits, 2^(Bits+Bits2), or for Steps Pow2(Channels) times the power of two
// that holds the values.
func (t *Table) Rows() int {
	if t.Kind == Steps {
		return Pow2(t.Channels) * Pow2(t.values())
	}
	return 1 << (t.Bits + t.Bits2)
}

// size checks the fields that say how large the table is, and so what follows them in an encoding.
func (t *Table) size() error {
	if !(interval{t.YLo, t.YHi}).fits() || t.YLo <= -BoundLimit || t.YHi >= BoundLimit || t.YLo > t.YHi {
		return fmt.Errorf("values in [%d, %d], expected a range that does not reach 2^29", t.YLo, t.YHi)
	}
	switch t.Kind {
	case Unary:
		if t.Bits < 1 || t.Bits > MaxTableBits || t.Bits2 != 0 {
			return fmt.Errorf("%d and %d bits, expected 1 to %d and 0", t.Bits, t.Bits2, MaxTableBits)
		}
	case Binary:
		if t.Bits < 1 || t.Bits2 < 1 || t.Bits > MaxTableBits || t.Bits2 > MaxTableBits || t.Bits+t.Bits2 > MaxTableBits {
			return fmt.Errorf("%d and %d bits, expected 1 or more each and at most %d together", t.Bits, t.Bits2, MaxTableBits)
		}
	case Steps:
		const most = 1 << MaxTableBits
		if t.Bits != 0 || t.Bits2 != 0 {
			return fmt.Errorf("%d and %d bits, expected none in a table of thresholds", t.Bits, t.Bits2)
		}
		if t.Channels < 1 || t.Channels > most || t.YHi-t.YLo >= most || t.Rows() > most {
			return fmt.Errorf("%d channels of the values [%d, %d], expected at most 2^%d rows with both padded to powers of two", t.Channels, t.YLo, t.YHi, MaxTableBits)
		}
		if t.Limit < 0 || t.Limit >= BoundLimit {
			return fmt.Errorf("limit %d, expected 0 to 2^29 - 1", t.Limit)
		}
		return nil
	default:
		return fmt.Errorf("unknown %s", t.Kind)
	}
	if t.Channels != 0 || t.Limit != 0 {
		return fmt.Errorf("%d channels and limit %d, expected none in a %s table", t.Channels, t.Limit, t.Kind)
	}
	return nil
}

func (t *Table) validate() error {
	if !ValidName(t.Name) {
		return fmt.Errorf("the name is not printable text of at most %d bytes", MaxName)
	}
	if err := t.size(); err != nil {
		return err
	}
	if t.Clamp && (t.Kind != Unary || len(t.Y) > 0) {
		return fmt.Errorf("a %s table with %d rows is described as a clamp, expected a unary one with none", t.Kind, len(t.Y))
	}
	if t.Kind == Steps {
		return t.validateSteps()
	}
	if t.Clamp && len(t.Lo) == 0 {
		if lo, hi := int64(t.clampAt(0)), int64(t.clampAt(t.Rows()-1)); t.YLo != lo || t.YHi != hi {
			return fmt.Errorf("declared range [%d, %d], values span [%d, %d]", t.YLo, t.YHi, lo, hi)
		}
		return nil
	}
	if len(t.Y) != t.Rows() || len(t.Lo) != 0 {
		return fmt.Errorf("%d rows and %d thresholds, expected %d and none", len(t.Y), len(t.Lo), t.Rows())
	}
	if lo, hi := int64(slices.Min(t.Y)), int64(slices.Max(t.Y)); t.YLo != lo || t.YHi != hi {
		return fmt.Errorf("declared range [%d, %d], values span [%d, %d]", t.YLo, t.YHi, lo, hi)
	}
	return nil
}

func (t *Table) validateSteps() error {
	n := t.values() + 1
	if len(t.Lo) != t.Channels*n || len(t.Y) != 0 {
		return fmt.Errorf("%d thresholds and %d rows, expected %d and none", len(t.Lo), len(t.Y), t.Channels*n)
	}
	for c := range t.Channels {
		th := t.Lo[c*n : (c+1)*n]
		if int64(th[0]) != -t.Limit || int64(th[n-1]) != t.Limit+1 {
			return fmt.Errorf("channel %d: thresholds from %d to %d, expected %d to %d", c, th[0], th[n-1], -t.Limit, t.Limit+1)
		}
		if !slices.IsSorted(th) {
			return fmt.Errorf("channel %d: thresholds decrease", c)
		}
	}
	return nil
}

// equal compares all but the names. Clamps are to be described as such.
func (t *Table) equal(u *Table) bool {
	return t.Clamp == u.Clamp && t.Kind == u.Kind && t.Bits == u.Bits && t.Bits2 == u.Bits2 && t.YLo == u.YLo && t.YHi == u.YHi && t.Channels == u.Channels &&
		t.Limit == u.Limit && slices.Equal(t.Y, u.Y) && slices.Equal(t.Lo, u.Lo)
}

// isClamp reports whether a Unary table is the clamp to its own range.
func (t *Table) isClamp() bool {
	if t.Kind != Unary || t.Clamp {
		return t.Clamp
	}
	for i, y := range t.Y {
		if y != t.clampAt(i) {
			return false
		}
	}
	return true
}

// clampAt returns row i of the clamp table with t's size and range.
func (t *Table) clampAt(i int) int32 {
	return t.clamped(int64(i) - int64(1)<<(t.Bits-1))
}
