package prover

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/fribinius"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// What decodes is encoded to the same bytes, and is verified without a panic; only the
// honest proof passes.
func FuzzDecodeProof(f *testing.F) {
	n := instance(f, 12, 3, 1)
	root, value, pf := n.prove(f, tower.New(tower.LabelFRIBinius))
	honest, err := n.p.AppendProof(nil, pf)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(honest)
	f.Add(honest[:40])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		pf, err := n.p.DecodeProof(data)
		if err != nil {
			if !errors.Is(err, fribinius.ErrEncoding) {
				t.Fatalf("not an ErrEncoding: %v", err)
			}
			return
		}
		again, err := n.p.AppendProof(nil, pf)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("encoded again: %d bytes of %d, %v", len(again), len(data), err)
		}
		if err := verify(n, root, value, pf); (err == nil) != bytes.Equal(data, honest) {
			t.Fatalf("verification: %v", err)
		}
	})
}

// Numbers of rows and siblings that the rest of the proof cannot hold, or that no
// opening has, take no memory.
func TestHugeCounts(t *testing.T) {
	n := instance(t, 12, 3, 1)
	_, _, pf := n.prove(t, tower.New(tower.LabelFRIBinius))
	data, err := n.p.AppendProof(nil, pf)
	if err != nil {
		t.Fatal(err)
	}
	at := len(data) - 4*(len(pf.Openings[0].Rows)+8*len(pf.Openings[0].Siblings)+2)
	if got := binary.LittleEndian.Uint32(data[at:]); int(got)*n.p.Tree(0).RowWords != len(pf.Openings[0].Rows) {
		t.Fatalf("the number of rows is not at %d", at)
	}
	// No rows, and none there.
	if _, err := n.p.DecodeProof(append(slices.Clone(data[:at]), make([]byte, 8)...)); !errors.Is(err, fribinius.ErrEncoding) {
		t.Errorf("an opening of nothing: %v", err)
	}
	for _, where := range []int{at, at + 4} {
		for _, count := range []uint32{0, 1<<32 - 1, 1 << 31, 1 << 26, uint32(n.p.Queries()) + 1} {
			if binary.LittleEndian.Uint32(data[where:]) == count {
				continue // no siblings, where all leaves are asked for
			}
			changed := slices.Clone(data)
			binary.LittleEndian.PutUint32(changed[where:], count)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, got := n.p.DecodeProof(changed)
			runtime.ReadMemStats(&after)
			if !errors.Is(got, fribinius.ErrEncoding) {
				t.Errorf("count %d at %d: %v", count, where, got)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20+2*uint64(len(data)) {
				t.Errorf("count %d at %d: %d bytes of memory for a proof of %d", count, where, used, len(data))
			}
		}
	}
	// A row more than there are leaves, all of it there.
	rows := n.p.Tree(0).Rows + 1
	more := binary.LittleEndian.AppendUint32(slices.Clone(data[:at]), uint32(rows))
	more = append(more, make([]byte, 4+4*rows*n.p.Tree(0).RowWords)...)
	if _, err := n.p.DecodeProof(more); !errors.Is(err, fribinius.ErrEncoding) {
		t.Errorf("%d rows of a tree with one less: %v", rows, err)
	}
}
