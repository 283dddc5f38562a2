package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// FuzzRead reads bytes as each kind of gnark's files but constraint systems and proving keys,
// which packages csfile and keyfile read. Whatever they are, there is a value or an error, and no
// more memory is taken than the file's size accounts for.
func FuzzRead(f *testing.F) {
	field := ecc.BN254.ScalarField()
	ccs, err := frontend.Compile(field, r1cs.NewBuilder, &circuit{})
	if err != nil {
		f.Fatal(err)
	}
	pk, vk, err := groth16.Setup(ccs)
	if err != nil {
		f.Fatal(err)
	}
	full, err := frontend.NewWitness(&circuit{3, 35}, field)
	if err != nil {
		f.Fatal(err)
	}
	proof, err := groth16.Prove(ccs, pk, full)
	if err != nil {
		f.Fatal(err)
	}
	for kind, x := range []io.WriterTo{proof, vk, full} {
		var b bytes.Buffer
		if _, err := x.WriteTo(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(kind), b.Bytes())
		f.Add(uint8(kind), b.Bytes()[:b.Len()/2])
		f.Add(uint8(kind), bytes.Repeat([]byte{255}, 40))
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		empty, err := witness.New(field)
		if err != nil {
			t.Fatal(err)
		}
		to := []io.ReaderFrom{groth16.NewProof(ecc.BN254), groth16.NewVerifyingKey(ecc.BN254), empty}[kind%3]
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = readAll(to, path)
		runtime.ReadMemStats(&after)
		if took, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<20+4096*len(data)); took > most {
			t.Errorf("%d bytes of memory for a file of %d (%v)", took, len(data), err)
		}
	})
}
