package merkle

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"testing"

	"lukechampine.com/blake3"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

// suite is this package's tests for one hash over one field.
type suite interface {
	tree(t *testing.T)
	columns(t *testing.T)
	tampering(t *testing.T)
	domains(t *testing.T)
	digestBytes(t *testing.T)
	benchRoot(b *testing.B)
	benchVerify(b *testing.B)
}

type suiteOf[W field.Base[W]] struct {
	h *Hash[W]
	// The digests of a row and of a node, spelt out.
	row    func(row []W) DigestOf[W]
	node   func(children []DigestOf[W]) DigestOf[W]
	bytes  func(d DigestOf[W]) []byte // the digest's bytes, where the hash has them
	others []*Hash[W]                 // hashes under which its trees do not verify
}

func suites() map[string]suite {
	all := map[string]suite{}
	add(all, "m31", poseidon2.M31Permutation())
	add(all, "babybear", poseidon2.BabyBear())
	add(all, "koalabear", poseidon2.KoalaBear())
	return all
}

// add adds the three hashes over the field of p.
func add[W field.Base[W]](all map[string]suite, name string, p *poseidon2.Permutation[W]) {
	x := suiteOf[W]{h: Poseidon2(p), others: []*Hash[W]{BLAKE3[W](), SHA256[W]()}}
	var zero W
	x.row = func(row []W) DigestOf[W] {
		st := [16]W{8: zero.FromUint64(65536 + uint64(len(row)))}
		for i, w := range row {
			if i > 0 && i%8 == 0 {
				p.Permute16(&st)
			}
			st[i%8] = w
		}
		p.Permute16(&st)
		return DigestOf[W](st[:8])
	}
	x.node = func(children []DigestOf[W]) DigestOf[W] {
		in := Words(slices.Clone(children))
		if len(children) == 2 {
			st := [16]W(in)
			p.Permute16(&st)
			return DigestOf[W](st[:8])
		}
		st := [24]W{16: zero.FromUint64(131072 + uint64(len(children)))}
		for ; len(in) > 0; in = in[16:] {
			copy(st[:16], in)
			p.Permute24(&st)
		}
		return DigestOf[W](st[:8])
	}
	all["poseidon2/"+name] = x

	all["blake3/"+name] = byteSuite(BLAKE3[W](), []*Hash[W]{x.h, SHA256[W]()}, func(domain uint32, data []byte) []byte {
		key := binary.LittleEndian.AppendUint32([]byte("zkwarp hash tree, blake3"), domain)
		h := blake3.New(32, append(key, 0, 0, 0, 0))
		h.Write(data)
		return h.Sum(nil)
	})
	all["sha256/"+name] = byteSuite(SHA256[W](), []*Hash[W]{x.h, BLAKE3[W]()}, func(domain uint32, data []byte) []byte {
		d := sha256.Sum256(append(binary.LittleEndian.AppendUint32(nil, domain), data...))
		return d[:]
	})
}

func byteSuite[W field.Base[W]](h *Hash[W], others []*Hash[W], sum func(domain uint32, data []byte) []byte) suite {
	toBytes := func(d DigestOf[W]) (b []byte) {
		for _, w := range d {
			b = binary.LittleEndian.AppendUint32(b, uint32(w))
		}
		return b
	}
	digest := func(b []byte) (d DigestOf[W]) {
		for i := range d {
			d[i] = W(binary.LittleEndian.Uint32(b[4*i:]))
		}
		return d
	}
	return suiteOf[W]{
		h:      h,
		others: others,
		bytes:  toBytes,
		row: func(row []W) DigestOf[W] {
			var b []byte
			for _, w := range row {
				b = binary.LittleEndian.AppendUint32(b, w.Uint32())
			}
			return digest(sum(65536+uint32(len(row)), b))
		},
		node: func(children []DigestOf[W]) DigestOf[W] {
			var b []byte
			for _, d := range children {
				b = append(b, toBytes(d)...)
			}
			return digest(sum(131072+uint32(len(children)), b))
		},
	}
}

// each runs one test for all hashes over all fields.
func each(t *testing.T, f func(suite, *testing.T)) {
	all := suites()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) { f(all[name], t) })
	}
}

func eachBench(b *testing.B, f func(suite, *testing.B)) {
	all := suites()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(name, func(b *testing.B) { f(all[name], b) })
	}
}
