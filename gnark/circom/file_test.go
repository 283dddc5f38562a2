package circom_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"

	"github.com/zkwarp/zkwarp/gnark/circom"
	"github.com/zkwarp/zkwarp/gnark/circom/internal/sample"
)

func readR1CS(b []byte) (*circom.R1CS, error) {
	return circom.ReadR1CS("c.r1cs", bytes.NewReader(b), int64(len(b)))
}

func readWitness(b []byte) (*circom.Witness, error) {
	return circom.ReadWitness("c.wtns", bytes.NewReader(b), int64(len(b)))
}

func readZKey(b []byte) (*circom.ZKey, error) {
	return circom.ReadZKey("c.zkey", bytes.NewReader(b), int64(len(b)))
}

// read reads a file of any kind, by the extension of its name.
func read(name string, b []byte) (any, error) {
	switch filepath.Ext(name) {
	case ".r1cs":
		return readR1CS(b)
	case ".wtns":
		return readWitness(b)
	}
	return readZKey(b)
}

// sectionAt is the offset and the size of a section's content.
func sectionAt(t testing.TB, b []byte, id uint32) (int, int) {
	t.Helper()
	for at := 12; at < len(b); {
		size := int(binary.LittleEndian.Uint64(b[at+4:]))
		if binary.LittleEndian.Uint32(b[at:]) == id {
			return at + 12, size
		}
		at += 12 + size
	}
	t.Fatalf("no section %d", id)
	return 0, 0
}

// without is the file with one section less.
func without(t testing.TB, b []byte, id uint32) []byte {
	at, size := sectionAt(t, b, id)
	out := append(bytes.Clone(b[:at-12]), b[at+size:]...)
	binary.LittleEndian.PutUint32(out[8:], binary.LittleEndian.Uint32(b[8:])-1)
	return out
}

// with is the file with one section more.
func with(b []byte, id uint32, content []byte) []byte {
	out := binary.LittleEndian.AppendUint32(bytes.Clone(b), id)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(content)))
	binary.LittleEndian.PutUint32(out[8:], binary.LittleEndian.Uint32(b[8:])+1)
	return append(out, content...)
}

// resized is the file with a section that is longer by some bytes, or shorter.
func resized(t testing.TB, b []byte, id uint32, by int) []byte {
	at, size := sectionAt(t, b, id)
	content := append(bytes.Clone(b[at:at+size]), make([]byte, max(by, 0))...)
	return with(without(t, b, id), id, content[:size+by])
}

