package main

import "github.com/zkwarp/zkwarp/internal/vecasm"

// neon writes the functions with arm64's vectors of four words. There the high
// half of a doubled product is one instruction, and so is a sum of 64-bit
// products; an element of QM31 is a vector.
type neon struct {
	vecasm.Neon
	prime vecasm.Reg
}

func (a *neon) function(name string, block int, args []string, body func(p []string)) {
	a.Function(vecasm.Function{Name: name, Args: args, Block: block}, func(p []string) {
		a.prime = a.Ones(31)
		body(p)
	})
}

func (a *neon) loop(p []string, steps []int, body func()) {
	a.Loop("loop", a.N(), func() {
		body()
		a.Advance(p, steps...)
	})
}

// load and store the i-th vector.
func (a *neon) load(pointer string, i int) vecasm.Reg { return a.Load(pointer, 16*i) }

func (a *neon) store(r vecasm.Reg, pointer string, i int) { a.Store(r, pointer, 16*i) }

func (a *neon) once(x vecasm.Reg) vecasm.Reg { return a.Min4S(x, a.Sub4S(x, a.prime)) }

func (a *neon) add(x, y vecasm.Reg) vecasm.Reg { return a.once(a.Add4S(x, y)) }

func (a *neon) sub(x, y vecasm.Reg) vecasm.Reg { return a.lift(a.Sub4S(x, y)) }

// lift is the residue of a signed word between -P and P.
func (a *neon) lift(d vecasm.Reg) vecasm.Reg { return a.Min4S(d, a.Add4S(d, a.prime)) }

func (a *neon) atTwo(lo, hi vecasm.Reg) vecasm.Reg { return a.add(a.sub(hi, lo), hi) }

// mul takes the quotient by 2^31 times P from the product: what stays is the
// quotient plus the remainder.
func (a *neon) mul(x, y vecasm.Reg) vecasm.Reg {
	q, r := a.MulHigh4S(x, y), a.MulLow4S(x, y)
	a.MulSub4S(r, q, a.prime)
	return a.once(r)
}

// reduce are the residues of four 64-bit numbers.
func (a *neon) reduce(x, y vecasm.Reg) vecasm.Reg {
	low, high := a.Even4S(x, y), a.Odd4S(x, y)
	middle := a.ShiftRight4S(low, 31)
	a.Insert4S(middle, high, 1)
	s := a.add(a.And(low, a.prime), a.And(middle, a.prime))
	return a.add(s, a.ShiftRight4S(high, 30))
}

// lazySum is a sum of 64-bit lanes and that of their high words.
type neonSum struct{ all, high vecasm.Reg }

func (a *neon) newSum() neonSum { return neonSum{a.Zero(), a.Zero()} }

func (a *neon) addTo(s neonSum, v vecasm.Reg) {
	a.AddTo2D(s.all, v)
	a.AddHigh2D(s.high, v)
}

func (a *neon) storeSums(pointer string, sums ...neonSum) {
	for i, s := range sums {
		a.store(s.all, pointer, 2*i)
		a.store(s.high, pointer, 2*i+1)
	}
}

// products adds four products a lane.
func (a *neon) products(x, y [2]vecasm.Reg) vecasm.Reg {
	v := a.MulLong(x[0], y[0], false)
	a.MulAddLong(v, x[0], y[0], true)
	a.MulAddLong(v, x[1], y[1], false)
	a.MulAddLong(v, x[1], y[1], true)
	return v
}

func (a *neon) wordFunctions() {
	const element = "*Element"
	binary := func(name string, f func(x, y vecasm.Reg) vecasm.Reg) {
		a.function(name, 8, []string{"dst *Element", "a *Element", "b *Element"}, func(p []string) {
			a.loop(p, []int{32, 32, 32}, func() {
				for i := range 2 {
					a.store(f(a.load(p[1], i), a.load(p[2], i)), p[0], i)
				}
			})
		})
	}
	binary("add", a.add)
	binary("sub", a.sub)
	binary("mul", a.mul)
	a.function("ints", 8, []string{"dst *Element", "a *int32"}, func(p []string) {
		a.loop(p, []int{32, 32}, func() {
			for i := range 2 {
				d := a.load(p[1], i)
				a.store(a.once(a.lift(a.Sub4S(a.And(d, a.prime), a.ShiftRight4S(d, 31)))), p[0], i)
			}
		})
	})
	a.function("scale", 8, []string{"dst *Element", "a *Element", "s *Element"}, func(p []string) {
		s := a.LoadWord(p[2])
		a.loop(p, []int{32, 32}, func() {
			for i := range 2 {
				a.store(a.mul(a.load(p[1], i), s), p[0], i)
			}
		})
	})
	a.function("mulAdd", 8, []string{"dst *Element", "a *Element", "s *Element"}, func(p []string) {
		s := a.LoadWord(p[2])
		a.loop(p, []int{32, 32}, func() {
			for i := range 2 {
				a.store(a.add(a.mul(a.load(p[1], i), s), a.load(p[0], i)), p[0], i)
			}
		})
	})
	a.function("sum", 8, []string{"out *lazySums", "a " + element}, func(p []string) {
		s := a.newSum()
		a.loop(p, []int{0, 32}, func() {
			for i := range 2 {
				a.addTo(s, a.load(p[1], i))
			}
		})
		a.storeSums(p[0], s)
	})
	a.function("dot", 8, []string{"out *lazySums", "a " + element, "b " + element}, func(p []string) {
		s := a.newSum()
		a.loop(p, []int{0, 32, 32}, func() {
			x := [2]vecasm.Reg{a.load(p[1], 0), a.load(p[1], 1)}
			y := [2]vecasm.Reg{a.load(p[2], 0), a.load(p[2], 1)}
			a.addTo(s, a.products(x, y))
		})
		a.storeSums(p[0], s)
	})
	a.function("dotTwo", 8, []string{"out *lazySums", "a0 " + element, "a1 " + element, "b0 " + element, "b1 " + element}, func(p []string) {
		s := a.newSum()
		a.loop(p, []int{0, 32, 32, 32, 32}, func() {
			var x, y [2]vecasm.Reg
			for i := range 2 {
				x[i] = a.atTwo(a.load(p[1], i), a.load(p[2], i))
				y[i] = a.atTwo(a.load(p[3], i), a.load(p[4], i))
			}
			a.addTo(s, a.products(x, y))
		})
		a.storeSums(p[0], s)
	})
}

// neonFile is the assembly and its functions.
func neonFile() *neon {
	a := &neon{Neon: vecasm.Neon{Asm: vecasm.New(vecasm.NEON, "genvec")}}
	a.Data("evenNEON", []uint32{1<<32 - 1, 0, 1<<32 - 1, 0})
	a.wordFunctions()
	a.extFunctions()
	a.sumFunctions()
	return a
}

// even is a mask of words 0 and 2.
func (a *neon) even() vecasm.Reg {
	a.Op("MOVD", "$evenNEON<>(SB)", "R8")
	return a.Load("R8", 0)
}

// matrix is multiplication by a constant: its columns.
func (a *neon) matrix(pointer string) (m [4]vecasm.Reg) {
	for i := range m {
		m[i] = a.load(pointer, i)
	}
	return m
}

// times is m*x.
func (a *neon) times(m [4]vecasm.Reg, x vecasm.Reg) vecasm.Reg {
	var v [2]vecasm.Reg
	for h := range v {
		v[h] = a.MulLongBy(m[0], x, 0, h == 1)
		for k := 1; k < 4; k++ {
			a.MulAddLongBy(v[h], m[k], x, k, h == 1)
		}
	}
	return a.reduce(v[0], v[1])
}
