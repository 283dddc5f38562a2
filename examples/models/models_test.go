package models

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// folder holds all files; Embedded lacks the quantised ones.
var folder = os.DirFS(".")

// each runs f on every file of every network.
func each(t *testing.T, f func(t *testing.T, n *Network, file *File)) { part(t, 1, f) }

// some is each where tests take long: continuous integration tries one file of four, others each day, unless ZKWARP_MODELS is "all".
func some(t *testing.T, f func(t *testing.T, n *Network, file *File)) {
	if os.Getenv("CI") == "" || os.Getenv("ZKWARP_MODELS") == "all" {
		each(t, f)
		return
	}
	part(t, 4, f)
}

func part(t *testing.T, of int, f func(t *testing.T, n *Network, file *File)) {
	names, err := Names(folder)
	if err != nil || len(names) < 6 {
		t.Fatalf("%d networks, %v", len(names), err)
	}
	k := time.Now().UTC().YearDay()
	for _, name := range names {
		n, err := Open(folder, name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n.Files {
			if k++; k%of == 0 {
				t.Run(name+"/"+n.Files[i].File, func(t *testing.T) { f(t, n, &n.Files[i]) })
			}
		}
	}
}

func read(t *testing.T, n *Network, file *File) *onnx.Model {
	t.Helper()
	data, err := n.ONNX(file.File)
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Parse(data, onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// calibrations are those of files that a test has calibrated, by network and file.
var calibrations = map[string]*quant.Calibration{}

// calibrated calibrates a file with defaults, once for all tests.
func calibrated(t *testing.T, n *Network, file *File, m *onnx.Model, s *Set) *quant.Calibration {
	t.Helper()
	key := n.Name + "/" + file.File
	if c := calibrations[key]; c != nil {
		return c
	}
	c, _, err := quant.Calibrate(m, s.Calibration, quant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	calibrations[key] = c
	return c
}

func set(t *testing.T, n *Network) *Set {
	t.Helper()
	s, err := n.Set()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOnnxruntime compares the reference executor with onnxruntime's outputs. Of quantised files they are equal, unless a sum of real
// numbers in another order lands on the other side of a tie: two codes of the output are let pass.
func TestOnnxruntime(t *testing.T) {
	each(t, func(t *testing.T, n *Network, file *File) {
		m := read(t, n, file)
		expected, err := n.Expected()
		if err != nil {
			t.Fatal(err)
		}
		s := set(t, n)
		rows := expected[strings.TrimSuffix(file.File, ".onnx.gz")]
		if len(rows) < 4 {
			t.Fatalf("%d expected outputs", len(rows))
		}
		var worst, spread float64
		for i, want := range rows {
			values, err := m.RunOne(s.Inputs[i])
			if err != nil {
				t.Fatal(err)
			}
			got := values[m.Outputs[0]]
			if len(got) != len(want) {
				t.Fatalf("%d outputs, onnxruntime has %d", len(got), len(want))
			}
			for k := range got {
				worst, spread = max(worst, math.Abs(got[k]-want[k])), max(spread, math.Abs(want[k]))
			}
		}
		t.Logf("largest difference %.3g, largest output %.3g", worst, spread)
		limit := 2e-5 * spread
		if file.By == "onnxruntime" {
			limit = spread / 64
		}
		if worst > limit {
			t.Errorf("largest difference %g, outputs reach %g", worst, spread)
		}
	})
}

// TestStored checks what the folder says about itself: sizes, data sets, embedded copies.
func TestStored(t *testing.T) {
	total := int64(0)
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		total += info.Size()
		if info.Size() > 1<<20 {
			t.Errorf("%s has %d bytes", name, info.Size())
		}
		if data, err := fs.ReadFile(Embedded, name); err == nil {
			if here, err := fs.ReadFile(folder, name); err != nil || !bytes.Equal(data, here) {
				t.Errorf("%s differs from the embedded copy: %v", name, err)
			}
		}
		return nil
	})
	if err != nil || total > 6<<20 {
		t.Errorf("%d bytes, %v", total, err)
	}
	names, err := Names(Embedded)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		n, err := Open(Embedded, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.ONNX("model.onnx.gz"); err != nil {
			t.Error(err)
		}
		s := set(t, n)
		size := 1
		for _, d := range n.Shape {
			size *= d
		}
		for _, x := range append(s.Inputs, s.Calibration...) {
			if len(x) != size {
				t.Fatalf("%s: an example of %d numbers, shape %v", path.Join("data", n.Data), len(x), n.Shape)
			}
		}
		if len(s.Inputs) < 100 || len(s.Calibration) < 40 {
			t.Errorf("%s: %d held-out examples, %d for calibration", n.Data, len(s.Inputs), len(s.Calibration))
		}
	}
}

// TestHalf checks numbers of 16 bits: one, the largest, a subnormal, a negative one.
func TestHalf(t *testing.T) {
	for b, want := range map[uint16]float64{0: 0, 0x3c00: 1, 0x7bff: 65504, 1: 5.960464477539063e-08, 0xc100: -2.5, 0x0400: 6.103515625e-05} {
		if got := half(b); got != want {
			t.Errorf("%#04x is %v, want %v", b, got, want)
		}
	}
}