func TestBadFiles(t *testing.T) {
	put32 := func(id uint32, off int, v uint32) func(testing.TB, []byte) []byte {
		return func(t testing.TB, b []byte) []byte {
			at, _ := sectionAt(t, b, id)
			binary.LittleEndian.PutUint32(b[at+off:], v)
			return b
		}
	}
	fill := func(id uint32, off, n int, v byte) func(testing.TB, []byte) []byte {
		return func(t testing.TB, b []byte) []byte {
			at, _ := sectionAt(t, b, id)
			copy(b[at+off:at+off+n], bytes.Repeat([]byte{v}, n))
			return b
		}
	}
	drop := func(id uint32) func(testing.TB, []byte) []byte {
		return func(t testing.TB, b []byte) []byte { return without(t, b, id) }
	}
	add := func(id uint32, n int) func(testing.TB, []byte) []byte {
		return func(_ testing.TB, b []byte) []byte { return with(b, id, make([]byte, n)) }
	}
	resize := func(id uint32, by int) func(testing.TB, []byte) []byte {
		return func(t testing.TB, b []byte) []byte { return resized(t, b, id, by) }
	}
	bytesAt := func(off int, s string) func(testing.TB, []byte) []byte {
		return func(_ testing.TB, b []byte) []byte { copy(b[off:], s); return b }
	}
	const bn, bls = "multiplier_bn128", "multiplier_bls12381"
	for _, c := range []struct {
		file, name string
		change     func(testing.TB, []byte) []byte
		says       string // in the error, with the section
	}{
		{bn + ".wtns", "magic", bytesAt(0, "r1cs"), `offset 0: it begins with "r1cs"`},
		{bn + ".wtns", "version", bytesAt(4, "\x01"), "offset 4: version 1; version 2"},
		{bn + ".wtns", "more sections", bytesAt(8, "\x03"), "offset 204: the file ends before section 3 of 3"},
		{bn + ".wtns", "very many sections", bytesAt(8, "\xff\xff\xff\xff"), "the file ends before section 3 of 4294967295"},
		{bn + ".wtns", "fewer sections", bytesAt(8, "\x01"), "bytes behind the last section"},
		{bn + ".wtns", "trailing byte", func(_ testing.TB, b []byte) []byte { return append(b, 0) }, "offset 204: 1 bytes behind the last section"},
		{bn + ".wtns", "no values", drop(2), "section 2 (values) is missing"},
		{bn + ".wtns", "twice", add(2, 0), "section 2 (values), offset 204: it is there twice"},
		{bn + ".wtns", "unknown", add(3, 0), "offset 204: a section with the unknown number 3"},
		{bn + ".wtns", "long section", bytesAt(16, "\xff\xff\xff\xff\xff\xff\xff\xff"), "section 1 (header), offset 16: 18446744073709551615 bytes, with 180 left"},
		{bn + ".wtns", "order", put32(1, 4, 7), "section 1 (header), offset 24: the field's order is not that of"},
		{bn + ".wtns", "element size", put32(1, 0, 1<<31), "section 1 (header), offset 24: the field's order"},
		{bn + ".wtns", "values", put32(1, 36, 5), "section 2 (values), offset 68: 128 bytes; 5 numbers are 160"},
		{bn + ".wtns", "4G values", put32(1, 36, 1<<32-1), "section 2 (values), offset 68: 128 bytes; 4294967295 numbers"},
		{bn + ".wtns", "no value", put32(1, 36, 0), "there are no values"},
		{bn + ".wtns", "long header", resize(1, 1), "section 1 (header), offset 204: 1 bytes too many"},
		{bn + ".wtns", "short header", resize(1, -1), "the section ends before the number of values"},
		{bn + ".wtns", "huge header", resize(1, 5000), "section 1 (header)"},
		{bn + ".wtns", "value", fill(2, 64, 32, 0xff), "section 2 (values), offset 140: value 2 is not below the field's order"},

		{bn + ".r1cs", "wires", put32(1, 36, 3), "3 wires, but the constant, outputs and inputs are 4"},
		{bn + ".r1cs", "4G outputs", put32(1, 40, 1<<32-1), "wires, but the constant"},
		{bn + ".r1cs", "4G wires", put32(1, 36, 1<<32-1), "section 3 (wires), offset 224: 32 bytes; the labels of 4294967295 wires"},
		{bn + ".r1cs", "constraints", put32(1, 60, 2), "section 2 (constraints)"},
		{bn + ".r1cs", "4G constraints", put32(1, 60, 1<<32-1), "120 bytes are too few for 4294967295 constraints"},
		{bn + ".r1cs", "no constraint", put32(1, 60, 0), "120 bytes behind the last constraint"},
		{bn + ".r1cs", "terms", put32(2, 0, 1<<32-1), "section 2 (constraints), offset 100: A of constraint 0: 4294967295 terms"},
		{bn + ".r1cs", "wire", put32(2, 4, 4), "offset 104: A of constraint 0: wire 4 of 4"},
		{bn + ".r1cs", "coefficient", fill(2, 48, 32, 0xff), "B of constraint 0: the coefficient of wire 3 is not below"},
		{bn + ".r1cs", "label", put32(3, 8, 4), "section 3 (wires), offset 240: wire 1 has label 4 of 4"},
		{bn + ".r1cs", "no labels", drop(3), "section 3 (wires) is missing"},
		{bn + ".r1cs", "custom gates", add(4, 4), "section 4 (custom gates, for PLONK) is not supported"},
		{bn + ".r1cs", "short constraints", resize(2, -1), "section 2 (constraints)"},
		{bn + ".r1cs", "wire twice", func(t testing.TB, b []byte) []byte {
			at, size := sectionAt(t, b, 2)
			content := bytes.Clone(b[at : at+size])
			binary.LittleEndian.PutUint32(content, 2) // the first sum has its term twice
			content = append(bytes.Clone(content[:40]), content[4:]...)
			return with(without(t, b, 2), 2, content)
		}, "A of constraint 0: wire 2 is there twice"},

		{bn + ".zkey", "PLONK", put32(1, 0, 2), "section 1 (protocol), offset 24: a key for PLONK; Groth16 is read"},
		{bn + ".zkey", "protocol", put32(1, 0, 7), "protocol 7; 1 (Groth16) is read"},
		{bn + ".zkey", "sections of PLONK", add(12, 4), "section 12 (PLONK or FFLONK; Groth16 is read) is not supported"},
		{bn + ".zkey", "modulus", put32(2, 4, 7), "section 2 (header)"},
		{bn + ".zkey", "order of another curve", func(t testing.TB, b []byte) []byte {
			at, _ := sectionAt(t, b, 2)
			ecc.BLS12_381.ScalarField().FillBytes(b[at+40 : at+72])
			for i := range 16 {
				b[at+40+i], b[at+71-i] = b[at+71-i], b[at+40+i]
			}
			return b
		}, "the scalar field is that of another curve"},
		{bn + ".zkey", "public", put32(2, 76, 4), "4 wires with 4 public signals and the constant"},
		{bn + ".zkey", "no wires", put32(2, 72, 0), "0 wires"},
		{bn + ".zkey", "4G wires", put32(2, 72, 1<<32-1), "section 5 (A points), offset 1036: 256 bytes; 4294967295 points"},
		{bn + ".zkey", "domain", put32(2, 80, 6), "a domain of 6; it is a power of two"},
		{bn + ".zkey", "domain of 0", put32(2, 80, 0), "a domain of 0; it is a power of two"},
		{bn + ".zkey", "large domain", put32(2, 80, 1<<28), "a domain of 2^28; bn254 has room for 2^27"},
		{bn + ".zkey", "domain without points", put32(2, 80, 1<<27), "section 9 (H points)"},
		{bn + ".zkey", "alpha", put32(2, 84, 7), "alpha in G1: it is not on the curve"},
		{bn + ".zkey", "alpha is infinity", fill(2, 84, 64, 0), "alpha in G1: it is infinity"},
		{bn + ".zkey", "alpha not reduced", fill(2, 84, 32, 0xff), "alpha in G1: a coordinate is not below"},
		{bn + ".zkey", "delta", put32(2, 84+64+64+128+128+64, 7), "delta in G2: it is not on the curve"},
		{bn + ".zkey", "IC", put32(3, 64, 7), "section 3 (IC)"},
		{bn + ".zkey", "coefficients", put32(4, 0, 1<<32-1), "4294967295 coefficients"},
		{bn + ".zkey", "matrix", put32(4, 4, 2), "coefficient 0: matrix 2; 0 and 1 are A and B"},
		{bn + ".zkey", "row", put32(4, 8, 1<<20), "coefficient 0: row 1048576 of 4"},
		{bn + ".zkey", "wire", put32(4, 12, 4), "coefficient 0: wire 4 of 4"},
		{bn + ".zkey", "value", fill(4, 16, 32, 0xff), "coefficient 0 is not below the field's order"},
		{bn + ".zkey", "A", put32(5, 128, 7), "section 5 (A points)"},
		{bn + ".zkey", "A not reduced", fill(5, 64+32, 32, 0xff), "point 1: a coordinate is not below"},
		{bn + ".zkey", "B1", resize(6, 64), "section 6 (B1 points)"},
		{bn + ".zkey", "B2", resize(7, -1), "section 7 (B2 points)"},
		{bn + ".zkey", "C", drop(8), "section 8 (C points) is missing"},
		{bn + ".zkey", "H", put32(9, 0, 7), "section 9 (H points)"},
		{bls + ".zkey", "IC not in the subgroup", func(t testing.TB, b []byte) []byte {
			// x = 0, y = 2 is on y² = x³ + 4; its order is 3.
			at, _ := sectionAt(t, b, 3)
			copy(b[at:], make([]byte, 48))
			copy(b[at+48:], twoMontgomery())
			return b
		}, "section 3 (IC), offset 1016: point 0 is not in the subgroup of prime order"},
	} {
		t.Run(c.file+"/"+c.name, func(t *testing.T) {
			b := c.change(t, data(t, c.file))
			_, err := read(c.file, b)
			var at *circom.FormatError
			if !errors.As(err, &at) || !errors.Is(err, circom.ErrFormat) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%v\nwant %q", err, c.says)
			}
			if at.File != "c"+filepath.Ext(c.file) || at.Offset < 0 || at.Offset > int64(len(b)) {
				t.Errorf("%s, offset %d", at.File, at.Offset)
			}
		})
	}
}

