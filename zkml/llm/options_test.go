package llm

import (
	"maps"
	"reflect"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// TestOptionsOf reads the options of pieces back from what a calibration keeps of them.
func TestOptionsOf(t *testing.T) {
	for _, o := range []Options{
		{Tokens: 5, To: 3},
		{Tokens: 5, From: 1, To: 2, LastToken: true},
		{Tokens: 5, From: 1, To: 2, Bare: true, Columns: []int{16, 4}},
		{Tokens: 5, Embedding: Range{To: 16}},
		{Tokens: 5, Embedding: Range{16, 20}},
		{Tokens: 5, Head: Range{256, 300}, LastToken: true},
	} {
		dims := o.dims()
		for name, n := range dims {
			if !graph.ValidName(name) || n < 1 {
				t.Errorf("%+v: dimension %q of length %d", o, name, n)
			}
		}
		if got, ok := OptionsOf(dims); !ok || !reflect.DeepEqual(got, o) {
			t.Errorf("%v is %+v (%t), expected %+v", dims, got, ok, o)
		}
		other := maps.Clone(dims)
		other["batch"] = 2
		if _, ok := OptionsOf(other); ok {
			t.Errorf("%v is taken for a decoder", other)
		}
	}
}
