package zkmlfile

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// takes is a program whose one input has a shape and codes from 0 to 255 for 0 to 1.
func takes(t *testing.T, shape ...int) *graph.Program {
	t.Helper()
	b := graph.NewBuilder("takes")
	x := b.Input("x", shape, 0, 255, 1.0/255)
	p, _, err := b.Build(b.Linear("out", []graph.Term{{Coef: 3, T: x}}, 0, 1), graph.NoPost, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReadInput(t *testing.T) {
	p := takes(t, 1, 3, 1, 2)
	want := []int32{255, 1, 128, 2, 0, 3} // red, green and blue, two pixels each
	picture := image.NewRGBA(image.Rect(0, 0, 2, 1))
	picture.Set(0, 0, color.RGBA{255, 128, 0, 255})
	picture.Set(1, 0, color.RGBA{1, 2, 3, 255})
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	list := []byte(`{"input_data": [[1, 0.004, 0.5019, 0.0078, 0, 0.0117]]}`)
	for name, data := range map[string][]byte{"PNG": file.Bytes(), "JSON": list} {
		if x, err := ReadInput(p, data); err != nil || !slices.Equal(x, want) {
			t.Errorf("%s: %v, %v, want %v", name, x, err, want)
		}
	}
	for text, want := range map[string]string{
		`{"input_data": [[1, 0, 0, 0, 0]]}`:         "5",
		`{"input_data": [[1, 0, 0, 0, 0, 1.1]]}`:    "element 5 is 1.1",
		`{"output_data": [[1]], "kind": "softmax"}`: "values are softmax",
		"text": "",
	} {
		if _, err := ReadInput(p, []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestTokens has numbers that select rows: those between two of them select none.
func TestTokens(t *testing.T) {
	b := graph.NewBuilder("tokens")
	w := b.Param("w", []int{4, 1}, []int32{5, 6, 7, 8}, 1)
	x := b.Input("x", []int{2}, 0, 3, 1)
	p, _, err := b.Build(b.Embed("rows", x, w, 1), graph.NoPost, nil)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := Integers(p, []float64{3, 1}); err != nil || !slices.Equal(x, []int32{3, 1}) {
		t.Errorf("%v, %v", x, err)
	}
	for want, values := range map[string][]float64{
		"element 1 is 1.25, want a whole number from 0 to 3": {3, 1.25},
		"element 0 is 4":       {4, 1},
		"1 values, expected 2": {3},
		"3 values, expected 2": {3, 1, 0},
	} {
		if _, err := Integers(p, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", values, err, want)
		}
	}
	if _, _, _, ok := Image(p); ok {
		t.Error("tokens are called a picture")
	}
}

func TestImage(t *testing.T) {
	for _, c := range []struct {
		shape                   []int
		channels, height, width int
		ok                      bool
	}{
		{[]int{1, 3, 4, 5}, 3, 4, 5, true},
		{[]int{4, 5}, 1, 4, 5, true},
		{[]int{1, 1, 4, 5}, 1, 4, 5, true},
		{[]int{2, 3, 4, 5}, 0, 0, 0, false}, // a batch
		{[]int{1, 2, 4, 5}, 0, 0, 0, false},
		{[]int{1, 20}, 0, 0, 0, false},
		{[]int{20}, 0, 0, 0, false},
	} {
		channels, height, width, ok := Image(takes(t, c.shape...))
		if ok != c.ok || ok && (channels != c.channels || height != c.height || width != c.width) {
			t.Errorf("%v: %d, %d, %d, %t", c.shape, channels, height, width, ok)
		}
	}
}

// TestAmbiguousInput has answers of a piece, taken as inputs of the next one, that other readers of JSON could understand differently.
func TestAmbiguousInput(t *testing.T) {
	b := graph.NewBuilder("two")
	sum := b.Linear("sum", []graph.Term{{Coef: 1, T: b.Input("a", []int{2}, 0, 9, 1)}, {Coef: 1, T: b.Input("b", nil, 0, 9, 1)}}, 0, 1)
	two, _, err := b.Build(sum, graph.NoPost, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := takes(t, 1, 1)
	const a, scalar = `{"name": "a", "shape": [2], "values": [1, 2]}`, `{"name": "b", "shape": [], "values": [3]}`
	both := func(outputs string) string {
		return `{"output_data": [[1, 2], [3]], "kind": "none", "outputs": [` + outputs + `]}`
	}
	for _, c := range []struct {
		p    *graph.Program
		text string
		want []int32
	}{
		{one, `{"output_data": [[7]], "kind": "none", "values": [1], "answer": 0, "label": "x"}`, []int32{255}},
		{two, both(a + "," + scalar), []int32{1, 2, 3}},
		{two, both(scalar + "," + a), []int32{1, 2, 3}},
	} {
		if x, err := ReadInput(c.p, []byte(c.text)); err != nil || !slices.Equal(x, c.want) {
			t.Errorf("%s: %v, %v", c.text, x, err)
		}
	}
	for _, c := range []struct {
		p          *graph.Program
		text, want string
	}{
		{one, `{"output_data": [[7]], "kind": "none", "values": [1], "values": [0]}`, "occurs twice"},
		{one, `{"output_data": [[7]], "kind": "none", "values": [1], "Values": [0]}`, "unknown field"},
		{one, `{"output_data": [[7]], "kind": "none", "kind": "argmax", "values": [1]}`, "occurs twice"},
		{one, `{"output_data": [[7]], "kind": "none", "values": [null]}`, "is null"},
		{one, `{"output_data": [[7]], "kind": "none", "values": [1]} {}`, ""},
		{two, both(a + "," + scalar + "," + a), "the output a occurs twice"},
		{two, both(`{"name": "a", "shape": [2], "values": [1, 2], "values": [4, 5]},` + scalar), "occurs twice"},
		{two, both(`{"name": "a", "shape": [2], "Shape": [1], "values": [1, 2]},` + scalar), "unknown field"},
		{two, both(`{"name": "a", "shape": [null], "values": [1, 2]},` + scalar), "is null"},
		{two, both(`{"name": "a", "shape": [2], "values": [1, null]},` + scalar), "is null"},
		{two, both(`{"name": "a", "values": [1, 2]},` + scalar), "missing"},
		{two, both(a), "without the output b"},
	} {
		if x, err := ReadInput(c.p, []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s is read as %v (%v), want %q", c.text, x, err, c.want)
		}
	}
}
