package quant_test

import (
	"testing"

	"github.com/zkwarp/zkwarp/internal/hostile"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// TestHostileCalibration damages a calibration at every place, and builds the program of those that are accepted, whose tables may have 2^18 rows each.
func TestHostileCalibration(t *testing.T) {
	m := parse(t, net(3, 0, 4, 6, 3))
	c, _, err := quant.Calibrate(m, samplesFor(m, 1, 4), quant.Options{Labels: []string{"a", "b", "c"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, choices := range map[string]onnx.Choices{
		"plain":   {},
		"choices": {Fix: map[string]float64{"mask": 1, "on": -0.5}, Ranges: map[string][2]int64{"a": {-3, 9}, "b": {0, 1}}, Outputs: []string{"y", "z"}},
	} {
		c.Choices = choices
		code, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		hostile.Test(t, hostile.Decoder{Name: name, Code: code, Memory: 1 << 22, Tries: 1000, Decode: func(data []byte) ([]byte, error) {
			c, err := quant.Decode(data)
			if err != nil {
				return nil, err
			}
			if p, _, err := quant.Build(m, c); err == nil {
				if err := p.Validate(); err != nil {
					t.Error(err)
				}
			}
			return c.Encode()
		}})
	}
}
