package onnx_test

import (
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxpb"
	"github.com/zkwarp/zkwarp/zkml/onnx/onnxtest"
)

// external is base with the 96 bytes of w in another file: key, value, key, value, ...
func external(entries ...string) *onnxtest.File {
	f := base()
	w := f.Proto.Graph.Initializer[0]
	w.RawData, w.DataLocation = nil, onnxpb.TensorProto_EXTERNAL
	for i := 0; i < len(entries); i += 2 {
		w.ExternalData = append(w.ExternalData, &onnxpb.StringStringEntryProto{Key: entries[i], Value: entries[i+1]})
	}
	return f
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestExternalData reads a constant from the middle of a file beside the model, and lets the model's identity depend on it.
func TestExternalData(t *testing.T) {
	folder := t.TempDir()
	weights := make([]byte, 200)
	for i := range 24 {
		binary.LittleEndian.PutUint32(weights[40+4*i:], math.Float32bits(float32(i)/8))
	}
	write(t, filepath.Join(folder, "w.bin"), weights)
	file := external("location", "w.bin", "offset", "40", "length", "96", "checksum", fmt.Sprintf("%x", sha1.Sum(weights))).Bytes()
	path := filepath.Join(folder, "m.onnx")
	write(t, path, file)
	m, err := onnx.Load(path, onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := onnx.Parse(file, onnx.Options{Folder: folder})
	if err != nil || again.SHA256 != m.SHA256 {
		t.Fatalf("Parse with a folder reads another model (%v)", err)
	}
	inside := base()
	inside.Proto.Graph.Initializer[0].RawData = weights[40:136]
	same, err := onnx.Parse(inside.Bytes(), onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{1, -2, 3, 0.5, 0, 7}
	a, errA := m.RunOne(x)
	b, errB := same.RunOne(x)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	for i, v := range b[same.Outputs[0]] {
		if got := a[m.Outputs[0]][i]; got != v {
			t.Errorf("output %d is %g, with the data inside %g", i, got, v)
		}
	}
	plain := external("location", "w.bin", "offset", "40")
	write(t, path, plain.Bytes())
	before, err := onnx.Load(path, onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	weights[44]++
	write(t, filepath.Join(folder, "w.bin"), weights)
	after, err := onnx.Load(path, onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if before.SHA256 == after.SHA256 {
		t.Error("the model's digest does not depend on its external data")
	}
}

// TestExternalDataRejects gives locations that are missing, elsewhere, of the wrong size, or described wrongly.
func TestExternalDataRejects(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "w.bin"), make([]byte, 96))
	write(t, filepath.Join(folder, "w.bin"), make([]byte, 96))
	write(t, filepath.Join(folder, "short.bin"), make([]byte, 95))
	if err := os.Mkdir(filepath.Join(folder, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link.bin": filepath.Join(outside, "w.bin"), "up": outside} {
		if err := os.Symlink(target, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	up, err := filepath.Rel(folder, filepath.Join(outside, "w.bin"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		entries []string
		want    string
	}{
		"missing file":         {[]string{"location", "none.bin"}, "no such file"},
		"folder":               {[]string{"location", "sub"}, "not a regular file"},
		"no location":          {[]string{"offset", "0"}, "no location"},
		"relative path out":    {[]string{"location", up}, "outside the model's folder"},
		"path out and in":      {[]string{"location", "sub/../../w.bin"}, "outside the model's folder"},
		"absolute path":        {[]string{"location", filepath.Join(outside, "w.bin")}, "outside the model's folder"},
		"link to a file":       {[]string{"location", "link.bin"}, "escapes"},
		"link to a folder":     {[]string{"location", "up/w.bin"}, "escapes"},
		"wrong length":         {[]string{"location", "w.bin", "length", "92"}, "92 bytes of external data, expected 96"},
		"length no number":     {[]string{"location", "w.bin", "length", "many"}, "expected a number"},
		"negative offset":      {[]string{"location", "w.bin", "offset", "-4"}, "begin at byte -4"},
		"offset beyond":        {[]string{"location", "w.bin", "offset", "4"}, "which has 96"},
		"huge offset":          {[]string{"location", "w.bin", "offset", "9223372036854775807"}, "which has 96"},
		"truncated file":       {[]string{"location", "short.bin"}, "which has 95"},
		"checksum":             {[]string{"location", "w.bin", "checksum", "00"}, "SHA-1"},
		"unknown key":          {[]string{"location", "w.bin", "codec", "zip"}, `unknown key "codec"`},
		"key twice":            {[]string{"location", "w.bin", "location", "w.bin"}, "given twice"},
		"control characters":   {[]string{"location", "\x1b[2J"}, `\x1b[2J`},
		"nothing in the model": {nil, "no location"},
	} {
		_, err := onnx.Parse(external(c.entries...).Bytes(), onnx.Options{Folder: folder})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `initializer "w"`) {
			t.Errorf("%s: %v", name, err)
		}
		if !errors.Is(err, onnx.ErrMalformed) && !errors.Is(err, onnx.ErrUnsupported) {
			t.Errorf("%s: unclassified error %v", name, err)
		}
	}
	if _, err := onnx.Parse(external("location", "w.bin").Bytes(), onnx.Options{}); !errors.Is(err, onnx.ErrUnsupported) {
		t.Errorf("without a folder: %v", err)
	}
	both := external("location", "w.bin")
	both.Proto.Graph.Initializer[0].RawData = make([]byte, 96)
	if _, err := onnx.Parse(both.Bytes(), onnx.Options{Folder: folder}); !errors.Is(err, onnx.ErrMalformed) {
		t.Errorf("data inside and outside: %v", err)
	}
}

// TestExternalDataRepeated has constants that all take the same bytes of a file: a few may, many would fill the memory.
func TestExternalDataRepeated(t *testing.T) {
	folder := t.TempDir()
	data := make([]byte, 96)
	write(t, filepath.Join(folder, "w.bin"), data)
	for n, want := range map[int]string{4: "", 5: `initializer "w.4" keeps its data in the file "w.bin": constants take 480 bytes of it`} {
		f := external("location", "w.bin", "checksum", fmt.Sprintf("%x", sha1.Sum(data)))
		w := f.Proto.Graph.Initializer[0]
		for i := 1; i < n; i++ {
			f.Proto.Graph.Initializer = append(f.Proto.Graph.Initializer, &onnxpb.TensorProto{
				Name: fmt.Sprintf("w.%d", i), DataType: w.DataType, Dims: w.Dims, DataLocation: w.DataLocation,
				ExternalData: []*onnxpb.StringStringEntryProto{{Key: "location", Value: strings.Repeat("./", i) + "w.bin"}}, // another name for it
			})
		}
		_, err := onnx.Parse(f.Bytes(), onnx.Options{Folder: folder})
		if want == "" && err != nil || want != "" && (!errors.Is(err, onnx.ErrUnsupported) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d constants: %v", n, err)
		}
	}
}
