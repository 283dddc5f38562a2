package prover

import "math/bits"

// A program says how the last rounds on a GPU sum up a round polynomial of degree
// d at a position x: with the lines p_j(c, x) = a_j + c (a_j + b_j), a_j and b_j
// being slots 2 (j-1) and 2 (j-1) + 1, it computes the coefficients of
// B(c) = p_2 .. p_d, those of degree 2 by Karatsuba's formula, and from them and
// p_1 all coefficients of S but one, which follows from the claim. There are
// three stages; all products of one may be computed at the same time. The last
// one's are summed over x.
type program struct {
	degree  int
	missing int // the coefficient that is not computed
	stages  [3][]task
	slots   int // of lines and products
}

// task multiplies two sums of slots, given as sets of bits. out is a slot, or
// in the last stage a coefficient.
type task struct {
	a, b uint32
	out  uint32
}

// set is a set of slots, or a sum of them: symmetric difference adds sums.
type set = uint32

// programOf is the program of a degree from 2 to 5.
func programOf(d int) *program {
	p := &program{degree: d, missing: 2, slots: 2 * d}
	multiply := func(stage int, a, b set) set {
		out := uint32(p.slots)
		p.stages[stage] = append(p.stages[stage], task{a, b, out})
		p.slots++
		return 1 << out
	}
	// Of a line: value at 0, slope, value at 1.
	zero := func(j int) set { return 1 << (2 * (j - 1)) }
	one := func(j int) set { return 2 << (2 * (j - 1)) }
	slope := func(j int) set { return zero(j) | one(j) }
	// quadratic is the coefficients of a product of two lines, from its values at 0, 1
	// and infinity; and the value at 1.
	quadratic := func(i, j int) (c [3]set, atOne set) {
		c[0] = multiply(0, zero(i), zero(j))
		atOne = multiply(0, one(i), one(j))
		c[2] = multiply(0, slope(i), slope(j))
		c[1] = c[0] ^ atOne ^ c[2]
		return c, atOne
	}
	var b []set // coefficients of p_2 .. p_d
	switch d {
	case 2:
		b = []set{zero(2), slope(2)}
		p.missing = 1
	case 3:
		c, _ := quadratic(2, 3)
		b = c[:]
	case 4:
		c, atOne := quadratic(2, 3)
		b0 := multiply(1, c[0], zero(4))
		b1 := multiply(1, c[0], slope(4)) ^ multiply(1, c[1], zero(4))
		b3 := multiply(1, c[2], slope(4))
		b = []set{b0, b1, b0 ^ b1 ^ b3 ^ multiply(1, atOne, one(4)), b3}
	case 5:
		c, c1 := quadratic(2, 3)
		e, e1 := quadratic(4, 5)
		b0 := multiply(1, c[0], e[0])
		b1 := multiply(1, c[0], e[1]) ^ multiply(1, c[1], e[0])
		b3 := multiply(1, c[1], e[2]) ^ multiply(1, c[2], e[1])
		b4 := multiply(1, c[2], e[2])
		b = []set{b0, b1, b0 ^ b1 ^ b3 ^ b4 ^ multiply(1, c1, e1), b3, b4}
		p.missing = 3
	}
	for k := range d + 1 {
		if k == p.missing {
			continue
		}
		if k < d {
			p.stages[2] = append(p.stages[2], task{zero(1), b[k], uint32(k)})
		}
		if k > 0 {
			p.stages[2] = append(p.stages[2], task{slope(1), b[k-1], uint32(k)})
		}
	}
	return p
}

// words is the program's part of State (round.cuh).
func (p *program) words() []uint32 {
	w := []uint32{uint32(p.degree), uint32(p.missing), uint32(len(p.stages[0])), uint32(len(p.stages[1])), uint32(len(p.stages[2])), 0, 0, 0}
	for _, stage := range p.stages {
		for _, t := range stage {
			w = append(w, t.a, t.b, t.out)
		}
	}
	return w
}

// chunkLog is the logarithm of the largest number of positions that a block of
// tailThreads takes at a time: each thread has at most two tasks of the last stage.
func (p *program) chunkLog() int {
	return bits.Len(uint(2*tailThreads/len(p.stages[2]))) - 1
}
