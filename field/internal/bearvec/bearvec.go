// Package bearvec does slice operations over prime fields below 2^31 in Montgomery
// form, and over their extensions of degree four and five, with vector instructions.
// Elements are words; an extension element is its coefficients one after the other.
//
// Every function does whole blocks, as many as there are, and returns how many
// elements that was: 0 where the machine has no such instructions. Operands are of
// the first one's length at least, which callers see to.
package bearvec

//go:generate go run -tags=purego ./genvec

// Field is a prime field: the assembly reads its first words in this order.
type Field struct {
	P, Inverse uint32  // 1/P modulo 2^32
	Square     uint32  // 2^64 mod P, which stands for 2^32
	W          uint32  // X^4 = W in the extension of degree four, in Montgomery form
	I          uint32  // the root of unity of order 4
	Quintic    Quintic // the extension of degree five
}

// factor is a word and the word times 1/P modulo 2^32.
type factor struct{ word, quotient uint32 }

// constant is an element's words over and over, so that vectors of them start
// anywhere, and those times 1/P modulo 2^32.
type constant struct{ words, quotients [80]uint32 }

// matrix is eight lanes of words for multiplication by constants.
type matrix [8][4]uint32

// sums is up to six lazy sums of 64-bit lanes, two vectors each: the lanes' sum
// modulo 2^64 and that of their high words. It also holds five vectors of words.
type sums [6 * 2 * 8]uint64

// first is the place of the first element, for slices that are not empty.
func first(s []uint32) *uint32 { return &s[0] }

// few is the number of elements up to which it does not pay to ready constants.
const few = 16

func (f *Field) factor(s uint32) factor { return factor{s, s * f.Inverse} }

func (f *Field) constant(e []uint32) (c constant) {
	for i := range c.words {
		c.words[i] = e[i%len(e)]
		c.quotients[i] = c.words[i] * f.Inverse
	}
	return c
}

// reduce is x / 2^32 modulo P for x below 2^32 P.
func (f *Field) reduce(x uint64) uint32 {
	r := uint32(x>>32) - uint32(uint64(uint32(x)*f.Inverse)*uint64(f.P)>>32)
	return min(r, r+f.P)
}

func (f *Field) mul(a, b uint32) uint32 { return f.reduce(uint64(a) * uint64(b)) }

func (f *Field) add(a, b uint32) uint32 {
	a += b
	return min(a, a-f.P)
}

// whole is the number of elements in whole vectors of them, of n.
func whole(n int) int {
	if w := sumLanes() * 2; w > 0 {
		return n - n%w
	}
	return 0
}

// matrix of multiplication by an element of degree four.
func (f *Field) matrix(r []uint32) (m matrix) {
	var rows [4][4]uint32 // X^i r
	copy(rows[0][:], r)
	for i := range 3 {
		rows[i+1] = [4]uint32{f.mul(rows[i][3], f.W), rows[i][0], rows[i][1], rows[i][2]}
	}
	for k, from := range [4][2]int{{0, 2}, {2, 0}, {1, 3}, {3, 1}} {
		for odd := range 2 {
			m[4*odd+k] = [4]uint32{rows[from[0]][odd], 0, rows[from[1]][2+odd], 0}
		}
	}
	return m
}

// quotient is x / 2^32 modulo P for any x: what is above 2^32 P is taken off first, at
// most twice.
func (f *Field) quotient(x uint64) uint32 {
	h := uint32(x >> 32)
	h = min(h, h-f.P)
	h = min(h, h-f.P)
	return f.reduce(uint64(h)<<32 | x&(1<<32-1))
}

// lane adds up sum k over the lanes of one parity, modulo P and divided by 2^32.
// Sums of high and of low words stay below 2^64 for up to 2^32 numbers.
func (f *Field) lane(s *sums, k, parity int) uint32 {
	lanes := sumLanes()
	v := s[2*lanes*k : 2*lanes*(k+1)]
	var all, high uint64
	for i := parity; i < lanes; i += 2 {
		all += v[i]
		high += v[lanes+i]
	}
	return f.add(f.mul(f.quotient(high), f.Square), f.quotient(all-high<<32))
}

