package matrix

import (
	"errors"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
)

func TestShapeErrorsSayLengths(t *testing.T) {
	s := Shape{M: 2, K: 3, N: 4}
	if err := s.Check(8, 6, 12); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		c, a, b int
		text    string
	}{{8, 5, 12, "left factor of 2 x 3 by 3 x 4 has 5 entries, want 6"}, {8, 6, 11, "right factor of 2 x 3 by 3 x 4 has 11 entries, want 12"}, {9, 6, 12, "result of 2 x 3 by 3 x 4 has 9 entries, want 8"}} {
		if err := s.Check(x.c, x.a, x.b); !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), x.text) {
			t.Errorf("%v", err)
		}
	}
	if err := Mul(make([]m31.Element, 8), make([]m31.Element, 6), make([]int8, 11), s); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
}

// Sums of many extreme products, and of the smallest bytes.
func TestMulOfExtremes(t *testing.T) {
	for _, k := range []int{1, 2, 3, 4, 100, 1000} {
		for _, transposed := range []bool{false, true} {
			s := Shape{M: 2, K: k, N: 513, Transposed: transposed}
			a, b, c, small := make([]m31.Element, 2*k), make([]m31.Element, 513*k), make([]m31.Element, 2*513), make([]int8, 513*k)
			for i := range a {
				a[i] = m31.P - 1
			}
			for i := range b {
				b[i], small[i] = m31.P-1, -128
			}
			if err := Mul(c, a, b, s); err != nil {
				t.Fatal(err)
			}
			for i, v := range c {
				if v != m31.Element(k) {
					t.Fatalf("%+v: entry %d is %v", s, i, v)
				}
			}
			if err := Mul(c, a, small, s); err != nil {
				t.Fatal(err)
			}
			for i, v := range c {
				if v != m31.Element(128*k) {
					t.Fatalf("%+v, bytes: entry %d is %v", s, i, v)
				}
			}
		}
	}
}
