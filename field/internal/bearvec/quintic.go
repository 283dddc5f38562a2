package bearvec

// Elements of degree five are worked on in blocks, of which the coefficients are
// taken apart into arrays of words.

// Quintic says how X^i y is made for elements y of degree five: of y's coefficients,
// number 0 to 4, and four sums or differences of two of what comes before, number 5 to
// 8. rows[i][k] is which of them is the k-th coefficient of X^i y.
type Quintic struct {
	steps [4]step
	rows  [5][5]int
}

type step struct {
	a, b  int
	minus bool
}

// The two extensions of degree five in use.
var (
	// X^5 = 2.
	FifthIsTwo = Quintic{
		[4]step{{4, 4, false}, {3, 3, false}, {2, 2, false}, {1, 1, false}},
		[5][5]int{{0, 1, 2, 3, 4}, {5, 0, 1, 2, 3}, {6, 5, 0, 1, 2}, {7, 6, 5, 0, 1}, {8, 7, 6, 5, 0}},
	}
	// X^5 = 1 - X^2.
	FifthIsOneMinusSquare = Quintic{
		[4]step{{1, 4, true}, {0, 3, true}, {4, 2, true}, {3, 5, true}},
		[5][5]int{{0, 1, 2, 3, 4}, {4, 0, 5, 2, 3}, {3, 4, 6, 5, 2}, {2, 3, 7, 6, 5}, {5, 2, 8, 7, 6}},
	}
)

// quinticBlock is the number of elements of a block.
const quinticBlock = 128

// parts is the coefficients of a block's elements, and what rows need besides.
type parts [9][quinticBlock]uint32

const partBytes = 4 * quinticBlock

// apart fills p from n elements, whole vectors of them.
func (f *Field) apart(p *parts, e []uint32, n int) {
	apart5Blocks(&p[0][0], partBytes, first(e), f, n)
}

// finish fills the parts that rows need.
func (f *Field) finish(p *parts, n int) {
	for j, s := range f.Quintic.steps {
		// Blocks of two vectors would leave a rest.
		if s.minus {
			subOneBlocks(&p[5+j][0], &p[s.a][0], &p[s.b][0], f, n)
		} else {
			addOneBlocks(&p[5+j][0], &p[s.a][0], &p[s.b][0], f, n)
		}
	}
}

// columns5 is multiplication by an element: columns[k][i] is by what coefficient i
// goes into coefficient k.
type columns5 [5][5]uint32

func (f *Field) columns5(r []uint32) (columns columns5) {
	var c [9]uint32
	copy(c[:], r)
	for j, s := range f.Quintic.steps {
		if b := c[s.b]; s.minus {
			c[5+j] = f.add(c[s.a], f.P-b)
		} else {
			c[5+j] = f.add(c[s.a], b)
		}
	}
	for i, row := range f.Quintic.rows {
		for k, at := range row {
			columns[k][i] = c[at]
		}
	}
	return columns
}

// work is memory for a block. It stays on the stack: functions that are not known
// when compiling must not see it.
type work struct {
	a, b    parts
	product [5 * quinticBlock]uint32
}

// linear5 is the product of n elements x, in w.product.
func (f *Field) linear5(w *work, x []uint32, c *columns5, n int) {
	f.apart(&w.a, x, n)
	for k := range 5 {
		constants5Blocks(&w.b[k][0], &w.a[0][0], partBytes, &c[k], f, n)
	}
	together5Blocks(&w.product[0], &w.b[0][0], partBytes, f, n)
}

// fold5 sets dst[i] = lo[i] + r*(hi[i] - lo[i]) for elements of degree five.
func (f *Field) fold5(dst, lo, hi, r []uint32) int {
	all := whole(len(dst) / 5)
	if all == 0 {
		return 0
	}
	var w work
	c := f.columns5(r)
	for from := 0; from < all; from += quinticBlock {
		n, at := min(quinticBlock, all-from), 5*from
		subOneBlocks(&w.product[0], &hi[at], &lo[at], f, 5*n)
		f.linear5(&w, w.product[:], &c, n)
		addOneBlocks(&dst[at], &lo[at], &w.product[0], f, 5*n)
	}
	return all
}

// mulAdd5 sets dst[i] += c * x[i].
func (f *Field) mulAdd5(dst, x, c []uint32) int {
	all := whole(len(dst) / 5)
	if all == 0 {
		return 0
	}
	var w work
	m := f.columns5(c)
	for from := 0; from < all; from += quinticBlock {
		n, at := min(quinticBlock, all-from), 5*from
		f.linear5(&w, x[at:], &m, n)
		addOneBlocks(&dst[at], &dst[at], &w.product[0], f, 5*n)
	}
	return all
}

// scale5 sets dst[i] = c * x[i].
func (f *Field) scale5(dst, x, c []uint32) int {
	all := whole(len(dst) / 5)
	if all == 0 {
		return 0
	}
	var w work
	m := f.columns5(c)
	for from := 0; from < all; from += quinticBlock {
		n, at := min(quinticBlock, all-from), 5*from
		f.linear5(&w, x[at:], &m, n)
		copy(dst[at:], w.product[:5*n])
	}
	return all
}

// sums5 is sums of coefficients.
type sums5 [5][quinticBlock]uint32

// addProducts5 adds the products of the n elements in w.a and w.b.
func (f *Field) addProducts5(s *sums5, w *work, n int) {
	f.finish(&w.b, n)
	for k := range 5 {
		var y [5]*uint32
		for i, row := range f.Quintic.rows {
			y[i] = &w.b[row[k]][0]
		}
		products5Blocks(&w.product[0], &w.a[0][0], partBytes, &y, f, n)
		addOneBlocks(&s[k][0], &s[k][0], &w.product[0], f, n)
	}
}

// total is the element of the sums.
func (f *Field) total(sum []uint32, s *sums5) {
	for k := range s {
		var v uint64
		for _, x := range s[k] {
			v += uint64(x)
		}
		sum[k] = uint32(v % uint64(f.P))
	}
}

// dot5 is the sum of x[i]*y[i], into the element sum.
func (f *Field) dot5(sum, x, y []uint32) int {
	clear(sum)
	all := whole(len(x) / 5)
	if all == 0 {
		return 0
	}
	var w work
	var s sums5
	for from := 0; from < all; from += quinticBlock {
		n := min(quinticBlock, all-from)
		f.apart(&w.a, x[5*from:], n)
		f.apart(&w.b, y[5*from:], n)
		f.addProducts5(&s, &w, n)
	}
	f.total(sum, &s)
	return all
}

// dotStep5 is the sum of (x1[i]-x0[i])*(y1[i]-y0[i]).
func (f *Field) dotStep5(sum, x0, x1, y0, y1 []uint32) int {
	clear(sum)
	all := whole(len(x0) / 5)
	if all == 0 {
		return 0
	}
	var w work
	var s sums5
	for from := 0; from < all; from += quinticBlock {
		n, at := min(quinticBlock, all-from), 5*from
		subOneBlocks(&w.product[0], &x1[at], &x0[at], f, 5*n)
		f.apart(&w.a, w.product[:], n)
		subOneBlocks(&w.product[0], &y1[at], &y0[at], f, 5*n)
		f.apart(&w.b, w.product[:], n)
		f.addProducts5(&s, &w, n)
	}
	f.total(sum, &s)
	return all
}
