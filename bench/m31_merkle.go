package bench

import (
	"fmt"
	"unsafe"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
	merkleprover "github.com/zkwarp/zkwarp/merkle/prover"
)

// merkleCases hash trees of two children a node.
func merkleCases() []Case {
	var cases []Case
	for _, vars := range []int{10, 16, 20, 25} {
		cases = append(cases,
			Case{Suite: "m31", Name: fmt.Sprintf("merkle-2^%d", vars), About: "root of a tree over digests, one permutation a node", Large: vars > 20,
				Run: func(e *Env) ([]Measurement, error) { return merkleCase(e, vars, digestsRoot) }},
			Case{Suite: "m31", Name: fmt.Sprintf("merkle-rows8-2^%d", vars), About: "root of a tree over rows of 8 elements, two permutations a row", Large: vars > 20,
				Run: func(e *Env) ([]Measurement, error) { return merkleCase(e, vars, rowsRoot) }})
	}
	return cases
}

// treeRoot is one of two ways to a root from n times eight words: on the
// device, on the host, and how many permutations it takes.
type treeRoot struct {
	device       func(q *device.Queue, root, words device.Buffer[m31.Element]) error
	host         func(words []m31.Element) (merkle.Digest, error)
	permutations func(n int) int
}

var rowsRoot = treeRoot{
	device: func(q *device.Queue, root, words device.Buffer[m31.Element]) error {
		return merkleprover.Root(q, merkle.M31(), root, words, merkle.Shape{Rows: words.Len() / 8, RowWords: 8, Arity: 2}, merkle.RowMajor())
	},
	host: func(words []m31.Element) (merkle.Digest, error) {
		return merkle.Root(words, merkle.Shape{Rows: len(words) / 8, RowWords: 8, Arity: 2}, merkle.RowMajor())
	},
	permutations: func(n int) int { return 2*n - 1 },
}

var digestsRoot = treeRoot{
	device: func(q *device.Queue, root, words device.Buffer[m31.Element]) error {
		return merkleprover.RootOfDigests(q, merkle.M31(), root, device.View[merkle.Digest](words), 2)
	},
	host: func(words []m31.Element) (merkle.Digest, error) {
		level := unsafe.Slice((*merkle.Digest)(unsafe.Pointer(unsafe.SliceData(words))), len(words)/8)
		for len(level) > 1 {
			up := make([]merkle.Digest, len(level)/2)
			merkle.Level(up, level, 2)
			level = up
		}
		return level[0], nil
	},
	permutations: func(n int) int { return n - 1 },
}

// merkleCase hashes 2^vars times eight words to the root.
func merkleCase(e *Env, vars int, way treeRoot) ([]Measurement, error) {
	q, words := e.Queue, e.elements(8<<vars)
	in, err := device.Upload(q, words)
	if err != nil {
		return nil, err
	}
	defer in.Free()
	root, err := device.Alloc[m31.Element](q, 8)
	if err != nil {
		return nil, err
	}
	defer root.Free()
	m, err := e.Time("ms", 1, nil, func() error { return way.device(q, root, in) })
	if err != nil {
		return nil, err
	}
	// The root of a part is cheap to compute a second way.
	part := min(vars, 12)
	if err := way.device(q, root, in.Slice(0, 8<<part)); err != nil {
		return nil, err
	}
	got, err := root.Read(q)
	if err != nil {
		return nil, err
	}
	want, err := way.host(words[:8<<part])
	if err != nil {
		return nil, err
	}
	if merkle.Digest(got) != want {
		return nil, fmt.Errorf("the root over the first 2^%d differs", part)
	}
	m.Note = fmt.Sprintf("%d permutations", way.permutations(1<<vars))
	return []Measurement{m}, nil
}
