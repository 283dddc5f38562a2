package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/mapped"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// pieceBytes is what weights cross the bus by: long enough for its full rate, short enough that copying the next piece to page-locked memory
// meanwhile takes little of it.
const pieceBytes = 1 << 24

// Uploader is two pieces of page-locked memory by which weights get to devices: one is filled while the other is copied. Getting such memory, and
// giving it back, stops a device, so whoever loads keys beside proofs keeps one. It is for one load at a time.
type Uploader struct{ pieces [2]device.Pinned[byte] }

// NewUploader gets the memory, for loads to any GPU of dev's machine.
func NewUploader(dev *device.Device) (*Uploader, error) { return newUploader(dev, pieceBytes) }

func newUploader(dev *device.Device, bytes int) (*Uploader, error) {
	if err := given.Check(given.Arg{Name: "device", Given: dev != nil}); err != nil {
		return nil, fmt.Errorf("memory for loading weights: %w", err)
	}
	u := new(Uploader)
	for i := range u.pieces {
		var err error
		if u.pieces[i], err = device.AllocPinned[byte](dev, bytes); err != nil {
			return nil, errors.Join(fmt.Errorf("memory for loading weights: %w", err), u.Close())
		}
	}
	return u, nil
}

// Close gives the memory back. A nil Uploader may be closed.
func (u *Uploader) Close() error {
	if u == nil {
		return nil
	}
	return errors.Join(u.pieces[0].Free(), u.pieces[1].Free())
}

// params writes the parameters' stack to `to`: the key's copy if it has one, as tests that cheat do, or its weights as they are. via may be nil.
func (pk *ProvingKey) params(q *device.Queue, pl *plan.Plan, to device.Buffer[m31.Element], via *Uploader) error {
	if to.Len() == 0 {
		return nil
	}
	pk.mu.Lock()
	stack := pk.stack
	pk.mu.Unlock()
	switch {
	case stack != nil:
		return to.CopyFrom(q, stack)
	case q.OnHost():
		if err := mapped.Guard(func() error {
			pl.FillParams(pk.program(), pk.weights, 0, to.Host())
			return nil
		}); err != nil {
			return fmt.Errorf("parameters: %w", err)
		}
		return q.Err()
	}
	stored, err := newStoredLayout(pl, pk.program(), pk.weights).upload(q, via)
	if err != nil {
		return err
	}
	defer stored.free()
	return stored.widen(q, to)
}
