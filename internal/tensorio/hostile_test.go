package tensorio

import (
	"archive/zip"
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/internal/hostile"
)

// TestHostileFiles damages one file of each format at every place.
func TestHostileFiles(t *testing.T) {
	shape := []int{1, 2, 2}
	inputs := []Input{{"a", []int{2}}, {"b c", []int{1}}}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for name, data := range map[string][]byte{"a.npy": npyFile("<f8", "False", "2", make([]byte, 16)), "b c.npy": npyFile("|u1", "False", "1", []byte{3})} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	one := func(data []byte) ([]byte, error) { _, err := Read(data, shape); return nil, err }
	all := func(data []byte) ([]byte, error) { _, err := ReadInputs(data, inputs, math.MaxInt); return nil, err }
	for _, d := range []hostile.Decoder{
		{Name: "npy", Code: npyFile("<f4", "False", "1, 2, 2", floats32(1, 2, 3, 4)), Decode: one},
		{Name: "npy of bytes", Code: npyFile("|u1", "False", "8, 2, 2", make([]byte, 32)), Decode: one},
		// A picture's or an archive's end may be missing or go on.
		{Name: "png", Code: pngFile(t, grayRamp(4, 2)), Decode: one, Loose: true},
		{Name: "npz", Code: archive.Bytes(), Decode: all, Loose: true},
		{Name: "JSON", Code: []byte(`{"input_data": [[[1, 2], [3, -4e1]]]}`), Decode: one},
		{Name: "JSON of several", Code: []byte(`{"b c": [1], "a": [[1, 2]]}`), Decode: all},
	} {
		hostile.Test(t, d)
	}
	for _, open := range []string{"[", `{"a":`, `{"input_data":[`, `{"input_data": [[`} {
		if _, err := ReadInputs([]byte(strings.Repeat(open, 1<<16)), inputs, math.MaxInt); err == nil || len(err.Error()) > 300 {
			t.Errorf("%s, deep: %v", open, err)
		}
	}
}
