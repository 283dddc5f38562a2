// Package prover is the transcript where the prover's data is: its state lies
// on the device, and absorbing and drawing challenges are launches like any
// other, so that a protocol runs without waiting for the host. It goes through
// exactly the states of package transcript.
package prover

import (
	"errors"
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
)

// Of is a transcript on a queue's device. Its methods enqueue work and return; on
// the CPU they act at once.
type Of[W field.Base[W], E field.Element[E]] struct {
	q       *device.Queue
	variant *transcript.Variant[W, E]
	host    *transcript.Of[W, E] // on the CPU
	state   device.Buffer[W]
	mode    Mode
}

// Transcript is the one over Mersenne-31.
type Transcript = Of[m31.Element, m31.QM31]

// The state's buffer: transcript.State, rounded up, and what the blocks of a
// search for work share.
const (
	stateWords  = 20
	searchBest  = 20
	sharedWords = 24
)

// New starts a transcript over Mersenne-31 with the given domain tag.
func New(q *device.Queue, tag m31.Element) (*Transcript, error) {
	return FromHost(q, transcript.New(tag))
}

// Start starts a transcript of any variant with the given domain tag.
func Start[W field.Base[W], E field.Element[E]](q *device.Queue, v *transcript.Variant[W, E], tag uint32) (*Of[W, E], error) {
	return FromHost(q, v.New(tag))
}

// FromHost continues a host transcript on the device, from a copy of it.
func FromHost[W field.Base[W], E field.Element[E]](q *device.Queue, t *transcript.Of[W, E]) (*Of[W, E], error) {
	if q.OnHost() {
		return &Of[W, E]{q: q, variant: t.Variant(), host: t.Clone()}, nil
	}
	state, err := device.Alloc[W](q, sharedWords)
	if err != nil {
		return nil, fmt.Errorf("transcript to device: %w", err)
	}
	var words [sharedWords]W
	s := t.State()
	copy(words[:], s[:])
	words[searchBest], words[searchBest+1] = math.MaxUint32, math.MaxUint32
	if err := state.CopyFrom(q, words[:]); err != nil {
		return nil, fmt.Errorf("transcript to device: %w", err)
	}
	return &Of[W, E]{q: q, variant: t.Variant(), state: state}, nil
}

// Host waits for the queue and returns a copy of the transcript, to be
// continued on the host.
func (t *Of[W, E]) Host() (*transcript.Of[W, E], error) {
	if t.host != nil {
		if err := t.q.Err(); err != nil {
			return nil, err
		}
		return t.host.Clone(), nil
	}
	var s transcript.StateOf[W]
	if err := t.state.Slice(0, len(s)).CopyTo(t.q, s[:]); err != nil {
		return nil, fmt.Errorf("transcript from device: %w", err)
	}
	return t.variant.FromState(s)
}

// Variant is the kind of transcript that t is.
func (t *Of[W, E]) Variant() *transcript.Variant[W, E] { return t.variant }

// Local is the transcript itself where the queue runs on the host, for the Go
// twins of operations that absorb in passing; nil elsewhere.
func (t *Of[W, E]) Local() *transcript.Of[W, E] { return t.host }

// State is the state's buffer, for kernels that include HeaderOf's header; empty
// where the queue runs on the host. Its first words are transcript.StateOf.
func (t *Of[W, E]) State() device.Buffer[W] {
	if t.host != nil {
		return t.state
	}
	return t.state.Slice(0, stateWords)
}

// Use says whether work on q may absorb into the transcript and draw from it: it
// is a device.ErrUsage where that lives on another device or was freed.
func (t *Of[W, E]) Use(q *device.Queue) error {
	if t == nil || t.q == nil || t.q.Device() != q.Device() {
		return fmt.Errorf("transcript: %w: none, or one of another device than %s", device.ErrUsage, q.Device().Name())
	}
	return t.state.Use(q)
}

// Free gives the state's memory back.
func (t *Of[W, E]) Free() { t.state.Free() }

// What a launch absorbs before it draws.
const (
	absorbNothing = iota
	absorbWords
	absorbBytes
)

// Absorb takes the buffer's words as one list.
func (t *Of[W, E]) Absorb(list device.Buffer[W]) error {
	return t.step(list, absorbWords, device.Buffer[E]{})
}

// AbsorbExt takes the buffer's words, several an element, as one list.
func (t *Of[W, E]) AbsorbExt(list device.Buffer[E]) error { return t.Absorb(device.View[W](list)) }

