package prover

import (
	_ "embed" // kernels
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
)

//go:embed tables.cu
var tablesText string

var tablesSource = &kernel.Source{Name: "sumcheck/binary/prover/tables.cu", Text: tablesText, Headers: []*kernel.Source{kernel.PTX, gf2.Header}}

func tablesKernel(name string) device.Kernel { return device.Kernel{Source: tablesSource, Name: name} }

func checkLengths(op string, pairs ...any) error {
	for i := 0; i < len(pairs); i += 3 {
		what, want, got := pairs[i].(string), pairs[i+1].(int), pairs[i+2].(int)
		if want != got {
			return &binary.LengthError{Op: op, What: what, Want: want, Got: got}
		}
	}
	return nil
}

// BitError is an element that is neither 0 nor 1 where bits were to be packed.
type BitError struct {
	Index uint64
}

func (e *BitError) Error() string {
	return fmt.Sprintf("binary sum-check: packing: element %d is neither 0 nor 1", e.Index)
}

// Pack makes a column of packed bits of 2^n elements that are all 0 or 1: bit x of it is
// bit x%32 of word x/32. It waits for the device. An element that is no bit is a BitError.
func Pack(q *device.Queue, words device.Buffer[uint32], elements device.Buffer[gf2.Element]) error {
	n := elements.Len()
	if err := checkLengths("packing", "words", (n+31)/32, words.Len()); err != nil {
		return err
	}
	if err := errors.Join(words.Use(q), elements.Use(q)); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	if q.OnHost() {
		return packBits(words.Host(), elements.Host(), q.Parallel)
	}
	bad, err := device.Upload(q, []uint64{math.MaxUint64})
	if err != nil {
		return err
	}
	defer bad.Free()
	if err := q.Launch(tablesKernel("binary_pack"), device.D1(device.Blocks(n, 256)), device.D1(256), 0,
		words.Arg(), bad.Arg(), elements.Arg(), device.U64(n)); err != nil {
		return err
	}
	first, err := bad.Read(q)
	if err == nil && first[0] != math.MaxUint64 {
		err = &BitError{first[0]}
	}
	return err
}

// PackHost is Pack for elements in the host's memory, on all cores, wherever the column
// goes afterwards: packed bits are 1/128 of what would have to be copied to a device.
func PackHost(words []uint32, elements []gf2.Element) error {
	if err := checkLengths("packing", "words", (len(elements)+31)/32, len(words)); err != nil {
		return err
	}
	return packBits(words, elements, func(n, grain int, body func(lo, hi int)) error {
		parallel.For(n, grain, body)
		return nil
	})
}

func packBits(words []uint32, elements []gf2.Element, split func(n, grain int, body func(lo, hi int)) error) error {
	var bad atomic.Uint64
	bad.Store(math.MaxUint64)
	err := split(len(words), 1<<8, func(from, to int) {
		for i := from; i < to; i++ {
			part := elements[32*i : min(32*i+32, len(elements))]
			var word, low, high uint64 // of bits, a word is their sum; others are refused below
			if len(part) == 32 {
				p := (*[32]gf2.Element)(part)
				for b := 28; b >= 0; b -= 4 {
					e := (*[4]gf2.Element)(p[b : b+4])
					word = 2*(2*(2*(2*word+e[3].Lo)+e[2].Lo)+e[1].Lo) + e[0].Lo
					low |= e[0].Lo | e[1].Lo | e[2].Lo | e[3].Lo
					high |= e[0].Hi | e[1].Hi | e[2].Hi | e[3].Hi
				}
			} else {
				for b := range part {
					word |= part[b].Lo << b
					low |= part[b].Lo
					high |= part[b].Hi
				}
			}
			words[i] = uint32(word)
			if low <= 1 && high == 0 {
				continue
			}
			for b, e := range part {
				if e.Lo > 1 || e.Hi != 0 {
					for old := bad.Load(); uint64(32*i+b) < old && !bad.CompareAndSwap(old, uint64(32*i+b)); old = bad.Load() {
					}
					break
				}
			}
		}
	})
	if first := bad.Load(); err == nil && first != math.MaxUint64 {
		return &BitError{first}
	}
	return err
}

// valueWarps is how many warps sum parts of a claim's value.
const valueWarps = 1 << 13

