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

// linear5 calls done for each block with the products of r and x's elements, and says
// for how many elements it did.
func (f *Field) linear5(x, r []uint32, done func(from int, product []uint32)) int {
	all := whole(len(x) / 5)
	if all == 0 {
		return 0
	}
	var c [9]uint32
	copy(c[:], r)
	for j, s := range f.Quintic.steps {
		if b := c[s.b]; s.minus {
			c[5+j] = f.add(c[s.a], f.P-b)
		} else {
			c[5+j] = f.add(c[s.a], b)
		}
	}
	var columns [5][5]uint32 // by what coefficient i of x goes into coefficient k
	for i, row := range f.Quintic.rows {
		for k, at := range row {
			columns[k][i] = c[at]
		}
	}
	var in, out parts
	var product [5 * quinticBlock]uint32
	for from := 0; from < all; from += quinticBlock {
		n := min(quinticBlock, all-from)
		f.apart(&in, x[5*from:], n)
		for k := range 5 {
			constants5Blocks(&out[k][0], &in[0][0], partBytes, &columns[k], f, n)
		}
		together5Blocks(&product[0], &out[0][0], partBytes, f, n)
		done(5*from, product[:5*n])
	}
	return all
}

// fold5 sets dst[i] = lo[i] + r*(hi[i] - lo[i]) for elements of degree five.
func (f *Field) fold5(dst, lo, hi, r []uint32) int {
	all := whole(len(dst) / 5)
	var difference [5 * quinticBlock]uint32
	for from := 0; from < 5*all; from += len(difference) {
		to := min(from+len(difference), 5*all)
		d := difference[:to-from]
		subOneBlocks(&d[0], &hi[from], &lo[from], f, len(d))
		f.linear5(d, r, func(_ int, product []uint32) {
			addOneBlocks(&dst[from], &lo[from], &product[0], f, len(product))
		})
	}
	return all
}

// mulAdd5 sets dst[i] += c * x[i].
func (f *Field) mulAdd5(dst, x, c []uint32) int {
	return f.linear5(x[:len(dst)], c, func(from int, product []uint32) {
		addOneBlocks(&dst[from], &dst[from], &product[0], f, len(product))
	})
}

// scale5 sets dst[i] = c * x[i].
func (f *Field) scale5(dst, x, c []uint32) int {
	return f.linear5(x[:len(dst)], c, func(from int, product []uint32) { copy(dst[from:], product) })
}

// dot5 is the sum of x[i]*y[i], into the element sum.
func (f *Field) dot5(sum, x, y []uint32) int {
	return f.blocks5(sum, len(x)/5, func(from, n int, a, b *parts) {
		f.apart(a, x[5*from:], n)
		f.apart(b, y[5*from:], n)
	})
}

// dotStep5 is the sum of (x1[i]-x0[i])*(y1[i]-y0[i]).
func (f *Field) dotStep5(sum, x0, x1, y0, y1 []uint32) int {
	var difference [5 * quinticBlock]uint32
	return f.blocks5(sum, len(x0)/5, func(from, n int, a, b *parts) {
		from *= 5
		subOneBlocks(&difference[0], &x1[from], &x0[from], f, 5*n)
		f.apart(a, difference[:], n)
		subOneBlocks(&difference[0], &y1[from], &y0[from], f, 5*n)
		f.apart(b, difference[:], n)
	})
}

// blocks5 is the sum of the products of n elements, as far as there are whole vectors of
// them; fill reads a block of both factors.
func (f *Field) blocks5(sum []uint32, n int, fill func(from, n int, a, b *parts)) int {
	clear(sum)
	all := whole(n)
	var a, b, sums parts
	var product [quinticBlock]uint32
	for from := 0; from < all; from += quinticBlock {
		n := min(quinticBlock, all-from)
		fill(from, n, &a, &b)
		f.finish(&b, n)
		for k := range 5 {
			var y [5]*uint32
			for i, row := range f.Quintic.rows {
				y[i] = &b[row[k]][0]
			}
			products5Blocks(&product[0], &a[0][0], partBytes, &y, f, n)
			addOneBlocks(&sums[k][0], &sums[k][0], &product[0], f, n)
		}
	}
	for k := range 5 {
		for _, v := range sums[k] {
			sum[k] = f.add(sum[k], v)
		}
	}
	return all
}
