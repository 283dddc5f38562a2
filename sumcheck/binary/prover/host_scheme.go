package prover

import "github.com/zkwarp/zkwarp/field/gf2"

// The window (Bagad, Dao, Domb, Thaler, ePrint 2025/1117, and Thaler's Algorithm 3
// of 2024/1046, over bits). Let A be p_1 and B = p_2 .. p_d. In each of the first k
// variables A is a line a_0 + a_1 c and B has d coefficients b_0 .. b_(d-1), which
// are bits for each x. Of the product's coefficients c_0 .. c_d all but c_(d-1) are
// computed, and the value at 1, from which and the others it follows:
//
//	row 0:          a_0 b_0
//	row 1:          (a_0 + a_1) (b_0 + .. + b_(d-1))
//	row m+1:        a_0 b_m + a_1 b_(m-1)            for m = 1 .. d-2
//	row d:          a_1 b_(d-1)
//
// These are 2d - 1 products with d + 1 forms in b on one side and three in a on
// the other: the values at 0 and 1 and their sum. Over k variables rows, products
// and forms are tuples, one a variable, and each product is a sum over x of
// elements under masks.

// lineForm is what of two values at 0 and 1 a product takes.
type lineForm int

const (
	atZero lineForm = iota
	atOne
	slope
)

// windowProduct is a product in one variable.
type windowProduct struct {
	a   lineForm
	b   int // 0 .. d-1: that coefficient of B; d: their sum
	row int
}

// windowProducts are those for degree d.
func windowProducts(d int) []windowProduct {
	p := []windowProduct{{atZero, 0, 0}, {atOne, d, 1}, {slope, d - 1, d}}
	for m := 1; m <= d-2; m++ {
		p = append(p, windowProduct{atZero, m, m + 1}, windowProduct{slope, m - 1, m + 1})
	}
	return p
}

// coefficients turns the rows of one variable, stride apart, into c_0 .. c_d.
func coefficients(v []gf2.Element, d, stride int) {
	c := make([]gf2.Element, d+1)
	c[0], c[d] = v[0], v[d*stride]
	rest := c[0].Add(v[stride]) // the sum of c_1 .. c_d, less those that are known
	for m := 1; m <= d-2; m++ {
		c[m] = v[(m+1)*stride]
		rest = rest.Add(c[m])
	}
	c[d-1] = rest.Add(c[d])
	for e, x := range c {
		v[e*stride] = x
	}
}

// scheme is a window of k variables: the forms of B over a block of indices, as
// words of masks. A tuple's first component is the most significant digit.
type scheme struct {
	d, k  int
	eq    bool
	steps []schemeStep
}

// schemeStep multiplies coefficients of degree up to m in each variable by lines.
type schemeStep struct {
	terms [][3]int // from, line, to
	size  int      // of what comes out
}

func power(base, e int) int {
	p := 1
	for range e {
		p *= base
	}
	return p
}

// redigit reads the digits of i in one base as those in another.
func redigit(i, k, from, to int) (out int) {
	for p := 1; k > 0; k-- {
		out += i % from * p
		i, p = i/from, p*to
	}
	return out
}

func newScheme(d, k int, eq bool) *scheme {
	s := &scheme{d: d, k: k, eq: eq}
	for m := 1; m < d-1; m++ {
		step := schemeStep{size: power(m+2, k)}
		for e := range power(m+1, k) {
			for f := range power(2, k) {
				step.terms = append(step.terms, [3]int{e, f, redigit(e, k, m+1, m+2) + redigit(f, k, 2, m+2)})
			}
		}
		s.steps = append(s.steps, step)
	}
	return s
}

// lanes are the bits of 512 indices.
type lanes [hostChunk / 64]uint64

func (l *lanes) add(m *lanes) {
	for i := range l {
		l[i] ^= m[i]
	}
}

func (l *lanes) addProduct(a, b *lanes) {
	for i := range l {
		l[i] ^= a[i] & b[i]
	}
}

// forms is the number of masks: (d+1)^k, or d^k coefficients if p_1 is eq.
func (s *scheme) forms() int {
	if s.eq {
		return power(s.d, s.k)
	}
	return power(s.d+1, s.k)
}

// maskMemory is working memory of masks.
type maskMemory struct {
	values, a, b []lanes
}

func (s *scheme) memory() *maskMemory {
	n := power(s.d+1, s.k)
	return &maskMemory{values: make([]lanes, 1<<s.k), a: make([]lanes, n), b: make([]lanes, n)}
}

// masks are the forms for the bits of the columns at the indices from on, where
// prefix u of the window's variables is at u*size. It returns part of m.
func (s *scheme) masks(m *maskMemory, cols []hostColumn, size, from, n int) []lanes {
	cur, other := m.a, m.b
	for j, c := range cols {
		lines := m.values
		for u := range lines {
			lines[u] = lanes{}
			for x := 0; x < n; x += 32 {
				lines[u][x/64] |= uint64(c.word(u*size+from+x, size)) << (x % 64)
			}
		}
		for v := 1; v < len(lines); v *= 2 { // values at 1 to slopes
			for u := range lines {
				if u&v != 0 {
					lines[u].add(&lines[u^v])
				}
			}
		}
		if j == 0 {
			copy(cur, lines)
			continue
		}
		step := &s.steps[j-1]
		clear(other[:step.size])
		for _, t := range step.terms {
			other[t[2]].addProduct(&cur[t[0]], &lines[t[1]])
		}
		cur, other = other, cur
	}
	if s.eq {
		return cur[:s.forms()]
	}
	// Add the coefficients' sum as one more form, variable by variable from the last.
	for v, inner := 0, 1; v < s.k; v, inner = v+1, inner*(s.d+1) {
		outer := power(s.d, s.k-v-1)
		for o := range outer {
			to := other[o*(s.d+1)*inner : (o+1)*(s.d+1)*inner]
			copy(to, cur[o*s.d*inner:(o+1)*s.d*inner])
			last := to[s.d*inner:]
			clear(last)
			for e := range s.d {
				for i := range inner {
					last[i].add(&to[e*inner+i])
				}
			}
		}
		cur, other = other, cur
	}
	return cur[:s.forms()]
}
