package main

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

// asm writes the functions for one instruction set.
type asm struct {
	vecasm.X86
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
