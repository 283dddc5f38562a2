// Command genvec writes the slice operations of package bearvec on whole vectors,
// from one description: blocks_avx2_amd64.s and blocks_avx512_amd64.s, and the Go
// files that declare and choose them.
package main

import (
	"fmt"
	"os"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

func generate(set vecasm.Set) *asm {
	a := &asm{X86: vecasm.X86{Asm: vecasm.New(set, "genvec")}}
	for _, degree := range []int{4, 5} {
		for i := range degree { // words of the i-th of degree vectors to elements
			var index []uint32
			for w := range set.Words() {
				index = append(index, uint32((i*set.Words()+w)/degree))
			}
			a.Data(fmt.Sprintf("spread%d%d%s", degree, i, set.Name), index)
			if degree == 4 && i > 0 { // all are alike
				continue
			}
			var first []uint32 // all ones where an element starts
			for w := range set.Words() {
				m := uint32(0)
				if (i*set.Words()+w)%degree == 0 {
					m = 1<<32 - 1
				}
				first = append(first, m)
			}
			a.Data(fmt.Sprintf("first%d%d%s", degree, i, set.Name), first)
		}
		a.tables(a.apart(degree))
		a.tables(a.together(degree))
	}
	a.wordFunctions()
	a.butterflies()
	a.baseFunctions(4)
	a.baseFunctions(5)
	a.quartic()
	a.quintic()
	a.moves(4)
	a.moves(5)
	return a
}

func run() error {
	a, b := generate(vecasm.AVX2), generate(vecasm.AVX512)
	choice, absence, err := vecasm.GoFiles("bearvec", "genvec", "!amd64 || purego", a.Asm, b.Asm)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		"blocks_avx2_amd64.s":   []byte(a.String()),
		"blocks_avx512_amd64.s": []byte(b.String()),
		"blocks_amd64.go":       choice,
		"blocks_noasm.go":       absence,
	} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "genvec:", err)
		os.Exit(1)
	}
}
