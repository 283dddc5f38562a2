package prover

import (
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
)

// windowVars is the number of variables of the host's window: more take more sums
// under masks in the first pass, (2d-1)^k for 2^k elements, and leave less to the
// rounds that multiply. See bench/NOTES.md.
func windowVars(n, d int) int {
	return min(n, [...]int{2: 4, 3: 3, 4: 3, 5: 2}[d])
}

// window proves by masked sums for the first k variables, one fold of all of them,
// and fused rounds for the rest.
func (h *host) window(k int) error {
	eq := h.in.Kind == binary.EqBits
	s := newScheme(h.d, k, eq)
	sums, err := h.windowSums(s)
	if err != nil {
		return err
	}
	if eq {
		h.windowEqRounds(sums, k)
	} else {
		for v, stride := 0, 1; v < k; v, stride = v+1, stride*(h.d+1) {
			for i := range sums {
				if i/stride%(h.d+1) == 0 {
					coefficients(sums[i:], h.d, stride)
				}
			}
		}
		h.windowRounds(sums, k)
	}
	t, err := h.windowFold(k)
	if err != nil {
		return err
	}
	return t.rounds()
}

// windowRounds does k rounds given the coefficients of the sum over all other
// variables, a polynomial of degree d in each of k variables.
func (h *host) windowRounds(c []gf2.Element, k int) {
	base := h.d + 1
	for ; k > 0; k-- {
		// Summing a later variable over 0 and 1 leaves the coefficients but the
		// constant one.
		line := c
		for i := 1; i < k; i++ {
			next := make([]gf2.Element, len(line)/base)
			for e := range line {
				if e%base != 0 {
					next[e/base] = next[e/base].Add(line[e])
				}
			}
			line = next
		}
		r := h.sendCoefficients(line)
		rest := make([]gf2.Element, len(c)/base)
		for e := range rest {
			for i := h.d; i >= 0; i-- {
				rest[e] = rest[e].Mul(r).Add(c[i*len(rest)+e])
			}
		}
		c = rest
	}
}

// windowEqRounds is windowRounds where eq of the window's variables is a factor
// that the coefficients, of degree d-1 in each variable, lack.
func (h *host) windowEqRounds(c []gf2.Element, k int) {
	base := h.d
	scale := gf2.One()
	for i := range k {
		line := c
		for j := k - 1; j > i; j-- { // (1+z) c(0) + z c(1), with c(1) the sum of all
			next := make([]gf2.Element, len(line)/base)
			for e := range next {
				at := line[e*base : (e+1)*base]
				next[e] = at[0].Add(h.in.Z[j].Mul(addUp(at[1:])))
			}
			line = next
		}
		r := h.sendEq(scale, h.in.Z[i], line)
		scale = scale.Mul(eqLine(h.in.Z[i], r))
		rest := make([]gf2.Element, len(c)/base)
		for e := range rest {
			for i := base - 1; i >= 0; i-- {
				rest[e] = rest[e].Mul(r).Add(c[i*len(rest)+e])
			}
		}
		c = rest
	}
}

// sendEq sends scale * eq(z, X) * inner(X), given inner's coefficients.
func (h *host) sendEq(scale, z gf2.Element, inner []gf2.Element) gf2.Element {
	var values []gf2.Element
	for _, y := range h.points() {
		values = append(values, scale.Mul(eqLine(z, y)).Mul(evaluate(inner, y)))
	}
	return h.send(values)
}

// windowSums is the pass over all of p_1, or over the bits alone if that is eq: the
// sum over x of each row.
func (h *host) windowSums(s *scheme) ([]gf2.Element, error) {
	size := 1 << (h.n - s.k)
	cols := h.columns()
	if s.eq {
		return h.windowEqSums(s, size, cols)
	}
	return sums(h, size, power(s.d+1, s.k), func(lo, hi int, sum []gf2.Element) {
		w := newWindowBlock(s)
		h.pieces(lo, hi, size, 1<<s.k, func(values []gf2.Element, stride, from, to int) {
			for x := from; x < to; x += hostChunk {
				n := min(hostChunk, to-x)
				w.add(s.masks(w.masks, cols, size, x, n), values[x-from:], stride, n)
			}
		})
		w.result(sum)
	})
}

// windowEqSums are sums over x of eq(z_rest, x) times the coefficients of B. With
// the rest's variables in a high and a low part, eq of the low one is summed under
// masks, and each sum multiplied by eq of the high one. So p_1 costs no memory
// traffic at all: it is two tables of the square root of its size.
func (h *host) windowEqSums(s *scheme, size int, cols []hostColumn) ([]gf2.Element, error) {
	eq := newEqTable(h.in.Z[s.k:], gf2.One())
	all, err := sums(h, size, s.forms(), func(lo, hi int, sum []gf2.Polyval) {
		memory := s.memory()
		part := make([]gf2.Polyval, len(sum))
		var words [hostChunk / 32]uint32
		for ; lo < hi; lo += hostChunk {
			n := min(hostChunk, hi-lo)
			masks := s.masks(memory, cols, size, lo, n)
			// A block is a part of eq's low table, or as many whole ones as fit.
			for at := 0; at < n; at += len(eq.lo) {
				from := (lo + at) & (len(eq.lo) - 1)
				low := eq.lo[from:min(from+n-at, len(eq.lo))]
				clear(part)
				for t := range masks {
					unpack(words[:], &masks[t], at, len(low))
					addMasked(&part[t], low, words[:(len(low)+31)/32])
				}
				gf2.MulAddPolyval(sum, part, eq.hi[(lo+at)>>eq.low])
			}
		}
	})
	return elements(all), err
}

