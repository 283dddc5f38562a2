package cli

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// Files that say of themselves what is not so are bad input: no number in them takes memory
// that the file's size does not account for, which would end the program, and gnark's panics
// are errors.
func TestNumbersInFiles(t *testing.T) {
	const all = ^uint32(0)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	field := ecc.BN254.ScalarField()
	ccs, err := frontend.Compile(field, r1cs.NewBuilder, &circuit{})
	if err != nil {
		t.Fatal(err)
	}
	pk, vk, err := groth16.Setup(ccs)
	if err != nil {
		t.Fatal(err)
	}
	full, err := frontend.NewWitness(&circuit{3, 35}, field)
	if err != nil {
		t.Fatal(err)
	}
	public, err := full.Public()
	if err != nil {
		t.Fatal(err)
	}
	proof, err := groth16.Prove(ccs, pk, full)
	if err != nil {
		t.Fatal(err)
	}
	save(t, at("r1cs"), ccs)
	save(t, at("pk"), pk)
	save(t, at("vk"), vk)
	save(t, at("full"), full)
	save(t, at("public"), public)
	save(t, at("proof"), proof)
	for _, x := range []struct {
		name, file string
		offset     int // from the end if it is negative
		value      uint32
		code       int
		says       string
	}{
		{"commitments", "proof", 32 + 64 + 32, all, ExitInput, "a number of 4294967295 in a file"},
		{"public signals", "vk", 32 + 32 + 64 + 64 + 32 + 64, all, ExitInput, "a number of 4294967295 in a file"},
		{"a public wire that there is not", "vk", -(4 + 2*64) - 4, 3, ExitInput, "not what they should be"},
		{"public values", "public", 0, all, ExitInput, "a number of 4294967295 in a file"},
		{"fewer public values", "public", 0, 0, ExitInput, "1 values, of which 0 are public and 0 secret"},
		{"secret values", "public", 4, 1, ExitInput, "1 values, of which 1 are public and 1 secret"},
		{"values", "public", 8, all, ExitInput, "a number of 4294967295 in a file"},
		{"fewer values", "full", 0, 0, ExitInput, "2 values, of which 0 are public and 1 secret"},
		{"points", "pk", 8 + 5*32 + 1 + 3*32, all, ExitInput, "a number of 4294967295 in a file"},
		{"the domain", "pk", 0, 1 << 20, ExitInput, "a number of "},
		{"length", "r1cs", 4, 1 << 24, ExitInput, "a number of 72057594"},
	} {
		b, err := os.ReadFile(at(x.file))
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.Clone(b)
		if x.offset < 0 {
			x.offset += len(b)
		}
		if x.file == "r1cs" {
			binary.LittleEndian.PutUint32(b[x.offset:], x.value)
		} else {
			binary.BigEndian.PutUint32(b[x.offset:], x.value)
		}
		if err := os.WriteFile(at("bad"), b, 0o644); err != nil {
			t.Fatal(err)
		}
		in := func(file string) string {
			if file == x.file {
				return at("bad")
			}
			return at(file)
		}
		t.Run(x.file+" "+x.name, func(t *testing.T) {
			if x.file == "proof" || x.file == "vk" || x.file == "public" {
				wants(t, x.code, x.says, "verify", "--curve", "bn254", "--vk", in("vk"), "--public", in("public"), in("proof"))
			} else {
				wants(t, x.code, x.says, "prove", "--curve", "bn254", "--r1cs", in("r1cs"), "--pk", in("pk"), "--witness", in("full"), "-o", at("out"))
			}
		})
	}
	wants(t, ExitOK, "accepted", "verify", "--curve", "bn254", "--vk", at("vk"), "--public", at("public"), at("proof"))
}
