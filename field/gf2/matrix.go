package gf2

// Words is an element of GF(2^128) in one of the bases.
type Words interface{ Element | Polyval }

// Matrix is a linear map over GF(2): of x it makes the sum of the columns i where bit i of
// x is set.
type Matrix struct{ Columns [128]Element }

// Multiplication is the map x -> c x.
func Multiplication(c Element) *Matrix {
	var m Matrix
	m.Columns[0] = c
	// Column i with bit j on top is a column before times X_j.
	for j := range 7 {
		for i := range 1 << j {
			m.Columns[1<<j+i] = m.Columns[i].mulGenerator(j)
		}
	}
	return &m
}

// mulGenerator is a times X_j.
func (a Element) mulGenerator(j int) Element {
	f := [6]func(uint64) uint64{mulX2, mulX4, mulX8w, mulX16w, mulX32, mulX64}
	if j == 6 {
		return a.MulX()
	}
	return Element{f[j](a.Lo), f[j](a.Hi)}
}

// Of is the map's value at x.
func (m *Matrix) Of(x Element) (y Element) {
	for i := range 64 {
		lo, hi := -(x.Lo >> i & 1), -(x.Hi >> i & 1)
		a, b := &m.Columns[i], &m.Columns[64+i]
		y.Lo ^= a.Lo&lo ^ b.Lo&hi
		y.Hi ^= a.Hi&lo ^ b.Hi&hi
	}
	return y
}

// Times is the map o followed by m.
func (m *Matrix) Times(o *Matrix) *Matrix {
	t := newNibbles(m)
	var r Matrix
	for i, c := range o.Columns {
		r.Columns[i] = t.of(c)
	}
	return &r
}

// inverse of a map that has one, by elimination.
func (m *Matrix) inverse() *Matrix {
	a := *m
	var r Matrix
	for i := range r.Columns {
		r.Columns[i] = Basis(i)
	}
	// Columns of both change alike until a is the identity.
	for i := range 128 {
		p := i
		for a.Columns[p].Bit(i) == 0 {
			p++
		}
		a.Columns[i], a.Columns[p] = a.Columns[p], a.Columns[i]
		r.Columns[i], r.Columns[p] = r.Columns[p], r.Columns[i]
		for j := range 128 {
			if j != i && a.Columns[j].Bit(i) == 1 {
				a.Columns[j] = a.Columns[j].Add(a.Columns[i])
				r.Columns[j] = r.Columns[j].Add(r.Columns[i])
			}
		}
	}
	return &r
}

// nibbles are a map's values at all multiples of four bits, 8 KiB.
type nibbles [32][16]Element

func newNibbles(m *Matrix) *nibbles {
	t := new(nibbles)
	for k := range t {
		row := &t[k]
		for v := 1; v < 16; v++ {
			low := v & -v
			bit := low >> 1 // 1, 2, 4, 8 -> 0, 1, 2, 4
			bit -= bit >> 2
			row[v] = row[v^low].Add(m.Columns[4*k+bit])
		}
	}
	return t
}

func (t *nibbles) of(x Element) (y Element) {
	lo, hi := x.Lo, x.Hi
	for k := range 16 {
		a, b := &t[k][lo&15], &t[16+k][hi&15]
		y.Lo ^= a.Lo ^ b.Lo
		y.Hi ^= a.Hi ^ b.Hi
		lo >>= 4
		hi >>= 4
	}
	return y
}

// prepared is a map in the forms that it is applied in.
type prepared struct {
	*Matrix
	*nibbles
	*blocks
}

func prepare(m *Matrix) prepared { return prepared{m, newNibbles(m), newBlocks(m)} }

// mapPair is a map and its inverse.
type mapPair struct{ to, from prepared }

func newMapPair(m *Matrix) *mapPair { return &mapPair{prepare(m), prepare(m.inverse())} }

// bytes are a map's values at all multiples of eight bits, 64 KiB: half the look-ups of
// nibbles, for slices long enough to make it worth while.
type bytes [16][256]Element

const bytesFrom = 1024 // elements

func newBytes(m *Matrix) *bytes {
	t := new(bytes)
	for k := range t {
		row := &t[k]
		for bit := range 8 {
			c := m.Columns[8*k+bit]
			for v := range 1 << bit {
				row[1<<bit+v] = row[v].Add(c)
			}
		}
	}
	return t
}

func (t *bytes) of(x Element) (y Element) {
	lo, hi := x.Lo, x.Hi
	for k := range 8 {
		a, b := &t[k][lo&255], &t[8+k][hi&255]
		y.Lo ^= a.Lo ^ b.Lo
		y.Hi ^= a.Hi ^ b.Hi
		lo >>= 8
		hi >>= 8
	}
	return y
}

// Apply sets dst[i] to the map's value at src[i]. dst and src may be the same.
func Apply[D, S Words](dst []D, src []S, m *Matrix) {
	applyAll(dst, [][]S{src}, []*Matrix{m}, prepared{})
}

// ApplySum sets dst[i] to the sum over u of the value of ms[u] at srcs[u][i]: with
// multiplications by eq(r, u) a table is bound at several variables at once. There are
// as many maps as slices. dst may be one of the slices.
func ApplySum[D, S Words](dst []D, srcs [][]S, ms []*Matrix) {
	applyAll(dst, srcs, ms, prepared{})
}

// applyAll is ApplySum; the first map may be prepared.
func applyAll[D, S Words](dst []D, srcs [][]S, ms []*Matrix, first prepared) {
	done := applyBlocks(dst, srcs, ms, first.blocks)
	if done == len(dst) {
		return
	}
	of := make([]func(Element) Element, len(srcs))
	for u, src := range srcs {
		_ = src[:len(dst)] // panics if it is too short, before anything is written
		switch {
		case len(dst)-done >= bytesFrom:
			of[u] = newBytes(ms[u]).of
		case u == 0 && first.nibbles != nil:
			of[u] = first.nibbles.of
		default:
			of[u] = newNibbles(ms[u]).of
		}
	}
	for i := done; i < len(dst); i++ {
		var sum Element
		for u, f := range of {
			sum = sum.Add(f(Element(srcs[u][i])))
		}
		dst[i] = D(sum)
	}
}
