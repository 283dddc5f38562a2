package quant_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

func TestCalibrateRejects(t *testing.T) {
	m := parse(t, net(3, 1, 4, 3))
	good := samplesFor(m, 1, 2)
	for name, c := range map[string]struct {
		samples [][]float64
		opts    quant.Options
		want    string
	}{
		"no samples":     {nil, quant.Options{}, "no samples"},
		"short sample":   {[][]float64{{1, 2, 3}}, quant.Options{}, "sample 0"},
		"NaN sample":     {[][]float64{good[0], {1, math.NaN(), 3, 4}}, quant.Options{}, "sample 1"},
		"weight bits":    {good, quant.Options{WeightBits: 17}, "weight bits is 17"},
		"weight scales":  {good, quant.Options{WeightScales: "row"}, "expected tensor or channel"},
		"percentile":     {good, quant.Options{Percentile: 101}, "percentile"},
		"percentile NaN": {good, quant.Options{Percentile: math.NaN()}, "percentile"},
		"input range":    {good, quant.Options{InputRange: [2]float64{1, -1}}, "input range"},
		"given format":   {good, quant.Options{Given: []quant.Format{{Lo: 1, Hi: 2, Scale: 1}}}, "a format of codes in [1, 2]"},
		"label":          {good, quant.Options{Labels: []string{"\x1b", "b", "c"}}, "label"},
		"labels":         {good, quant.Options{Labels: []string{"a", "b"}}, "2 labels, expected 3"},
	} {
		if _, _, err := quant.Calibrate(m, c.samples, c.opts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestQuantizeInputRejects(t *testing.T) {
	m := parse(t, net(3, 1, 4, 3))
	c, _, err := quant.Calibrate(m, samplesFor(m, 1, 2), quant.Options{InputRange: [2]float64{-5, 5}})
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := quant.Build(m, c)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string][]float64{
		"3 values": {1, 2, 3}, "5 values": {1, 2, 3, 4, 5}, "NaN": {0, math.NaN(), 0, 0}, "+Inf": {0, 0, math.Inf(1), 0},
		"expected -5 to 5": {0, 0, 0, 5.1},
	} {
		if _, err := quant.QuantizeInput(p, x); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), `"x"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	q, err := quant.QuantizeInput(p, []float64{5, -5, 0, 2.5})
	if err != nil || q[0] != 127 || q[1] != -127 || q[2] != 0 || q[3] != 64 {
		t.Errorf("codes %v (%v)", q, err)
	}
}

// TestForeignCalibration uses a calibration with another file, other dimensions, and other tensors.
func TestForeignCalibration(t *testing.T) {
	m := parse(t, net(3, 0, 4, 6, 3))
	c, _, err := quant.Calibrate(m, samplesFor(m, 1, 4), quant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	other := parse(t, net(4, 0, 4, 6, 3))
	if _, _, err := quant.Build(other, c); !errors.Is(err, quant.ErrMismatch) {
		t.Errorf("another file: %v", err)
	}
	batch, err := onnx.Parse(net(3, 0, 4, 6, 3).Bytes(), onnx.Options{Dims: map[string]int{"batch": 2}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := quant.Build(batch, c); !errors.Is(err, quant.ErrMismatch) {
		t.Errorf("other dimensions: %v", err)
	}
	chosen, err := onnx.Parse(net(3, 0, 4, 6, 3).Bytes(), onnx.Options{Outputs: []string{m.Values[m.Outputs[0]].Name}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := quant.Build(chosen, c); !errors.Is(err, quant.ErrMismatch) || !strings.Contains(err.Error(), "other choices (no choices, the model was read with outputs") {
		t.Errorf("other choices: %v", err)
	}
	for name, change := range map[string]func(c *quant.Calibration){
		"stage name":    func(c *quant.Calibration) { c.Stages[0].Name = "other" },
		"input name":    func(c *quant.Calibration) { c.Inputs[0].Name = "other" },
		"missing stage": func(c *quant.Calibration) { c.Stages = c.Stages[1:] },
		"huge scale":    func(c *quant.Calibration) { c.Stages[0].Scale = 1e300 },
		"NaN scale":     func(c *quant.Calibration) { c.Stages[0].QScale = math.NaN() },
		"small scale":   func(c *quant.Calibration) { c.Stages[0].QScale = 1e-9 },
		"shift":         func(c *quant.Calibration) { c.Stages[0].Shift = 17 },
		"codes":         func(c *quant.Calibration) { c.Stages[0].Hi = 1 << 20 },
	} {
		file, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		copied, err := quant.Decode(file)
		if err != nil {
			t.Fatal(err)
		}
		change(copied)
		if _, _, err := quant.Build(m, copied); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzDecodeCalibration(f *testing.F) {
	m := parse(f, net(3, 0, 4, 6, 3))
	c, _, err := quant.Calibrate(m, samplesFor(m, 1, 4), quant.Options{Labels: []string{"a", "b", "c"}})
	if err != nil {
		f.Fatal(err)
	}
	file, err := c.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add(file[:20])
	c.Choices = onnx.Choices{Fix: map[string]float64{"mask": 1, "on": -0.5}, Ranges: map[string][2]int64{"a": {-3, 9}, "b": {0, 1}}, Outputs: []string{"y", "z"}}
	if file, err = c.Encode(); err != nil {
		f.Fatal(err)
	}
	if again, err := quant.Decode(file); err != nil || !again.Choices.Equal(&c.Choices) {
		f.Fatalf("choices come back as %v (%v)", again, err)
	}
	f.Add(file)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := quant.Decode(data)
		if err != nil {
			return
		}
		if again, err := c.Encode(); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("accepted bytes do not encode back (%v)", err)
		}
		if p, _, err := quant.Build(m, c); err == nil {
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
