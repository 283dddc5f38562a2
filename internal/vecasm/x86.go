package vecasm

import "fmt"

// X86 are the instructions of AVX2 and AVX-512 whose names or forms differ between
// the two, and those that both use most.
type X86 struct{ *Asm }

// Repeat repeats body n times, after each of which the pointers move by steps.
func (a X86) Repeat(p []string, steps []int, body func()) {
	a.Loop("loop", a.N(), func() {
		body()
		a.Advance(p, steps...)
	})
}

// Mem is the i-th vector from the pointer on, as an operand.
func (a X86) Mem(pointer string, i int) string {
	return fmt.Sprintf("%d(%s)", i*a.Bytes, pointer)
}

// Load reads the i-th vector from the pointer on.
func (a X86) Load(pointer string, i int) Reg {
	return a.To("VMOVDQU"+a.Suffix("32"), a.Mem(pointer, i))
}

// Store is Load's opposite.
func (a X86) Store(r Reg, pointer string, i int) {
	a.Op("VMOVDQU"+a.Suffix("32"), r, a.Mem(pointer, i))
}

// Suffix is s, which some instructions on 512 bits have at the end of their names.
func (a X86) Suffix(s string) string {
	if a.Wide() {
		return s
	}
	return ""
}

// Copy of a register, to be changed.
func (a X86) Copy(r Reg) Reg { return a.To("VMOVDQA"+a.Suffix("32"), r) }

// Zero is a vector of zeros, which may be changed.
func (a X86) Zero() Reg {
	r := a.Reg()
	a.Op("VPXOR"+a.Suffix("D"), r, r, r)
	return r
}

// And of all bits.
func (a X86) And(x, y Reg) Reg { return a.To("VPAND"+a.Suffix("D"), x, y) }

// Broadcast128 reads 16 bytes into every 128-bit lane.
func (a X86) Broadcast128(pointer string, at int) Reg {
	name := "VBROADCASTI128"
	if a.Wide() {
		name = "VBROADCASTI32X4"
	}
	return a.To(name, fmt.Sprintf("%d(%s)", at, pointer))
}

// Table reads a vector of constants that Data wrote under the name, with the set's
// behind it.
func (a X86) Table(name string) Reg {
	return a.To("VMOVDQU"+a.Suffix("32"), name+a.Name+"<>(SB)")
}

// Odd brings the odd words to the even places. The operand may be memory.
func (a X86) Odd(x any) Reg { return a.To("VMOVSHDUP", x) }
