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
	threads = 128 // of a block
	// topDigests is how many digests merkle_top starts from at most: above, a
	// level has work for the whole card.
	topDigests = 1 << 15
)

// topPart is how many digests of a tree of that arity a block of merkle_top
// takes: a power of the arity that gives its threads a node each, about.
func topPart(arity int) int {
	if arity == 8 {
		return 512
	}
	return 256
}

func launch(q *device.Queue, name string, n int, args ...device.Arg) error {
	return q.Launch(device.Kernel{Source: Source, Name: name}, device.D1(device.Blocks(n, threads)), device.D1(threads), 0, args...)
}

// layoutArgs are the arguments of element_at.
func layoutArgs(s merkle.Shape, l merkle.Layout) []device.Arg {
	symbol := 0
	if l.Columns {
		symbol = l.Symbol
	}
	return []device.Arg{device.U64(s.Rows), device.U32(s.RowWords), device.U32(symbol)}
}

func leaves(q *device.Queue, dst device.Buffer[merkle.Digest], words device.Buffer[m31.Element], s merkle.Shape, l merkle.Layout) error {
	// Four words in one piece and aligned to 16 bytes.
	vectors := 0
	if (l.Columns && l.Symbol == 4 || !l.Columns && s.RowWords%4 == 0) && words.Address()%16 == 0 {
		vectors = 1
	}
	reverse := 0
	if l.Reversed && s.Rows > 1 {
		reverse = bits.LeadingZeros32(uint32(s.Rows - 1))
	}
	args := append([]device.Arg{dst.Arg(), words.Arg()}, layoutArgs(s, l)...)
	return launch(q, "merkle_leaves", s.Rows, append(args, device.U32(reverse), device.U32(vectors))...)
}

func level(q *device.Queue, dst, src device.Buffer[merkle.Digest], arity int) error {
	n := dst.Len()
	if arity == 2 {
		return launch(q, "merkle_level2", n, dst.Arg(), src.Arg(), device.U64(n))
	}
	return launch(q, "merkle_level", n, dst.Arg(), src.Arg(), device.U64(n), device.U32(arity))
}

// top hashes all levels above the digests of src, at most topDigests and at
// least two, to tree: one behind the other.
func top(q *device.Queue, tree, src device.Buffer[merkle.Digest], arity int) error {
	n, part := src.Len(), topPart(arity)
	blocks, arrived := max(1, n/part), device.Null()
	if blocks > 1 {
		b, err := device.Alloc[uint32](q, 1)
		if err != nil {
			return err
		}
		defer b.Free()
		if err := b.Zero(q); err != nil {
			return err
		}
		arrived = b.Arg()
	}
	return q.Launch(device.Kernel{Source: Source, Name: "merkle_top"}, device.D1(blocks), device.D1(threads), 0,
		tree.Arg(), src.Arg(), device.U32(n), device.U32(arity), device.U32(part), arrived)
}
