package prover

import (
	_ "embed" // kernels
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/zkwarp/zkwarp/bitproof"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/gf2"
)

//go:embed bits.cu
var bitsText string

// Source is the package's translation unit.
var Source = &kernel.Source{Name: "bitproof/prover/bits.cu", Text: bitsText, Headers: []*kernel.Source{kernel.PTX, gf2.Header}}

func bitsKernel(name string) device.Kernel { return device.Kernel{Source: Source, Name: name} }

// GateError is a gate that the columns do not obey, and the first row where.
type GateError struct {
	Gate int // AND gates first
	Text string
	Row  int
}

func (e *GateError) Error() string {
	return fmt.Sprintf("gate %d, %s, does not hold in row %d", e.Gate, e.Text, e.Row)
}

// gateBits is how many bits a gate's index takes below that of a row.
const gateBits = 12

// factors writes the two factors of all AND gates, one table each of gate over gate, and
// checks every gate: a GateError tells of the first row where one does not hold.
func factors(q *device.Queue, s *bitproof.Statement, table, left, right device.Buffer[uint32]) error {
	words := s.ColumnWords()
	var broken uint64
	if q.OnHost() {
		var err error
		if broken, err = hostFactors(q, s, table.Host(), left.Host(), right.Host()); err != nil {
			return err
		}
	} else {
		var list []uint64
		add := func(left, right, out bitproof.Combination) {
			ones := uint64(0)
			for i, c := range []bitproof.Combination{left, right, out} {
				if c.One {
					ones |= 1 << i
				}
			}
			list = append(list, left.Columns, right.Columns, out.Columns, ones)
		}
		for _, g := range s.Ands {
			add(g.Left, g.Right, g.Out)
		}
		for _, c := range s.Zeros {
			add(bitproof.Combination{}, bitproof.Combination{}, c)
		}
		gates, err := device.Upload(q, list)
		if err != nil {
			return err
		}
		defer gates.Free()
		first, err := device.Upload(q, []uint64{math.MaxUint64})
		if err != nil {
			return err
		}
		defer first.Free()
		for _, b := range []device.Buffer[uint32]{left, right} { // where there is no gate
			if used := len(s.Ands) * words; used < b.Len() {
				if err := b.Slice(used, b.Len()).Zero(q); err != nil {
					return err
				}
			}
		}
		if err := q.Launch(bitsKernel("bits_gates"), device.D1(device.Blocks(words, 256)), device.D1(256), 0,
			left.Arg(), right.Arg(), first.Arg(), table.Arg(), gates.Arg(), device.U64(words), device.U32(len(s.Ands)), device.U32(len(list)/4)); err != nil {
			return err
		}
		found, err := first.Read(q)
		if err != nil {
			return err
		}
		broken = found[0]
	}
	if broken != math.MaxUint64 {
		gate := int(broken & (1<<gateBits - 1))
		return &GateError{gate, s.Gate(gate), int(broken >> gateBits)}
	}
	return nil
}

func hostFactors(q *device.Queue, s *bitproof.Statement, table, left, right []uint32) (uint64, error) {
	words := s.ColumnWords()
	clear(left[min(len(left), len(s.Ands)*words):])
	clear(right[min(len(right), len(s.Ands)*words):])
	var broken atomic.Uint64
	broken.Store(math.MaxUint64)
	err := q.Parallel(words, 1<<10, func(lo, hi int) {
		first := uint64(math.MaxUint64)
		for i := lo; i < hi; i++ {
			column := func(j int) uint32 { return table[j*words+i] }
			note := func(wrong uint32, gate int) {
				if wrong != 0 {
					first = min(first, uint64(i*32+bits.TrailingZeros32(wrong))<<gateBits|uint64(gate))
				}
			}
			for g, and := range s.Ands {
				a, b := and.Left.Word(column), and.Right.Word(column)
				left[g*words+i], right[g*words+i] = a, b
				note(a&b^and.Out.Word(column), g)
			}
			for g, c := range s.Zeros {
				note(c.Word(column), len(s.Ands)+g)
			}
		}
		for old := broken.Load(); first < old && !broken.CompareAndSwap(old, first); old = broken.Load() {
		}
	})
	return broken.Load(), err
}

