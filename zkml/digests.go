package zkml

import (
	"crypto/sha256"
	"encoding/binary"
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

// Labels of the two digests and of what they are made of; they separate their domains.
const (
	labelInput  = "zkwarp zkml input\n"
	labelOutput = "zkwarp zkml output\n"
	labelBlock  = "zkwarp zkml values\n"
)

// DigestsOf hashes the public inputs x and outputs y, on all processors.
func DigestsOf(x, y []int32) Digests {
	d := NewDigester(x, len(y))
	d.Output(y)
	return d.Digests()
}

// Digester makes the digests of a statement whose outputs arrive in parts. It hashes
// a part while the caller gets the next one.
type Digester struct {
	input, output values
	done          sync.Once
	d             Digests
}

// NewDigester begins the digests of inputs x and of a number of outputs, none of which
// may be changed before Digests has returned. Digests must be called in the end.
func NewDigester(x []int32, outputs int) *Digester {
	d := &Digester{input: values{label: labelInput, n: len(x)}, output: values{label: labelOutput, n: outputs}}
	d.input.write(x)
	return d
}

// Output is the next part of the outputs. No part may follow Digests.
func (d *Digester) Output(y []int32) { d.output.write(y) }

// Digests waits for the digests. The output's means nothing unless the parts have the
// number of values that NewDigester was given.
func (d *Digester) Digests() Digests {
	d.done.Do(func() { d.d.Input, d.d.Output = d.input.sum(), d.output.sum() })
	return d.d
}

// digestBlock is the number of values that are hashed by themselves.
const digestBlock = 1 << 16

// values hashes a list: SHA-256 of the label, of the number of values in 64 bits and
// of the digests of its blocks in order. A block is digestBlock values, the last one
// less, and its digest SHA-256 of labelBlock and of the values in 32 bits each. All
// numbers are little-endian. No two lists of a label have the same bytes, unless two
// blocks have the same digest.
type values struct {
	label  string
	n      int
	blocks []*[32]byte // of the whole ones, as soon as they are done
	work   sync.WaitGroup
	rest   [][]int32 // the parts of the block that is not whole
	have   int       // values in rest
}

// write takes the next values. Blocks that are whole are hashed beside the caller.
func (s *values) write(v []int32) {
	for len(v) > 0 {
		n := min(digestBlock-s.have, len(v))
		s.rest, s.have, v = append(s.rest, v[:n:n]), s.have+n, v[n:]
		if s.have < digestBlock {
			return
		}
		parts, to := s.rest, new([32]byte)
		s.rest, s.have, s.blocks = nil, 0, append(s.blocks, to)
		s.work.Go(func() { *to = hashBlock(parts) })
	}
}

func (s *values) sum() (d [32]byte) {
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64([]byte(s.label), uint64(s.n)))
	var last [32]byte
	if s.have > 0 {
		last = hashBlock(s.rest)
	}
	s.work.Wait()
	for _, b := range s.blocks {
		h.Write(b[:])
	}
	if s.have > 0 {
		h.Write(last[:])
	}
	h.Sum(d[:0])
	return d
}

// hashBlock is the digest of a block whose values lie in parts.
func hashBlock(parts [][]int32) (d [32]byte) {
	h := sha256.New()
	h.Write([]byte(labelBlock))
	for _, v := range parts {
		if littleEndian {
			h.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v)))
			continue
		}
		var buffer [1 << 12]byte
		for part := range slices.Chunk(v, len(buffer)/4) {
			for i, x := range part {
				binary.LittleEndian.PutUint32(buffer[4*i:], uint32(x))
			}
			h.Write(buffer[:4*len(part)])
		}
	}
	h.Sum(d[:0])
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
