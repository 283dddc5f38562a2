// Package prover is the transcript where the prover's data is: its state lies
// on the device, and absorbing and drawing challenges are launches like any
// other, so that a protocol runs without waiting for the host. It goes through
// exactly the states of package transcript.
package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/transcript"
)

// Transcript is a transcript on a queue's device. Its methods enqueue work and
// return; on the CPU they act at once.
type Transcript struct {
	q     *device.Queue
	host  *transcript.Transcript // on the CPU
	state device.Buffer[m31.Element]
}

// stateWords is the buffer's length: transcript.State, rounded up.
const stateWords = 20

// New starts a transcript with the given domain tag.
func New(q *device.Queue, tag m31.Element) (*Transcript, error) {
	return FromHost(q, transcript.New(tag))
}

// FromHost continues a host transcript on the device, from a copy of it.
func FromHost(q *device.Queue, t *transcript.Transcript) (*Transcript, error) {
	if q.OnHost() {
		return &Transcript{q: q, host: t.Clone()}, nil
	}
	state, err := device.Alloc[m31.Element](q, stateWords)
	if err != nil {
		return nil, fmt.Errorf("transcript to device: %w", err)
	}
	s := t.State()
	if err := state.Slice(0, len(s)).CopyFrom(q, s[:]); err != nil {
		return nil, fmt.Errorf("transcript to device: %w", err)
	}
	return &Transcript{q: q, state: state}, nil
}

// Host waits for the queue and returns a copy of the transcript, to be
// continued on the host.
func (t *Transcript) Host() (*transcript.Transcript, error) {
	if t.host != nil {
		if err := t.q.Err(); err != nil {
			return nil, err
		}
		return t.host.Clone(), nil
	}
	var s transcript.State
	if err := t.state.Slice(0, len(s)).CopyTo(t.q, s[:]); err != nil {
		return nil, fmt.Errorf("transcript from device: %w", err)
	}
	return transcript.FromState(s)
}

// Local is the transcript itself where the queue runs on the host, for the Go
// twins of operations that absorb in passing; nil elsewhere.
func (t *Transcript) Local() *transcript.Transcript { return t.host }

// State is the state's buffer, for kernels that include transcript.cuh; empty
// where the queue runs on the host.
func (t *Transcript) State() device.Buffer[m31.Element] { return t.state }

// Use says whether work on q may absorb into the transcript and draw from it: it
// is a device.ErrUsage where that lives on another device or was freed.
func (t *Transcript) Use(q *device.Queue) error {
	if t == nil || t.q == nil || t.q.Device() != q.Device() {
		return fmt.Errorf("transcript: %w: none, or one of another device than %s", device.ErrUsage, q.Device().Name())
	}
	return t.state.Use(q)
}

// Free gives the state's memory back.
func (t *Transcript) Free() { t.state.Free() }

// Absorb takes the buffer's words as one list.
func (t *Transcript) Absorb(list device.Buffer[m31.Element]) error {
	return t.step(list, true, device.Buffer[m31.QM31]{})
}

// AbsorbQM31 takes the buffer's words, four an element, as one list.
func (t *Transcript) AbsorbQM31(list device.Buffer[m31.QM31]) error {
	return t.Absorb(device.View[m31.Element](list))
}

// Challenge draws one challenge for each element of dst, in order.
func (t *Transcript) Challenge(dst device.Buffer[m31.QM31]) error {
	return t.step(device.Buffer[m31.Element]{}, false, dst)
}

// AbsorbChallenge is Absorb and then Challenge, in one launch.
func (t *Transcript) AbsorbChallenge(list device.Buffer[m31.Element], dst device.Buffer[m31.QM31]) error {
	return t.step(list, true, dst)
}

func (t *Transcript) step(list device.Buffer[m31.Element], absorb bool, dst device.Buffer[m31.QM31]) error {
	if t.host != nil {
		// Nothing is absorbed instead of a buffer that is not there.
		if err := errors.Join(list.Use(t.q), dst.Use(t.q)); err != nil {
			return err
		}
		if absorb {
			t.host.Absorb(list.Host())
		}
		out := dst.Host()
		for i := range out {
			out[i] = t.host.Challenge()
		}
		return nil
	}
	flag := 0
	if absorb {
		flag = 1
	}
	return t.q.Launch(kern("transcript_step"), device.D1(1), warp, 0,
		t.state.Arg(), list.Arg(), device.U32(list.Len()), device.U32(flag), dst.Arg(), device.U32(dst.Len()))
}

// AbsorbHost takes a list of canonical words that the host has. Short lists
// travel as arguments of the launch.
func (t *Transcript) AbsorbHost(list []m31.Element) error {
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
		var w m31.Element
		if i < len(list) {
			w = list[i]
		}
		args[2+i] = device.U32(uint32(w))
	}
	return t.q.Launch(kern("transcript_absorb_words"), device.D1(1), warp, 0, args...)
}

// AbsorbHostQM31 takes the elements' words as one list.
func (t *Transcript) AbsorbHostQM31(list []m31.QM31) error { return t.AbsorbHost(m31.Words(list)) }

// AbsorbBytes takes a byte string.
func (t *Transcript) AbsorbBytes(b []byte) error { return t.AbsorbHost(transcript.BytesToWords(b)) }

// Indices draws an index below 2^bits for each element of dst.
func (t *Transcript) Indices(dst device.Buffer[uint32], bits int) error {
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
	return t.q.Launch(kern("transcript_indices"), device.D1(1), warp, 0,
		t.state.Arg(), dst.Arg(), device.U32(dst.Len()), device.U32(bits))
}
