package graph

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestValues stores integers at the ends of every width.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		width  int
		values []int32
	}{
		{1, []int32{}},
		{1, []int32{0}},
		{1, []int32{-128, 127, -1}},
		{2, []int32{-129}},
		{2, []int32{128, 0, 0, 0, 5}},
		{2, []int32{-1 << 15, 1<<15 - 1, -1}},
		{4, []int32{-1<<15 - 1, 0}},
		{4, []int32{1 << 15}},
		{4, []int32{-1<<31 + 1, math.MinInt32, math.MaxInt32, -1}},
	} {
		v := NewValues(c.values)
		if v.Width() != c.width || v.Len() != len(c.values) || len(v.Bytes()) != c.width*len(c.values) || !v.Given() {
			t.Errorf("%v: %d values of %d bytes", c.values, v.Len(), v.Width())
		}
		if got := v.Ints(); !slices.Equal(got, c.values) {
			t.Errorf("%v: read %v", c.values, got)
		}
		for i, want := range c.values {
			part := make([]int32, len(c.values)-i)
			v.Read(part, i)
			if v.At(i) != want || !slices.Equal(part, c.values[i:]) {
				t.Errorf("%v: value %d is %d, the rest %v", c.values, i, v.At(i), part)
			}
		}
		tensor := Tensor{Name: "w", Shape: []int{len(c.values)}, Lo: -1 << 31, Hi: 1<<31 - 1}
		if err := v.check(&tensor); err != nil {
			t.Error(err)
		}
		if len(c.values) == 0 {
			continue
		}
		// One bound is too narrow for the first, the greatest or the least value.
		for _, bad := range []Tensor{{Lo: int64(slices.Min(c.values)) + 1, Hi: 1<<31 - 1}, {Lo: -1 << 31, Hi: int64(slices.Max(c.values)) - 1}} {
			bad.Name, bad.Shape = "w", tensor.Shape
			if err := v.check(&bad); err == nil || !strings.Contains(err.Error(), "is outside") {
				t.Errorf("%v within [%d, %d]: %v", c.values, bad.Lo, bad.Hi, err)
			}
		}
	}
	var none Values
	if none.Given() || none.Len() != 0 || none.Ints() != nil || none.Width() != 0 {
		t.Error("the zero value is of a tensor")
	}
	if err := none.check(&Tensor{Name: "w", Shape: []int{1}}); err == nil {
		t.Error("a tensor without values is valid")
	}
}

// TestWidths: weights have one encoding and one digest, however wide their values are stored.
func TestWidths(t *testing.T) {
	p, w, _ := mlp(t, 3, 1, 5, 4)
	want, err := w.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := w.Digest(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{1, 2, 4} {
		wide := NewWeights(p)
		for _, id := range p.Params() {
			wide.Data[id] = valuesOf(w.Of(id).Ints(), max(width, w.Of(id).Width()))
		}
		if got, err := wide.Encode(p); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d bytes a value: another encoding (%v)", width, err)
		}
		if got, err := wide.Digest(p); err != nil || got != digest {
			t.Errorf("%d bytes a value: another digest (%v)", width, err)
		}
	}
	back, err := DecodeWeights(p, want)
	if err != nil {
		t.Fatal(err)
	}
	if head := len(want) - int(back.Bytes()); head != 8+4+32 {
		t.Errorf("%d bytes of weights in an encoding of %d", back.Bytes(), len(want))
	}
}
