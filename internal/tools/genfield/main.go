// Command genfield writes the host's arithmetic of a prime field with the generator of
// gnark-crypto: genfield FOLDER MODULUS, into a package named like its folder. The generator's own
// tests, which need more modules, are left out; it must run without -trimpath, as it
// looks for its own folder.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/consensys/gnark-crypto/field/generator"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: genfield FOLDER MODULUS")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "genfield:", err)
		os.Exit(1)
	}
}

func write(folder, modulus string) error {
	if err := generator.Generate(filepath.Base(folder), "Element", modulus, folder); err != nil {
		return err
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		if err := os.Remove(filepath.Join(folder, f.Name())); err != nil {
			return err
		}
	}
	return nil
}
