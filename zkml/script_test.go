package zkml

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestStoredByScript has the verifier in Python judge the stored proofs, and
// one change of each kind of message. It must name the check that Verify names.
func TestStoredByScript(t *testing.T) {
	one := m31.OneQM31()
	inc := func(v *m31.QM31) { *v = v.Add(one) }
	changes := []struct {
		name   string
		change func(x, y []int32, p *Proof)
	}{
		{"", func(_, _ []int32, _ *Proof) {}},
		{"output", func(_, y []int32, _ *Proof) { y[0] ^= 1 }},
		{"last output", func(_, y []int32, _ *Proof) { y[len(y)-1] ^= 1 }},
		{"input", func(x, _ []int32, _ *Proof) { x[0] ^= 1 }},
		{"last input", func(x, _ []int32, _ *Proof) { x[len(x)-1] ^= 1 }},
		{"input and output", func(x, y []int32, _ *Proof) { x[1], y[1] = x[1]^1, y[1]^1 }},
		{"input out of bounds", func(x, _ []int32, _ *Proof) { x[0] = 128 }},
		{"output out of bounds", func(_, y []int32, _ *Proof) { y[0] = 1 << 20 }},
		{"root of the witness", func(_, _ []int32, p *Proof) { p.Roots[plan.Witness][0] ^= 1 }},
		{"root of the multiplicities", func(_, _ []int32, p *Proof) { p.Roots[plan.Multiplicities][7] ^= 1 }},
		{"nonce", func(_, _ []int32, p *Proof) { p.Nonce[0] ^= 1 }},
		{"root numerator", func(_, _ []int32, p *Proof) { inc(&p.Tree.P) }},
		{"root denominator", func(_, _ []int32, p *Proof) { p.Tree.Q = m31.QM31{} }},
		{"another denominator", func(_, _ []int32, p *Proof) { inc(&p.Tree.Q) }},
		{"round of the tree", func(_, _ []int32, p *Proof) { inc(&p.Tree.Layers[3].Rounds[4]) }},
		{"evaluation of the tree's last layer", func(_, _ []int32, p *Proof) { inc(&p.Tree.Layers[len(p.Tree.Layers)-1].Evals[2]) }},
		{"leaf evaluation", func(_, _ []int32, p *Proof) { inc(&p.Leaves[0]) }},
		{"last leaf evaluation", func(_, _ []int32, p *Proof) { inc(&p.Leaves[len(p.Leaves)-1]) }},
		{"relation's evaluation", func(_, _ []int32, p *Proof) { inc(&p.Layers[0].Sent[0]) }},
		{"layer's round", func(_, _ []int32, p *Proof) { inc(&p.Layers[0].Batch.Rounds[0]) }},
		{"last layer's evaluation", func(_, _ []int32, p *Proof) {
			b := p.Layers[len(p.Layers)-1].Batch
			inc(&b.Evals[len(b.Evals)-1])
		}},
		{"merging round", func(_, _ []int32, p *Proof) { inc(&p.Merge.Rounds[1]) }},
		{"merging evaluation", func(_, _ []int32, p *Proof) { inc(&p.Merge.Evals[2]) }},
		{"opened row", func(_, _ []int32, p *Proof) { p.Openings[plan.Parameters].Proof.Openings[0].Rows[5] ^= 1 }},
		{"opened sibling", func(_, _ []int32, p *Proof) { p.Openings[plan.Multiplicities].Proof.Openings[0].Siblings[0][0] ^= 1 }},
		{"final table", func(_, _ []int32, p *Proof) { inc(&p.Openings[plan.Multiplicities].Proof.Final[0]) }},
		{"half of an opening", func(_, _ []int32, p *Proof) { inc(&p.Openings[plan.Witness].Halves[0][0]) }},
	}
	var cases []zkmltest.ScriptCase
	for _, name := range []string{"residual", "tour", "every"} {
		vk, st, proof := stored(t, name)
		for _, c := range changes {
			if c.name == "nonce" && vk.settings.Inference.Work == 0 {
				continue
			}
			p, err := DecodeProof(vk, proof)
			if err != nil {
				t.Fatal(err)
			}
			x, y := slices.Clone(st.X), slices.Clone(st.Y)
			c.change(x, y, p)
			changed, err := EncodeProof(vk, DigestsOf(x, y), p)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, c.name, err)
			}
			err = Verify(vk, x, y, changed, nil)
			if (FailedCheck(err) == "") != (c.name == "") || FailedCheck(err) == "" && err != nil {
				t.Fatalf("%s, %s: %v", name, c.name, err)
			}
			cases = append(cases, zkmltest.ScriptCase{Key: hex.EncodeToString(vk.Encode()), Proof: hex.EncodeToString(changed),
				X: x, Y: y, Check: FailedCheck(err), Sum: Security(vk).Sum})
		}
	}
	zkmltest.Judge(t, "testdata", append(cases, wideBound(t)))
}

// wideBound is the key tour with a digest that fits, whose program says that a
// tensor's bounds are wider than they are.
func wideBound(t *testing.T) zkmltest.ScriptCase {
	t.Helper()
	vk, s, proof := stored(t, "tour")
	data := vk.Encode()
	name := append([]byte{6, 0}, "second"...)
	at := bytes.Index(data, name) + len(name) + 2 + 4*2 + 8 // kind and rank, two axes, the lower bound
	hi := binary.LittleEndian.Uint64(data[at:])
	if id, ok := tensorNamed(vk, "second"); !ok || hi != uint64(vk.Program().Tensor(id).Hi) {
		t.Fatalf("%d is not the upper bound", hi)
	}
	binary.LittleEndian.PutUint64(data[at:], hi+1)
	size := binary.LittleEndian.Uint32(data[headerSize:])
	core := data[headerSize+4:][:size]
	digest := sha256.Sum256(append([]byte("zkwarp verifying key\n"), core...))
	copy(data[12:], digest[:])
	if _, err := DecodeVerifyingKey(data); !errors.Is(err, graph.ErrInvalid) {
		t.Fatalf("a key with a wider bound: %v", err)
	}
	return zkmltest.ScriptCase{Key: hex.EncodeToString(data), Proof: hex.EncodeToString(proof), X: s.X, Y: s.Y, Check: "key"}
}

func tensorNamed(vk *VerifyingKey, name string) (graph.TensorID, bool) {
	i := slices.IndexFunc(vk.Program().Tensors, func(t graph.Tensor) bool { return t.Name == name })
	return graph.TensorID(i), i >= 0
}
