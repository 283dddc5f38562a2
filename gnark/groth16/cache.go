package groth16

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
)

// keys is how many proving keys Prove keeps.
const keys = 4

// recent are the keys that Prove was last used with: what makes its second proof faster
// than the first although its caller, who is gnark's, has no Prover to keep.
var recent = &cache{size: keys, make: func(pk ProvingKey) (*Prover, error) { return NewProver(pk) }}

// cache keeps the provers of the most recently used keys, by the keys' identity.
type cache struct {
	size int
	make func(ProvingKey) (*Prover, error)

	mu   sync.Mutex
	list []*entry // the most recently used first
}

// entry is a key's prover, once made.
type entry struct {
	pk   ProvingKey
	once sync.Once
	p    *Prover
	err  error

	users int  // proofs under way
	gone  bool // no longer in the list: the last user closes it
}

// errFailed is for those who waited for a prover whose making panicked.
var errFailed = errors.New("groth16: the proving key could not be loaded")

// take is the prover of a key, which release gives back.
func (c *cache) take(pk ProvingKey) (*entry, error) {
	e, old := c.find(pk)
	closeAll(old)
	defer func() { // also where it panics
		if e.p == nil {
			c.forget(pk)
			c.release(e)
		}
	}()
	e.once.Do(func() {
		e.err = errFailed
		e.p, e.err = c.load(pk)
	})
	if e.err != nil {
		return nil, e.err
	}
	return e, nil
}

// find is the entry of a key, a new one if need be, with one user more, and the entries
// to be closed for it.
func (c *cache) find(pk ProvingKey) (e *entry, old []*entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.index(pk); i >= 0 {
		e = c.list[i]
		// One that has users is loaded or being loaded; users of a key that changes
		// under a proof are told by the prover.
		if e.users == 0 && !e.p.current() {
			old = c.drop(i)
			e = nil
		} else {
			c.list = slices.Delete(c.list, i, i+1)
		}
	}
	if e == nil {
		e = &entry{pk: pk}
	}
	e.users++
	c.list = slices.Insert(c.list, 0, e)
	for len(c.list) > c.size {
		old = append(old, c.drop(len(c.list)-1)...)
	}
	return e, old
}

func (c *cache) index(pk ProvingKey) int {
	return slices.IndexFunc(c.list, func(e *entry) bool { return e.pk == pk })
}

// load makes a key's prover. Keys that were not used for longest leave where memory is
// short of it.
func (c *cache) load(pk ProvingKey) (*Prover, error) {
	for {
		p, err := c.make(pk)
		if err != nil || p.whole() || !c.leave() {
			return p, err
		}
		p.Close()
	}
}

// leave closes the least recently used entry of those that have no users.
func (c *cache) leave() bool {
	c.mu.Lock()
	var out []*entry
	for i := len(c.list) - 1; i >= 0 && out == nil; i-- {
		if c.list[i].users == 0 {
			out = c.drop(i)
		}
	}
	c.mu.Unlock()
	closeAll(out)
	return out != nil
}

// drop takes an entry from the list, and returns it if it is to be closed now.
func (c *cache) drop(i int) []*entry {
	e := c.list[i]
	c.list = slices.Delete(c.list, i, i+1)
	e.gone = true
	if e.users > 0 {
		return nil
	}
	return []*entry{e}
}

func (c *cache) release(e *entry) {
	c.mu.Lock()
	e.users--
	last := e.gone && e.users == 0
	c.mu.Unlock()
	if last {
		closeAll([]*entry{e})
	}
}

func (c *cache) forget(pk ProvingKey) {
	c.mu.Lock()
	var out []*entry
	if i := c.index(pk); i >= 0 {
		out = c.drop(i)
	}
	c.mu.Unlock()
	closeAll(out)
}

func closeAll(list []*entry) {
	for _, e := range list {
		if e.p != nil {
			e.p.Close()
		}
	}
}

// Prove proves that the witness satisfies the constraint system, as gnark's Prove does.
//
// It keeps the four proving keys, by their pointers, that it was last called with: their
// points stay on the device, and the keys in memory, until [Forget] or until four others
// were used. A key that is read into again is noticed; single points must not be written
// to. Keys leave earlier where a device's memory is short. The device is "auto"
// (see [WithDevice]), or what the environment variable ZKWARP_DEVICE says; proofs are
// checked as by a [Prover] without a verifying key, which is little (see
// [WithVerifyingKey]).
func Prove(r1cs constraint.ConstraintSystem, pk ProvingKey, fullWitness witness.Witness, opts ...backend.ProverOption) (Proof, error) {
	e, err := recent.take(pk)
	if err != nil {
		return nil, err
	}
	defer recent.release(e)
	return e.p.Prove(context.Background(), r1cs, fullWitness, opts...)
}

// Forget gives back the memory that Prove keeps for a key, once proofs under way are
// done.
func Forget(pk ProvingKey) { recent.forget(pk) }
