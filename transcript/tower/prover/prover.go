// Package prover is the transcript over GF(2^128) where the prover's data is: its state
// lies on the device, and absorbing and drawing challenges are launches like any other,
// so that a protocol runs without waiting for the host. It goes through exactly the
// states of package tower.
package prover

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// Transcript is a transcript on a queue's device. Its methods enqueue work and return; on
// the CPU they act at once.
type Transcript struct {
	q     *device.Queue
	host  *tower.Transcript // on the CPU
	state device.Buffer[uint32]
}

// The state's buffer: tower.State, and what the blocks of a search for work share.
const (
	stateWords  = len(tower.State{})
	sharedWords = stateWords + 4
)

// MaxListWords is the length of the longest list that is absorbed on a device.
const MaxListWords = 1 << 30

// FromHost continues a host transcript on the device, from a copy of it.
func FromHost(q *device.Queue, t *tower.Transcript) (*Transcript, error) {
	if q.OnHost() {
		return &Transcript{q: q, host: t.Clone()}, nil
	}
	state, err := device.Alloc[uint32](q, sharedWords)
	if err != nil {
		return nil, fmt.Errorf("tower transcript to device: %w", err)
	}
	var words [sharedWords]uint32
	s := t.State()
	copy(words[:], s[:])
	words[stateWords], words[stateWords+1] = math.MaxUint32, math.MaxUint32
	if err := state.CopyFrom(q, words[:]); err != nil {
		state.Free()
		return nil, fmt.Errorf("tower transcript to device: %w", err)
	}
	return &Transcript{q: q, state: state}, nil
}

// New starts a transcript of the protocol with that label.
func New(q *device.Queue, label tower.Label) (*Transcript, error) {
	return FromHost(q, tower.New(label))
}

// Host waits for the queue and returns a copy of the transcript, to be continued on the
// host.
func (t *Transcript) Host() (*tower.Transcript, error) {
	if t.host != nil {
		if err := t.q.Err(); err != nil {
			return nil, err
		}
		return t.host.Clone(), nil
	}
	var s tower.State
	if err := t.state.Slice(0, len(s)).CopyTo(t.q, s[:]); err != nil {
		return nil, fmt.Errorf("tower transcript from device: %w", err)
	}
	return tower.FromState(s)
}

// Local is the transcript itself where the queue runs on the host, for the Go twins of
// operations that absorb in passing; nil elsewhere.
func (t *Transcript) Local() *tower.Transcript { return t.host }

// State is the state's buffer, the words of tower.State, for kernels that include Header;
// empty where the queue runs on the host.
func (t *Transcript) State() device.Buffer[uint32] {
	if t.host != nil {
		return t.state
	}
	return t.state.Slice(0, stateWords)
}

// Use says whether work on q may absorb into the transcript and draw from it: it is a
// device.ErrUsage where that lives on another device or was freed.
func (t *Transcript) Use(q *device.Queue) error {
	if t == nil || t.q == nil || t.q.Device() != q.Device() {
		return fmt.Errorf("tower transcript: %w: none, or one of another device than %s", device.ErrUsage, q.Device().Name())
	}
	return t.state.Use(q)
}

// Free gives the state's memory back.
func (t *Transcript) Free() { t.state.Free() }

// Absorb takes the buffer's elements as one list.
func (t *Transcript) Absorb(list device.Buffer[gf2.Element]) error {
	return t.AbsorbWords(device.View[uint32](list))
}

// AbsorbWords takes the buffer's words as one list.
func (t *Transcript) AbsorbWords(list device.Buffer[uint32]) error {
	return t.AbsorbChallenge(list, device.Buffer[gf2.Element]{})
}

// Challenge draws one challenge for each element of dst, in order.
func (t *Transcript) Challenge(dst device.Buffer[gf2.Element]) error {
	if t.host == nil {
		return t.launchStep(device.Buffer[uint32]{}, true, device.Buffer[uint32]{}, dst)
	}
	if err := dst.Use(t.q); err != nil {
		return err
	}
	t.draw(dst)
	return nil
}

// AbsorbChallenge is AbsorbWords and then Challenge, in one launch.
func (t *Transcript) AbsorbChallenge(list device.Buffer[uint32], dst device.Buffer[gf2.Element]) error {
	if list.Len() > MaxListWords {
		return fmt.Errorf("%w: absorb: a list of %d words, want at most %d", device.ErrUsage, list.Len(), MaxListWords)
	}
	if t.host == nil {
		return t.launchStep(list, false, device.Buffer[uint32]{}, dst)
	}
	if err := errors.Join(list.Use(t.q), dst.Use(t.q)); err != nil {
		return err
	}
	t.host.AbsorbWords(list.Host())
	t.draw(dst)
	return nil
}

