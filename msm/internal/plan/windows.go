package plan

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/zkwarp/zkwarp/field/mont"
)

// MaxBits is the widest window, of 2^25 buckets.
const MaxBits = 26

// MaxWindows is how many windows there are at most.
const MaxWindows = 256

// Windows is how scalars are cut.
type Windows struct {
	List []Window
	// Copies of the points that the windows ask for: copy j holds 2^(j·Stride) times
	// each point. Without tables there is one, the points themselves.
	Copies, Stride int
}

// Buckets is how many flattened buckets there are.
func (w *Windows) Buckets() int {
	n := 0
	for _, x := range w.List {
		n = max(n, x.Base+x.Buckets)
	}
	return n
}

// Sets are the bases of the sets of buckets, ascending, and their end.
func (w *Windows) Sets() []int {
	var out []int
	for _, x := range w.List {
		if len(out) == 0 || x.Base > out[len(out)-1] {
			out = append(out, x.Base)
		}
	}
	return append(out, w.Buckets())
}

// magnitude is the largest number that is left of a scalar once those above half of
// the order were replaced by their negatives.
func magnitude(f *mont.Field) *big.Int { return new(big.Int).Rsh(f.Modulus, 1) }

// layout makes windows of the given widths from the lowest bit on, and a top one of
// all that is left.
func layout(f *mont.Field, widths []int) []Window {
	var out []Window
	top := magnitude(f)
	shift, base := 0, 0
	for _, bits := range widths {
		out = append(out, Window{Shift: shift, Bits: bits, Base: base, Buckets: 1 << (bits - 1)})
		// Digits from -2^(bits-1) to 2^(bits-1) - 1 are those of the number plus 2^(bits-1)
		// in every window, less that.
		top.Add(top, new(big.Int).Lsh(big.NewInt(1), uint(shift+bits-1)))
		shift += bits
		base += 1 << (bits - 1)
	}
	top.Rsh(top, uint(shift))
	most := max(1, int(top.Int64()))
	return append(out, Window{Shift: shift, Bits: max(1, top.BitLen()), Top: true, Base: base, Buckets: most})
}

// Split cuts scalars into so many windows with about equal numbers of buckets; widths
// differ by one bit.
func Split(f *mont.Field, count int) (*Windows, error) {
	// A window of b + 1 bits has 2^b buckets, the top one, which has no sign, of b bits.
	total := magnitude(f).BitLen() - (count - 1)
	if count < 1 || total < count {
		return nil, fmt.Errorf("msm: %d windows for scalars of %d bits", count, f.Bits())
	}
	each, more := total/count, total%count
	if each+1 > MaxBits || each+1 == MaxBits && more > 0 {
		return nil, fmt.Errorf("msm: %d windows of scalars of %d bits have more than %d bits", count, f.Bits(), MaxBits)
	}
	// The top window gets the first bit more: the order is no power of two, so that some
	// of its buckets are not there.
	widths := make([]int, count-1)
	for i := range widths {
		widths[i] = each + 1
		if i < more-1 {
			widths[i]++
		}
	}
	return &Windows{List: layout(f, widths), Copies: 1}, nil
}

// Uniform cuts scalars into windows of the given width, the top one of what is left, and
// lets the windows share sets of buckets by copies of the points: window j has set
// j mod sets and copy j / sets. n is the number of points. With sets 0 there is a set
// for each window, and one copy.
func Uniform(f *mont.Field, bits, sets, n int) (*Windows, error) {
	if bits < 2 || bits > MaxBits || sets < 0 {
		return nil, fmt.Errorf("msm: windows of %d bits in %d sets", bits, sets)
	}
	// The top window takes a carry; its digits stay within 2^(bits-1) if it has fewer
	// bits than the others.
	count := magnitude(f).BitLen()/bits + 1
	w := &Windows{List: layout(f, slices.Repeat([]int{bits}, count-1)), Copies: 1}
	if sets == 0 || sets >= count {
		return w, nil
	}
	w.Copies, w.Stride = (count+sets-1)/sets, sets*bits
	for i := range w.List {
		x := &w.List[i]
		x.Base, x.Table = i%sets<<(bits-1), i/sets*n
	}
	return w, nil
}

// Full is Uniform with one set for widths that divide the bits that are left of a scalar:
// the top window is not one of a single bit, which takes a carry, but has as many bits as
// the others and up to twice as many buckets, since it has no sign.
func Full(f *mont.Field, bits, n int) (*Windows, error) {
	count := magnitude(f).BitLen() / max(1, bits)
	if bits < 2 || bits > MaxBits || count*bits != magnitude(f).BitLen() {
		return nil, fmt.Errorf("msm: windows of %d bits in one set, the top one full, for scalars of %d bits", bits, f.Bits())
	}
	w := &Windows{List: layout(f, slices.Repeat([]int{bits}, count-1)), Copies: count, Stride: bits}
	for i := range w.List {
		x := &w.List[i]
		x.Base, x.Table = 0, i*n
	}
	return w, nil
}

// Entries is the expected number of digits of a uniform scalar that are not 0. Only the
// top window's is often 0, where the window is a carry and little more.
func (w *Windows) Entries(f *mont.Field) float64 {
	top := w.List[len(w.List)-1]
	sum := new(big.Int)
	for _, x := range w.List[:len(w.List)-1] {
		sum.SetBit(sum, x.Shift+x.Bits-1, 1)
	}
	// The digit is 0 as long as the number and what makes digits of it stay below the window.
	zeros, _ := new(big.Rat).SetFrac(sum.Sub(new(big.Int).Lsh(big.NewInt(1), uint(top.Shift)), sum), magnitude(f)).Float64()
	return float64(len(w.List)) - min(1, zeros)
}
