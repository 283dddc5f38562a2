package vecasm

import "fmt"

// Neon are the instructions of arm64's 128-bit vectors, those that Go's
// assembler lacks as words. Names end in the shape: 4S are four 32-bit words, 2D
// two 64-bit ones.
type Neon struct{ *Asm }

// op writes dst = name(n, m...) for vectors of one arrangement; Go's order is
// the reverse.
func (a Neon) op(name, arrangement string, operands ...any) Reg {
	d := a.Reg()
	a.into(d, name, arrangement, operands...)
	return d
}

func (a Neon) into(d Reg, name, arrangement string, operands ...any) {
	var o []any
	for i := len(operands) - 1; i >= 0; i-- {
		if r, ok := operands[i].(Reg); ok {
			o = append(o, In{"V", r, "." + arrangement})
		} else {
			o = append(o, operands[i])
		}
	}
	a.Op(name, append(o, In{"V", d, "." + arrangement})...)
}

// Load and Store move 16 bytes.
func (a Neon) Load(pointer string, at int) Reg {
	d := a.Reg()
	a.Op("FMOVQ", fmt.Sprintf("%d(%s)", at, pointer), In{"F", d, ""})
	return d
}

// Store is Load's opposite.
func (a Neon) Store(r Reg, pointer string, at int) {
	a.Op("FMOVQ", In{"F", r, ""}, fmt.Sprintf("%d(%s)", at, pointer))
}

// LoadWord reads a word into all four.
func (a Neon) LoadWord(pointer string) Reg {
	d := a.Reg()
	a.Op("VLD1R", "("+pointer+")", In{"[V", d, ".S4]"})
	return d
}

// Zero is a vector of zeros, which may be changed.
func (a Neon) Zero() Reg {
	d := a.Reg()
	a.into(d, "VEOR", "B16", d, d)
	return d
}

// Copy of a register, to be changed.
func (a Neon) Copy(x Reg) Reg { return a.op("VORR", "B16", x, x) }

// Move copies x to d.
func (a Neon) Move(d, x Reg) { a.into(d, "VORR", "B16", x, x) }

// Ones is a vector of words 2^bits - 1.
func (a Neon) Ones(bits int) Reg {
	d := a.Reg()
	a.into(d, "VCMEQ", "S4", d, d)
	return a.op("VUSHR", "S4", d, fmt.Sprintf("$%d", 32-bits))
}

// Add4S is x + y.
func (a Neon) Add4S(x, y Reg) Reg { return a.op("VADD", "S4", x, y) }

// Sub4S is x - y.
func (a Neon) Sub4S(x, y Reg) Reg { return a.op("VSUB", "S4", x, y) }

// Min4S is the smaller unsigned word.
func (a Neon) Min4S(x, y Reg) Reg { return a.op("VUMIN", "S4", x, y) }

// MinInto4S is Min4S into d.
func (a Neon) MinInto4S(d, x, y Reg) { a.into(d, "VUMIN", "S4", x, y) }

// And of all bits.
func (a Neon) And(x, y Reg) Reg { return a.op("VAND", "B16", x, y) }

// ShiftRight4S moves in zeros.
func (a Neon) ShiftRight4S(x Reg, bits int) Reg {
	return a.op("VUSHR", "S4", x, fmt.Sprintf("$%d", bits))
}

// Insert4S shifts x left into d, whose lowest bits stay.
func (a Neon) Insert4S(d, x Reg, bits int) {
	a.into(d, "VSLI", "S4", x, fmt.Sprintf("$%d", bits))
}

// AddTo2D adds x to d.
func (a Neon) AddTo2D(d, x Reg) { a.into(d, "VADD", "D2", d, x) }

// AddHigh2D adds x >> 32 to d.
func (a Neon) AddHigh2D(d, x Reg) { a.into(d, "VUSRA", "D2", x, "$32") }

