package digits

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"testing"
)

func TestTestSet(t *testing.T) {
	images, labels, err := Test()
	if err != nil {
		t.Fatal(err)
	}
	if len(images) != 200 {
		t.Fatalf("%d images, want 200", len(images))
	}
	count := map[int]int{}
	seen := map[Image]bool{}
	for i := range images {
		count[labels[i]]++
		if seen[images[i]] {
			t.Errorf("image %d occurs twice", i)
		}
		seen[images[i]] = true
		ink := 0.0
		for _, v := range images[i].Values() {
			if v < 0 || v > 1 {
				t.Fatalf("image %d: value %v", i, v)
			}
			ink += v
		}
		if ink < 10 || ink > 400 {
			t.Errorf("image %d: ink %.0f is no handwriting", i, ink)
		}
	}
	for d := range 10 {
		if count[d] != 20 {
			t.Errorf("%d images of digit %d, want 20", count[d], d)
		}
	}
}

func TestCalibrationIsDisjoint(t *testing.T) {
	images, err := Calibration()
	if err != nil {
		t.Fatal(err)
	}
	if len(images) != 128 {
		t.Fatalf("%d images, want 128", len(images))
	}
	test, _, err := Test()
	if err != nil {
		t.Fatal(err)
	}
	held := map[Image]bool{}
	for _, m := range test {
		held[m] = true
	}
	for i, m := range images {
		if held[m] {
			t.Errorf("calibration image %d is a test image", i)
		}
	}
}

func TestModelIsSmall(t *testing.T) {
	if len(Model) > 1<<20 {
		t.Errorf("model has %d bytes, want under 1 MiB", len(Model))
	}
	if !bytes.Contains(Model, []byte("hidden.weight")) {
		t.Error("model does not name its weights")
	}
}

// seven.png, the input of the README's example, is the picture that the demo
// shows.
func TestSeven(t *testing.T) {
	data, err := os.ReadFile("seven.png")
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	images, labels, err := Test()
	if err != nil {
		t.Fatal(err)
	}
	gray, ok := got.(*image.Gray)
	if !ok || !bytes.Equal(gray.Pix, images[147].Gray().Pix) || labels[147] != 7 {
		t.Error("seven.png is not test image 147, or that is no seven")
	}
}