// split is how many of a point's coordinates choose a row within a part: eq(point, .) is
// the product of a table over the others and one over these.
func split(vars int) int { return (vars + 1) / 2 }

// subsetSums is, for every eight entries of list, the sums of all their subsets; zeros
// fill up the last eight.
func subsetSums(list []gf2.Element) [][256]gf2.Element {
	out := make([][256]gf2.Element, (len(list)+7)/8)
	for i, e := range list {
		t, b := &out[i/8], 1<<(i%8)
		for v := range b {
			t[b+v] = t[v].Add(e)
		}
		if i == len(list)-1 { // the entries that are not there
			for b *= 2; b < 256; b *= 2 {
				copy(t[b:2*b], t[:b])
			}
		}
	}
	return out
}

// join writes the tables of the last sum-check: weight[x] = eq(z, x) + gamma eq(r, x), and
// joined[x] the sum of rho[j] over the columns j with bit x.
func join(q *device.Queue, s *bitproof.Statement, weight, joined device.Buffer[gf2.Element], table device.Buffer[uint32], rho, z, r []gf2.Element, gamma gf2.Element) error {
	k := split(len(z))
	high := append(bitproof.EqTable(z[:len(z)-k]), bitproof.EqTable(r[:len(r)-k])...)
	low := append(bitproof.EqTable(z[len(z)-k:]), bitproof.EqTable(r[len(r)-k:])...)
	for i := len(high) / 2; i < len(high); i++ {
		high[i] = high[i].Mul(gamma)
	}
	rho = rho[:len(s.Names)]
	if q.OnHost() {
		return hostJoin(q, s, weight.Host(), joined.Host(), table.Host(), rho, high, low)
	}
	weights, err := device.Upload(q, rho)
	if err != nil {
		return err
	}
	defer weights.Free()
	highs, err := device.Upload(q, high)
	if err != nil {
		return err
	}
	defer highs.Free()
	lows, err := device.Upload(q, low)
	if err != nil {
		return err
	}
	defer lows.Free()
	rows := 1 << s.Vars
	return q.Launch(bitsKernel("bits_join"), device.D1(device.Blocks(rows, 256)), device.D1(256), 0, weight.Arg(), joined.Arg(), table.Arg(),
		weights.Arg(), highs.Arg(), lows.Arg(), device.U64(rows), device.U32(len(s.Names)), device.U32(k))
}

func hostJoin(q *device.Queue, s *bitproof.Statement, weight, joined []gf2.Element, table []uint32, rho, high, low []gf2.Element) error {
	lows := len(low) / 2
	err := q.Parallel(len(high)/2, max(1, 1<<12/lows), func(from, to int) {
		for h := from; h < to; h++ {
			out := weight[h*lows : (h+1)*lows]
			gf2.ScaleVec(out, low[:lows], high[h])
			gf2.MulAddVec(out, low[lows:], high[len(high)/2+h])
		}
	})
	if err != nil {
		return err
	}
	words := s.ColumnWords()
	tables := subsetSums(rho)
	return q.Parallel(words, 1<<8, func(from, to int) {
		for i := from; i < to; i++ {
			out := (*[32]gf2.Element)(joined[32*i:])
			*out = [32]gf2.Element{}
			for g := range tables {
				t := &tables[g]
				var columns [8]uint32
				for c := range min(8, len(rho)-8*g) {
					columns[c] = table[(8*g+c)*words+i]
				}
				for b := range 4 { // eight rows
					var m uint64
					for c, w := range columns {
						m |= uint64(w>>(8*b)&255) << (8 * c)
					}
					m = transpose8(m)
					for x := range 8 {
						e := &t[m>>(8*x)&255]
						out[8*b+x].Lo ^= e.Lo
						out[8*b+x].Hi ^= e.Hi
					}
				}
			}
		}
	})
}

// transpose8 exchanges bit i of byte j with bit j of byte i.
func transpose8(m uint64) uint64 {
	t := (m ^ m>>7) & 0x00aa00aa00aa00aa
	m ^= t ^ t<<7
	t = (m ^ m>>14) & 0x0000cccc0000cccc
	m ^= t ^ t<<14
	t = (m ^ m>>28) & 0x00000000f0f0f0f0
	return m ^ t ^ t<<28
}
