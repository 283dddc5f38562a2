package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// asm writes the functions for one instruction set.
type asm struct {
	*vecasm.Asm
	prime, off vecasm.Reg // P in every word; P in the high words of 64-bit lanes
}

// function writes one that takes block elements an iteration.
func (a *asm) function(name string, block int, args []string, body func(p []string)) {
	a.Function(vecasm.Function{Name: name, Args: args, Block: block}, func(p []string) {
		a.prime, a.off = a.Reg(), a.Reg()
		if a.Wide() {
			for k, mask := range masks {
				a.Op("MOVL", fmt.Sprintf("$%#x", mask), "AX")
				a.Op("KMOVW", "AX", fmt.Sprintf("K%d", k+1))
			}
			a.Op("VPTERNLOGD", "$0xff", a.prime, a.prime, a.prime)
		} else {
			a.Op("VPCMPEQD", a.prime, a.prime, a.prime)
		}
		a.Op("VPSRLD", "$1", a.prime, a.prime)
		a.Op("VPSLLQ", "$32", a.prime, a.off)
		body(p)
	})
}

// loop repeats body n times, after each of which the pointers move by steps.
func (a *asm) loop(p []string, steps []int, body func()) {
	a.Loop("loop", a.N(), func() {
		body()
		a.Advance(p, steps...)
	})
}

// load reads the i-th vector from the pointer.
func (a *asm) load(pointer string, i int) vecasm.Reg {
	return a.To("VMOVDQU"+a.suffix("32"), a.mem(pointer, i))
}

func (a *asm) store(r vecasm.Reg, pointer string, i int) {
	a.Op("VMOVDQU"+a.suffix("32"), r, a.mem(pointer, i))
}

func (a *asm) mem(pointer string, i int) string {
	return fmt.Sprintf("%d(%s)", i*a.Bytes, pointer)
}

// suffix is what moves of 512 bits have at the end of their names.
func (a *asm) suffix(s string) string {
	if a.Wide() {
		return s
	}
	return ""
}

// copy of a register, to be changed.
func (a *asm) copy(r vecasm.Reg) vecasm.Reg { return a.To("VMOVDQA"+a.suffix("32"), r) }

func (a *asm) zero() vecasm.Reg {
	r := a.Reg()
	a.Op("VPXOR"+a.suffix("D"), r, r, r)
	return r
}

func (a *asm) and(x, y vecasm.Reg) vecasm.Reg { return a.To("VPAND"+a.suffix("D"), x, y) }

// broadcast128 reads 16 bytes into every 128-bit lane.
func (a *asm) broadcast128(pointer string, at int) vecasm.Reg {
	name := "VBROADCASTI128"
	if a.Wide() {
		name = "VBROADCASTI32X4"
	}
	return a.To(name, fmt.Sprintf("%d(%s)", at, pointer))
}

// table reads a vector of constants.
func (a *asm) table(name string) vecasm.Reg {
	return a.To("VMOVDQU"+a.suffix("32"), name+a.Name+"<>(SB)")
}