// Add sets dst[i] = a[i] + b[i].
func (f *Field) Add(dst, a, b []uint32) int {
	if len(dst) == 0 {
		return 0
	}
	return addBlocks(first(dst), first(a), first(b), f, len(dst))
}

// Sub sets dst[i] = a[i] - b[i].
func (f *Field) Sub(dst, a, b []uint32) int {
	if len(dst) == 0 {
		return 0
	}
	return subBlocks(first(dst), first(a), first(b), f, len(dst))
}

// Mul sets dst[i] = a[i] * b[i].
func (f *Field) Mul(dst, a, b []uint32) int {
	if len(dst) == 0 {
		return 0
	}
	return mulBlocks(first(dst), first(a), first(b), f, len(dst))
}

// Scale sets dst[i] = s * a[i].
func (f *Field) Scale(dst, a []uint32, s uint32) int {
	if len(dst) == 0 {
		return 0
	}
	k := f.factor(s)
	return scaleBlocks(first(dst), first(a), &k, f, len(dst))
}

// Radix4 does two layers of butterflies on the quarters of a column: with w = w1[i]
// and so on, the sums of x0[i] to x3[i] with the factors 1, 1, 1, 1 into x0, with 1,
// -1, 1, -1 times w2 into x1, with 1, I, -1, -I times w1 into x2, with 1, -I, -1, I
// times w3 into x3.
func (f *Field) Radix4(x0, x1, x2, x3, w1, w2, w3 []uint32) int {
	if len(x0) == 0 {
		return 0
	}
	i := f.factor(f.I)
	return radix4Blocks(first(x0), first(x1), first(x2), first(x3), first(w1), first(w2), first(w3), &i, f, len(x0))
}

// Radix16 is Radix4 on the quarters of every 16 words, with the twiddles w, and then
// on every 4 of them, without.
func (f *Field) Radix16(x []uint32, w *[3][4]uint32) int {
	if len(x) == 0 {
		return 0
	}
	i := f.factor(f.I)
	return radix16Blocks(first(x), &w[0][0], &i, f, len(x))
}

// FoldBase sets dst[i] = lo[i] + r*(hi[i] - lo[i]) for words lo and hi and elements
// of r's degree.
func (f *Field) FoldBase(dst, lo, hi, r []uint32) int {
	n := len(dst) / len(r)
	if n < few {
		return 0
	}
	k := f.constant(r)
	if len(r) == 4 {
		return foldBase4Blocks(first(dst), first(lo), first(hi), &k, f, n)
	}
	return foldBase5Blocks(first(dst), first(lo), first(hi), &k, f, n)
}

// MulAddBase sets dst[i] += c * x[i] for words x and elements of c's degree.
func (f *Field) MulAddBase(dst, x, c []uint32) int {
	n := len(dst) / len(c)
	if n < few {
		return 0
	}
	k := f.constant(c)
	if len(c) == 4 {
		return mulAddBase4Blocks(first(dst), first(x), &k, f, n)
	}
	return mulAddBase5Blocks(first(dst), first(x), &k, f, n)
}

// DotBase is the sum of x[i]*y[i], into the element sum, for words x.
func (f *Field) DotBase(sum, x, y []uint32) int {
	var s sums
	n := 0
	switch {
	case len(x) == 0:
	case len(sum) == 4:
		n = dotBase4Blocks(&s, first(x), first(y), f, len(x))
	default:
		n = dotBase5Blocks(&s, first(x), first(y), f, len(x))
	}
	f.baseSums(sum, &s, n)
	return n
}

