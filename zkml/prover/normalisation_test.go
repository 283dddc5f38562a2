package prover

import (
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

var normalised = once(func() *zkmltest.Case { return zkmltest.Normalised(1, 2, 8) })

// stated takes a tensor to be what somebody says, and everything after it from the program.
func stated(t *testing.T, k *keyed, name string, say func(tensor *graph.Tensor, v []int32)) func(*session) error {
	t.Helper()
	id := k.tensor(t, name)
	values, err := graph.RunPadded(k.Program, k.Weights, k.X)
	if err != nil {
		t.Fatal(err)
	}
	say(k.Program.Tensor(id), values[id])
	made := slices.IndexFunc(k.Program.Ops, func(op graph.Op) bool { return slices.Contains(op.Outputs(), id) })
	cut, err := chunks.Cut(k.Program, k.Weights, []int{made + 1})
	if err != nil {
		t.Fatal(err)
	}
	rest := cut.Parts[1].Program
	var x []int32
	for _, in := range rest.Inputs {
		x = append(x, values[k.tensor(t, rest.Tensor(in).Name)]...)
	}
	after, err := graph.RunPadded(rest, cut.Parts[1].Weights, x)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range after {
		if own := &rest.Tensors[i]; own.Kind == graph.Column || own.Kind == graph.Virtual {
			values[k.tensor(t, own.Name)] = v
		}
	}
	return func(s *session) error {
		for i, v := range values {
			if kind := k.Program.Tensors[i].Kind; kind != graph.Column && kind != graph.Virtual {
				continue
			}
			if err := s.polys[i].CopyFrom(s.q, plan.Embed(v)); err != nil {
				return err
			}
		}
		return nil
	}
}

func total(row []int32) (sum int32) {
	for _, v := range row {
		sum += v
	}
	return sum
}

// TestForgedNormalisations has provers that choose a fact which a normalisation rests on, within its bounds, and compute the rest
// from it as the program does: what is proved is another output.
func TestForgedNormalisations(t *testing.T) {
	k := normalised(t)
	names := map[string]bool{}
	for i := range k.Program.Tensors {
		if name := k.Program.Tensors[i].Name; names[name] {
			t.Fatalf("two tensors are called %q", name)
		} else {
			names[name] = true
		}
	}
	y := k.Program.SplitOutput(k.Output())[0]
	for row := range slices.Chunk(y, 8) {
		if sum := total(row); sum < 255-8 || sum > 255+8 || slices.Max(row) < 32 {
			t.Fatalf("no softmax: %d", row)
		}
	}
	nothing := func(*graph.Tensor, []int32) {}
	r := k.prove(t, hooks{statement: restated, witness: stated(t, k, "sum", nothing)})
	if err := zkml.Verify(k.vk, k.X, k.Output(), r.Proof, nil); err != nil {
		t.Fatal(err)
	}
	half := func(_ *graph.Tensor, v []int32) {
		for i := range v {
			v[i] /= 2
		}
	}
	first := func(_ *graph.Tensor, v []int32) { v[0] /= 2 }
	least := func(tensor *graph.Tensor, v []int32) {
		for i := range v {
			v[i] = int32(tensor.Lo)
		}
	}
	most := func(tensor *graph.Tensor, v []int32) {
		for i := range v {
			v[i] = int32(tensor.Hi)
		}
	}
	for name, c := range map[string]struct {
		tensor string
		say    func(*graph.Tensor, []int32)
		check  string
	}{
		"a row's maximum":          {"top2", most, zkml.CheckNumerator},
		"how much is greater":      {"over2", most, zkml.CheckNumerator},
		"distances to the maximum": {"distance", half, zkml.CheckRelation},
		"exponentials":             {"exp", half, zkml.CheckNumerator},
		"half a row's sum":         {"sum", half, zkml.CheckSumcheck},
		"the greatest sum":         {"sum", most, zkml.CheckSumcheck},
		"the reciprocal":           {"reciprocal", half, zkml.CheckNumerator},
		"products":                 {"product", half, zkml.CheckSumcheck},
		"probabilities":            {"probabilities", half, zkml.CheckNumerator},
		"the sum for the mean":     {"total", most, zkml.CheckSumcheck},
		"the mean":                 {"mean", most, zkml.CheckNumerator},
		"a centred value":          {"centred", first, zkml.CheckRelation},
		"half the squares":         {"squares", half, zkml.CheckSumcheck},
		"no variance":              {"squares", least, zkml.CheckSumcheck},
		"the root's reciprocal":    {"root", half, zkml.CheckNumerator},
		"scaled values":            {"scaled", half, zkml.CheckSumcheck},
	} {
		t.Run(name, func(t *testing.T) {
			r := k.prove(t, hooks{statement: restated, witness: stated(t, k, c.tensor, c.say)})
			if slices.Equal(r.Y, k.Output()) {
				t.Error("the outputs are the program's")
			}
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), c.check)
		})
	}
}
