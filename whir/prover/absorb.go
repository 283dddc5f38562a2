package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
	transcriptprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
)

// RootBuffer is the root where it lies, 8 words, for protocols that read it
// together with other messages. It lives as long as the commitment.
func (c *Committed[W, F, E]) RootBuffer() device.Buffer[W] { return c.tree.tree.Root() }

// Absorb enqueues that tr absorbs the commitment's Words. It waits only where the
// hash has roots that are bytes.
func (c *Committed[W, F, E]) Absorb(q *device.Queue, tr *transcriptprover.Of[W, E]) error {
	if c.v.scheme.Hash.Raw() {
		words, err := c.Words()
		if err != nil {
			return err
		}
		return tr.AbsorbHost(words)
	}
	return absorbRoot(q, tr, c.v.scheme.CommitmentWords(c.params, [8]W{}), c.RootBuffer())
}

// absorbRoot absorbs a list that ends with the root's words, in place of those that
// it has there.
func absorbRoot[W field.Base[W], E field.Element[E]](q *device.Queue, tr *transcriptprover.Of[W, E], words []W, root device.Buffer[W]) error {
	list, err := device.Upload(q, words)
	if err != nil {
		return fmt.Errorf("whir: absorb a commitment: %w", err)
	}
	defer list.Free()
	if err := device.Copy(q, list.Slice(list.Len()-root.Len(), list.Len()), root); err != nil {
		return fmt.Errorf("whir: absorb a commitment: %w", err)
	}
	return tr.Absorb(list)
}

// RootBuffer is the root where it lies, 8 words.
func (c *CommittedM31) RootBuffer() device.Buffer[m31.Element] { return c.inner.RootBuffer() }

// Absorb enqueues that tr absorbs the commitment's Words.
func (c *CommittedM31) Absorb(q *device.Queue, tr *transcriptprover.Transcript) error {
	return absorbRoot(q, tr, c.params.CommitmentWords([8]m31.Element{}), c.RootBuffer())
}

// Bytes is the device memory of the codewords, while they are there, and of the tree, rounded to digests.
func (c *CommittedM31) Bytes() int64 {
	n := treeBytes(c.params.Inner(), 0)
	if c.inner.tree.words.Len() > 0 {
		n += codeBytes(c.params.Inner(), 0)
	}
	return n
}

// MemoryM31 is the device memory that a commitment takes beside its table, and about what opening it takes besides.
func MemoryM31(p *whir.M31Params) (commitment, opening int64) {
	return commitBytes(p.Inner(), 0), openBytes(p.Inner())
}

// MemoryShedM31 is the device memory that a commitment without codewords takes ([CommittedM31.Shed]), its tree, and that of its codewords, which an
// opening takes for a while besides what MemoryM31 says.
func MemoryShedM31(p *whir.M31Params) (tree, codewords int64) {
	return treeBytes(p.Inner(), 0), codeBytes(p.Inner(), 0)
}

// MemoryOpeningsM31 is about the device memory that OpenAllM31 takes besides the commitments; shed says which of these have no codewords.
func MemoryOpeningsM31(params []*whir.M31Params, shed []bool) int64 {
	var kept, most, codes int64
	for i, p := range params {
		k, steps := openParts(p.Inner())
		kept += k
		most = max(most, steps)
		if shed[i] {
			codes += codeBytes(p.Inner(), 0)
		}
	}
	return kept + max(most, codes)
}
