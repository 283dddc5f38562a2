package onnx

import (
	"slices"
	"testing"
)

// TestWindows compares the windows of an axis, found by going through all positions and places, with the maps.
func TestWindows(t *testing.T) {
	checked := 0
	for size := 1; size <= 9; size++ {
		for kernel := 1; kernel <= 4; kernel++ {
			for stride := 1; stride <= 3; stride++ {
				for dilation := 1; dilation <= 2; dilation++ {
					for pads := range 9 {
						for _, ceil := range []bool{false, true} {
							w := window{size: size, kernel: kernel, stride: stride, dilation: dilation, before: pads / 3, after: pads % 3}
							if w.place("NOTSET", ceil) != nil {
								if size+pads/3+pads%3 >= (kernel-1)*dilation+1 {
									t.Fatalf("%+v does not fit", w)
								}
								continue
							}
							checkWindow(t, w, ceil)
							checked++
						}
					}
				}
			}
		}
	}
	if checked < 1000 {
		t.Fatalf("%d windows checked", checked)
	}
}

func checkWindow(t *testing.T, w window, ceil bool) {
	t.Helper()
	// A window counts if it fits the padded axis or, rounding up, if it starts before the padding behind.
	n := 0
	for start := -w.before; ; start += w.stride {
		fits := start+(w.kernel-1)*w.dilation < w.size+w.after
		partly := ceil && start < w.size && start-w.stride+(w.kernel-1)*w.dilation < w.size+w.after-1
		if !fits && !partly {
			break
		}
		n++
	}
	if n != w.out {
		t.Fatalf("%+v, ceil %v: %d positions, expected %d", w, ceil, w.out, n)
	}
	read, counts, padded := w.read(), w.counts(false), w.counts(true)
	filled, err := w.filled()
	for o := range w.out {
		inside, counted := 0, 0
		for k := range w.kernel {
			i := o*w.stride - w.before + k*w.dilation
			want := int32(-1)
			if i >= 0 && i < w.size {
				want = int32(i)
				inside++
			}
			if i < w.size+w.after {
				counted++
			}
			if got := read.Index[o*w.kernel+k]; got != want {
				t.Fatalf("%+v: window %d reads %d in place %d, expected %d", w, o, got, k, want)
			}
			if want >= 0 && err == nil && filled.Index[o*w.kernel+k] != want {
				t.Fatalf("%+v: filled window %d changes place %d", w, o, k)
			}
		}
		if counts[o] != inside || padded[o] != counted {
			t.Fatalf("%+v: window %d counts %d and %d, expected %d and %d", w, o, counts[o], padded[o], inside, counted)
		}
		if inside == 0 && err == nil {
			t.Fatalf("%+v: window %d lies in the padding and was filled", w, o)
		}
	}
	if err == nil && slices.Contains(filled.Index, -1) {
		t.Fatalf("%+v: filled windows have holes", w)
	}
}

// TestScatter checks that the map of a transposed convolution is the transpose of a convolution's.
func TestScatter(t *testing.T) {
	for size := 1; size <= 7; size++ {
		for kernel := 1; kernel <= 4; kernel++ {
			for stride := 1; stride <= 3; stride++ {
				for before := range 3 {
					forward := window{size: size, kernel: kernel, stride: stride, dilation: 1, before: before, after: 2}
					if forward.place("NOTSET", false) != nil {
						continue
					}
					back := window{size: forward.out, kernel: kernel, stride: stride, dilation: 1, before: before, out: size}
					type link struct{ from, to, place int }
					var a, b []link
					for i, v := range forward.read().Index {
						if v >= 0 {
							a = append(a, link{int(v), i / kernel, i % kernel})
						}
					}
					for i, v := range back.scatter().Index {
						if v >= 0 {
							b = append(b, link{i / kernel, int(v), i % kernel})
						}
					}
					order := func(x, y link) int { return (x.from-y.from)*1000 + (x.to-y.to)*10 + x.place - y.place }
					slices.SortFunc(a, order)
					slices.SortFunc(b, order)
					if !slices.Equal(a, b) {
						t.Fatalf("%+v: %v, transposed %v", forward, a, b)
					}
				}
			}
		}
	}
}

func TestPadMap(t *testing.T) {
	for _, c := range []struct {
		mode          string
		before, after int
		want          []int32
	}{
		{"constant", 2, 1, []int32{-1, -1, 0, 1, 2, 3, -1}},
		{"edge", 2, 1, []int32{0, 0, 0, 1, 2, 3, 3}},
		{"reflect", 2, 1, []int32{2, 1, 0, 1, 2, 3, 2}},
		{"reflect", 5, 4, []int32{1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1}},
		{"wrap", 2, 5, []int32{2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0}},
		{"constant", -1, -2, []int32{1}},
		{"edge", -1, 2, []int32{1, 2, 3, 3, 3}},
	} {
		m, err := padMap(4, c.before, c.after, c.mode)
		if err != nil || !slices.Equal(m.Index, c.want) {
			t.Errorf("%s %d %d: %v (%v), expected %v", c.mode, c.before, c.after, m.Index, err, c.want)
		}
	}
	for _, bad := range [][2]int{{-2, -2}, {1 << 25, 0}} {
		if _, err := padMap(4, bad[0], bad[1], "constant"); err == nil {
			t.Errorf("padding %v is accepted", bad)
		}
	}
}
