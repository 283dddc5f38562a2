package zkml

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"sync"
	"unsafe"

	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/transcript"
)

// Digests stand for a statement's inputs and outputs: the transcript absorbs
// them in place of the values, and a proof's header has them. Provers and
// verifiers make them from the values that they hold.
type Digests struct {
	Input, Output [32]byte // of those that are public
	// Roots of those that are committed, inputs before outputs, both in the
	// program's order.
	Roots []merkle.Digest
}

// Labels of the two digests; they separate their domains.
const (
	labelInput  = "zkwarp zkml input\n"
	labelOutput = "zkwarp zkml output\n"
)

// DigestsOf hashes the public inputs x and outputs y, both at the same time.
func DigestsOf(x, y []int32) Digests {
	d := NewDigester(x, len(y))
	d.Output(y)
	return d.Digests()
}

// Digester makes the digests of a statement whose outputs arrive in parts. It hashes
// a part while the caller gets the next one.
type Digester struct {
	parts  chan []int32
	inputs sync.WaitGroup
	done   chan struct{}
	close  sync.Once
	d      Digests
}

// NewDigester begins the digests of inputs x and of a number of outputs, none of which
// may be changed before Digests has returned. Digests must be called in the end.
func NewDigester(x []int32, outputs int) *Digester {
	d := &Digester{parts: make(chan []int32, 64), done: make(chan struct{})}
	d.inputs.Go(func() {
		h := newValues(labelInput, len(x))
		h.write(x)
		d.d.Input = h.sum()
	})
	go func() {
		defer close(d.done)
		h := newValues(labelOutput, outputs)
		for v := range d.parts {
			h.write(v)
		}
		d.d.Output = h.sum()
	}()
	return d
}

// Output is the next part of the outputs. No part may follow Digests.
func (d *Digester) Output(y []int32) { d.parts <- y }

// Digests waits for the digests. The output's means nothing unless the parts have the
// number of values that NewDigester was given.
func (d *Digester) Digests() Digests {
	d.close.Do(func() { close(d.parts) })
	d.inputs.Wait()
	<-d.done
	return d.d
}

// values hashes a list: SHA-256 of the label, of the number of values in 64 bits and
// of the values in 32 bits each, all little-endian. No two lists of a label have the
// same bytes.
type values struct{ h hash.Hash }

func newValues(label string, n int) values {
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64([]byte(label), uint64(n)))
	return values{h}
}

func (s values) write(v []int32) {
	if littleEndian {
		s.h.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v)))
		return
	}
	var block [1 << 14]byte
	for part := range slices.Chunk(v, len(block)/4) {
		for i, x := range part {
			binary.LittleEndian.PutUint32(block[4*i:], uint32(x))
		}
		s.h.Write(block[:4*len(part)])
	}
}

func (s values) sum() (d [32]byte) {
	s.h.Sum(d[:0])
	return d
}

// littleEndian says that values lie in memory as they are hashed.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// AbsorbStatement absorbs what an inference is about: the digests of public
// inputs and outputs, and the caller's context. The digests are to be those of the
// values that the rest of the argument is about (DigestsOf), never read from a
// proof. Commitments follow (Argument.ReceiveStatement).
func AbsorbStatement(tr *transcript.Transcript, d Digests, context []byte) {
	tr.AbsorbBytes(d.Input[:])
	tr.AbsorbBytes(d.Output[:])
	tr.AbsorbBytes(context)
}
