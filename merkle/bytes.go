package merkle

import (
	"encoding/binary"
	"sync"
	"unsafe"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/hash/blake3"
	"github.com/zkwarp/zkwarp/hash/sha256"
)

// blake3Engine hashes by keyed BLAKE3: the domain is part of the key, which takes no
// block of its own, so a node of two children is one compression.
type blake3Engine[W field.Base[W]] struct{}

// blake3Key is the key of a domain: 24 bytes of text, the domain, and zero.
func blake3Key(domain uint32) [8]uint32 {
	var k [8]uint32
	for i := range 6 {
		k[i] = binary.LittleEndian.Uint32([]byte("zkwarp hash tree, blake3")[4*i:])
	}
	k[6] = domain
	return k
}

func (blake3Engine[W]) rows(dst []DigestOf[W], m matrix[W], at int) {
	key := blake3Key(leafDomain(m.shape.RowWords))
	if width := m.shape.RowWords; !m.layout.Columns && blake3.Vectors() && canonicalMemory[W]() {
		blake3.SumMany(&key, plain(dst), memory(m.words[at*width:(at+len(dst))*width]), 4*width)
		return
	}
	rowBytes(m, 0, at, len(dst), func(i int, row []byte) { dst[i] = words[W](blake3.Sum(&key, row)) })
}

func (blake3Engine[W]) nodes(dst, src []DigestOf[W], arity int) {
	key := blake3Key(nodeDomain(arity))
	if blake3.Vectors() {
		blake3.SumMany(&key, plain(dst), memory(Words(src)), arity*DigestBytes)
		return
	}
	nodeBytes(src, 0, arity, func(i int, children []byte) { dst[i] = words[W](blake3.Sum(&key, children)) })
}

// canonicalMemory says whether W's words in memory are the canonical ones: not where
// they are in Montgomery form.
func canonicalMemory[W field.Base[W]]() bool {
	var zero W
	return uint32(zero.One()) == 1
}

// memory is words as bytes, in the machine's order.
func memory[W ~uint32](w []W) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), 4*len(w))
}

// plain is digests as the words that they are.
func plain[W ~uint32](d []DigestOf[W]) [][8]uint32 {
	return unsafe.Slice((*[8]uint32)(unsafe.Pointer(unsafe.SliceData(d))), len(d))
}

// sha256Engine hashes the domain, as four little-endian bytes, and what follows.
type sha256Engine[W field.Base[W]] struct{}

func (sha256Engine[W]) rows(dst []DigestOf[W], m matrix[W], at int) {
	rowBytes(m, leafDomain(m.shape.RowWords), at, len(dst), func(i int, row []byte) { dst[i] = words[W](sha256.Sum(row)) })
}

func (sha256Engine[W]) nodes(dst, src []DigestOf[W], arity int) {
	nodeBytes(src, nodeDomain(arity), arity, func(i int, children []byte) { dst[i] = words[W](sha256.Sum(children)) })
}

// words are the words of a digest, whatever W's elements are.
func words[W field.Base[W]](d [8]uint32) DigestOf[W] {
	var out DigestOf[W]
	for i, x := range d {
		out[i] = W(x)
	}
	return out
}

// buffers are for one row, or one node's children, as bytes.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// rowBytes calls hash for n rows from index at on: with the domain, unless that is
// 0, and the row's canonical words, little-endian.
func rowBytes[W field.Base[W]](m matrix[W], domain uint32, at, n int, hash func(i int, row []byte)) {
	pooled := buffers.Get().(*[]byte)
	defer buffers.Put(pooled)
	b := start((*pooled)[:0], domain)
	head := len(b)
	width, symbol := m.shape.RowWords, m.layout.Symbol
	for i := range n {
		b = b[:head]
		if !m.layout.Columns {
			for _, x := range m.words[(at+i)*width:][:width] {
				b = binary.LittleEndian.AppendUint32(b, x.Uint32())
			}
		} else {
			for c := range width / symbol {
				from := (c*m.shape.Rows + at + i) * symbol
				for _, x := range m.words[from : from+symbol] {
					b = binary.LittleEndian.AppendUint32(b, x.Uint32())
				}
			}
		}
		hash(i, b)
	}
	*pooled = b
}

// nodeBytes calls hash for each arity digests of src, with the domain, unless that
// is 0, before them.
func nodeBytes[W field.Base[W]](src []DigestOf[W], domain uint32, arity int, hash func(i int, children []byte)) {
	var buffer [4 + 8*DigestBytes]byte
	b := start(buffer[:0], domain)
	head := len(b)
	for i := range len(src) / arity {
		b = b[:head]
		for _, d := range src[i*arity : (i+1)*arity] {
			for _, x := range d {
				b = binary.LittleEndian.AppendUint32(b, uint32(x))
			}
		}
		hash(i, b)
	}
}

func start(b []byte, domain uint32) []byte {
	if domain == 0 {
		return b
	}
	return binary.LittleEndian.AppendUint32(b, domain)
}
