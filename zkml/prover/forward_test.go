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
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			want, err := graph.RunPadded(c.Program, c.Weights, c.X)
			if err != nil {
				t.Fatal(err)
			}
			pl, err := plan.ForProgram(c.Program)
			if err != nil {
				t.Fatal(err)
			}
			devicetest.Each(t, func(t *testing.T, q *device.Queue) {
				l, err := newLayout(pl, c.Program)
				if err != nil {
					t.Fatal(err)
				}
				key, err := loadKey(q, l, pl.StackParams(c.Program, c.Weights))
				if err != nil {
					t.Fatal(err)
				}
				defer key.free()
				s, err := newSession(q, nil, &zkml.Argument{Plan: pl}, l, key, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer s.free()
				if err := s.input(c.Program, c.X); err != nil {
					t.Fatal(err)
				}
				if err := s.forward(c.Program); err != nil {
					t.Fatal(err)
				}
				for id := range c.Program.Tensors {
					got, err := s.polys[id].Read(q)
					if err != nil {
						t.Fatal(err)
					}
					for i, v := range got {
						if signed(v) != want[id][i] {
							t.Fatalf("tensor %q (%v): entry %d is %d, want %d", c.Program.Tensors[id].Name, c.Program.Tensors[id].Shape, i, signed(v), want[id][i])
						}
					}
				}
			})
		})
	}
}
