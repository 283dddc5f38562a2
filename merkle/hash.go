package merkle

import (
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

// Hash is how a tree over words of W hashes its rows and nodes. It is made by
// Poseidon2, BLAKE3 or SHA256, does not change, and may be used from several
// goroutines at once.
type Hash[W field.Base[W]] struct {
	name    string
	variant string
	raw     bool
	engine  engine[W]
}

// engine hashes many rows or nodes. Every one has the same digests for one row or
// node alone.
type engine[W field.Base[W]] interface {
	// rows hashes the rows that lie from index at on in m's memory, one for each
	// digest of dst.
	rows(dst []DigestOf[W], m matrix[W], at int)
	// nodes hashes each arity digests of src to one of dst.
	nodes(dst, src []DigestOf[W], arity int)
}

// Poseidon2 hashes with a permutation over the field: rows by an overwrite sponge of
// width 16, nodes of two children by one permutation of that width, nodes of four
// and eight by a sponge of width 24.
func Poseidon2[W field.Base[W]](p *poseidon2.Permutation[W]) *Hash[W] {
	return &Hash[W]{name: "poseidon2", variant: p.Name, engine: newSponge(p)}
}

// BLAKE3 hashes the canonical words as bytes, under a key for each length of rows
// and each arity.
func BLAKE3[W field.Base[W]]() *Hash[W] {
	return &Hash[W]{name: "blake3", variant: "blake3", raw: true, engine: blake3Engine[W]{}}
}

// SHA256 hashes the canonical words as bytes, behind four bytes for each length of
// rows and each arity.
func SHA256[W field.Base[W]]() *Hash[W] {
	return &Hash[W]{name: "sha256", variant: "sha256", raw: true, engine: sha256Engine[W]{}}
}

// Name is poseidon2, blake3 or sha256.
func (h *Hash[W]) Name() string { return h.name }

// Variant names the hash among kernels: the field, for Poseidon2 over it, blake3 or
// sha256.
func (h *Hash[W]) Variant() string { return h.variant }

// Raw says whether digests are a byte hash's 32 bytes as they are, and not field
// elements.
func (h *Hash[W]) Raw() bool { return h.raw }

// Domains, of which every hash takes in one at first: leafTag plus the words of a
// row, nodeTag plus the arity. A node of two children under Poseidon2 is the
// exception: it has no room for one, but is no sponge either, and differs from every
// row in the words where that has its domain. Transcripts have tags below leafTag.
const (
	leafTag = 1 << 16
	nodeTag = 1 << 17
)

func leafDomain(words int) uint32 { return leafTag + uint32(words) }

func nodeDomain(arity int) uint32 { return nodeTag + uint32(arity) }

// Row is the digest of a row as a leaf. The row must not be empty.
func (h *Hash[W]) Row(row []W) DigestOf[W] {
	var d [1]DigestOf[W]
	h.engine.rows(d[:], matrix[W]{words: row, shape: Shape{Rows: 1, RowWords: len(row)}, layout: RowMajor()}, 0)
	return d[0]
}

// Node is the digest of an inner node of 2, 4 or 8 children.
func (h *Hash[W]) Node(children []DigestOf[W]) DigestOf[W] {
	var d [1]DigestOf[W]
	h.engine.nodes(d[:], children, len(children))
	return d[0]
}

var m31Hash = Poseidon2(poseidon2.M31Permutation())

// M31 is Poseidon2 over Mersenne-31: what the functions of this package use that
// take no hash.
func M31() *Hash[m31.Element] { return m31Hash }

// HashRow is M31's digest of a row as a leaf.
func HashRow(row []m31.Element) Digest { return m31Hash.Row(row) }

// HashNode is M31's digest of an inner node of 2, 4 or 8 children.
func HashNode(children []Digest) Digest { return m31Hash.Node(children) }
