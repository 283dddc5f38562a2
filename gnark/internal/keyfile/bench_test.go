package keyfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/zkwarp/zkwarp/device"
)

// squares squares X, so that every wire is in A, in B and in C.
type squares struct {
	X     frontend.Variable
	Y     frontend.Variable `gnark:",public"`
	Times int
}

func (c *squares) Define(api frontend.API) error {
	x := c.X
	for range c.Times {
		x = api.Mul(x, x)
	}
	api.AssertIsEqual(x, c.Y)
	return nil
}

// BenchmarkOpen opens the key of a circuit of 2^18 constraints over BN254, from a file in
// the page cache, beside gnark's readers.
func BenchmarkOpen(b *testing.B) {
	ccs, err := frontend.Compile(ecc.BN254.ScalarField(), r1cs.NewBuilder, &squares{Times: 1<<18 - 1})
	if err != nil {
		b.Fatal(err)
	}
	pk, err := groth16.DummySetup(ccs)
	if err != nil {
		b.Fatal(err)
	}
	files := map[Format]string{}
	for format, data := range encoded(b, pk) {
		files[format] = put(b, data)
	}
	for _, format := range []Format{Compressed, Raw, Dump, Mapped} {
		info, err := os.Stat(files[format])
		if err != nil {
			b.Fatal(err)
		}
		gnark := func(name string, read func(groth16.ProvingKey, io.Reader) error) {
			b.Run(fmt.Sprintf("%s/gnark-%s", format, name), func(b *testing.B) {
				b.SetBytes(info.Size())
				for b.Loop() {
					f, err := os.Open(files[format])
					if err != nil {
						b.Fatal(err)
					}
					if err := read(groth16.NewProvingKey(ecc.BN254), bufio.NewReaderSize(f, 1<<20)); err != nil {
						b.Fatal(err)
					}
					f.Close()
				}
			})
		}
		switch format {
		case Compressed, Raw:
			gnark("ReadFrom", func(k groth16.ProvingKey, r io.Reader) error { _, err := k.ReadFrom(r); return err })
			gnark("UnsafeReadFrom", func(k groth16.ProvingKey, r io.Reader) error { _, err := k.UnsafeReadFrom(r); return err })
		case Dump:
			gnark("ReadDump", func(k groth16.ProvingKey, r io.Reader) error { return k.ReadDump(r) })
		}
		for _, o := range []Options{{}, {Trusted: true}} {
			name := "checked"
			if o.Trusted {
				name = "trusted"
			}
			b.Run(fmt.Sprintf("%s/%s", format, name), func(b *testing.B) {
				b.SetBytes(info.Size())
				for b.Loop() {
					f, err := Open(b.Context(), ecc.BN254, files[format], o)
					if err != nil {
						b.Fatal(err)
					}
					if err := f.Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkCheck opens the mapped key of a circuit of 2^20 constraints, whose points are
// checked on the CPU or by the first GPU.
func BenchmarkCheck(b *testing.B) {
	ccs, err := frontend.Compile(ecc.BN254.ScalarField(), r1cs.NewBuilder, &squares{Times: 1<<20 - 1})
	if err != nil {
		b.Fatal(err)
	}
	pk, err := groth16.DummySetup(ccs)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "key")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(Write(f, pk), f.Close()); err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"cpu", "cuda:0"} {
		b.Run(name, func(b *testing.B) {
			d, err := device.Open(name)
			if err != nil {
				b.Skip(err)
			}
			for b.Loop() {
				f, err := Open(b.Context(), ecc.BN254, path, Options{Device: d})
				if err != nil {
					b.Fatal(err)
				}
				if err := f.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
