package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestForward compares every tensor with the interpreter's, padding included.
func TestForward(t *testing.T) {
	cases := zkmltest.Cases()
	for i, s := range [][3]int{{1, 100, 33}, {1, 1, 1}, {7, 33, 5}, {8, 3, 70}, {9, 70, 1}, {40, 17, 65}} {
		cases = append(cases, zkmltest.Product(uint64(i), s[0], s[1], s[2], false), zkmltest.Product(uint64(i), s[0], s[1], s[2], true))
	}
	for seed := range uint64(40) {
		cases = append(cases, zkmltest.Wide(seed))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { testForward(t, c.Program, c.Weights, c.X) })
	}
}

func testForward(t *testing.T, p *graph.Program, w *graph.Weights, x []int32) {
	want, err := graph.RunPadded(p, w, x)
	if err != nil {
		t.Fatal(err)
	}
	// Products rely on bounds in padding too.
	for id, values := range want {
		tensor := &p.Tensors[id]
		for i, v := range values {
			if int64(v) < min(tensor.Lo, 0) || int64(v) > max(tensor.Hi, 0) {
				t.Fatalf("tensor %q (%v): entry %d is %d, not within [%d, %d]", tensor.Name, tensor.Shape, i, v, tensor.Lo, tensor.Hi)
			}
		}
	}
	pl, err := plan.ForProgram(p, plan.Commits{})
	if err != nil {
		t.Fatal(err)
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		l, err := newLayout(pl, p)
		if err != nil {
			t.Fatal(err)
		}
		key, err := loadKey(q, l, &ProvingKey{of: p, weights: w}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer key.free()
		s, err := newSession(q, nil, &zkml.Argument{Plan: pl}, l, key, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.free()
		if err := s.input(p, x); err != nil {
			t.Fatal(err)
		}
		if err := s.forward(p); err != nil {
			t.Fatal(err)
		}
		for id := range p.Tensors {
			got, err := s.polys[id].Read(q)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if signed(v) != want[id][i] {
					t.Fatalf("tensor %q (%v): entry %d is %d, want %d", p.Tensors[id].Name, p.Tensors[id].Shape, i, signed(v), want[id][i])
				}
			}
		}
	})
}

func layoutOf(t testing.TB, p *graph.Program) *layout {
	t.Helper()
	pl, err := plan.ForProgram(p, plan.Commits{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLayout(pl, p)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
