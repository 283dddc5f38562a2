package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// pieceWords is the number of words that weights cross the bus by: long enough for its full rate, short enough that making the next piece
// meanwhile takes little memory.
const pieceWords = 1 << 22

// Uploader is two pieces of page-locked memory by which weights get to devices: one is filled while the other is copied. Getting such memory, and
// giving it back, stops a device, so whoever loads keys beside proofs keeps one. It is for one load at a time.
type Uploader struct{ pieces [2]device.Pinned[m31.Element] }

// NewUploader gets the memory, for loads to any GPU of dev's machine.
func NewUploader(dev *device.Device) (*Uploader, error) {
	u := new(Uploader)
	for i := range u.pieces {
		var err error
		if u.pieces[i], err = device.AllocPinned[m31.Element](dev, pieceWords); err != nil {
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
		pl.FillParams(pk.program(), pk.weights, 0, to.Host())
		return q.Err()
	}
	if via == nil {
		var err error
		if via, err = NewUploader(q.Device()); err != nil {
			return err
		}
		defer via.Close() //nolint:errcheck // memory on the host, whose loss changes nothing
	}
	end := pl.ParamsEnd()
	if err := to.Slice(end, to.Len()).Zero(q); err != nil {
		return err
	}
	for at, i := 0, 0; at < end; at, i = at+pieceWords, 1-i {
		n := min(pieceWords, end-at)
		piece := via.pieces[i].Slice(0, n)
		pl.FillParams(pk.program(), pk.weights, at, piece.Host()) // while the piece before is copied
		if err := q.Sync(); err != nil {
			return err
		}
		if err := to.Slice(at, at+n).CopyFromPinned(q, piece); err != nil {
			return err
		}
	}
	return q.Sync()
}
