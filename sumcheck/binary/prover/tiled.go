package prover

import (
	"context"
	encoding "encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// Tiled is an instance of kind ExtBits whose p_1 is not in memory: its values are
// read twice, a tile at a time and by several goroutines at once, for the window's
// sums and for its fold. What is kept takes (Degree+1)/2 * 2^(Vars-k) elements, where k
// is 4, 3, 3, 2 for Degree 2 to 5.
type Tiled struct {
	binary.Shape
	First io.ReaderAt             // 2^Vars elements of gf2.Size bytes, little-endian
	Bits  []device.Buffer[uint32] // as Instance has them
}

// TileError is a tile of p_1 that could not be read.
type TileError struct {
	Offset int64 // bytes
	Err    error
}

func (e *TileError) Error() string {
	return fmt.Sprintf("binary sum-check: read p_1 at byte %d: %v", e.Offset, e.Err)
}

// Unwrap is the reader's error.
func (e *TileError) Unwrap() error { return e.Err }

// ProveTiled is Prove for a table that does not fit memory, by Window on the CPU: where
// reading is what takes the time, a GPU would wait for it. The proof is that of Prove.
// Further errors are *TileError, and ErrNotOnDevice for a queue of a GPU.
func ProveTiled(ctx context.Context, q *device.Queue, tr *tower.Transcript, in Tiled, value gf2.Element) (*binary.Proof, *binary.Result, error) {
	if in.Kind != binary.ExtBits {
		return nil, nil, fmt.Errorf("%w: tiles for kind %v, want %v", binary.ErrShape, in.Kind, binary.ExtBits)
	}
	if in.First == nil {
		return nil, nil, &InstanceError{Shape: in.Shape, What: "readers of p_1", Want: 1, Got: 0}
	}
	whole := Instance{Shape: in.Shape, Bits: in.Bits}
	if err := whole.checkBut(q, true); err != nil {
		return nil, nil, err
	}
	if !q.OnHost() {
		return nil, nil, ErrNotOnDevice
	}
	claim := whole.Claim(value)
	start := tr.Clone()
	claim.Absorb(start)
	h := newHost(ctx, q, start, whole, value)
	defer h.free()
	h.tiles = &tiles{first: in.First}
	err := h.stopped()
	if err == nil {
		err = h.window(windowVars(h.n, h.d))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("binary sum-check: tiles: %w", err)
	}
	return h.proof, replay(tr, claim, h.proof), nil
}

// tiles reads p_1.
type tiles struct {
	first io.ReaderAt

	mu  sync.Mutex
	err error
}

// tileSize is the number of indices of a tile; each of the window's prefixes is a read
// of so many elements, half a megabyte.
const tileSize = 1 << 15

func (t *tiles) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

func (t *tiles) pieces(h *host, lo, hi, size, prefixes int, body func(values []gf2.Element, stride, from, to int)) {
	stride := min(tileSize, hi-lo)
	values, bytes := make([]gf2.Element, prefixes*stride), make([]byte, stride*gf2.Size)
	for ; lo < hi; lo += stride {
		if h.stopped() != nil {
			return
		}
		n := min(stride, hi-lo)
		for u := range prefixes {
			if err := t.read(values[u*stride:u*stride+n], bytes, u*size+lo); err != nil {
				t.mu.Lock()
				defer t.mu.Unlock()
				t.err = errors.Join(t.err, err)
				return
			}
		}
		body(values, stride, lo, lo+n)
	}
}

// read reads elements from an index on.
func (t *tiles) read(dst []gf2.Element, bytes []byte, index int) error {
	bytes = bytes[:len(dst)*gf2.Size]
	at := int64(index) * gf2.Size
	// A reader may say io.EOF with the last bytes.
	if n, err := t.first.ReadAt(bytes, at); n < len(bytes) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return &TileError{Offset: at + int64(n), Err: err}
	}
	for i := range dst {
		dst[i] = gf2.Element{Lo: encoding.LittleEndian.Uint64(bytes[16*i:]), Hi: encoding.LittleEndian.Uint64(bytes[16*i+8:])}
	}
	return nil
}