// unpack writes n bits of l from at on to words.
func unpack(words []uint32, l *lanes, at, n int) {
	for x := 0; x < n; x += 32 {
		words[x/32] = uint32(l[(at+x)/64] >> ((at + x) % 64))
	}
}

// windowBlock is the first pass of one core: its sums so far.
type windowBlock struct {
	s        *scheme
	masks    *maskMemory
	products []windowProduct
	rows     []gf2.Element            // four of each if vectors are in use
	forms    [][hostChunk]gf2.Element // of p_1, 3^k, unless vectors are in use
	doubled  []byte                   // masks for vectors
	slopes   []gf2.Element            // of the first variable of a large window, for vectors
}

func newWindowBlock(s *scheme) *windowBlock {
	rows := power(s.d+1, s.k)
	return &windowBlock{s: s, masks: s.memory(), products: windowProducts(s.d),
		rows: make([]gf2.Element, 4*rows), doubled: make([]byte, rows*hostChunk/4)}
}

// add adds n indices; values begins with the first one's of prefix 0, and prefixes
// are size apart.
func (w *windowBlock) add(masks []lanes, values []gf2.Element, size, n int) {
	if hasVectors() && w.vectors() && n == hostChunk {
		w.windowAdd(masks, values, size)
		return
	}
	w.generic(masks, values, size, n)
}

// vectors says whether windowAdd has code for the window.
func (w *windowBlock) vectors() bool {
	return w.s.k <= 2 && w.s.k > 0 && w.s.d == 5 || w.s.k >= 2 && w.s.k <= 4 && w.s.d < 5
}

func (w *windowBlock) generic(masks []lanes, values []gf2.Element, size, n int) {
	s := w.s
	if w.forms == nil {
		w.forms = make([][hostChunk]gf2.Element, power(3, s.k))
	}
	// Forms of A: the values at prefixes, then slopes variable by variable, of which
	// the first is the most significant digit.
	for u := range power(2, s.k) {
		copy(w.forms[redigit(u, s.k, 2, 3)][:n], values[u*size:u*size+n])
	}
	for v, stride := 0, 1; v < s.k; v, stride = v+1, stride*3 {
		for f := range w.forms {
			// Digits above this variable's may be anything but slopes not made yet.
			if f/stride%3 == int(slope) && !hasSlope(f/(3*stride)) {
				to, a, b := w.forms[f][:n], w.forms[f-2*stride][:n], w.forms[f-stride][:n]
				copy(to, a)
				addTo(to, b)
			}
		}
	}
	var words [hostChunk / 32]uint32
	for t := range power(len(w.products), s.k) {
		form, mask, row := 0, 0, 0
		for v, p := 0, power(len(w.products), s.k-1); v < s.k; v, p = v+1, max(1, p/len(w.products)) {
			q := w.products[t/p%len(w.products)]
			form, mask, row = 3*form+int(q.a), (s.d+1)*mask+q.b, (s.d+1)*row+q.row
		}
		unpack(words[:], &masks[mask], 0, n)
		addMasked(&w.rows[4*row], w.forms[form][:n], words[:(n+31)/32])
	}
}

func hasSlope(f int) bool {
	for ; f > 0; f /= 3 {
		if f%3 == int(slope) {
			return true
		}
	}
	return false
}

// result adds the rows to sum.
func (w *windowBlock) result(sum []gf2.Element) {
	for i := range sum {
		sum[i] = sum[i].Add(addUp(w.rows[4*i : 4*i+4]))
	}
}

// windowFold binds the window's k variables: what the fused rounds start from.
func (h *host) windowFold(k int) (*hostTail, error) {
	t := &hostTail{h: h, size: 1 << h.left()}
	if h.in.Kind == binary.EqBits {
		t.z = h.in.Z[k:]
		t.scale = binary.EqEval(h.in.Z[:k], h.point)
	} else {
		values, err := h.alloc(t.size)
		if err != nil {
			return nil, err
		}
		if err := h.combine(values, eqValues(h.point, gf2.One())); err != nil {
			return nil, err
		}
		t.tables = append(t.tables, values)
	}
	for range len(t.tables) {
		t.columns = append(t.columns, nil)
	}
	for _, c := range h.columns() {
		t.columns, t.tables = append(t.columns, c), append(t.tables, nil)
	}
	return t, nil
}
