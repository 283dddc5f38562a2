// Command genvec writes the slice operations of package m31 on whole vectors,
// from one description: blocks_avx2_amd64.s, blocks_avx512_amd64.s and
// blocks_neon_arm64.s, and the Go files that declare and choose them.
//
// A vector holds 8 or 16 words. Products of 32-bit words come as 64-bit lanes,
// those of the even words and those of the odd ones apart; merge puts their
// halves back into the words' places.
package main

import (
	"fmt"
	"os"

	"github.com/zkwarp/zkwarp/internal/vecasm"
)

func generate(set vecasm.Set) *asm {
	a := &asm{X86: vecasm.X86{Asm: vecasm.New(set, "genvec")}}
	lanes := set.Bytes / 16
	for i := range 4 { // words i*lanes, ... to lane 0, ...
		var index []uint32
		for w := range set.Words() {
			index = append(index, uint32(i*lanes+w/4))
		}
		a.Data(fmt.Sprint("spread", i, set.Name), index)
	}
	a.wordFunctions()
	a.extFunctions()
	a.sumFunctions()
	a.manyFunctions()
	a.complexFunctions()
	return a
}

func run() error {
	a, b := generate(vecasm.AVX2), generate(vecasm.AVX512)
	choice, absence, err := vecasm.GoFiles("m31", "genvec", "!(amd64 || arm64) || purego", a.Asm, b.Asm)
	if err != nil {
		return err
	}
	c := neonFile()
	arm, err := goNeon(c, a.Functions)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		"blocks_avx2_amd64.s":   []byte(a.String()),
		"blocks_avx512_amd64.s": []byte(b.String()),
		"blocks_amd64.go":       choice,
		"blocks_neon_arm64.s":   []byte(c.String()),
		"blocks_arm64.go":       arm,
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
