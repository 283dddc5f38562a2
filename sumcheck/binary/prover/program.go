package prover

import "math/bits"

// A program says how the last rounds on a GPU sum up a round polynomial of degree
// d at a position x: with the lines p_j(c, x) = a_j + c (a_j + b_j), a_j and b_j
// being slots 2 (j-1) and 2 (j-1) + 1, it computes the coefficients of
// B(c) = p_1 .. p_(d-1), those of degree 2 by Karatsuba's formula, and from them and
// p_d all coefficients of S but one. That follows from S(1), which the last task
// computes, or the claim gives. There are three stages; all products of one may be
// computed at the same time. The last one's are summed over x. The last three
// tasks of the first stage are those of p_(d-2) p_(d-1) if d > 3.
type program struct {
	degree  int
	missing int // the coefficient that is not computed, in whose place S(1) is summed
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
	var b []set // coefficients of p_1 .. p_(d-1)
	var b1 set  // their sum: the product at 1
	switch d {
	case 2:
		b, b1 = []set{zero(1), slope(1)}, one(1)
		p.missing = 1
	case 3:
		c, atOne := quadratic(1, 2)
		b, b1 = c[:], atOne
	case 4:
		c, atOne := quadratic(2, 3)
		then := func(a, b set) set { return multiply(1, a, b) }
		x0, x1, x3 := then(c[0], zero(1)), then(c[0], slope(1))^then(c[1], zero(1)), then(c[2], slope(1))
		b1 = then(atOne, one(1))
		b = []set{x0, x1, x0 ^ x1 ^ x3 ^ b1, x3}
	case 5:
		c, c1 := quadratic(1, 2)
		e, e1 := quadratic(3, 4)
		then := func(a, b set) set { return multiply(1, a, b) }
		x0, x1 := then(c[0], e[0]), then(c[0], e[1])^then(c[1], e[0])
		x3, x4 := then(c[1], e[2])^then(c[2], e[1]), then(c[2], e[2])
		b1 = then(c1, e1)
		b = []set{x0, x1, x0 ^ x1 ^ x3 ^ x4 ^ b1, x3, x4}
		p.missing = 3
	}
	for k := range d + 1 {
		if k == p.missing {
			continue
		}
		if k < d {
			p.stages[2] = append(p.stages[2], task{zero(d), b[k], uint32(k)})
		}
		if k > 0 {
			p.stages[2] = append(p.stages[2], task{slope(d), b[k-1], uint32(k)})
		}
	}
	p.stages[2] = append(p.stages[2], task{one(d), b1, uint32(p.missing)})
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

// sums is the number of tasks of the last stage, with or without S(1).
func (p *program) sums(atOne bool) int {
	if atOne {
		return len(p.stages[2])
	}
	return len(p.stages[2]) - 1
}

// chunkLog is the logarithm of the largest number of positions that a block takes
// at a time: each thread has at most two tasks of the last stage.
func (p *program) chunkLog(threads int, atOne bool) int {
	return bits.Len(uint(2*threads/p.sums(atOne))) - 1
}