// AbsorbDigest takes the root of a tree, eight words, as transcript.Of does: raw
// says that they are the bytes of a digest.
func (t *Of[W, E]) AbsorbDigest(root device.Buffer[W], raw bool) error {
	if root.Len() != transcript.DigestWords {
		return fmt.Errorf("%w: absorb digest: a root has %d words, the buffer %d", device.ErrUsage, transcript.DigestWords, root.Len())
	}
	if raw {
		return t.step(root, absorbBytes, device.Buffer[E]{})
	}
	return t.Absorb(root)
}

// Challenge draws one challenge for each element of dst, in order.
func (t *Of[W, E]) Challenge(dst device.Buffer[E]) error {
	return t.step(device.Buffer[W]{}, absorbNothing, dst)
}

// AbsorbChallenge is Absorb and then Challenge, in one launch.
func (t *Of[W, E]) AbsorbChallenge(list device.Buffer[W], dst device.Buffer[E]) error {
	return t.step(list, absorbWords, dst)
}

func (t *Of[W, E]) step(list device.Buffer[W], absorb int, dst device.Buffer[E]) error {
	if t.host == nil {
		return t.launchStep(list, absorb, device.Buffer[W]{}, dst)
	}
	// Nothing is absorbed instead of a buffer that is not there.
	if err := errors.Join(list.Use(t.q), dst.Use(t.q)); err != nil {
		return err
	}
	switch words := list.Host(); absorb {
	case absorbWords:
		t.host.Absorb(words)
	case absorbBytes:
		t.host.AbsorbDigest([transcript.DigestWords]W(words), true)
	}
	t.draw(dst)
	return nil
}

// draw fills dst with challenges on the CPU.
func (t *Of[W, E]) draw(dst device.Buffer[E]) {
	out := dst.Host()
	for i := range out {
		out[i] = t.host.Challenge()
	}
}

func (t *Of[W, E]) kernel(name string) device.Kernel { return unitOf(t.variant.Field()).kernel(name) }

// launchStep absorbs the list, of words or of bytes four a word, and draws; nonce
// becomes that of no work.
func (t *Of[W, E]) launchStep(list device.Buffer[W], absorb int, nonce device.Buffer[W], dst device.Buffer[E]) error {
	n := list.Len()
	if absorb == absorbBytes {
		n *= 4
	}
	return t.wait(t.q.Launch(t.kernel("transcript_step"), device.D1(1), warp, 0,
		t.state.Arg(), list.Arg(), device.U32(n), device.U32(absorb), nonce.Arg(), dst.Arg(), device.U32(dst.Len()*t.variant.Degree())))
}

// AbsorbHost takes a list of canonical words that the host has. Short lists
// travel as arguments of the launch.
func (t *Of[W, E]) AbsorbHost(list []W) error {
	if t.host != nil {
		if err := t.q.Err(); err != nil {
			return err
		}
		t.host.Absorb(list)
		return nil
	}
	const direct = 8
	if len(list) > direct {
		b, err := device.Upload(t.q, list)
		if err != nil {
			return fmt.Errorf("absorb %d words of the host: %w", len(list), err)
		}
		defer b.Free()
		return t.Absorb(b)
	}
	args := make([]device.Arg, 2+direct)
	args[0], args[1] = t.state.Arg(), device.U32(len(list))
	for i := range direct {
		var w W
		if i < len(list) {
			w = list[i]
		}
		args[2+i] = device.U32(uint32(w))
	}
	return t.wait(t.q.Launch(t.kernel("transcript_absorb_words"), device.D1(1), warp, 0, args...))
}

// AbsorbHostExt takes the elements' words as one list.
func (t *Of[W, E]) AbsorbHostExt(list []E) error { return t.AbsorbHost(t.variant.Words(list)) }

// AbsorbBytes takes a byte string.
func (t *Of[W, E]) AbsorbBytes(b []byte) error { return t.AbsorbHost(transcript.BytesToWords[W](b)) }

// Indices draws an index below 2^bits for each element of dst.
func (t *Of[W, E]) Indices(dst device.Buffer[uint32], bits int) error {
	if bits < 0 || bits > transcript.MaxIndexBits {
		return fmt.Errorf("%w: an index of %d bits", transcript.ErrBits, bits)
	}
	if t.host != nil {
		if err := dst.Use(t.q); err != nil {
			return err
		}
		out := dst.Host()
		for i := range out {
			x, err := t.host.Index(bits)
			if err != nil {
				return err
			}
			out[i] = uint32(x)
		}
		return nil
	}
	return t.wait(t.q.Launch(t.kernel("transcript_indices"), device.D1(1), warp, 0,
		t.state.Arg(), dst.Arg(), device.U32(dst.Len()), device.U32(bits)))
}
