package prover

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// storedProgram adds up parameters of all shapes, each with values of 1, 2 or 4 bytes and its least one among them.
func storedProgram(t testing.TB, shapes [][]int) (*graph.Program, *graph.Weights) {
	t.Helper()
	b := newOps("stored")
	x := b.column("x", []int{2, 3, 5}, 1)
	var outs []graph.TensorID
	for i, shape := range shapes {
		width := 1 << (i % 3)
		least := -1 << (8*width - 1)
		if width == 4 {
			least = -1 << 28 // as bounds go
		}
		v := b.values(graph.Elements(shape), least, -least-1)
		v[len(v)/2] = int32(least)
		w := b.Param(fmt.Sprint("w", i), shape, v, 1)
		outs = append(outs, b.Linear(fmt.Sprint("sum", i), []graph.Term{{Coef: 1, T: x}, {Coef: 1, T: w}}, 0, 1))
	}
	p, w, err := b.BuildAll(outs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, w
}

// TestStoredParams makes the parameters' stack from their stored bytes in device memory: shapes with and without padding, scalars, values at the ends
// of every width, tensors that begin within the four words of a thread, copied in one piece and in
// many.
func TestStoredParams(t *testing.T) {
	shapes := [][]int{{2, 3, 5}, {5}, {3, 5}, {}, {1}, {2, 3, 1}, {1, 5}, {3, 1}, {2, 1, 1}, {1, 1, 1}, {2, 1, 5}, {}, {1, 3, 5}}
	for n := 1; n <= len(shapes); n += 3 {
		p, w := storedProgram(t, shapes[len(shapes)-n:])
		pl, err := plan.ForProgram(p, zkml.Commits{})
		if err != nil {
			t.Fatal(err)
		}
		want := pl.StackParams(p, w)
		l := newStoredLayout(pl, p, w)
		for i := 0; i < l.bytes; i += 7 { // any piece is the whole's
			whole, piece := make([]byte, l.bytes), make([]byte, min(29, l.bytes-i))
			l.read(whole, 0)
			if l.read(piece, i); !slices.Equal(piece, whole[i:i+len(piece)]) {
				t.Fatalf("bytes from %d on are others by themselves", i)
			}
		}
		devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
			var via *Uploader
			if n > 1 {
				small, err := newUploader(q.Device(), 29)
				if err != nil {
					t.Fatal(err)
				}
				defer small.Close()
				via = small
			}
			s, err := l.upload(q, via)
			if err != nil {
				t.Fatal(err)
			}
			defer s.free()
			if s.size() != int64(l.bytes+8*len(l.desc)) {
				t.Errorf("%d bytes, expected %d", s.size(), l.bytes+8*len(l.desc))
			}
			stack := devicetest.Upload(t, q, slices.Repeat([]m31.Element{7}, len(want)))
			if err := s.widen(q, stack); err != nil {
				t.Fatal(err)
			}
			got, err := stack.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%d parameters, word %d: %d, expected %d", n, i, got[i], want[i])
				}
			}
		})
	}
}
