package bench

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
	"github.com/zkwarp/zkwarp/merkle"
	merkleprover "github.com/zkwarp/zkwarp/merkle/prover"
)

// treeCases hash matrices to trees as commitments do: the leaves are rows of 16
// words, three permutations a row with two children a node.
func treeCases() []Case {
	bear, koala := merkle.Poseidon2(poseidon2.BabyBear()), merkle.Poseidon2(poseidon2.KoalaBear())
	var cases []Case
	for _, vars := range []int{12, 22} {
		cases = append(cases,
			treeCase("tree-babybear", "Poseidon2", bear, vars, 2),
			treeCase("tree-koalabear", "Poseidon2", koala, vars, 2),
			treeCase("tree-babybear-arity4", "Poseidon2, four children a node", bear, vars, 4),
			treeCase("tree-babybear-arity8", "Poseidon2, eight children a node", bear, vars, 8),
			treeCase("tree-blake3", "BLAKE3 over BabyBear", merkle.BLAKE3[babybear.Element](), vars, 2),
			treeCase("tree-sha256", "SHA-256 over BabyBear", merkle.SHA256[babybear.Element](), vars, 2))
	}
	return cases
}

func treeCase[W field.Base[W]](name, about string, h *merkle.Hash[W], vars, arity int) Case {
	return Case{
		Suite: "whir", Name: fmt.Sprintf("%s-16x2^%d", name, vars), About: "tree over rows of 16 words: " + about, Large: vars > 20,
		Run: func(e *Env) ([]Measurement, error) {
			return treeRun(e, h, merkle.Shape{Rows: 1 << vars, RowWords: 16, Arity: arity})
		},
	}
}

// treeRun hashes a matrix in both layouts: ms is for columns in bit-reversed order,
// as transforms leave them, rows-ms for rows one after the other.
func treeRun[W field.Base[W]](e *Env, h *merkle.Hash[W], s merkle.Shape) ([]Measurement, error) {
	var zero W
	words := make([]W, s.Rows*s.RowWords)
	for i := range words {
		words[i] = zero.FromUint64(uint64(e.Rand.Uint32()))
	}
	in, err := device.Upload(e.Queue, words)
	if err != nil {
		return nil, err
	}
	defer in.Free()
	var out []Measurement
	for _, run := range []struct {
		metric string
		layout merkle.Layout
	}{{"ms", merkle.ColumnMajor(1).Reverse()}, {"rows-ms", merkle.RowMajor()}} {
		var tree *merkleprover.TreeOf[W]
		free := func() error {
			if tree != nil {
				tree.Free()
			}
			return nil
		}
		m, err := e.Time(run.metric, 1, free, func() (err error) {
			tree, err = merkleprover.Build(e.Queue, h, in, s, run.layout)
			return err
		})
		if err == nil {
			err = treeCheck(e, h, s, tree, words, in, run.layout)
		}
		if tree != nil {
			tree.Free()
		}
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// treeCheck opens a few rows and verifies them on the host.
func treeCheck[W field.Base[W]](e *Env, h *merkle.Hash[W], s merkle.Shape, tree *merkleprover.TreeOf[W], words []W, in device.Buffer[W], l merkle.Layout) error {
	indices := []int{0, s.Rows - 1, e.Rand.IntN(s.Rows), e.Rand.IntN(s.Rows)}
	opening, err := tree.Open(in, l, indices)
	if err != nil {
		return err
	}
	root, err := tree.Root().Read(e.Queue)
	if err != nil {
		return err
	}
	rows, err := h.Verify(s, merkle.DigestOf[W](root), indices, opening)
	if err != nil {
		return err
	}
	for k, i := range indices {
		for w, x := range merkle.AppendRow(nil, words, s, l, i) {
			if rows[k][w] != x {
				return fmt.Errorf("row %d of the tree is not the matrix's", i)
			}
		}
	}
	return nil
}
