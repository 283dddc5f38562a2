package ptx

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/zkwarp/zkwarp/device/kernel"
)

var header = &kernel.Source{Name: "a.cuh", Text: "// a"}

func source() *kernel.Source {
	return &kernel.Source{Name: "x/prover/x.cu", Text: "text", Headers: []*kernel.Source{header}}
}

const text = ".version 8.0\n.visible .entry x()"

// dir is a folder with the PTX of source().
func dir(t *testing.T) fstest.MapFS {
	t.Helper()
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d := source().Digest()
	index, err := json.Marshal(Index{Compiler: "NVRTC 12.0", Units: map[string]Entry{
		"x/prover/x.cu": {File: "x.ptx.gz", Digest: hex.EncodeToString(d[:])},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{"index.json": {Data: index}, "x.ptx.gz": {Data: z.Bytes()}}
}

func TestLookup(t *testing.T) {
	s, err := Load(dir(t))
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Lookup(source())
	if err != nil || string(got) != text {
		t.Fatalf("%q, %v", got, err)
	}
}

func TestLookupRefuses(t *testing.T) {
	refuse := func(what, words string, d fstest.MapFS, src *kernel.Source) {
		t.Helper()
		s, err := Load(d)
		if err == nil {
			_, err = s.Lookup(src)
		}
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", what, err)
		}
	}
	changed := source()
	changed.Text += " "
	refuse("a changed source", "stale", dir(t), changed)
	changed = source()
	changed.Headers = []*kernel.Source{{Name: header.Name, Text: "// b"}}
	refuse("a changed header", "stale", dir(t), changed)
	changed = source()
	changed.Name = "y.cu"
	refuse("another unit", "no PTX built in", dir(t), changed)

	d := dir(t)
	d["x.ptx.gz"].Data[len(d["x.ptx.gz"].Data)-6] ^= 1 // of the check sum
	refuse("an altered file", "checksum", d, source())
	d = dir(t)
	d["x.ptx.gz"].Data = d["x.ptx.gz"].Data[:20]
	refuse("a cut file", "EOF", d, source())
	d = dir(t)
	delete(d, "x.ptx.gz")
	refuse("a missing file", "not exist", d, source())
	d = dir(t)
	d["index.json"].Data = d["index.json"].Data[1:]
	refuse("a broken index", "index", d, source())
}

// What is built in can be read, whether or not its sources have moved on.
func TestBuiltin(t *testing.T) {
	s, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range s.index.Units {
		f, err := s.files.Open(e.File)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(z); err != nil || !strings.Contains(b.String(), ".target sm_80") {
			t.Errorf("%s: not PTX for sm_80 (%v)", name, err)
		}
	}
}
