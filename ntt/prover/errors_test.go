package prover_test

import (
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/ntt/prover"
)

// TestMisuse: what does not fit together is refused, and nothing is written.
func TestMisuse(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(1)
		values := random[babybear.Element](g, 32, babybear.P)
		dst, src := devicetest.Upload(t, q, values), devicetest.Upload(t, q, random[babybear.Element](g, 16, babybear.P))
		pairs := devicetest.Upload(t, q, random[m31.CM31](g, 16, m31.P))
		encode := func(columns, n, live int) error { return prover.Encode(q, prover.BabyBear, dst, src, columns, n, live) }
		for name, err := range map[string]error{
			"field":                  prover.Encode(q, prover.Field(9), dst, src, 2, 4, 3),
			"no such field":          prover.Preload(q, prover.Field(3)),
			"negative field":         prover.Encode(q, prover.Field(-1), dst, src, 2, 4, 3),
			"type of another field":  prover.Encode(q, prover.KoalaBear, dst, src, 2, 4, 3),
			"type of no field":       prover.Encode(q, prover.BabyBear, device.View[uint32](dst), device.View[uint32](src), 2, 4, 3),
			"M31 itself":             prover.Forward(q, prover.CM31, device.View[m31.Element](pairs), 3),
			"too few values":         encode(2, 5, 3),
			"too many values":        encode(1, 4, 4),
			"too few coefficients":   encode(2, 4, 4),
			"too many coefficients":  encode(2, 4, 2),
			"negative columns":       encode(-2, 4, 3),
			"negative n":             encode(2, -1, -1),
			"negative live":          encode(2, 4, -3),
			"live over n":            encode(8, 2, 3),
			"n beyond the field":     encode(1, 28, 4),
			"n beyond all":           encode(1, 64, 4),
			"part of a column":       prover.Forward(q, prover.BabyBear, dst.Slice(0, 24), 4),
			"columns of 2^-1":        prover.Forward(q, prover.BabyBear, dst, -1),
			"overlapping, padded":    prover.Encode(q, prover.BabyBear, dst, dst.Slice(0, 16), 2, 4, 3),
			"overlapping, displaced": prover.Encode(q, prover.BabyBear, dst.Slice(0, 16), dst.Slice(8, 24), 2, 3, 3),
		} {
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		for name, b := range devicetest.Strange[babybear.Element](t, q, 32) {
			if prover.Encode(q, prover.BabyBear, b, src, 2, 4, 3) == nil {
				t.Errorf("values in %s memory: no error", name)
			}
			if prover.Encode(q, prover.BabyBear, dst, b.Slice(0, 16), 2, 4, 3) == nil {
				t.Errorf("coefficients in %s memory: no error", name)
			}
		}
		if got, err := dst.Read(q); err != nil || !slices.Equal(got, values) {
			t.Errorf("values were written (%v)", err)
		}
		must(t, prover.Encode(q, prover.BabyBear, dst.Slice(3, 3), src.Slice(1, 1), 0, 4, 3))
		must(t, prover.Preload(q, prover.BabyBear))
	})
}

// Extreme words: sums and differences in the kernels are lazy only where they may be.
func TestExtremes(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, k := range kinds {
			k.extremes(t, q)
		}
	})
}

func TestFieldNames(t *testing.T) {
	for f, want := range map[prover.Field]string{prover.BabyBear: "babybear", prover.KoalaBear: "koalabear", prover.CM31: "cm31"} {
		if f.String() != want {
			t.Errorf("%v, want %s", f, want)
		}
	}
	if prover.Field(7).String() != "field 7" || prover.Field(-1).MaxLog() != -1 {
		t.Error("a field that there is not")
	}
	if prover.BabyBear.MaxLog() != 27 || prover.KoalaBear.MaxLog() != 24 || prover.CM31.MaxLog() != 30 {
		t.Error("largest transforms")
	}
}
