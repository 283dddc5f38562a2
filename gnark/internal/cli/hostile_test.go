package cli

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"testing/iotest"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/zkwarp/zkwarp/gnark/groth16"
	"github.com/zkwarp/zkwarp/gnark/internal/keyfile"
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
		{"commitments", "proof", 32 + 64 + 32, all, ExitInput, "a count of 4294967295 in a file"},
		{"public signals", "vk", 32 + 32 + 64 + 64 + 32 + 64, all, ExitInput, "a count of 4294967295 in a file"},
		{"a public wire that there is not", "vk", -(4 + 2*64) - 4, 3, ExitInput, "not what they should be"},
		{"public values", "public", 0, all, ExitInput, "a count of 4294967295 in a file"},
		{"fewer public values", "public", 0, 0, ExitInput, "1 values, of which 0 are public and 0 secret"},
		{"secret values", "public", 4, 1, ExitInput, "1 values, of which 1 are public and 1 secret"},
		{"values", "public", 8, all, ExitInput, "a count of 4294967295 in a file"},
		{"fewer values", "full", 0, 0, ExitInput, "2 values, of which 0 are public and 1 secret"},
		{"points", "pk", 8 + 5*32 + 1 + 3*32, all, ExitInput, "137438953440 bytes of query A"},
		{"the domain", "pk", 0, 1 << 20, ExitInput, "no key over bn254: its domain"},
		{"wires", "pk", -(3*32 + 4 + 2*7) - 24, all, ExitInput, "bytes of "},
		{"length", "r1cs", 4, 1 << 24, ExitInput, "72057594037928"},
		{"levels", "r1cs", 64, all, ExitInput, "levels in"},
		{"a level", "r1cs", 72, all, ExitInput, "level 0: 4294967295 words"},
		{"blueprints of instructions", "r1cs", 32, all, ExitInput, "4294967295 bytes of levels"},
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
	// As many values as the circuit has, but another part of them public.
	b, err := os.ReadFile(at("full"))
	if err != nil {
		t.Fatal(err)
	}
	binary.BigEndian.PutUint32(b, 2)
	binary.BigEndian.PutUint32(b[4:], 0)
	if err := os.WriteFile(at("bad"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	wants(t, ExitInput, "2 values, of which 2 are public", "prove", "--curve", "bn254", "--r1cs", at("r1cs"), "--pk", at("pk"), "--witness", at("bad"), "-o", at("out"))
	wants(t, ExitOK, "accepted", "verify", "--curve", "bn254", "--vk", at("vk"), "--public", at("public"), at("proof"))
}

// What is longer than a number is none, however it comes.
func TestCountsInPieces(t *testing.T) {
	for _, size := range []int{1, 3, 5, 9, 12, 32} {
		b := bytes.Repeat([]byte{255}, size)
		c := &counts{r: iotest.HalfReader(iotest.OneByteReader(bytes.NewReader(b))), limit: 10}
		if _, err := io.ReadFull(c, make([]byte, size)); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		if n, err := c.Read(make([]byte, 4)); n != 0 || err != io.EOF {
			t.Errorf("%d bytes: at the end %d, %v", size, n, err)
		}
	}
	for _, size := range []int{4, 8} {
		c := &counts{r: iotest.OneByteReader(bytes.NewReader([]byte{0, 0, 0, 11, 0, 0, 0, 11})), limit: 10}
		if _, err := io.ReadFull(c, make([]byte, size)); err == nil {
			t.Errorf("a number of %d bytes above the limit", size)
		}
	}
}

func TestPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	full, err := frontend.NewWitness(&circuit{3, 35}, ecc.BN254.ScalarField())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := full.WriteTo(w); err != nil {
		t.Fatal(err)
	}
	w.Close()
	got, err := witness.New(ecc.BN254.ScalarField())
	if err != nil {
		t.Fatal(err)
	}
	if err := readWitness(t.Context(), "witness", path, ecc.BN254, got); err != nil || !reflect.DeepEqual(got.Vector(), full.Vector()) {
		t.Errorf("%v, %v", got, err)
	}
}

// chain multiplies as often as it says.
type chain struct {
	X     frontend.Variable
	Y     frontend.Variable `gnark:",public"`
	Times int
}

func (c *chain) Define(api frontend.API) error {
	x := c.X
	for range c.Times {
		x = api.Mul(x, c.X)
	}
	api.AssertIsEqual(x, c.Y)
	return nil
}

// Keys of circuits of few wires are read, in which lists of bytes are as long as numbers.
func TestKeysOfFewWires(t *testing.T) {
	for times := range 12 {
		ccs, err := frontend.Compile(ecc.BN254.ScalarField(), r1cs.NewBuilder, &chain{Times: times})
		if err != nil {
			t.Fatal(err)
		}
		pk, vk, err := groth16.Setup(ccs)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "key")
		save(t, path, pk)
		key, err := (&app{quiet: true}).openKey(t.Context(), ecc.BN254, path, keyfile.Options{})
		if err != nil {
			t.Errorf("%d products: %v", times, err)
		} else if err := key.Close(); err != nil {
			t.Error(err)
		}
		save(t, path, vk)
		if err := read(t.Context(), "key", path, ecc.BN254, groth16.NewVerifyingKey(ecc.BN254)); err != nil {
			t.Errorf("%d products: %v", times, err)
		}
	}
}
