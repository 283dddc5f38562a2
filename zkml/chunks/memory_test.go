package chunks_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// TestDescribedTables reads the key of a chain whose parts, of 3 kB each, have the most rows of clamps that a program may have, and plans for them.
// Neither has rows in memory, which were 33 MB a part (0.1 s).
func TestDescribedTables(t *testing.T) {
	const parts, bits = 6, graph.MaxTableBits
	most := graph.MaxTableRows >> bits
	b := graph.NewBuilder("clamps")
	x := b.Input("x", []int{1}, -9, 9, 1)
	var terms []graph.Term
	for k := range most {
		y := make([]int32, 1<<bits)
		for i := range y {
			y[i] = int32(min(max(i-1<<(bits-1), -k), 7))
		}
		terms = append(terms, graph.Term{Coef: 1, T: b.Lookup("y", x, 0, b.Table("clamp", bits, y), 1)})
	}
	p, w, err := b.BuildAll([]graph.TensorID{b.Linear("sum", terms, 0, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := zkml.Choose(p, zkml.PublicWeights, zkml.Commits{}, zkml.MinSecurity+3, whir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	digest, err := w.Digest(p)
	if err != nil {
		t.Fatal(err)
	}
	vk, err := zkml.NewVerifyingKey(zkml.KeyParts{Program: p, Mode: zkml.PublicWeights, WeightsDigest: digest, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	var keys []*zkml.VerifyingKey
	var inputs [][]chunks.Source
	var outputs []chunks.Source
	for k := range parts {
		keys, inputs, outputs = append(keys, vk), append(inputs, []chunks.Source{{Part: -1}}), append(outputs, chunks.Source{Part: k})
	}
	chain, err := chunks.NewChain(keys, inputs, outputs)
	if err != nil {
		t.Fatal(err)
	}
	code := chain.Encode()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := chunks.DecodeChain(code)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	took := int(after.TotalAlloc-before.TotalAlloc) / parts
	t.Logf("%d bytes of key and %d bytes of memory for each part", len(code)/parts, took)
	if took > 1<<18 {
		t.Errorf("%d bytes of memory for each part, want at most 256 KiB", took)
	}
	if !bytes.Equal(c.Encode(), code) {
		t.Error("encoded again as something else")
	}
}