// draw fills dst with challenges on the CPU.
func (t *Transcript) draw(dst device.Buffer[gf2.Element]) {
	copy(dst.Host(), t.host.Challenges(dst.Len()))
}

// launchStep absorbs the list unless skip, and draws; nonce becomes that of no work.
func (t *Transcript) launchStep(list device.Buffer[uint32], skip bool, nonce device.Buffer[uint32], dst device.Buffer[gf2.Element]) error {
	without := 0
	if skip {
		without = 1
	}
	return t.q.Launch(operation("tower_step"), device.D1(1), warp, 0,
		t.state.Arg(), list.Arg(), device.U32(list.Len()), device.U32(without), nonce.Arg(), dst.Arg(), device.U32(dst.Len()))
}

// AbsorbHost takes a list of elements that the host has. Short lists travel as arguments
// of the launch.
func (t *Transcript) AbsorbHost(list []gf2.Element) error {
	if t.host != nil {
		if err := t.q.Err(); err != nil {
			return err
		}
		t.host.Absorb(list)
		return nil
	}
	const direct = 2
	if len(list) == 0 || len(list) > direct {
		b, err := device.Upload(t.q, list)
		if err != nil {
			return fmt.Errorf("absorb %d elements of the host: %w", len(list), err)
		}
		defer b.Free()
		return t.Absorb(b)
	}
	words := make([]uint32, 0, 4*direct)
	for _, e := range list {
		words = e.AppendWords(words)
	}
	args := []device.Arg{t.state.Arg(), device.U32(len(words))}
	for _, w := range append(words, make([]uint32, cap(words)-len(words))...) {
		args = append(args, device.U32(w))
	}
	return t.q.Launch(operation("tower_absorb_words"), device.D1(1), warp, 0, args...)
}

// Indices draws an index below 2^bits for each word of dst, as tower's Indices does.
func (t *Transcript) Indices(dst device.Buffer[uint32], bits int) error {
	if bits < 0 || bits > tower.MaxIndexBits {
		return fmt.Errorf("%w: an index of %d bits, want 0 to %d", tower.ErrBits, bits, tower.MaxIndexBits)
	}
	if t.host == nil {
		return t.q.Launch(operation("tower_indices"), device.D1(1), warp, 0,
			t.state.Arg(), dst.Arg(), device.U32(dst.Len()), device.U32(bits))
	}
	if err := dst.Use(t.q); err != nil {
		return err
	}
	list, err := t.host.Indices(dst.Len(), bits)
	if err != nil {
		return err
	}
	copy(dst.Host(), list)
	return nil
}

// grindThreads is the block of a search, grindBlocks the most that it has for each
// multiprocessor: so many are there at once (late ones would hold smaller nonces).
const (
	grindThreads = 128
	grindBlocks  = 4
)

// grindFactor bounds the search at grindFactor * 2^bits nonces. None of them works with
// probability e^-grindFactor; then the state becomes one that Host rejects.
const grindFactor = 96

// Grind writes the smallest nonce that does the work to nonce, of two words, lower one
// first, and goes on as tower's CheckWork does; then it draws a challenge for each element
// of dst. With bits = 0 the nonce is zero and nothing is absorbed. The context ends a
// search on the CPU.
func (t *Transcript) Grind(ctx context.Context, bits int, nonce device.Buffer[uint32], dst device.Buffer[gf2.Element]) error {
	if bits < 0 || bits > tower.MaxWorkBits {
		return fmt.Errorf("%w: %d bits of work, want 0 to %d", tower.ErrBits, bits, tower.MaxWorkBits)
	}
	if nonce.Len() != 2 {
		return fmt.Errorf("%w: grind: a nonce has 2 words, the buffer %d", device.ErrUsage, nonce.Len())
	}
	if err := errors.Join(nonce.Use(t.q), dst.Use(t.q)); err != nil {
		return err
	}
	switch {
	case t.host != nil:
		n, err := t.host.Grind(ctx, bits)
		if err != nil {
			return err
		}
		copy(nonce.Host(), []uint32{uint32(n), uint32(n >> 32)})
		t.draw(dst)
		return nil
	case bits == 0:
		return t.launchStep(device.Buffer[uint32]{}, true, nonce, dst)
	}
	// About twice as many threads as tries are expected.
	blocks := min(device.Blocks(2<<bits, grindThreads), grindBlocks*t.q.Device().Info().Units)
	return t.launchGrind(blocks, bits, grindFactor<<bits, nonce, dst)
}

// launchGrind searches among the nonces below end.
func (t *Transcript) launchGrind(blocks, bits int, end uint64, nonce device.Buffer[uint32], dst device.Buffer[gf2.Element]) error {
	return t.q.Launch(operation("tower_grind"), device.D1(blocks), device.D1(grindThreads), 0,
		t.state.Arg(), device.U32(bits), device.U64(end), nonce.Arg(), dst.Arg(), device.U32(dst.Len()))
}