// Value is the sum that an instance of kind ExtBits is about: of p_1 over the points where
// all columns are 1. It waits for the device. Those of other kinds are a caller's to know,
// who has them from the step of a protocol before, mostly: with EqBits it is the value at Z
// of the multilinear extension of the columns' product.
func Value(q *device.Queue, in Instance) (gf2.Element, error) {
	var sum gf2.Element
	if in.Kind != binary.ExtBits {
		return sum, fmt.Errorf("binary sum-check: value: kind %s, want %s", in.Kind, binary.ExtBits)
	}
	if err := in.check(q); err != nil {
		return sum, err
	}
	n := 1 << in.Vars
	if q.OnHost() {
		return hostValue(q, in, n)
	}
	out, err := device.Alloc[gf2.Element](q, min(valueWarps, 8*device.Blocks(n, 256)))
	if err != nil {
		return sum, err
	}
	defer out.Free()
	columns := []device.Arg{device.Null(), device.Null(), device.Null(), device.Null()}
	for j, c := range in.Bits {
		columns[j] = c.Arg()
	}
	if err := q.Launch(tablesKernel("binary_value"), device.D1(out.Len()/8), device.D1(256), 0, out.Arg(), in.Ext[0].Arg(),
		columns[0], columns[1], columns[2], columns[3], device.U32(len(in.Bits)), device.U64(n)); err != nil {
		return sum, err
	}
	parts, err := out.Read(q)
	for _, p := range parts {
		sum = sum.Add(p)
	}
	return sum, err
}

func hostValue(q *device.Queue, in Instance, n int) (gf2.Element, error) {
	const grain = 1 << 12
	table := in.Ext[0].Host()
	parts := make([]gf2.Element, (n+grain-1)/grain)
	err := q.Parallel(len(parts), 1, func(from, to int) {
		for p := from; p < to; p++ {
			var sum gf2.Element
			for x := p * grain; x < min((p+1)*grain, n); x += 32 {
				w := ^uint32(0)
				for _, c := range in.Bits {
					w &= c.Host()[x/32]
				}
				for ; w != 0; w &= w - 1 {
					sum = sum.Add(table[x+bits.TrailingZeros32(w)])
				}
			}
			parts[p] = sum
		}
	})
	var sum gf2.Element
	for _, p := range parts {
		sum = sum.Add(p)
	}
	return sum, err
}

// splitPoint is how many of a point's coordinates choose an entry within a part, at least the
// five of a word: eq(point, .) is the product of a table over the others and one over
// these.
func splitPoint(vars int) int { return min(vars, max(5, (vars+1)/2)) }

// Evaluate is the multilinear extension of a table of 2^n elements at a point of n
// coordinates, the first of which is that of the top bit of an index. It waits for the
// device. Cost: one product an element.
func Evaluate(q *device.Queue, table device.Buffer[gf2.Element], point []gf2.Element) (gf2.Element, error) {
	var sum gf2.Element
	if len(point) > maxEvaluated {
		return sum, &binary.LengthError{Op: "evaluating", What: "coordinates", Bound: "at most ", Want: maxEvaluated, Got: len(point)}
	}
	if err := checkLengths("evaluating", "elements", 1<<len(point), table.Len()); err != nil {
		return sum, err
	}
	if err := table.Use(q); err != nil {
		return sum, err
	}
	k := splitPoint(len(point))
	high, low := eqEntries(point[:len(point)-k]), eqEntries(point[len(point)-k:])
	parts := make([]gf2.Element, len(high))
	if q.OnHost() {
		values := table.Host()
		if err := q.Parallel(len(high), max(1, 1<<12/len(low)), func(from, to int) {
			for h := from; h < to; h++ {
				parts[h] = gf2.Dot(low, values[h*len(low):(h+1)*len(low)])
			}
		}); err != nil {
			return sum, err
		}
		return gf2.Dot(high, parts), nil
	}
	lows, err := device.Upload(q, low)
	if err != nil {
		return sum, err
	}
	defer lows.Free()
	out, err := device.Alloc[gf2.Element](q, len(high))
	if err != nil {
		return sum, err
	}
	defer out.Free()
	if err := q.Launch(tablesKernel("binary_evaluate"), device.D1(device.Blocks(len(high), 8)), device.D1(256), 0,
		out.Arg(), table.Arg(), lows.Arg(), device.U32(len(high)), device.U32(len(low))); err != nil {
		return sum, err
	}
	if err := out.CopyTo(q, parts); err != nil {
		return sum, err
	}
	return gf2.Dot(high, parts), nil
}