// Even4S and Odd4S gather the even or odd words of x and then of y.
func (a Neon) Even4S(x, y Reg) Reg { return a.op("VUZP1", "S4", x, y) }

// Odd4S is Even4S for the odd words.
func (a Neon) Odd4S(x, y Reg) Reg { return a.op("VUZP2", "S4", x, y) }

// Low2D and High2D pair the low or the high halves of x and y.
func (a Neon) Low2D(x, y Reg) Reg { return a.op("VZIP1", "D2", x, y) }

// High2D is Low2D for the high halves.
func (a Neon) High2D(x, y Reg) Reg { return a.op("VZIP2", "D2", x, y) }

// SwapWords exchanges the words of each pair.
func (a Neon) SwapWords(x Reg) Reg { return a.op("VREV64", "S4", x) }

// SwapHalves exchanges the halves.
func (a Neon) SwapHalves(x Reg) Reg { return a.op("VEXT", "B16", x, x, "$8") }

// Repeat is one word of x four times.
func (a Neon) Repeat(x Reg, word int) Reg {
	d := a.Reg()
	a.Op("VDUP", In{"V", x, fmt.Sprintf(".S[%d]", word)}, In{"V", d, ".S4"})
	return d
}

// Select takes from y the bits that mask has, from x the others, into x.
func (a Neon) Select(x, y, mask Reg) { a.into(x, "VBIT", "B16", y, mask) }

func three(base uint32) func(m []int) uint32 {
	return func(m []int) uint32 { return base | uint32(m[2])<<16 | uint32(m[1])<<5 | uint32(m[0]) }
}

// MulLow4S is the low words of products.
func (a Neon) MulLow4S(x, y Reg) Reg {
	d := a.Reg()
	a.Encode("mul.4s", three(0x4ea09c00), d, x, y)
	return d
}

// MulSub4S takes x*y from d.
func (a Neon) MulSub4S(d, x, y Reg) { a.Encode("mls.4s", three(0x6ea09400), d, x, y) }

// MulHigh4S is the high words of twice the products of signed words.
func (a Neon) MulHigh4S(x, y Reg) Reg {
	d := a.Reg()
	a.Encode("sqdmulh.4s", three(0x4ea0b400), d, x, y)
	return d
}

// MulLong is the 64-bit products of the low or the high halves.
func (a Neon) MulLong(x, y Reg, high bool) Reg {
	d := a.Reg()
	if high {
		a.Encode("umull2.2d", three(0x6ea0c000), d, x, y)
	} else {
		a.Encode("umull.2d", three(0x2ea0c000), d, x, y)
	}
	return d
}

// MulAddLong adds MulLong to d.
func (a Neon) MulAddLong(d, x, y Reg, high bool) {
	if high {
		a.Encode("umlal2.2d", three(0x6ea08000), d, x, y)
	} else {
		a.Encode("umlal.2d", three(0x2ea08000), d, x, y)
	}
}

// element adds an index of a word to the encoding.
func element(base uint32, word int) func(m []int) uint32 {
	return three(base | uint32(word&1)<<21 | uint32(word>>1)<<11)
}

// MulLongBy is MulLong by one word of y.
func (a Neon) MulLongBy(x, y Reg, word int, high bool) Reg {
	d := a.Reg()
	if high {
		a.Encode(fmt.Sprintf("umull2.2d by word %d", word), element(0x6f80a000, word), d, x, y)
	} else {
		a.Encode(fmt.Sprintf("umull.2d by word %d", word), element(0x2f80a000, word), d, x, y)
	}
	return d
}

// MulAddLongBy adds MulLongBy to d.
func (a Neon) MulAddLongBy(d, x, y Reg, word int, high bool) {
	if high {
		a.Encode(fmt.Sprintf("umlal2.2d by word %d", word), element(0x6f802000, word), d, x, y)
	} else {
		a.Encode(fmt.Sprintf("umlal.2d by word %d", word), element(0x2f802000, word), d, x, y)
	}
}
