package prover

import (
	_ "embed"
	"fmt"
	"math/bits"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/blake3"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
	"github.com/zkwarp/zkwarp/hash/sha256"
	"github.com/zkwarp/zkwarp/merkle"
)

var (
	//go:embed merkle.cu
	treeText string
	//go:embed gather.cu
	gatherText string
	//go:embed row.cuh
	rowText string
	//go:embed poseidon2.cuh
	poseidon2Text string
	//go:embed blake3.cuh
	blake3Text string
	//go:embed sha256.cuh
	sha256Text string
)

var (
	rowHeader = &kernel.Source{Name: "merkle/prover/row.cuh", Text: rowText, Headers: []*kernel.Source{kernel.PTX}}
	gatherer  = &kernel.Source{Name: "merkle/prover/gather.cu", Text: gatherText, Headers: []*kernel.Source{rowHeader}}

	treeTemplate      = kernel.Template{Name: "merkle/prover/merkle.cu", Text: treeText}
	poseidon2Template = kernel.Template{Name: "merkle/prover/poseidon2.cuh", Text: poseidon2Text}
)

// units are the kernels of trees by merkle.Hash's Variant.
var units = map[string]*kernel.Source{
	"m31":       poseidon2Unit(poseidon2.M31Permutation(), "128", m31.KernelQM31.Header),
	"babybear":  poseidon2Unit(poseidon2.BabyBear(), "128, 10", babybear.Header),
	"koalabear": poseidon2Unit(poseidon2.KoalaBear(), "128, 10", koalabear.Header),
	"blake3":    unit("blake3", "128", &kernel.Source{Name: "merkle/prover/blake3.cuh", Text: blake3Text, Headers: []*kernel.Source{blake3.Header, rowHeader}}),
	"sha256":    unit("sha256", "128", &kernel.Source{Name: "merkle/prover/sha256.cuh", Text: sha256Text, Headers: []*kernel.Source{sha256.Header, rowHeader}}),
}

// unit is the kernels for one hash. bounds are the launch bounds of merkle_leaves.
func unit(variant, bounds string, hash *kernel.Source) *kernel.Source {
	return treeTemplate.Unit(variant, []string{"HASH_HEADER", hash.Name, "LEAVES_BOUNDS", bounds}, hash)
}

func poseidon2Unit[W field.Base[W]](p *poseidon2.Permutation[W], bounds string, words *kernel.Source) *kernel.Source {
	return unit(p.Name, bounds, poseidon2Template.Unit(p.Name,
		[]string{"FIELD_HEADER", words.Name, "POSEIDON2_HEADER", p.Header.Name, "POSEIDON2_WARP_HEADER", p.WarpHeader.Name}, words, p.Header, p.WarpHeader, rowHeader))
}

// Sources holds the kernels of this package.
func Sources() []*kernel.Source {
	return []*kernel.Source{units["m31"], units["babybear"], units["koalabear"], units["blake3"], units["sha256"], gatherer}
}

// SourcesOf is the kernels for trees by one hash, to preload them.
func SourcesOf[W field.Base[W]](h *merkle.Hash[W]) []*kernel.Source {
	return []*kernel.Source{units[h.Variant()], gatherer}
}

const (
	threads    = 128 // of a block
	topThreads = 512 // of a block of merkle_top
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

// launch enqueues a kernel of the hash's unit, by its name without the variant.
func launch[W field.Base[W]](q *device.Queue, h *merkle.Hash[W], name string, blocks, size, shared int, args ...device.Arg) error {
	u, ok := units[h.Variant()]
	if !ok {
		return fmt.Errorf("%w: no kernels for trees by %s", device.ErrUsage, h.Variant())
	}
	return q.Launch(device.Kernel{Source: u, Name: name + "_" + h.Variant()}, device.D1(blocks), device.D1(size), shared, args...)
}

// symbolOf is merkle_row's symbol.
func symbolOf(l merkle.Layout) int {
	if l.Columns {
		return l.Symbol
	}
	return 0
}

// montgomery is merkle_row's modulus and inverse for words of W.
func montgomery[W field.Base[W]]() (modulus, inverse uint32) {
	var zero W
	if uint32(zero.One()) == 1 {
		return 0, 0
	}
	p := zero.Modulus()
	inverse = -p // right modulo 8, and each step doubles the bits
	for range 4 {
		inverse *= 2 + p*inverse
	}
	return p, inverse
}

// leaves hashes all rows. arrived is one word for top, or empty.
func leaves[W field.Base[W]](q *device.Queue, h *merkle.Hash[W], dst device.Buffer[merkle.DigestOf[W]], words device.Buffer[W], arrived device.Buffer[uint32], s merkle.Shape, l merkle.Layout) error {
	// Four words in one piece and aligned to 16 bytes.
	vectors := 0
	if (l.Columns && l.Symbol == 4 || !l.Columns && s.RowWords%4 == 0) && words.Address()%16 == 0 {
		vectors = 1
	}
	reverse := 0
	if l.Reversed && s.Rows > 1 {
		reverse = bits.LeadingZeros32(uint32(s.Rows - 1))
	}
	stacks := 0
	if h.Name() == "blake3" {
		stacks = threads * 8 * 4 * bits.Len(uint((s.RowWords-1)/256))
	}
	modulus, inverse := montgomery[W]()
	return launch(q, h, "merkle_leaves", device.Blocks(s.Rows, threads), threads, stacks, dst.Arg(), words.Arg(), arrived.Arg(), device.U64(s.Rows), device.U32(s.RowWords),
		device.U32(symbolOf(l)), device.U32(reverse), device.U32(vectors), device.U32(modulus), device.U32(inverse))
}

func level[W field.Base[W]](q *device.Queue, h *merkle.Hash[W], dst, src device.Buffer[merkle.DigestOf[W]], arity int) error {
	n := dst.Len()
	if arity == 2 {
		return launch(q, h, "merkle_level2", device.Blocks(n, threads), threads, 0, dst.Arg(), src.Arg(), device.U64(n))
	}
	return launch(q, h, "merkle_level", device.Blocks(n, threads), threads, 0, dst.Arg(), src.Arg(), device.U64(n), device.U32(arity))
}

// top hashes all levels above the digests of src, at most topDigests and at
// least two, to tree: one behind the other. arrived is one word that leaves were
// given, or empty.
func top[W field.Base[W]](q *device.Queue, h *merkle.Hash[W], tree, src device.Buffer[merkle.DigestOf[W]], arrived device.Buffer[uint32], arity int) error {
	n, part := src.Len(), topPart(arity)
	blocks := max(1, n/part)
	if blocks > 1 && arrived.Len() == 0 {
		own, err := device.Alloc[uint32](q, 1)
		if err != nil {
			return err
		}
		defer own.Free()
		if err := own.Zero(q); err != nil {
			return err
		}
		arrived = own
	}
	return launch(q, h, "merkle_top", blocks, topThreads, 0, tree.Arg(), src.Arg(), device.U32(n), device.U32(arity), device.U32(part), arrived.Arg())
}
