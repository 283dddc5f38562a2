package tower

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/zkwarp/zkwarp/internal/parallel"
)

// MaxWorkBits limits proof of work.
const MaxWorkBits = 40

// ErrWork is returned for a nonce that does not do the required work.
var ErrWork = errors.New("tower transcript: proof of work")

// CheckWork is the verifier's side of Grind: it absorbs the nonce as a list of two words,
// lower one first, and draws a challenge, whose low bits must be zero. Each nonce passes
// with probability 2^-bits. With bits = 0 there is no work: the nonce must be zero and
// the transcript stays as it is.
func (t *Transcript) CheckWork(bits int, nonce uint64) error {
	if bits < 0 || bits > MaxWorkBits {
		return fmt.Errorf("%w: %d bits of work, want 0 to %d", ErrBits, bits, MaxWorkBits)
	}
	if bits == 0 {
		if nonce != 0 {
			return fmt.Errorf("%w: nonce %#x where no work is due, want 0", ErrWork, nonce)
		}
		return nil
	}
	if low := t.work(nonce); low&(1<<bits-1) != 0 {
		return fmt.Errorf("%w: the low %d bits of %#x are not zero", ErrWork, bits, low)
	}
	return nil
}

// work absorbs a nonce and returns the low half of the challenge after it.
func (t *Transcript) work(nonce uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], nonce)
	t.step(b[:])
	return t.Challenge().Lo
}

// Grind finds the smallest nonce that CheckWork accepts and leaves the transcript as
// CheckWork would. It takes 2^bits compressions on average, on all cores, and stops with
// the context's error when that ends.
func (t *Transcript) Grind(ctx context.Context, bits int) (uint64, error) {
	if bits < 0 || bits > MaxWorkBits {
		return 0, fmt.Errorf("%w: %d bits of work, want 0 to %d", ErrBits, bits, MaxWorkBits)
	}
	if bits == 0 {
		return 0, nil
	}
	const none = 1<<64 - 1
	// Little work is not worth waking other cores for.
	batch := uint64(1) << min(max(bits, 6), 16)
	for lo := uint64(0); ; lo += batch {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("search for %d bits of work: %w", bits, err)
		}
		var best atomic.Uint64
		best.Store(none)
		parallel.For(int(batch), 1<<9, func(a, b int) {
			for i := a; i < b; i++ {
				n := lo + uint64(i)
				if n >= best.Load() {
					return
				}
				if try := *t; try.work(n)&(1<<bits-1) == 0 {
					storeMin(&best, n)
					return
				}
			}
		})
		if n := best.Load(); n != none {
			return n, t.CheckWork(bits, n)
		}
	}
}

func storeMin(a *atomic.Uint64, n uint64) {
	for {
		old := a.Load()
		if n >= old || a.CompareAndSwap(old, n) {
			return
		}
	}
}
