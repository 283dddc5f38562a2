package chunks_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/zkml/chunks"
)

// pieces is a writer with room for so many bytes, which notes the longest piece that it got.
type pieces struct {
	bytes.Buffer
	room, longest int
}

func (p *pieces) Write(b []byte) (int, error) {
	if p.longest = max(p.longest, len(b)); p.Len()+len(b) > p.room {
		return 0, io.ErrShortWrite
	}
	return p.Buffer.Write(b)
}

// TestProofWritten writes a proof part by part: the bytes of its encoding, none of them twice in memory, and the writer's error wherever it fails.
func TestProofWritten(t *testing.T) {
	p := &chunks.Proof{}
	for k := range 5 {
		p.Y, p.Roots = append(p.Y, []int32{int32(k), -7}), append(p.Roots, make([]merkle.Digest, k%2))
		p.Proofs = append(p.Proofs, bytes.Repeat([]byte{byte(k)}, 1000+k))
	}
	want := p.Encode()
	back, err := chunks.DecodeProof(want)
	if err != nil || !reflect.DeepEqual(back, p) {
		t.Fatalf("another proof comes back: %v", err)
	}
	w := &pieces{room: len(want)}
	if err := p.Write(w); err != nil || !bytes.Equal(w.Bytes(), want) {
		t.Errorf("written as other bytes than it has: %v", err)
	}
	if w.longest > 1100 {
		t.Errorf("%d bytes at once, want a part's", w.longest)
	}
	for room := 0; room < len(want); room += 97 {
		if err := p.Write(&pieces{room: room}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("written to %d bytes of room: %v", room, err)
		}
	}
}
