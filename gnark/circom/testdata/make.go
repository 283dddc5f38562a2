//go:build ignore

// This writes the .r1cs and .wtns files of package sample's circuits into the folder that
// is its argument; make.sh calls it.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/zkwarp/zkwarp/gnark/circom/internal/sample"
)

func main() {
	for _, c := range sample.All() {
		if err := c.Check(); err != nil {
			log.Fatal(err)
		}
		for ext, b := range map[string][]byte{".r1cs": c.R1CS(), ".wtns": c.WTNS()} {
			if err := os.WriteFile(filepath.Join(os.Args[1], c.Name+ext), b, 0o644); err != nil {
				log.Fatal(err)
			}
		}
	}
}