// DotBaseStep is the sum of (x1[i]-x0[i])*(y1[i]-y0[i]) for words x0 and x1.
func (f *Field) DotBaseStep(sum, x0, x1, y0, y1 []uint32) int {
	var s sums
	n := 0
	switch {
	case len(x0) == 0:
	case len(sum) == 4:
		n = dotBaseStep4Blocks(&s, first(x0), first(x1), first(y0), first(y1), f, len(x0))
	default:
		n = dotBaseStep5Blocks(&s, first(x0), first(x1), first(y0), first(y1), f, len(x0))
	}
	f.baseSums(sum, &s, n)
	return n
}

// fold4 sets dst[i] = lo[i] + r*(hi[i] - lo[i]) for elements of degree four.
func (f *Field) fold4(dst, lo, hi, r []uint32) int {
	if len(dst) < 4*few {
		return 0
	}
	m := f.matrix(r)
	return fold4Blocks(first(dst), first(lo), first(hi), &m, f, len(dst)/4)
}

// mulAdd4 sets dst[i] += c * x[i].
func (f *Field) mulAdd4(dst, x, c []uint32) int {
	if len(dst) < 4*few {
		return 0
	}
	m := f.matrix(c)
	return mulAdd4Blocks(first(dst), first(x), &m, f, len(dst)/4)
}

// scale4 sets dst[i] = c * x[i].
func (f *Field) scale4(dst, x, c []uint32) int {
	if len(dst) < 4*few {
		return 0
	}
	m := f.matrix(c)
	return scale4Blocks(first(dst), first(x), &m, f, len(dst)/4)
}

// dot4 is the sum of x[i]*y[i], into the element sum.
func (f *Field) dot4(sum, x, y []uint32) int {
	if len(x) == 0 {
		return 0
	}
	var s sums
	n := dot4Blocks(&s, first(x), first(y), f, len(x)/4)
	f.productSums(sum, &s, n)
	return n
}

// dotStep4 is the sum of (x1[i]-x0[i])*(y1[i]-y0[i]).
func (f *Field) dotStep4(sum, x0, x1, y0, y1 []uint32) int {
	if len(x0) == 0 {
		return 0
	}
	var s sums
	n := dotStep4Blocks(&s, first(x0), first(x1), first(y0), first(y1), f, len(x0)/4)
	f.productSums(sum, &s, n)
	return n
}

// MulAddFour4 adds to dst[i] the sum of c[k] * x[k*stride + i] for four elements c.
func (f *Field) MulAddFour4(dst, x []uint32, stride int, c []uint32) int {
	if len(dst) < 4*few {
		return 0
	}
	var m matrix
	for k := range 4 {
		m[2*k] = [4]uint32(c[4*k:])
		m[2*k+1] = [4]uint32{c[4*k+1], 0, c[4*k+3], 0}
	}
	return mulAddFour4Blocks(first(dst), first(x), 4*stride, &m, f, len(dst)/4)
}

// baseSums reads what dotBase left after n > 0 words.
func (f *Field) baseSums(sum []uint32, s *sums, n int) {
	clear(sum)
	switch {
	case n == 0:
	case len(sum) == 4:
		for k := range 4 {
			sum[k] = f.lane(s, k%2, k/2)
		}
	default:
		for i := range 5 * 2 * sumLanes() {
			sum[i%5] = f.add(sum[i%5], uint32(s[i/2]>>(32*(i%2))))
		}
	}
}

// productSums reads what dot4 left after n > 0 elements.
func (f *Field) productSums(sum []uint32, s *sums, n int) {
	clear(sum)
	if n == 0 {
		return
	}
	var c [7]uint32
	for k, to := range [6][2]int{{0, 4}, {1, 5}, {2, 6}, {2, 2}, {3, 3}, {4, 4}} {
		for half, at := range to {
			c[at] = f.add(c[at], f.lane(s, k, half))
		}
	}
	for k := range 4 {
		sum[k] = c[k]
		if k < 3 {
			sum[k] = f.add(sum[k], f.mul(c[4+k], f.W))
		}
	}
}
