package prover_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/sumcheck/binary/binarytest"
	"github.com/zkwarp/zkwarp/sumcheck/binary/prover"
)

func elements(g *devicetest.Gen, n int) []gf2.Element {
	out := make([]gf2.Element, n)
	for i := range out {
		out[i] = gf2.Element{Lo: g.U64(), Hi: g.U64()}
	}
	return out
}

// multilinear is a table's extension, by definition: one variable at a time.
func multilinear(table, point []gf2.Element) gf2.Element {
	t := slices.Clone(table)
	for _, r := range point {
		half := len(t) / 2
		for x := range half {
			t[x] = t[x].Add(r.Mul(t[x].Add(t[half+x])))
		}
		t = t[:half]
	}
	return t[0]
}

func bitsOf(column []uint32, n int) []gf2.Element {
	out := make([]gf2.Element, n)
	for x := range out {
		out[x] = gf2.Element{Lo: uint64(gf2.Bit(column, x))}
	}
	return out
}

// Packing of any number of elements, on the device and for the host's memory.
func TestPack(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(31)
		for _, n := range []int{0, 1, 31, 32, 33, 255, 256, 1000, 1 << 14} {
			want := make([]uint32, (n+31)/32)
			bits := make([]gf2.Element, n)
			for x := range bits {
				bits[x].Lo = uint64(g.U32() >> 7 & 1)
				gf2.SetBit(want, x, uint(bits[x].Lo))
			}
			words, err := device.Alloc[uint32](q, len(want))
			if err != nil {
				t.Fatal(err)
			}
			if err := prover.Pack(q, words, devicetest.Upload(t, q, bits)); err != nil {
				t.Fatal(err)
			}
			got, err := words.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			host := make([]uint32, len(want))
			if err := prover.PackHost(host, bits); err != nil || !slices.Equal(got, want) || !slices.Equal(host, want) {
				t.Errorf("%d elements: %v, packed wrongly", n, err)
			}
			// The first of two that are no bits.
			for _, bad := range []gf2.Element{{Lo: 2}, {Lo: 1 << 63}, {Hi: 1}, {Lo: 1, Hi: 1 << 63}, {Lo: 1<<32 | 1}} {
				if n < 2 {
					continue
				}
				x := g.Intn(n - 1)
				wrong := slices.Clone(bits)
				wrong[x], wrong[n-1] = bad, bad
				var bit *prover.BitError
				if err := prover.Pack(q, words, devicetest.Upload(t, q, wrong)); !errors.As(err, &bit) || bit.Index != uint64(x) {
					t.Errorf("element %d of %d is %v: %v", x, n, bad, err)
				}
				if err := prover.PackHost(host, wrong); !errors.As(err, &bit) || bit.Index != uint64(x) {
					t.Errorf("element %d of %d is %v, on the host: %v", x, n, bad, err)
				}
			}
		}
		words, err := device.Alloc[uint32](q, 2)
		if err != nil {
			t.Fatal(err)
		}
		var length *binary.LengthError
		for _, n := range []int{32, 65} {
			if err := prover.Pack(q, words, devicetest.Upload(t, q, make([]gf2.Element, n))); !errors.As(err, &length) || length.Got != 2 || length.Want != (n+31)/32 {
				t.Errorf("%d elements for 2 words: %v", n, err)
			}
		}
	})
}

func TestValue(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		for _, n := range []int{1, 4, 5, 9, 13} {
			for d := 2; d <= 5; d++ {
				in := binarytest.NewInstance(uint64(n), binary.Shape{Vars: n, Degree: d, Kind: binary.ExtBits})
				got, err := prover.Value(q, upload(t, q, in))
				if err != nil || got != in.Sum() {
					t.Errorf("n = %d, d = %d: %v, %v, want %v", n, d, got, err, in.Sum())
				}
			}
		}
		in := binarytest.NewInstance(3, binary.Shape{Vars: 3, Degree: 2, Kind: binary.AllExt})
		if _, err := prover.Value(q, upload(t, q, in)); err == nil {
			t.Error("the value of a kind without bits: no error")
		}
	})
}

func TestEvaluate(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		g := devicetest.Rand(33)
		for _, n := range []int{0, 1, 3, 5, 6, 9, 12} {
			table, point := elements(g, 1<<n), elements(g, n)
			got, err := prover.Evaluate(q, devicetest.Upload(t, q, table), point)
			if want := multilinear(table, point); err != nil || got != want {
				t.Errorf("n = %d: %v, %v, want %v", n, got, err, want)
			}
		}
		for _, n := range []int{5, 6, 10, 13} {
			for _, columns := range []int{1, 7, 8, 19} {
				words, point := g.Words(columns*gf2.BitWords(n)+5), elements(g, n)
				got, err := prover.EvaluateBits(q, devicetest.Upload(t, q, words), columns, point)
				if err != nil || len(got) != columns {
					t.Fatalf("n = %d, %d columns: %d values, %v", n, columns, len(got), err)
				}
				for j, v := range got {
					if want := multilinear(bitsOf(words[j*gf2.BitWords(n):], 1<<n), point); v != want {
						t.Errorf("n = %d, column %d of %d: %v, want %v", n, j, columns, v, want)
					}
				}
			}
		}
		var length *binary.LengthError
		if _, err := prover.Evaluate(q, devicetest.Upload(t, q, elements(g, 7)), elements(g, 3)); !errors.As(err, &length) || length.Want != 8 || length.Got != 7 {
			t.Errorf("7 elements in 3 variables: %v", err)
		}
		for _, c := range []struct{ words, columns, n int }{{1, 1, 4}, {1, 1, 41}, {1, 0, 5}, {3, 2, 6}} {
			if _, err := prover.EvaluateBits(q, devicetest.Upload(t, q, g.Words(c.words)), c.columns, elements(g, c.n)); !errors.As(err, &length) {
				t.Errorf("%+v: %v", c, err)
			}
		}
		for want, c := range map[string]struct{ columns, n int }{
			"4 coordinates, want at least 5":           {1, 4},
			"41 coordinates, want at most 40":          {1, 41},
			"-1 columns, want at least 1":              {-1, 5},
			"1 columns in the table, want at least 2":  {2, 5},
			"0 columns in the table, want at least 1":  {1, 6},
			"columns in the table, want at least 9223": {math.MaxInt, 5},
		} {
			if _, err := prover.EvaluateBits(q, devicetest.Upload(t, q, g.Words(1)), c.columns, elements(g, c.n)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", c, err, want)
			}
		}
	})
}
