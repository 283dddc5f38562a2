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
	for _, c := range zkmltest.Cases() {
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
				s, err := newSession(q, nil, &zkml.Argument{Plan: pl}, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer s.free()
				if err := s.stacks[plan.Parameters].CopyFrom(q, pl.StackParams(c.Program, c.Weights)); err != nil {
					t.Fatal(err)
				}
				in := c.Program.Tensor(c.Program.Input)
				if err := s.polys[c.Program.Input].CopyFrom(q, plan.Embed(graph.Pad(in.Shape, c.X))); err != nil {
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
