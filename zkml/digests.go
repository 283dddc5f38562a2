package zkml

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/zkwarp/zkwarp/transcript"
)

// Digests stand for a statement's inputs and outputs: the transcript absorbs
// them in place of the values, and a proof's header has them. Provers and
// verifiers make them from the values that they hold.
type Digests struct {
	Input, Output [32]byte
}

// Labels of the two digests; they separate their domains.
const (
	labelInput  = "zkwarp zkml input\n"
	labelOutput = "zkwarp zkml output\n"
)

// DigestsOf hashes the inputs x and the outputs y, both at the same time.
func DigestsOf(x, y []int32) Digests {
	var d Digests
	var wg sync.WaitGroup
	wg.Go(func() { d.Input = valuesDigest(labelInput, x) })
	d.Output = valuesDigest(labelOutput, y)
	wg.Wait()
	return d
}

// valuesDigest is SHA-256 of the label, of the number of values in 64 bits and
// of the values in 32 bits each, all little-endian: no two lists of a label
// have the same bytes.
func valuesDigest(label string, v []int32) (d [32]byte) {
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64([]byte(label), uint64(len(v))))
	var block [1 << 14]byte
	for len(v) > 0 {
		n := min(len(v), len(block)/4)
		for i, x := range v[:n] {
			binary.LittleEndian.PutUint32(block[4*i:], uint32(x))
		}
		h.Write(block[:4*n])
		v = v[n:]
	}
	h.Sum(d[:0])
	return d
}

// AbsorbStatement absorbs what an inference is about: the digests of inputs and
// outputs, and the caller's context. The digests are to be those of the values
// that the rest of the argument is about (DigestsOf), never read from a proof.
func AbsorbStatement(tr *transcript.Transcript, d Digests, context []byte) {
	tr.AbsorbBytes(d.Input[:])
	tr.AbsorbBytes(d.Output[:])
	tr.AbsorbBytes(context)
}
