package whirfile

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Key is what the maker of a commitment keeps for openings: the commitment and
// where its tables are. Who has it can learn the tables.
type Key struct {
	Commitment *Commitment
	Tables     []Table
}

// Source says where a table is.
type Source uint32

// Sources of tables.
const (
	Embedded Source = iota // in the key
	File                   // a file, by its path from the key's folder
	Seed                   // random words from a seed
)

// Table is one table of a key.
type Table struct {
	Source Source
	// Name is the path or the seed.
	Name string
	// Words of an embedded table.
	Words []uint32
	// Digest of the words, by [TableDigest].
	Digest [32]byte
}

// TableDigest is SHA-256 of a table's words as little-endian bytes.
func TableDigest(words []uint32) (out [32]byte) {
	h := sha256.New()
	buf := make([]byte, 0, 1<<14)
	for len(words) > 0 {
		n := min(len(words), cap(buf)/4)
		buf = buf[:0]
		for _, w := range words[:n] {
			buf = binary.LittleEndian.AppendUint32(buf, w)
		}
		h.Write(buf)
		words = words[n:]
	}
	h.Sum(out[:0])
	return out
}

// Encode is the key as a file, at whose end is SHA-256 of the rest: nothing else
// would show that a key was spoiled before its proofs are found worthless.
func (k *Key) Encode() []byte {
	b := appendPart(header(MagicKey), k.Commitment.Encode())
	for _, t := range k.Tables {
		b = binary.LittleEndian.AppendUint32(b, uint32(t.Source))
		b = appendPart(b, []byte(t.Name))
		b = append(b, t.Digest[:]...)
		for _, w := range t.Words {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// maxName is the longest path or seed in a key.
const maxName = 1 << 12

// DecodeKey reads a key.
func DecodeKey(data []byte) (*Key, error) {
	d := &parts{data: data}
	d.header(MagicKey, "key")
	if d.err != nil {
		return nil, d.err
	}
	start, body := len(data)-len(d.data), len(data)-sha256.Size
	if body < start || sha256.Sum256(data[:body]) != [32]byte(data[body:]) {
		return nil, fmt.Errorf("%w: the key is cut off or was changed: it does not have the SHA-256 at its end", ErrFormat)
	}
	d.data = data[start:body]
	commitment := d.part("the commitment")
	if d.err != nil {
		return nil, d.err
	}
	k := &Key{}
	var err error
	if k.Commitment, err = DecodeCommitment(commitment); err != nil {
		return nil, fmt.Errorf("commitment: %w", err)
	}
	p := k.Commitment.Params
	for i := 0; i < p.Tables() && d.err == nil; i++ {
		t := Table{Source: Source(d.uint32("a table's source")), Name: string(d.part("a table's name"))}
		copy(t.Digest[:], d.take(32, "a table's digest"))
		switch {
		case t.Source > Seed:
			d.fail("table %d has source %d, want 0 to %d", i, t.Source, Seed)
		case len(t.Name) > maxName || (t.Source == Embedded) != (t.Name == ""):
			d.fail("table %d has a name of %d bytes", i, len(t.Name))
		case t.Source == Embedded:
			raw := d.take(4*p.TableWords(), "a table")
			if d.err != nil {
				break
			}
			t.Words = make([]uint32, p.TableWords())
			for j := range t.Words {
				t.Words[j] = binary.LittleEndian.Uint32(raw[4*j:])
			}
			if err := p.CheckTable(t.Words); err != nil {
				d.fail("table %d: %w", i, err)
			}
			if t.Digest != TableDigest(t.Words) {
				d.fail("table %d does not have the digest that the key says", i)
			}
		}
		k.Tables = append(k.Tables, t)
	}
	d.end()
	if d.err != nil {
		return nil, d.err
	}
	return k, nil
}
