package tensorio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"
)

// npyFile writes a file as NumPy would.
func npyFile(descr, fortran, shape string, body []byte) []byte {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", descr, fortran, shape)
	for (len(head)+11)%64 != 0 {
		head += " "
	}
	head += "\n"
	out := append([]byte(npyMagic), 1, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(head)))
	return append(append(out, head...), body...)
}

func floats32(values ...float32) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

func pngFile(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func grayRamp(w, h int) *image.Gray {
	m := image.NewGray(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = uint8(i * 7)
	}
	return m
}

func TestReadAccepts(t *testing.T) {
	tests := []struct {
		name  string
		file  []byte
		shape []int
		want  [][]float64
	}{
		{"json nested", []byte(`{"input_data": [[[1, 2.5], [-3e0, 4]]]}`), []int{2, 2}, [][]float64{{1, 2.5, -3, 4}}},
		{"json flat", []byte(`{"input_data": [[1,2,3,4]]}`), []int{1, 2, 2}, [][]float64{{1, 2, 3, 4}}},
		{"json unit axes", []byte(`{"input_data": [[[[1,2],[3,4]]]]}`), []int{1, 2, 2}, [][]float64{{1, 2, 3, 4}}},
		{"json nested for flat", []byte(`{"input_data": [[[1,2],[3,4]]]}`), []int{1, 4}, [][]float64{{1, 2, 3, 4}}},
		{"npy float32", npyFile("<f4", "False", "2, 2", floats32(1, -2, 0.5, 4)), []int{1, 2, 2}, [][]float64{{1, -2, 0.5, 4}}},
		{"npy bytes flat", npyFile("|u1", "False", "3,", []byte{0, 127, 255}), []int{1, 3}, [][]float64{{0, 127, 255}}},
		{"npy signed bytes", npyFile("|i1", "False", "3,", []byte{0, 127, 255}), []int{3}, [][]float64{{0, 127, -1}}},
		{"npy int64", npyFile("<i8", "False", "1,", binary.LittleEndian.AppendUint64(nil, math.MaxUint64-4)), []int{1}, [][]float64{{-5}}},
		{"npy several", npyFile("<i2", "False", "2, 3", []byte{1, 0, 2, 0, 3, 0, 255, 255, 5, 0, 6, 0}), []int{1, 3}, [][]float64{{1, 2, 3}, {-1, 5, 6}}},
		{"npy scalar", npyFile("<f8", "False", "", binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.25))), []int{1}, [][]float64{{0.25}}},
	}
	for _, test := range tests {
		got, err := Read(test.file, test.shape)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if !slices.EqualFunc(got, test.want, slices.Equal[[]float64]) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestReadRejects(t *testing.T) {
	good := npyFile("<f4", "False", "2, 2", floats32(1, 2, 3, 4))
	future := slices.Clone(good)
	future[6] = 9
	huge := npyFile("<f4", "False", "1000000, 1000000", floats32(1))
	tests := []struct {
		name  string
		file  []byte
		shape []int
		want  string
	}{
		{"empty", nil, []int{1}, "ends early"},
		{"json truncated", []byte(`{"input_data": [[1, 2`), []int{2}, "ends early"},
		{"json not object", []byte(`[1,2]`), []int{2}, "the file is an array"},
		{"json no data", []byte(`{}`), []int{2}, "input_data is missing"},
		{"json other field", []byte(`{"input_data": [[1,2]], "shape": [2]}`), []int{2}, `unknown field "shape"`},
		{"json twice", []byte(`{"input_data": [[1]], "input_data": [[1]]}`), []int{1}, "twice"},
		{"json trailing", []byte(`{"input_data": [[1]]} x`), []int{1}, "after the end"},
		{"json NaN", []byte(`{"input_data": [[1, NaN]]}`), []int{2}, "not JSON"},
		{"json string", []byte(`{"input_data": [[1, "NaN"]]}`), []int{2}, `input_data[0][1] is the string "NaN"`},
		{"json null", []byte(`{"input_data": [[null]]}`), []int{1}, "input_data[0][0] is null"},
		{"json overflow", []byte(`{"input_data": [[1, 1e999]]}`), []int{2}, "input_data[0][1] is 1e999"},
		{"json ragged", []byte(`{"input_data": [[[1,2],[3]]]}`), []int{2, 2}, "input_data[0][1] has 1 entries"},
		{"json mixed depth", []byte(`{"input_data": [[[1,2],3]]}`), []int{3}, "input_data[0][1] is a number"},
		{"json deeper later", []byte(`{"input_data": [[1,[2]]]}`), []int{2}, "input_data[0][1] is an array"},
		{"json two inputs", []byte(`{"input_data": [[1],[2]]}`), []int{1}, "more than one"},
		{"json bare numbers", []byte(`{"input_data": [1,2]}`), []int{2}, "input_data[0] is 1, want an array"},
		{"json shape", []byte(`{"input_data": [[[1,2,3],[4,5,6]]]}`), []int{3, 2}, "shape 2x3, the model takes 3x2"},
		{"json deep", []byte(`{"input_data": [` + strings.Repeat("[", 40)), []int{1}, "deep"},
		{"npy truncated", good[:len(good)-1], []int{2, 2}, "the file has 15"},
		{"npy long", append(slices.Clone(good), 0), []int{2, 2}, "the file has 17"},
		{"npy version", future, []int{2, 2}, "format version 9.0"},
		{"npy huge", huge, []int{1}, "needs more than the file's 4 bytes"},
		{"npy fortran", npyFile("<f4", "True", "2, 2", floats32(1, 2, 3, 4)), []int{2, 2}, "fortran_order"},
		{"npy big-endian", npyFile(">f4", "False", "1,", floats32(1)), []int{1}, `descr ">f4"`},
		{"npy object", npyFile("|O", "False", "1,", floats32(1)), []int{1}, `descr "|O"`},
		{"npy NaN", npyFile("<f4", "False", "2,", floats32(1, float32(math.NaN()))), []int{2}, "element 1 is NaN"},
		{"npy infinite", npyFile("<f4", "False", "1,", floats32(float32(math.Inf(1)))), []int{1}, "element 0 is +Inf"},
		{"npy none", npyFile("<f4", "False", "0,", nil), []int{1}, "no elements"},
		{"npy axes", npyFile("<f4", "False", strings.Repeat("1, ", 40), floats32(1)), []int{1}, "axes"},
		{"npy shape", good, []int{3, 2}, "shape 2x2, the model takes 3x2"},
		{"npy header", append([]byte(npyMagic), 1, 0, 2, 0, 'x', '\n'), []int{1}, "header is not"},
		{"npy header length", append([]byte(npyMagic), 1, 0, 255, 255), []int{1}, "header ends at"},
		{"png flat model", pngFile(t, grayRamp(4, 4)), []int{15}, "4 x 4 pixels, the model takes 15 values"},
		{"png scalar model", pngFile(t, grayRamp(4, 4)), []int{}, "not an image"},
		{"png volume model", pngFile(t, grayRamp(4, 4)), []int{2, 2, 2, 2}, "not one image"},
		{"png size", pngFile(t, grayRamp(5, 4)), []int{1, 1, 4, 4}, "5 x 4 pixels"},
		{"png truncated", pngFile(t, grayRamp(4, 4))[:40], []int{1, 1, 4, 4}, "png"},
	}
	for _, test := range tests {
		_, err := Read(test.file, test.shape)
		if err == nil {
			t.Errorf("%s: accepted", test.name)
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %q does not say %q", test.name, err, test.want)
		}
	}
}

func TestPNG(t *testing.T) {
	sheet := grayRamp(6, 4)
	got, err := Read(pngFile(t, sheet), []int{1, 1, 2, 3})
	if err != nil || len(got) != 4 {
		t.Fatalf("%d images, %v", len(got), err)
	}
	for i, m := range got {
		for j, v := range m {
			want := float64(sheet.GrayAt(i%2*3+j%3, i/2*2+j/3).Y) / 255
			if v != want {
				t.Fatalf("image %d pixel %d: %v, want %v", i, j, v, want)
			}
		}
	}
	if got, err = Read(pngFile(t, sheet), []int{1, 24}); err != nil || len(got) != 1 || got[0][7] != float64(sheet.Pix[7])/255 {
		t.Fatalf("flat: %v, %v", got, err)
	}
	colour := image.NewNRGBA(image.Rect(0, 0, 2, 2))
	colour.Set(1, 0, color.NRGBA{255, 0, 51, 255})
	got, err = Read(pngFile(t, colour), []int{3, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{0, 1, 0, 0, 0, 0, 0, 0, 0, 0.2, 0, 0}; !slices.Equal(got[0], want) {
		t.Errorf("planes %v, want %v", got[0], want)
	}
}

// Images of a sheet, or of several files, make a batch in their order; what is left over is refused.
func TestPNGBatch(t *testing.T) {
	sheet := grayRamp(6, 4)
	single, err := Read(pngFile(t, sheet), []int{1, 1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(pngFile(t, sheet), []int{2, 1, 2, 3})
	if err != nil || len(got) != 2 || !slices.Equal(got[1], slices.Concat(single[2], single[3])) {
		t.Errorf("a sheet: %v (%v), want two of %v", got, err, single)
	}
	if _, err := Read(pngFile(t, sheet), []int{3, 1, 2, 3}); err == nil || !strings.Contains(err.Error(), "are 4 images of 3 x 2, the model takes batches of 3") {
		t.Errorf("four images for batches of three: %v", err)
	}
	blank := image.NewGray(image.Rect(0, 0, 3, 2))
	for i := range blank.Pix {
		blank.Pix[i] = 255
	}
	white := pngFile(t, blank)
	files := [][]byte{white, pngFile(t, sheet), white}
	if got, err = ReadPictures([]string{"a", "b", "c"}, files, []int{3, 3, 2, 3}, math.MaxInt); err != nil || len(got) != 2 || len(got[0]) != 54 {
		t.Fatalf("files: %d batches (%v)", len(got), err)
	}
	if want := single[0]; got[0][0] != 1 || !slices.Equal(got[0][18:24], want) || !slices.Equal(got[0][30:36], want) || got[1][53] != 1 {
		t.Errorf("batches %v", got)
	}
	if _, err := ReadPictures([]string{"a", "b"}, files[:2], []int{3, 3, 2, 3}, math.MaxInt); err == nil || !strings.Contains(err.Error(), "5 images in 2 files, the model takes batches of 3") {
		t.Errorf("five images: %v", err)
	}
	if _, err := ReadPictures([]string{"a", "b"}, files[:2], []int{3, 3, 2, 4}, math.MaxInt); err == nil || !strings.Contains(err.Error(), "a: png: 3 x 2 pixels, the model takes 4 x 2") {
		t.Errorf("another size: %v", err)
	}
	// A file too many is refused by its header: its pixels are cut off.
	if got, err = ReadPictures([]string{"a", "b"}, [][]byte{white, pngFile(t, sheet)[:40]}, []int{3, 3, 2, 3}, 1); err == nil || !strings.Contains(err.Error(), "b: png: holds 4 inputs, want at most 2") {
		t.Errorf("a sheet of four where two are left: %v (%v)", got, err)
	}
	if got, err = ReadPictures([]string{"a", "b"}, files[:2], []int{5, 3, 2, 3}, 1); err != nil || len(got) != 1 {
		t.Errorf("five for one batch: %v (%v)", got, err)
	}
	// Lists of as many numbers as pictures have pixels.
	if got, err = ReadPictures([]string{"a", "b"}, [][]byte{white, pngFile(t, grayRamp(3, 2))}, []int{2, 6}, math.MaxInt); err != nil || len(got) != 1 || len(got[0]) != 12 || got[0][5] != 1 || got[0][6] != 0 {
		t.Errorf("lists: %v (%v)", got, err)
	}
	if _, err := ReadPictures([]string{"a"}, [][]byte{white}, []int{2, 6}, math.MaxInt); err == nil || !strings.Contains(err.Error(), "1 images in 1 files, the model takes batches of 2") {
		t.Errorf("half a batch of lists: %v", err)
	}
	if _, err := Read(white, []int{2, 6}); err == nil || !strings.Contains(err.Error(), "the model takes batches of 2") {
		t.Errorf("one picture for two lists: %v", err)
	}
	if got, err := Read(white, []int{2, 3}); err != nil || len(got) != 1 { // height and width
		t.Errorf("a picture: %v (%v)", got, err)
	}
	if InBatch(white, []int{2, 3}) || InBatch(white, []int{1, 6}) || !InBatch(white, []int{2, 6}) || !InBatch(white, []int{2, 18}) || !InBatch(white, []int{2, 3, 5, 5}) {
		t.Error("shapes of batches")
	}
}

// A header may promise far more pixels than its file can hold.
func TestPNGBomb(t *testing.T) {
	file := pngFile(t, grayRamp(4, 4))
	binary.BigEndian.PutUint32(file[16:], 1<<20)
	binary.BigEndian.PutUint32(file[20:], 1<<20)
	sum := crc(file[12:29])
	binary.BigEndian.PutUint32(file[29:], sum)
	if _, err := Read(file, []int{1, 4, 4}); err == nil || !strings.Contains(err.Error(), "in a file of") {
		t.Fatalf("got %v", err)
	}
	// Padded until the file could hold that many: too many all the same.
	long := append(file, make([]byte, 1<<17)...)
	binary.BigEndian.PutUint32(long[16:], 1<<14)
	binary.BigEndian.PutUint32(long[20:], 1<<14)
	binary.BigEndian.PutUint32(long[29:], crc(long[12:29]))
	if _, err := Read(long, []int{1, 4, 4}); err == nil || !strings.Contains(err.Error(), "at most 67108864") {
		t.Errorf("got %v", err)
	}
}

// A sheet is refused by its header where one input is wanted.
func TestReadOne(t *testing.T) {
	sheet := pngFile(t, grayRamp(8, 4))
	if got, err := Read(sheet, []int{4, 4}); err != nil || len(got) != 2 {
		t.Fatalf("%d inputs, %v", len(got), err)
	}
	if _, err := ReadOne(sheet[:40], []int{4, 4}); err == nil || !strings.Contains(err.Error(), "holds 2 inputs") {
		t.Errorf("a sheet: %v", err)
	}
	if _, err := ReadOne(npyFile("|u1", "False", "2, 4", make([]byte, 8)), []int{4}); err == nil || !strings.Contains(err.Error(), "holds 2 inputs") {
		t.Errorf("a list of inputs: %v", err)
	}
	if got, err := ReadOne(pngFile(t, grayRamp(4, 4)), []int{4, 4}); err != nil || len(got) != 16 {
		t.Errorf("one input: %v, %v", got, err)
	}
}

func crc(b []byte) uint32 {
	c := ^uint32(0)
	for _, x := range b {
		c ^= uint32(x)
		for range 8 {
			c = c>>1 ^ 0xedb88320&-(c&1)
		}
	}
	return ^c
}

// Whatever a file holds, a model with two inputs gets all of both or an error of one line.
func FuzzReadInputs(f *testing.F) {
	inputs := []Input{{"a", []int{2}}, {"b c", []int{1}}}
	f.Add([]byte(`{"input_data": [[1, 2], 3]}`))
	f.Add([]byte(`{"b c": [1], "a": [[1, 2]]}`))
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := ReadInputs(file, inputs, math.MaxInt)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x00") {
				t.Fatalf("error of several lines: %q", err)
			}
			return
		}
		for _, x := range got {
			if len(x) != 3 {
				t.Fatalf("sample of %d values", len(x))
			}
		}
	})
}

func TestReadInputs(t *testing.T) {
	inputs := []Input{{"a", []int{2}}, {"b c", []int{1}}}
	for _, file := range []string{`{"input_data": [[1, 2], 3]}`, `{"b c": [3], "a": [[1, 2]]}`, `{"a": [1, 2], "b c": 3}`} {
		if got, err := ReadOneInputs([]byte(file), inputs); err != nil || !slices.Equal(got, []float64{1, 2, 3}) {
			t.Errorf("%s: %v, %v", file, got, err)
		}
	}
	// A model whose one input has the name of the list reads both forms.
	for _, file := range []string{`{"input_data": [[1, 2]]}`, `{"input_data": [[[1, 2]]]}`} {
		if got, err := ReadOneInputs([]byte(file), []Input{{"input_data", []int{1, 2}}}); err != nil || !slices.Equal(got, []float64{1, 2}) {
			t.Errorf("%s: %v, %v", file, got, err)
		}
	}
	if got := Name("a,b"); got != `"a,b"` {
		t.Errorf("a name with a comma is %s", got)
	}
	if _, err := Join([][][]float64{{{1}}, {}}, inputs); err == nil || !strings.Contains(err.Error(), `0 samples of input "b c", but 1 of input a`) {
		t.Errorf("joining: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"input_data": [[[1, 2], [3, 4]]]}`))
	f.Add(npyFile("<f4", "False", "2, 2", floats32(1, 2, 3, 4)))
	f.Add(npyFile("|u1", "False", "8, 2, 2", make([]byte, 32)))
	f.Add(pngFile(f, grayRamp(4, 2)))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := Read(file, []int{1, 2, 2})
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x00") {
				t.Fatalf("error of several lines: %q", err)
			}
			return
		}
		if len(got) == 0 {
			t.Fatal("accepted a file without inputs")
		}
		for _, x := range got {
			if len(x) != 4 {
				t.Fatalf("input of %d values", len(x))
			}
			for _, v := range x {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("value %v", v)
				}
			}
		}
	})
}
