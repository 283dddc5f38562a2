package prover

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/bitproof"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
)

const testdata = "../testdata/"

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(testdata + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The bytes of a proof do not change: formats, transcript, parameters.
func TestGolden(t *testing.T) {
	s, err := bitproof.Parse(string(read(t, "adder.txt")))
	if err != nil {
		t.Fatal(err)
	}
	p, err := bitproof.NewParams(s)
	if err != nil {
		t.Fatal(err)
	}
	file := read(t, "adder.bits")
	columns := make([][]uint32, len(s.Names))
	for j := range columns {
		columns[j] = make([]uint32, s.ColumnWords())
		for i := range columns[j] {
			columns[j][i] = binary.LittleEndian.Uint32(file)
			file = file[4:]
		}
	}
	want := read(t, "adder.proof")
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		pf, err := prove(t, q, p, columns)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.AppendProof(nil, pf)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Error("another proof than testdata/adder.proof")
		}
	})
	pf, err := p.DecodeProof(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Verify(pf); err != nil {
		t.Error(err)
	}
}

// A verifier that was written from docs/ alone, in another language, accepts proofs of
// all kinds of statement, and of one with two layers, and rejects changed ones. So
// those pages have all of it.
func TestVerifierFromPages(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds of Python")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	verify := func(t *testing.T, statement, proof string) string {
		t.Helper()
		said, err := exec.CommandContext(t.Context(), python, testdata+"verify.py", statement, proof).CombinedOutput()
		if accepted := strings.HasPrefix(string(said), "accepted"); accepted != (err == nil) {
			t.Fatalf("%v: %s", err, said)
		}
		return strings.TrimSpace(string(said))
	}
	statements["chi-14"] = strings.Replace(statements["chi-9"], "2^9", "2^14", 1)
	defer delete(statements, "chi-14")
	for _, name := range []string{"xor", "square", "mixed", "wide", "chi-14"} {
		t.Run(name, func(t *testing.T) {
			p := parse(t, name)
			pf, err := prove(t, devicetest.Queue(t, devicetest.Open(t, "cpu")), p, witness(t, p.Statement(), 5))
			if err != nil {
				t.Fatal(err)
			}
			data, err := p.AppendProof(nil, pf)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			write := func(name string, data []byte) string {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			statement := write("statement.txt", []byte(statements[name]))
			if said := verify(t, statement, write("x.proof", data)); !strings.HasPrefix(said, "accepted") {
				t.Error(said)
			}
			data[len(data)/2] ^= 1
			if said := verify(t, statement, write("changed.proof", data)); !strings.HasPrefix(said, "rejected: ") {
				t.Error(said)
			}
		})
	}
}