// maxEvaluated is the most variables of a table that Evaluate and EvaluateBits take.
const maxEvaluated = 40

// EvaluateBits is the multilinear extensions at a point, as with Evaluate, of columns of
// packed bits: the first of a table of columns, one after the other, of 2^n bits each, n
// being the point's coordinates, at least 5. What follows them in the table is not looked
// at, so that a point with too few coordinates is no error, but one about other columns.
// It waits for the device. Cost: sums under masks, no products.
func EvaluateBits(q *device.Queue, table device.Buffer[uint32], columns int, point []gf2.Element) ([]gf2.Element, error) {
	n := len(point)
	switch {
	case n < 5:
		return nil, &binary.LengthError{Op: "evaluating bits", What: "coordinates", Bound: "at least ", Want: 5, Got: n}
	case n > maxEvaluated:
		return nil, &binary.LengthError{Op: "evaluating bits", What: "coordinates", Bound: "at most ", Want: maxEvaluated, Got: n}
	case columns < 1:
		return nil, &binary.LengthError{Op: "evaluating bits", What: "columns", Bound: "at least ", Want: 1, Got: columns}
	}
	words := gf2.BitWords(n)
	if have := table.Len() / words; have < columns {
		return nil, &binary.LengthError{Op: "evaluating bits", What: "columns in the table", Bound: "at least ", Want: columns, Got: have}
	}
	if err := table.Use(q); err != nil {
		return nil, err
	}
	k := splitPoint(n)
	high, low := eqEntries(point[:n-k]), eqEntries(point[n-k:])
	parts := make([]gf2.Element, columns*len(high))
	if q.OnHost() {
		if err := hostParts(q, parts, table.Host(), low, words); err != nil {
			return nil, err
		}
	} else {
		lows, err := device.Upload(q, low)
		if err != nil {
			return nil, err
		}
		defer lows.Free()
		out, err := device.Alloc[gf2.Element](q, len(parts))
		if err != nil {
			return nil, err
		}
		defer out.Free()
		if err := q.Launch(tablesKernel("binary_evaluate_bits"), device.D2(device.Blocks(len(high), 8), device.Blocks(columns, 8)), device.D1(256), 0,
			out.Arg(), table.Arg(), lows.Arg(), device.U64(words), device.U32(columns), device.U32(len(high)), device.U32(len(low)/32)); err != nil {
			return nil, err
		}
		if err := out.CopyTo(q, parts); err != nil {
			return nil, err
		}
	}
	values := make([]gf2.Element, columns)
	for j := range values {
		values[j] = gf2.Dot(high, parts[j*len(high):(j+1)*len(high)])
	}
	return values, nil
}

// hostParts sums low over the set bits of every part of every column: of a byte at a
// time, from a table of all sums of eight.
func hostParts(q *device.Queue, sums []gf2.Element, table []uint32, low []gf2.Element, words int) error {
	tables := subsetSums(low)
	steps := len(low) / 32
	high := words / steps
	return q.Parallel(len(sums), max(1, 1<<12/steps), func(from, to int) {
		for i := from; i < to; i++ {
			part := table[i/high*words+i%high*steps:][:steps]
			var sum gf2.Element
			for s, w := range part {
				t := tables[4*s : 4*s+4]
				a, b, c, d := &t[0][w&255], &t[1][w>>8&255], &t[2][w>>16&255], &t[3][w>>24]
				sum.Lo ^= a.Lo ^ b.Lo ^ c.Lo ^ d.Lo
				sum.Hi ^= a.Hi ^ b.Hi ^ c.Hi ^ d.Hi
			}
			sums[i] = sum
		}
	})
}

// subsetSums is, for every eight entries of list, the sums of all their subsets.
func subsetSums(list []gf2.Element) [][256]gf2.Element {
	out := make([][256]gf2.Element, len(list)/8)
	for i, e := range list {
		t, b := &out[i/8], 1<<(i%8)
		for v := range b {
			t[b+v] = t[v].Add(e)
		}
	}
	return out
}

// eqEntries is eq(point, x) for all x, by operations on slices.
func eqEntries(point []gf2.Element) []gf2.Element {
	out := make([]gf2.Element, 1<<len(point))
	out[0] = gf2.One()
	for i, n := len(point)-1, 1; i >= 0; i, n = i-1, 2*n {
		zero, one := out[:n], out[n:2*n]
		gf2.ScaleVec(one, zero, point[i])
		gf2.AddVec(zero, zero, one)
	}
	return out
}
