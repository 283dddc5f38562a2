package zkmlfile

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// scores is a program with three scores as output, followed by a last step.
func scores(t testing.TB, post graph.Post) *graph.Program {
	t.Helper()
	b := graph.NewBuilder("scores")
	x := b.Input("x", []int{1, 3}, -100, 100, 1)
	out := b.Linear("out", []graph.Term{{Coef: 7, T: x}}, 0, 0.5)
	p, _, err := b.Build(out, post, []string{"red", "green", "blue"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAnswer(t *testing.T) {
	y := []int32{-10, 500, 20}
	for _, post := range []graph.Post{
		graph.NoPost,
		{Kind: graph.PostSoftmax, Axis: 1, Span: 1},
		{Kind: graph.PostArgMax, Axis: 1, Span: 1},
	} {
		p := scores(t, post)
		f, err := NewAnswer(p, y)
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind != post.Kind.String() || f.Answer == nil || *f.Answer != 1 || f.Label != "green" {
			t.Errorf("%v: %+v", post.Kind, f)
		}
		data, err := f.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeAnswer(data, p); err != nil || len(got) != 3 || got[1] != 500 {
			t.Errorf("%v: read back %v, %v", post.Kind, got, err)
		}
		// A derived field that says something else is an error of its own.
		for field, value := range map[string]any{"kind": "guess", "values": []float64{-1}, "answer": 2, "label": "red"} {
			var object map[string]any
			if err := json.Unmarshal(data, &object); err != nil {
				t.Fatal(err)
			}
			object[field] = value
			forged, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := DecodeAnswer(forged, p); !errors.Is(err, ErrDerived) {
				t.Errorf("%v with another %s: %v", post.Kind, field, err)
			}
		}
	}
	if f, err := NewAnswer(scores(t, graph.Post{Kind: graph.PostSoftmax, Axis: 1, Span: 1}), y); err != nil || math.Abs(f.Values[0]+f.Values[1]+f.Values[2]-1) > 1e-12 {
		t.Errorf("probabilities %v, %v", f, err)
	}
}

func FuzzDecodeAnswer(f *testing.F) {
	p := scores(f, graph.Post{Kind: graph.PostSoftmax, Axis: 1, Span: 1})
	good, err := NewAnswer(p, []int32{1, 2, 3})
	if err != nil {
		f.Fatal(err)
	}
	data, err := good.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"output_data": [[1, 2, 3]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		y, err := DecodeAnswer(data, p)
		if err == nil && len(y) != 3 {
			t.Fatalf("accepted %d values", len(y))
		}
	})
}

// TestAmbiguousAnswer has files that zkwarp and other readers of JSON could
// understand differently.
func TestAmbiguousAnswer(t *testing.T) {
	p := scores(t, graph.NoPost)
	const good = `"output_data": [[-10, 500, 20]]`
	if _, err := DecodeAnswer([]byte("{"+good+"}"), p); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`{"output_data": [[70, 500, 20]], ` + good + `}`,
		`{"output_data": [[70, 500, 20]], "Output_Data": [[-10, 500, 20]]}`,
		`{` + good + `, "answer": 2, "answer": 1}`,
		`{` + good + `, "answer": 2, "ANSWER": 1}`,
		`{` + good + `, "label": "red", "\u006cabel": "green"}`,
		`{` + good + `, "\u017falues": [1]}`,
		`{"output_data": [[null, 500, 20]]}`,
		`{"output_data": [[-10, 500, 20], [-10, 500, 20]]}`,
		`{` + good + `} {}`,
		`[` + good + `]`,
		`{` + good + `, "values": [-5, null, 10]}`,
		`{` + good,
		`{"output_data": [[-10, 500, "20"]]}`,
		`{"output_data": [[-10, 500.0, 20]]}`,
		`{"output_data": {"0": [-10, 500, 20]}}`,
	} {
		if y, err := DecodeAnswer([]byte(text), p); err == nil {
			t.Errorf("%s is read as %v", text, y)
		}
	}
}

func TestNear(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		a, b float64
		want bool
	}{
		{1, 1 + 1e-12, true}, {1, 1 + 1e-6, false}, {0, 0, true}, {1e-10, 2e-10, false}, {-1e-12, 1e-12, false},
		{5e-324, 0, true}, {1e300, 1e300, true}, {1, inf, false}, {inf, inf, false}, {1, nan, false}, {nan, 1, false},
	} {
		if near([]float64{c.a}, []float64{c.b}) != c.want {
			t.Errorf("%g near %g: %t", c.a, c.b, !c.want)
		}
	}
	if near(nil, []float64{1}) {
		t.Error("lists of different lengths")
	}
}
