package quant_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/examples/digits"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

func digitsModel(t testing.TB) (*onnx.Model, [][]float64) {
	t.Helper()
	m, err := onnx.Parse(digits.Model, onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	samples, err := digits.Samples()
	if err != nil {
		t.Fatal(err)
	}
	return m, samples
}

// TestDigitsAccuracy compares integer and float accuracy on the shipped test images: they may differ by 0.3 points.
func TestDigitsAccuracy(t *testing.T) {
	m, samples := digitsModel(t)
	c, report, err := quant.Calibrate(m, samples, quant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range report.Layers {
		t.Logf("%+v", l)
	}
	t.Logf("argmax agreement on calibration images %.4f", report.Agreement)
	p, w, err := quant.Build(m, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range p.Tables {
		t.Logf("table %q %d bits [%d, %d]", table.Name, table.Bits, table.YLo, table.YHi)
	}
	images, labels, err := digits.Test()
	if err != nil {
		t.Fatal(err)
	}
	float, integer, agree := 0, 0, 0
	for i := range images {
		values, err := m.RunOne(images[i].Values())
		if err != nil {
			t.Fatal(err)
		}
		x, err := quant.QuantizeInput(p, images[i].Values())
		if err != nil {
			t.Fatal(err)
		}
		y, err := graph.Output(p, w, x)
		if err != nil {
			t.Fatal(err)
		}
		real := values[m.Outputs[0]]
		a, b := slices.Index(real, slices.Max(real)), slices.Index(y, slices.Max(y))
		if a == labels[i] {
			float++
		}
		if b == labels[i] {
			integer++
		}
		if a == b {
			agree++
		}
	}
	n := float64(len(images))
	t.Logf("accuracy: float %.3f, integer %.3f, agreement %.3f", float64(float)/n, float64(integer)/n, float64(agree)/n)
	if d := float64(float-integer) / n; d > 0.003 {
		t.Fatalf("integer accuracy is %.4f below float accuracy", d)
	}
	if float64(agree)/n < 0.99 {
		t.Fatalf("integer and float answers agree on %d of %d images", agree, len(images))
	}
}

// TestDigitsRebuild checks that model file and calibration file determine program and weights.
func TestDigitsRebuild(t *testing.T) {
	m, samples := digitsModel(t)
	c, _, err := quant.Calibrate(m, samples[:16], quant.Options{Labels: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}})
	if err != nil {
		t.Fatal(err)
	}
	file, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	encode := func(m *onnx.Model, c *quant.Calibration) ([]byte, []byte) {
		p, w, err := quant.Build(m, c)
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		b, err := w.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		return a, b
	}
	program, weights := encode(m, c)
	again, err := quant.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	m2, _ := digitsModel(t)
	program2, weights2 := encode(m2, again)
	if !bytes.Equal(program, program2) || !bytes.Equal(weights, weights2) {
		t.Fatal("the rebuilt program differs")
	}
	c2, _, err := quant.Calibrate(m2, samples[:16], quant.Options{Labels: c.Labels})
	if err != nil {
		t.Fatal(err)
	}
	if file2, err := c2.Encode(); err != nil || !bytes.Equal(file, file2) {
		t.Fatalf("calibrating again gives another file (%v)", err)
	}
}
