package prover

import (
	_ "embed"
	"math/bits"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
	"github.com/zkwarp/zkwarp/merkle"
)

//go:embed merkle.cu
var text string

// Source holds the kernels of this package.
var Source = &kernel.Source{
	Name:    "merkle/prover/merkle.cu",
	Text:    text,
	Headers: []*kernel.Source{poseidon2.Header},
}

const (
	threads    = 128 // of all kernels but merkle_top
	topThreads = 256
	// topDigests is how many digests merkle_top starts from: above, a level
	// has work for more than one block.
	topDigests = 1024
)

func launch(q *device.Queue, name string, n int, args ...device.Arg) error {
	return q.Launch(device.Kernel{Source: Source, Name: name}, device.D1(device.Blocks(n, threads)), device.D1(threads), 0, args...)
}

// layoutArgs are the arguments of element_at.
func layoutArgs(s merkle.Shape, l merkle.Layout) []device.Arg {
	columns, shift := 0, 0
	if l.Columns {
		columns, shift = 1, bits.TrailingZeros(uint(l.Symbol))
	}
	return []device.Arg{device.U64(s.Rows), device.U32(s.RowWords), device.U32(columns), device.U32(shift)}
}

func leaves(q *device.Queue, dst device.Buffer[merkle.Digest], words device.Buffer[m31.Element], s merkle.Shape, l merkle.Layout) error {
	return launch(q, "merkle_leaves", s.Rows, append([]device.Arg{dst.Arg(), words.Arg()}, layoutArgs(s, l)...)...)
}

func level(q *device.Queue, dst, src device.Buffer[merkle.Digest], arity int) error {
	n := dst.Len()
	if arity == 2 {
		return launch(q, "merkle_level2", n, dst.Arg(), src.Arg(), device.U64(n))
	}
	return launch(q, "merkle_level", n, dst.Arg(), src.Arg(), device.U64(n), device.U32(arity))
}

// top hashes all levels above the first n digests of tree.
func top(q *device.Queue, tree device.Buffer[merkle.Digest], n, arity int) error {
	return q.Launch(device.Kernel{Source: Source, Name: "merkle_top"}, device.D1(1), device.D1(topThreads), 0,
		tree.Arg(), device.U32(n), device.U32(arity))
}