// twoMontgomery is 2·2^384 modulo BLS12-381's, the lowest byte first.
func twoMontgomery() []byte {
	x := new(big.Int).Lsh(big.NewInt(2), 384)
	b := x.Mod(x, ecc.BLS12_381.BaseField()).FillBytes(make([]byte, 48))
	slices.Reverse(b)
	return b
}

// No beginning of a file is a file.
func TestTruncated(t *testing.T) {
	for _, name := range []string{"multiplier_bn128.r1cs", "multiplier_bn128.wtns", "multiplier_bn128.zkey", "multiplier_bls12381.zkey"} {
		b := data(t, name)
		for n := 0; n < len(b); n += 1 + n/100 {
			if _, err := read(name, b[:n]); !errors.Is(err, circom.ErrFormat) {
				t.Fatalf("%s: %d bytes of %d: %v", name, n, len(b), err)
			}
		}
	}
}

// A file that is shorter than the size that the caller gives is an error too.
func TestCutMeanwhile(t *testing.T) {
	for _, name := range []string{"multiplier_bn128.r1cs", "multiplier_bn128.wtns"} {
		b := data(t, name)
		r := bytes.NewReader(b[:len(b)-1])
		var err error
		switch filepath.Ext(name) {
		case ".r1cs":
			_, err = circom.ReadR1CS(name, r, int64(len(b)))
		case ".wtns":
			_, err = circom.ReadWitness(name, r, int64(len(b)))
		}
		if !errors.Is(err, circom.ErrFormat) || !strings.Contains(err.Error(), "unexpected EOF") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every byte counts: with another one a file is refused, or is another circuit or witness,
// or a key whose proofs are not valid.
func TestEveryByteCounts(t *testing.T) {
	good := open(t, "multiplier_bn128")
	for _, name := range []string{"multiplier_bn128.r1cs", "multiplier_bn128.wtns"} {
		b := data(t, name)
		want, err := read(name, b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b {
			b[i] ^= 1 << (i % 8)
			if got, err := read(name, b); err == nil && reflect.DeepEqual(got, want) {
				t.Errorf("%s: byte %d does not count", name, i)
			}
			b[i] ^= 1 << (i % 8)
		}
	}
	b := data(t, "multiplier_bn128.zkey")
	contributions, size := sectionAt(t, b, 10)
	for i := 0; i < len(b); i += 3 {
		if i >= contributions && i < contributions+size {
			continue
		}
		b[i] ^= 1 << (i % 8)
		if key, err := readZKey(b); err == nil {
			if _, err = circom.Prove(context.Background(), key, good.witness, circom.Options{Device: "cpu", Rand: seeded(1)}); err == nil {
				t.Errorf("zkey: byte %d does not count", i)
			}
		}
		b[i] ^= 1 << (i % 8)
	}
}

// Sections may be in any order.
func TestOrderOfSections(t *testing.T) {
	f := open(t, "multiplier_bn128")
	b := data(t, "multiplier_bn128.zkey")
	for id := uint32(9); id > 0; id-- {
		at, size := sectionAt(t, b, id)
		b = with(without(t, b, id), id, bytes.Clone(b[at:at+size]))
	}
	key, err := readZKey(b)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := circom.Prove(context.Background(), key, f.witness, circom.Options{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	if err := circom.Verify(&f.vk, f.public, proof); err != nil {
		t.Error(err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []func(string) error{
		func(p string) error { _, err := circom.OpenR1CS(p); return err },
		func(p string) error { _, err := circom.OpenWitness(p); return err },
		func(p string) error { _, err := circom.OpenZKey(p); return err },
		func(p string) error { _, err := circom.OpenJSON[circom.Proof](p); return err },
	} {
		if err := f(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("no file: %v", err)
		}
		if err := f(dir); err == nil {
			t.Error("no error for a folder")
		}
	}
}

// What is read of a circuit is what was written.
func TestR1CSTerms(t *testing.T) {
	for _, c := range sample.All() {
		r, err := readR1CS(c.R1CS())
		if err != nil {
			t.Fatal(err)
		}
		if r.Constraints() != len(c.Constraints) || r.Outputs != c.Outputs || r.PublicInputs != c.Public || r.PrivateInputs != c.Private ||
			r.Wires != len(c.Witness) || len(r.Labels) != r.Wires {
			t.Fatalf("%s: %+v", c.Name, r)
		}
		for i, want := range c.Constraints {
			a, b, out := r.Constraint(i)
			for j, got := range [][]circom.Term{a, b, out} {
				if len(got) != len(want[j]) {
					t.Fatalf("%s: constraint %d: %d terms, want %d", c.Name, i, len(got), len(want[j]))
				}
				for _, x := range got {
					k := want[j][int(x.Wire)]
					if k == nil || new(big.Int).Mod(k, c.Order).Cmp(x.Value.Big()) != 0 {
						t.Fatalf("%s: constraint %d: wire %d has %v", c.Name, i, x.Wire, x.Value.Big())
					}
				}
			}
		}
	}
}

func TestBadJSON(t *testing.T) {
	proof, vk := string(data(t, "multiplier_bn128.proof.json")), string(data(t, "multiplier_bn128.vk.json"))
	replaced := func(s, from, to string) string {
		if !strings.Contains(s, from) {
			t.Fatalf("no %q in %s", from, s)
		}
		return strings.Replace(s, from, to, 1)
	}
	f := open(t, "multiplier_bn128")
	x := f.proof.A[0].String()
	for _, c := range []struct{ name, json, says string }{
		{"empty", "", "unexpected end"},
		{"null", " null\n", "null"},
		{"two values", proof + proof, "after top-level value"},
		{"protocol", replaced(proof, "groth16", "plonk"), `the protocol is "plonk"`},
		{"curve", replaced(proof, "bn128", "mnt4753"), `the curve is "mnt4753"`},
		{"no pi_c", replaced(proof, "pi_c", "pi_d"), "pi_c is missing"},
		{"number", replaced(proof, `"`+x+`"`, x), "number where there should be a string"},
		{"sign", replaced(proof, `"`+x+`"`, `"-`+x+`"`), "is no number"},
		{"leading zero", replaced(proof, `"`+x+`"`, `"0`+x+`"`), "is no number"},
		{"hexadecimal", replaced(proof, `"`+x+`"`, `"0x12"`), "is no number"},
		{"long number", replaced(proof, `"`+x+`"`, `"1`+strings.Repeat("0", 115)+`"`), "is no number"},
		{"null number", replaced(proof, `"`+x+`"`, "null"), "is no number"},
		{"third coordinate", replaced(proof, `"1"`, `"2"`), "third coordinate"},
		{"two coordinates", replaced(proof, `"`+x+`",`, ""), "2 coordinates"},
		{"infinity with other coordinates", replaced(proof, `"1"`, `"0"`), "infinity is not 0, 1 and 0"},
		{"zeros and 1", replaced(replaced(proof, `"`+x+`"`, `"0"`), `"`+f.proof.A[1].String()+`"`, `"0"`), "0, 0 and 1 is no point"},
		{"name in another case", replaced(proof, "pi_c", "PI_C"), "pi_c is missing"},
	} {
		if _, err := circom.ReadJSON[circom.Proof]("p.json", strings.NewReader(c.json)); !errors.Is(err, circom.ErrFormat) ||
			!strings.HasPrefix(err.Error(), "p.json: ") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("proof, %s: %v", c.name, err)
		}
	}
	for _, c := range []struct{ name, json, says string }{
		{"nPublic", replaced(vk, `"nPublic": 1`, `"nPublic": 2`), "IC has 2 points"},
		{"negative nPublic", replaced(vk, `"nPublic": 1`, `"nPublic": -1`), "IC has 2 points"},
		{"no nPublic", replaced(vk, `"nPublic"`, `"n"`), "IC has 2 points"},
		{"no delta", replaced(vk, "vk_delta_2", "delta"), "vk_delta_2 is missing"},
		{"protocol", replaced(vk, "groth16", ""), "the protocol"},
		{"curve", replaced(vk, "bn128", ""), "the curve"},
	} {
		if _, err := circom.ReadJSON[circom.VerifyingKey]("k.json", strings.NewReader(c.json)); !errors.Is(err, circom.ErrFormat) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("key, %s: %v", c.name, err)
		}
	}
	for _, s := range []string{`["1", "-2"]`, `[1]`, `[null]`, fmt.Sprintf(`["1%s"]`, strings.Repeat("0", 78)), `"1"`, `{}`, `null`} {
		if _, err := circom.ReadJSON[circom.Public]("s.json", strings.NewReader(s)); !errors.Is(err, circom.ErrFormat) {
			t.Errorf("public signals %s: %v", s, err)
		}
	}
	// Names in another case are other names, whatever comes last: for snarkjs as well.
	for _, same := range []string{
		replaced(proof, `"pi_b"`, `"PI_A": ["0", "1", "0"], "pi_b"`), replaced(proof, `"pi_a"`, `"pi_a": ["0", "1", "0"], "pi_a"`),
	} {
		p, err := circom.ReadJSON[circom.Proof]("p.json", strings.NewReader(same))
		if err != nil {
			t.Fatal(err)
		}
		if err := circom.Verify(&f.vk, f.public, p); err != nil {
			t.Error(err)
		}
	}
	k, err := circom.ReadJSON[circom.VerifyingKey]("k.json", strings.NewReader(replaced(vk, "{", `{"ic": [["1", "2", "1"]], "npublic": 0, `)))
	if err != nil || len(k.IC) != len(f.vk.IC) {
		t.Errorf("a key with names in another case: %v, %v", k, err)
	}
	end := strings.LastIndex(vk, "}")
	k, err = circom.ReadJSON[circom.VerifyingKey]("k.json", strings.NewReader(vk[:end]+`, "ic": [["1", "2", "1"]], "npublic": 0}`))
	if err != nil || len(k.IC) != len(f.vk.IC) {
		t.Errorf("a key with names in another case behind: %v, %v", k, err)
	}
	// Provers other than snarkjs leave the curve out.
	p, err := circom.ReadJSON[circom.Proof]("p.json", strings.NewReader(replaced(proof, ",\n \"curve\": \"bn128\"", "")))
	if err != nil || p.Curve != ecc.UNKNOWN {
		t.Fatalf("no curve: %s, %v", p.Curve, err)
	}
	if err := circom.Verify(&f.vk, f.public, p); err != nil {
		t.Error(err)
	}
	// Names as snarkjs understands them.
	for _, name := range []string{"bn-254", "BN128", "alt_bn128"} {
		if k, err := circom.ReadJSON[circom.VerifyingKey]("k.json", strings.NewReader(replaced(vk, "bn128", name))); err != nil || k.Curve != ecc.BN254 {
			t.Errorf("%s: %s, %v", name, k.Curve, err)
		}
	}
}

// Infinity is written as snarkjs writes it, and is read.
func TestJSONOfInfinity(t *testing.T) {
	f := open(t, "multiplier_bn128")
	f.proof.A[0].SetInt64(0)
	f.proof.A[1].SetInt64(0)
	for i := range 2 {
		for j := range 2 {
			f.proof.B[i][j].SetInt64(0)
		}
	}
	var b bytes.Buffer
	if err := circom.WriteJSON(&b, f.proof); err != nil {
		t.Fatal(err)
	}
	plain := strings.Join(strings.Fields(b.String()), "")
	if !strings.Contains(plain, `"pi_a":["0","1","0"],"pi_b":[["0","0"],["1","0"],["0","0"]]`) {
		t.Error(plain)
	}
	p, err := circom.ReadJSON[circom.Proof]("p.json", &b)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range slices.Concat(p.A, p.B[0], p.B[1]) {
		if x.Sign() != 0 {
			t.Errorf("infinity is read as %v", p)
		}
	}
}

func FuzzFiles(f *testing.F) {
	names := []string{"multiplier_bn128.r1cs", "multiplier_bn128.wtns", "multiplier_bn128.zkey", "multiplier_bls12381.zkey"}
	for _, name := range names {
		f.Add(data(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, name := range names[:3] {
			v, err := read(name, b)
			if err != nil {
				if !errors.Is(err, circom.ErrFormat) {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			switch v := v.(type) {
			case *circom.R1CS:
				w := &circom.Witness{Curve: v.Curve, Values: make([]circom.Element, v.Wires)}
				w.Values[0] = circom.Element{1}
				_ = v.Check(w)
			case *circom.ZKey:
				w := &circom.Witness{Curve: v.Curve(), Values: make([]circom.Element, v.NumWires())}
				w.Values[0] = circom.Element{1}
				if _, err := circom.Prove(t.Context(), v, w, circom.Options{Device: "cpu"}); !errors.Is(err, circom.ErrUnsatisfied) && err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// again reads a value and, if it is one, writes it and reads it back: that must give the same
// text once more. Errors must be of the class, and name the file.
func again[T circom.JSONFile](t *testing.T, b []byte) (T, error) {
	t.Helper()
	v, err := circom.ReadJSON[T]("some.json", bytes.NewReader(b))
	if err != nil {
		if !errors.Is(err, circom.ErrFormat) || !strings.HasPrefix(err.Error(), "some.json: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%T: %v", v, err)
		}
		return v, err
	}
	var first, second bytes.Buffer
	if err := circom.WriteJSON(&first, v); err != nil {
		// A verifying key is written with a pairing, which points that are none do not have.
		if !errors.Is(err, circom.ErrKey) {
			t.Errorf("%T is read but not written: %v", v, err)
		}
		return v, nil
	}
	back, err := circom.ReadJSON[T]("b.json", bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatalf("%T: %s is not read: %v", v, first.Bytes(), err)
	}
	if err := circom.WriteJSON(&second, back); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("%T: %s is read as %s, error %v", v, first.Bytes(), second.Bytes(), err)
	}
	return v, nil
}

func FuzzJSON(f *testing.F) {
	for _, curve := range []string{"bn128", "bls12381"} {
		for _, ext := range []string{".proof.json", ".public.json", ".vk.json"} {
			f.Add(data(f, "multiplier_"+curve+ext))
		}
	}
	f.Add([]byte(`["0","1","115792089237316195423570985008687907853269984665640564039457584007913129639935"]`))
	f.Add([]byte(`{"protocol":"groth16","pi_a":["0","1","0"],"pi_b":[["0","0"],["1","0"],["0","0"]],"pi_c":["1","2","1"]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		proof, err := again[circom.Proof](t, b)
		key, bad := again[circom.VerifyingKey](t, b)
		public, _ := again[circom.Public](t, b)
		if err == nil && bad == nil { // one object can be both
			if err := circom.Verify(&key, public, proof); err == nil {
				t.Error("verifies")
			}
		}
	})
}
