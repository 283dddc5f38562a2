package prover

import (
	"context"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/whir"
	whirprover "github.com/zkwarp/zkwarp/whir/prover"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Form says in what form a key stays in a device's memory between proofs. Proofs are the same.
type Form uint8

// Forms of keys. On the CPU there is the first one only.
const (
	// Wide is all that proofs read: a word of 4 bytes for every weight, with padding, and the codewords and the tree of the commitment to them.
	Wide Form = iota
	// Narrow is the weights in the 1, 2 or 4 bytes in which they are stored, without padding, and the tree. Every proof makes the words and, to open the
	// commitment, the codewords for itself. The first proof of a key that was not loaded before has them from its load.
	Narrow
)

// narrows says whether a key on q's device can become narrow.
func (pk *ProvingKey) narrows(q *device.Queue) bool {
	pk.mu.Lock()
	defer pk.mu.Unlock()
	return !q.OnHost() && pk.stack == nil
}

func (k *keyMemory) isNarrow() bool { return k.stored != nil && k.words.Len() == 0 }

// narrow gives back what every proof can make for itself, once the commitment is there. No proof may be going on.
func (k *keyMemory) narrow() {
	if k.stored == nil || k.isNarrow() {
		return
	}
	if k.committed != nil {
		c, err := k.committed.wait(context.Background())
		if err != nil {
			return // who needs it will find out
		}
		c.Shed()
		k.committed.bytes = c.Bytes()
	}
	k.words.Free()
	k.words = device.Buffer[m31.Element]{}
}

// widen is the key's memory for one proof on q, with words that are made for it if the key is narrow. done gives those back.
func (k *keyMemory) widen(q *device.Queue, l *layout) (wide *keyMemory, done func(), err error) {
	if !k.isNarrow() {
		return k, func() {}, nil
	}
	wide = &keyMemory{desc: k.desc}
	if wide.words, err = device.Alloc[m31.Element](q, l.fixed); err != nil {
		return nil, nil, fmt.Errorf("key: %w", err)
	}
	stack := wide.words.Slice(0, l.fixed-k.rest.Len())
	if err = k.stored.widen(q, stack); err == nil {
		err = device.Copy(q, wide.words.Slice(stack.Len(), l.fixed), k.rest)
	}
	if err != nil {
		wide.words.Free()
		return nil, nil, fmt.Errorf("key: %w", err)
	}
	if k.committed != nil {
		wide.committed = &commitment{finish: func() (*whirprover.CommittedM31, error) {
			c, err := k.committed.wait(q.Context())
			if err != nil {
				return nil, err
			}
			return c.Over(stack)
		}}
	}
	return wide, wide.words.Free, nil
}

// Memory estimates the bytes that a device must have for a proof: for what depends on the key alone, its weights and their codewords, and for
// the proof itself. It was compared with what proofs take on the emulator; what the CPU copies comes on top there. A proof that does not even have the memory of its tables fails at once.
func (pk *ProvingKey) Memory() (key, proof int64, err error) { return pk.MemoryAs(Wide) }

// MemoryAs is Memory for a key in that form between proofs. Loading a narrow key takes no more for a while than a proof does.
func (pk *ProvingKey) MemoryAs(form Form) (key, proof int64, err error) {
	l, err := pk.layout()
	if err != nil {
		return 0, 0, err
	}
	params := &l.plan.Stacks[plan.Parameters]
	if params.Empty() {
		form = Wide
	}
	key, words, tree, merging := l.needs()
	if form == Narrow {
		wide := 4 * int64(l.fixed)
		stored := newStoredLayout(l.plan, pk.program(), pk.weights)
		key += int64(stored.bytes) + 8*int64(len(stored.desc)) - 4<<params.Vars
		words += wide
	}
	var opened []*whir.M31Params
	var shed []bool
	for h, params := range pk.vk.Inference().Commitments {
		if params == nil {
			continue
		}
		commitment, _ := whirprover.MemoryM31(params)
		narrow := plan.Home(h) == plan.Parameters && form == Narrow
		opened, shed = append(opened, params), append(shed, narrow)
		switch {
		case plan.Home(h) != plan.Parameters:
			words += commitment
		case narrow:
			tree, _ := whirprover.MemoryShedM31(params)
			key += tree
		default:
			key += commitment
		}
	}
	opening := whirprover.MemoryOpeningsM31(opened, shed)
	// Sum-checks of the merging have folded tables beside the weights.
	return key, words + max(tree, merging+merging/2, opening), nil
}
