package llm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// TestPieces compares the pieces of each family, cut as if tensors and stacks could be small, with the logits of the whole: the hidden state comes
// from embeddings of columns, and the logits by rows.
func TestPieces(t *testing.T) {
	for _, name := range families {
		for _, last := range []bool{false, true} {
			t.Run(fmt.Sprint(name, last), func(t *testing.T) {
				c, e := open(t, name)
				cfg := c.Config()
				rows := graph.Pow2(cfg.Vocabulary)
				list, err := pieces(cfg, Options{Tokens: len(e.Tokens), LastToken: last, Blocks: 1, limit: 8 * rows}, 1, 14*rows)
				if err != nil {
					t.Fatal(err)
				}
				values := map[string]*onnx.Tensor{TokensName: {Shape: []int{len(e.Tokens)}, Ints: e.Tokens}}
				var heads []*onnx.Tensor
				embeddings := 0
				for _, o := range list {
					m := build(t, c, o)
					var in []*onnx.Tensor
					for _, id := range m.Inputs {
						x := values[m.Values[id].Name]
						if x == nil {
							t.Fatalf("%s: nothing is called %q", m.Name, m.Values[id].Name)
						}
						in = append(in, x)
					}
					for i := range m.Values {
						if w := m.Values[i].Const; w != nil && o.To == 0 && graph.Elements(graph.PaddedShape(w.Shape)) > 8*rows {
							t.Errorf("%s: constant %q has the shape %v", m.Name, m.Values[i].Name, w.Shape)
						}
					}
					out, err := m.Run(in)
					if err != nil {
						t.Fatal(err)
					}
					for _, id := range m.Outputs {
						values[m.Values[id].Name] = out[id]
						if o.Head != (Range{}) {
							heads = append(heads, out[id])
						}
					}
					if o.Embedding != (Range{}) {
						embeddings++
					}
				}
				if embeddings < 2 || len(heads) < 2 {
					t.Fatalf("%d pieces of the embedding, %d of the head", embeddings, len(heads))
				}
				want := e.Logits
				n := len(e.Tokens)
				if last {
					want, n = want[len(want)-cfg.Vocabulary:], 1
				}
				var got []float64
				for i := range n {
					for _, h := range heads {
						w := h.Shape[1]
						got = append(got, h.Float64s()[i*w:(i+1)*w]...)
					}
				}
				if d := distance(t, got, want); d > 1e-5 {
					t.Errorf("logits differ by %g", d)
				}
			})
		}
	}
}

// TestPiecesOfShapes sees how decoders of known shapes are cut: nothing is left out, no table or block is too large.
func TestPiecesOfShapes(t *testing.T) {
	c := &Config{
		Family: "qwen3", Hidden: 5120, Layers: 40, Heads: 40, KVHeads: 8, HeadDim: 128, Intermediate: 17408, Vocabulary: 151936, Positions: 40960,
		Epsilon: 1e-6, Theta: 1e6, QKNorm: true,
	}
	list, err := Pieces(c, Options{Tokens: 64}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 3+40+2 || !slices.Equal(list[3].Columns, []int{1024, 512, 256, 1024, 512, 256, 1024, 512}) {
		t.Errorf("%d pieces, the first layer takes %v", len(list), list[3].Columns)
	}
	at := 0
	for _, o := range list[:3] {
		if o.Embedding.From != at {
			t.Errorf("columns from %d on, expected %d", o.Embedding.From, at)
		}
		if at = o.Embedding.To; (at-o.Embedding.From)<<18 > maxStack {
			t.Errorf("columns %v", o.Embedding)
		}
	}
	rows := 0
	for _, o := range list[43:] {
		if o.Head.From != rows {
			t.Errorf("rows from %d on, expected %d", o.Head.From, rows)
		}
		rows = o.Head.To
	}
	if at != 5120 || rows != 151936 || list[43].Head.To < 100000 {
		t.Errorf("%d columns and %d rows", at, rows)
	}
	small := *c
	small.Vocabulary, small.Hidden = 1000, 512
	if list, err = Pieces(&small, Options{Tokens: 8, LastToken: true}, 16); err != nil || len(list) != 3 || list[1].LastToken || !list[2].LastToken || list[0].Bare {
		t.Errorf("a small vocabulary: %v, %v", list, err)
	}
	for _, k := range []struct {
		o    Options
		want string
	}{
		{Options{Embedding: Range{0, 1}, Head: Range{0, 1}}, "at once"},
		{Options{Embedding: Range{8, 5121}}, "columns 8:5121"},
		{Options{Head: Range{3, 3}}, "rows 3:3"},
		{Options{Head: Range{0, 3}, To: 2}, "alone"},
		{Options{Embedding: Range{0, 3}, LastToken: true}, "last token"},
		{Options{Columns: []int{5120}}, "pieces of"},
		{Options{Columns: []int{5000}, Bare: true}, "pieces of"},
		{Options{LastToken: true, Bare: true}, "no logits"},
	} {
		k.o.Tokens = 4
		if _, err := Build(c, nil, k.o); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%+v: %v, expected %q", k.o, err, k.want)
		}
	}
	if _, err := Pieces(c, Options{}, 0); err == nil {
		t.Error("no layers a piece")
	}
}
