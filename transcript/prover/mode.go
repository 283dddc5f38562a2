package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
)

// Mode is what a transcript on a device waits for. It does not change any state or
// output, and nothing on the CPU; the modes beyond the first are there to measure
// what waiting costs.
type Mode int

// Modes.
const (
	// Chained waits for nothing: all is enqueued, searches for work too.
	Chained Mode = iota
	// HostWork searches for work on the host, which waits for the state.
	HostWork
	// Waiting does that too, and waits for the device whenever something was absorbed
	// or drawn through a method.
	Waiting
)

// SetMode is for what comes next.
func (t *Of[W, E]) SetMode(m Mode) { t.mode = m }

// wait ends an operation that has enqueued its work.
func (t *Of[W, E]) wait(err error) error {
	if err == nil && t.mode == Waiting {
		err = t.q.Sync()
	}
	return err
}

// hostWork is work, whose arguments have been checked, with a search on the host.
func (t *Of[W, E]) hostWork(list device.Buffer[W], absorb, bits int, nonce device.Buffer[W], dst device.Buffer[E]) error {
	if absorb != absorbNothing {
		if err := t.step(list, absorb, device.Buffer[E]{}); err != nil {
			return err
		}
	}
	h, err := t.Host()
	if err != nil {
		return err
	}
	n, err := h.Grind(bits)
	if err != nil {
		return err
	}
	s := h.State()
	if err := t.state.Slice(0, len(s)).CopyFrom(t.q, s[:]); err != nil {
		return fmt.Errorf("transcript to device: %w", err)
	}
	if err := nonce.CopyFrom(t.q, n[:]); err != nil {
		return fmt.Errorf("nonce to device: %w", err)
	}
	if dst.Len() == 0 {
		return nil
	}
	return t.Challenge(dst)
}
