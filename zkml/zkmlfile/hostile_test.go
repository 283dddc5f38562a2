package zkmlfile

import (
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/internal/hostile"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// TestHostileFiles damages an answer and an input at every place.
func TestHostileFiles(t *testing.T) {
	p := scores(t, graph.Post{Kind: graph.PostSoftmax, Axis: 1, Span: 1})
	good, err := NewAnswer(p, []int32{-10, 500, 20})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := good.Encode()
	if err != nil {
		t.Fatal(err)
	}
	piece := `{"output_data": [[7, 8, 9]], "kind": "none", "values": [3.5, 4, 4.5]}`
	input := func(data []byte) ([]byte, error) {
		x, err := ReadInput(p, data)
		if err == nil && len(x) != 3 {
			t.Errorf("%q is read as %d", data, x)
		}
		return nil, err
	}
	for _, d := range []hostile.Decoder{
		{Name: "answer", Code: answer[:len(answer)-1], Decode: func(data []byte) ([]byte, error) {
			y, err := DecodeAnswer(data, p)
			if err == nil && len(y) != 3 {
				t.Errorf("%q is read as %d", data, y)
			}
			return nil, err
		}},
		{Name: "input", Code: []byte(`{"input_data": [[1, -2.5e1, 0]]}`), Decode: input},
		{Name: "answer of a piece", Code: []byte(piece), Decode: input},
	} {
		hostile.Test(t, d)
	}
	for _, open := range []string{"[", `{"output_data":`, `{"output_data":[`, `{"values":[`} {
		deep := []byte(strings.Repeat(open, 1<<16))
		if y, err := DecodeAnswer(deep, p); err == nil || len(err.Error()) > 300 {
			t.Errorf("%s, deep: %v, %v", open, y, err)
		}
		if x, err := ReadInput(p, slices.Concat([]byte(piece[:len(piece)-1]), []byte(`,"label":`), deep)); err == nil || len(err.Error()) > 300 {
			t.Errorf("%s, deep in an answer: %v, %v", open, x, err)
		}
	}
}
